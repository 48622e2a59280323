//! Examples: what a rule finds something in, and what it is silent on.

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
        /// How many.
        count: usize,
        /// How long the filler is.
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

    /// As it is shown to people: JSON, and a line about what is left out.
    pub fn shown(&self) -> String {
        match self {
            Self::Tool(tool) => (*tool).to_owned(),
            Self::Tools(tools) => (*tools).to_owned(),
            Self::Many { tool, count, filler } => {
                let filler = if *filler > 0 { format!("… {filler} characters …") } else { String::new() };
                let tool = tool.replace("{n}", "1").replace("{filler}", &filler);
                if *count == 1 { tool } else { format!("{tool}\n… and {} more like it", count - 1) }
            }
        }
    }
}
