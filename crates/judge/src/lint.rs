//! Rules over a catalog: what is wrong with the tools a server lists.

use std::borrow::Cow;

use mcprove_model::{Finding, Fix, Place, Position, Severity, WirePlace};

use crate::catalog::{Catalog, Listing, ToolAt};
use crate::input_schema::SchemaTree;
use crate::json_style::JsonStyle;
use crate::rules::{Rule, Scope, Selection};
use crate::spanned_json::Json;
use crate::tighten::{TightenOptions, changes};

/// Something a rule says about a catalog.
///
/// A large catalog has tens of thousands of them, so they are handed over one by one and turned into a [`Finding`] only
/// where one is wanted.
#[derive(Debug)]
pub struct LintFault<'c> {
    catalog: &'c Catalog,
    /// The rule that speaks.
    pub rule: &'static Rule,
    /// Description of the fault, in one lowercase fragment.
    pub message: String,
    /// True if the mechanical fix applies to it.
    pub fixable: bool,
    /// Advice on what to do next, if it differs from the rule's.
    help: Option<Cow<'static, str>>,
    at: Json<'c>,
    document: usize,
    /// The tool, unless the fault is one of the whole list.
    tool: Option<&'c ToolAt>,
    /// The document of the text that contains the list of tools.
    root: u32,
}

/// Applies rules to every tool of a catalog, in the order of the tools, and hands over what they say.
///
/// Within a tool the faults come in the order of its text; faults of the whole list come after its tools.
pub fn lint<'c>(catalog: &'c Catalog, rules: &Selection, tell: &mut dyn FnMut(LintFault<'c>)) {
    let mut tree = SchemaTree::default();
    let mut faults = Faults { found: Vec::new() };
    for listing in &catalog.listings {
        for tool in &listing.tools {
            let view = ToolView::new(catalog, tool, &mut tree);
            for rule in rules.iter() {
                if let Scope::Tool(run) = rule.run {
                    run(&view, &mut faults.of(rule));
                }
            }
            faults.found.sort_by_key(|found| found.at.slot());
            for found in faults.found.drain(..) {
                tell(found.fault(catalog, tool, Some(tool)));
            }
        }
        let Some(first) = listing.tools.first() else { continue };
        let view = ListingView { catalog, listing };
        for rule in rules.iter() {
            if let Scope::Listing(run) = rule.run {
                run(&view, &mut faults.of(rule));
            }
        }
        for found in faults.found.drain(..) {
            tell(match found.tool {
                Some(tool) => found.fault(catalog, tool, Some(tool)),
                None => found.fault(catalog, first, None),
            });
        }
    }
}

impl LintFault<'_> {
    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.rule.severity
    }

    /// The tool's name; `None` for a fault of the whole list.
    pub fn tool(&self) -> Option<Cow<'_, str>> {
        self.tool.map(|tool| name_of(self.catalog.tool(tool)).unwrap_or(Cow::Borrowed("(no name)")))
    }

    /// The JSON Pointer of the fault, in the document that holds the tools.
    pub fn pointer(&self) -> String {
        match self.tool {
            Some(tool) => self.catalog.pointer(tool, self.at),
            None => self.catalog.documents[self.document].json.at(self.root).pointer_to(self.at),
        }
    }

    /// The JSON Pointer of the fault, seen from the tool; `None` for a fault of the whole list.
    pub fn pointer_in_tool(&self) -> Option<String> {
        self.tool.map(|tool| self.catalog.tool(tool).pointer_to(self.at))
    }

    /// Name of the file or server it is in.
    pub fn source(&self) -> Cow<'_, str> {
        self.catalog.documents[self.document].label()
    }

    /// The file and the position in it; `None` when the tools came from a server.
    pub fn position(&self) -> Option<(&str, Position)> {
        self.catalog.documents[self.document].position(self.at)
    }

    /// Advice on what to do next.
    pub fn help(&self) -> &str {
        self.help.as_deref().unwrap_or(self.rule.help)
    }

    /// The same as a finding, with its place and, where there is one, its fix.
    pub fn finding(&self) -> Finding {
        let document = &self.catalog.documents[self.document];
        let pointer = self.pointer();
        let mut message = match self.tool() {
            Some(tool) => format!("tool `{tool}`: {}", self.message),
            None => self.message.clone(),
        };
        let place = match document.place(self.at) {
            Some(place) => {
                message = format!("{message} (at {pointer})");
                Place::Text(place)
            }
            None => Place::Wire(WirePlace { server: document.label().into_owned(), pointer }),
        };
        let mut finding = Finding::new(self.rule.id, self.rule.severity, message).help(self.help());
        finding.fix = self.fix();
        finding.place = Some(place);
        finding
    }

    /// The edits that fix it, if it is in a file and its rule has a fix.
    fn fix(&self) -> Option<Fix> {
        let part = self.rule.fix?;
        self.catalog.editable_text()?;
        let mut tree = SchemaTree::default();
        tree.rebuild(self.catalog.tool(self.tool?).get("inputSchema")?);
        let site = tree.site_of(self.at)?;
        let change = changes(&tree, TightenOptions::default()).into_iter().find(|change| change.site() == site);
        let style = JsonStyle::of(&self.catalog.documents[self.document].json);
        let edits = change?.only(part)?.edits(&tree, &style);
        Some(Fix { title: part.title().to_owned(), edits })
    }
}

