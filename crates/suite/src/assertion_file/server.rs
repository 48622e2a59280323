//! `server` of an assertion file: one server, with variables in some of its texts.

use mcprove_model::{Diagnostics, Entry, Kind, ServerSpec, Target};

use super::templates::Scope;
use crate::context::{Context, FileKind, Reader};
use crate::environment::Unset;
use crate::interpolate::Interpolation;
use crate::server::{self, Described, ServerOverride, keys};
use crate::variables::Variables;

/// Decodes a `server` block.
pub(super) fn decode(
    entry: &Entry,
    context: &Context<'_>,
    scope: &Scope,
    unset: Unset,
    found: &mut Diagnostics<'_>,
) -> Option<ServerSpec> {
    server::check_templates(&entry.value, scope, found);
    let mut entry = entry.clone();
    let mut secrets = Vec::new();
    let variables = Variables::new(context.environment, None);
    // What the command line takes the place of needs no variables.
    let is_replaced = ServerOverride::replacing(context.server).is_some();
    if let Kind::Map(parts) = &mut entry.value.kind {
        let is_kept = |key: &str| is_replaced && matches!(key, "args" | "command");
        for part in parts.iter_mut().filter(|part| !is_kept(&part.key.text)) {
            if let Some(syntax) = keys::syntax(&part.key.text, FileKind::Assertion) {
                let secrets = &mut secrets;
                Interpolation { variables: &variables, secrets, syntax, unset }.apply(&mut part.value, found);
            }
        }
    }
    let described = Described { entry: &entry, kind: FileKind::Assertion, default_auth: None };
    let server = server::decode(&described, &mut Reader { context, secrets: &mut secrets }, found);
    found.mask(&secrets);
    let server = server?;
    secrets.sort();
    secrets.dedup();
    let name = match &server.target {
        Target::Stdio { command, .. } => command.clone(),
        target @ (Target::Remote { .. } | Target::Mock { .. } | Target::Cassette { .. }) => target.label(),
    };
    Some(ServerSpec { name, secrets, ..server })
}
