//! Examples: what a rule finds something in, and what it is silent on.

use crate::spanned_json::{Json, JsonKind, SpannedJson};

/// A catalog that a rule is shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// One tool, as JSON.
    Tool(&'static str),
    /// Several tools, as a JSON array.
    Tools(&'static str),
    /// Many tools alike: `{n}` in the JSON of a tool is its number, `{filler}` a text of that many characters.
    Many {
        /// The tool.
        tool: &'static str,
        /// Number of tools.
        count: usize,
        /// Length of the filler.
        filler: usize,
    },
}

impl Example {
    /// The catalog, in the form that `tools/list` answers with.
    pub fn catalog(&self) -> String {
        match self {
            Self::Tool(tool) => format!("{{\"tools\": [{tool}]}}"),
            Self::Tools(tools) => format!("{{\"tools\": {tools}}}"),
            Self::Many { tool, count, filler } => {
                let filler = "word ".repeat(filler / 5);
                let one = |n: usize| tool.replace("{n}", &n.to_string()).replace("{filler}", filler.trim_end());
                format!("{{\"tools\": [{}]}}", (1..=*count).map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// As it is shown to people: JSON in short lines, and a line about what is left out.
    pub fn shown(&self) -> String {
        match self {
            Self::Tool(json) | Self::Tools(json) => in_short_lines(json),
            Self::Many { tool, count, filler } => {
                let filler = if *filler > 0 { format!("… {filler} characters …") } else { String::new() };
                let tool = in_short_lines(&tool.replace("{n}", "1").replace("{filler}", &filler));
                if *count == 1 { tool } else { format!("{tool}\n… and {} more like it", count - 1) }
            }
        }
    }
}

/// JSON with every list and object on one line that fits on one.
fn in_short_lines(json: &str) -> String {
    match SpannedJson::parse(json) {
        Ok(parsed) => parsed.roots().map(|root| laid_out(root, 0)).collect::<Vec<_>>().join("\n"),
        Err((json, _)) => json,
    }
}

fn laid_out(json: Json<'_>, indent: usize) -> String {
    const WIDTH: usize = 96;
    let inner = indent + 2;
    // Keys and commas take a few columns more; a short list or object leaves them.
    if json.raw().len() + indent + 16 <= WIDTH {
        return json.raw().to_owned();
    }
    let parts: Vec<String> = match json.kind() {
        JsonKind::Map => {
            json.members().map(|(key, value)| format!("{}: {}", key.raw(), laid_out(value, inner))).collect()
        }
        JsonKind::List => json.items().map(|item| laid_out(item, inner)).collect(),
        JsonKind::Null
        | JsonKind::True
        | JsonKind::False
        | JsonKind::Number
        | JsonKind::Text
        | JsonKind::EscapedText => return json.raw().to_owned(),
    };
    let (open, close) = if json.is_map() { ('{', '}') } else { ('[', ']') };
    let (outer, inner) = (" ".repeat(indent), " ".repeat(inner));
    format!("{open}\n{inner}{}\n{outer}{close}", parts.join(&format!(",\n{inner}")))
}