/// A tool as a rule sees it.
pub(crate) struct ToolView<'a, 'c> {
    /// All of it, whatever it is.
    pub(crate) tool: Json<'c>,
    /// Its name.
    pub(crate) name: Option<Cow<'c, str>>,
    /// Its description.
    pub(crate) description: Option<Cow<'c, str>>,
    /// The schemas of its input; none when it has no schema that is an object.
    pub(crate) tree: &'a SchemaTree<'c>,
}

impl<'a, 'c> ToolView<'a, 'c> {
    pub(crate) fn new(catalog: &'c Catalog, tool: &ToolAt, tree: &'a mut SchemaTree<'c>) -> Self {
        let tool = catalog.tool(tool);
        match tool.get("inputSchema").filter(|schema| schema.is_map()) {
            Some(schema) => tree.rebuild(schema),
            None => tree.clear(),
        }
        let description = tool.get("description").and_then(Json::as_text);
        Self { tool, name: name_of(tool), description, tree }
    }
}

/// A list of tools as a rule sees it.
pub(crate) struct ListingView<'c> {
    catalog: &'c Catalog,
    listing: &'c Listing,
}

impl<'c> ListingView<'c> {
    /// The tools, each with its place.
    pub(crate) fn tools(&self) -> impl ExactSizeIterator<Item = (&'c ToolAt, Json<'c>)> {
        self.listing.tools.iter().map(|tool| (tool, self.catalog.tool(tool)))
    }

    /// The list itself; of several pages, the first.
    pub(crate) fn list(&self) -> Option<Json<'c>> {
        let first = self.listing.tools.first()?;
        Some(self.catalog.documents[first.document].json.at(first.list))
    }
}

/// The name a tool gives itself.
pub(crate) fn name_of(tool: Json<'_>) -> Option<Cow<'_, str>> {
    tool.get("name").and_then(Json::as_text)
}

/// Faults found so far.
struct Faults<'c> {
    found: Vec<PendingFault<'c>>,
}

impl<'c> Faults<'c> {
    fn of(&mut self, rule: &'static Rule) -> RuleFaults<'_, 'c> {
        RuleFaults { rule, found: &mut self.found }
    }
}

/// Takes down what one rule says.
pub(crate) struct RuleFaults<'a, 'c> {
    rule: &'static Rule,
    found: &'a mut Vec<PendingFault<'c>>,
}

/// A fault before the position of its tool in the catalog is known.
#[derive(Debug)]
pub(crate) struct PendingFault<'c> {
    rule: &'static Rule,
    at: Json<'c>,
    message: String,
    help: Option<Cow<'static, str>>,
    fixable: bool,
    tool: Option<&'c ToolAt>,
}

impl<'c> RuleFaults<'_, 'c> {
    /// Something is wrong with a part of the tool or list.
    pub(crate) fn add(&mut self, at: Json<'c>, message: impl Into<String>) -> &mut PendingFault<'c> {
        let (rule, message) = (self.rule, message.into());
        self.found.push_mut(PendingFault { rule, at, message, help: None, fixable: rule.fix.is_some(), tool: None })
    }

    /// Something is wrong with one tool of a list.
    pub(crate) fn add_to(&mut self, tool: &'c ToolAt, at: Json<'c>, message: impl Into<String>) {
        self.add(at, message).tool = Some(tool);
    }
}

impl PendingFault<'_> {
    /// The way out is another than the rule's.
    pub(crate) fn help(&mut self, help: impl Into<Cow<'static, str>>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Marks it as not mechanically fixable, unlike others of its rule.
    pub(crate) fn by_hand(&mut self) {
        self.fixable = false;
    }
}

impl<'c> PendingFault<'c> {
    fn fault(self, catalog: &'c Catalog, place: &ToolAt, tool: Option<&'c ToolAt>) -> LintFault<'c> {
        let Self { rule, at, message, help, fixable, tool: _ } = self;
        let fixable = fixable && !catalog.documents[place.document].is_record();
        LintFault { catalog, rule, message, fixable, help, at, document: place.document, tool, root: place.root }
    }
}
