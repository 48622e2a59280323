//! Input schemas: what they let through.

mod constraint;
mod openness;
mod parameter;
mod pattern_length;
mod presence;
mod same_value;
mod tree;

pub(crate) use constraint::Size;
pub(crate) use openness::{Close, open_objects};
pub(crate) use parameter::Parameter;
pub(crate) use presence::Presence;
pub(crate) use tree::{Role, SchemaTree, Site, SiteId, Word};
