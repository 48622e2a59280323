//! Which server each case talks to, decided once, when the plan is made.

use std::collections::HashMap;
use std::sync::Arc;

use mcprove_model::{Case, Column, Matrix, Override, ServerSpec};

/// The servers made so far by the servers they were made from, so that cases that shared one still do.
#[derive(Debug, Default)]
struct Made(HashMap<*const ServerSpec, Arc<ServerSpec>>);

impl Made {
    fn of(&mut self, given: &Override, own: &Arc<ServerSpec>) -> Arc<ServerSpec> {
        let made = self.0.entry(Arc::as_ptr(own)).or_insert_with(|| {
            let server = given.apply(own);
            if server == **own { Arc::clone(own) } else { Arc::new(server) }
        });
        Arc::clone(made)
    }

    fn case(&mut self, given: &Override, case: &Arc<Case>) -> Arc<Case> {
        // Most runs name the server that the cases were loaded with; many cases are not copied for nothing.
        if case.servers().all(|own| Arc::ptr_eq(&self.of(given, own), own)) {
            return Arc::clone(case);
        }
        let mut case = Case::clone(case);
        case.replace_servers(&mut |own| self.of(given, own));
        Arc::new(case)
    }
}

/// The cases with another server, revision or image. A matrix keeps the servers and revisions that are not named.
pub fn override_servers(cases: &[Arc<Case>], given: &Override) -> Vec<Arc<Case>> {
    if given.is_empty() {
        return cases.to_vec();
    }
    let mut made = Made::default();
    cases.iter().map(|case| without_variants(made.case(given, case), given)).collect()
}

/// The case without the variants that the override takes the place of.
fn without_variants(mut case: Arc<Case>, given: &Override) -> Arc<Case> {
    let Some(own) = case.matrix.as_deref() else { return case };
    let mut matrix = own.clone();
    if given.server.is_some() {
        matrix.servers.clear();
    }
    if given.protocol.is_some() {
        matrix.revisions.clear();
    }
    if matrix != *own {
        let matrix = (matrix != Matrix::default()).then(|| Arc::new(matrix));
        Arc::make_mut(&mut case).matrix = matrix;
    }
    case
}

/// Makes the variants of cases.
#[derive(Debug)]
pub(crate) struct Variants<'o> {
    /// Settings from the command line; variants change only the others.
    given: &'o Override,
    made: HashMap<Arc<str>, Made>,
}

impl<'o> Variants<'o> {
    pub(crate) fn new(given: &'o Override) -> Self {
        Self { given, made: HashMap::new() }
    }

    /// The case in each variant, with the variant's name; the case itself where there are none.
    pub(crate) fn of(&mut self, case: &Arc<Case>) -> Vec<(Arc<Case>, Option<Arc<str>>)> {
        let columns = case.matrix.as_ref().map(|matrix| matrix.columns()).unwrap_or_default();
        if columns.is_empty() {
            return vec![(Arc::clone(case), None)];
        }
        let variant = |column: &Column| {
            let Override { name: _, server: _, protocol, docker, sandbox } = self.given.clone();
            let protocol = column.protocol.map(mcprove_model::Protocol::Exactly).or(protocol);
            let given = Override { docker, sandbox, protocol, ..Override::of_variant(column) };
            let made = self.made.entry(Arc::clone(&column.name)).or_default();
            (made.case(&given, case), Some(Arc::clone(&column.name)))
        };
        columns.iter().map(variant).collect()
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{ColumnServer, NewServer, Node, Span, Step, StepCall, Target};

    use super::*;
    use crate::plan::tests::cases;

    #[test]
    fn steps_get_the_new_server_too_and_shared_servers_stay_shared() {
        let mut two = cases(&["a".to_owned(), "b".to_owned()]);
        let other = Arc::new(ServerSpec { name: "other".to_owned(), ..ServerSpec::default() });
        let step = Step {
            call: StepCall::Resource { uri: Node::from_json(Span::default(), "x".into()) },
            server: Some(other),
            claims: None,
            expect: mcprove_model::Expectation::default(),
            capture: Vec::new(),
            allow_error: false,
            poll: None,
            span: Span::default(),
        };
        Arc::make_mut(&mut two[0]).verify.push(step);
        let given = Override { server: Some(NewServer::url("http://new")), ..Override::default() };
        let made = override_servers(&two, &given);
        let is_new =
            |server: &Arc<ServerSpec>| matches!(&server.target, Target::Remote { url, .. } if url == "http://new");
        assert!(made.iter().all(|case| case.servers().all(is_new)));
        assert_eq!(made[0].servers().count(), 2);
        let of = |at: usize| made[at].server.as_ref().expect("a server");
        assert!(Arc::ptr_eq(of(0), of(1)));
    }

    #[test]
    fn variants_run_in_the_sandbox_and_the_container_that_the_user_asks_for() {
        let mut one = cases(&["a".to_owned()]);
        let described = Arc::new(ServerSpec { name: "described".to_owned(), ..ServerSpec::default() });
        let servers = vec![
            ("command".to_owned(), ColumnServer::Command { command: "x".to_owned(), args: Vec::new() }),
            ("described".to_owned(), ColumnServer::Described(described)),
        ];
        Arc::make_mut(&mut one[0]).matrix = Some(Arc::new(Matrix { servers, revisions: Vec::new() }));
        let made = |given: &Override| {
            let variants = Variants::new(given).of(&one[0]);
            variants.into_iter().map(|(case, _)| case.server.clone().expect("a server")).collect::<Vec<_>>()
        };
        let confined = made(&Override { sandbox: true, ..Override::default() });
        assert_eq!(confined.len(), 2);
        assert!(confined.iter().all(|server| server.sandbox.as_ref().is_some_and(|sandbox| sandbox.required)));
        let contained = made(&Override { docker: Some("node".to_owned()), ..Override::default() });
        let has_image = |server: &Arc<ServerSpec>| matches!(&server.target, Target::Stdio { docker: Some(image), .. } if image == "node");
        assert!(contained.iter().all(has_image));
        assert!(made(&Override::default()).iter().all(|server| server.sandbox.is_none() && !has_image(server)));
    }

    #[test]
    fn nothing_is_copied_where_nothing_changes() {
        let one = cases(&["a".to_owned()]);
        let protocol = one[0].server.as_ref().map(|server| server.protocol);
        let made = override_servers(&one, &Override { protocol, ..Override::default() });
        assert!(Arc::ptr_eq(&made[0], &one[0]));
    }
}
