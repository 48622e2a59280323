//! Tests of the files that commands write.

use super::*;

#[test]
fn what_is_there_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let evals = folder.path().join("new/evals");
    let file = |text: &str| vec![TextFile { name: "a.yaml".to_owned(), text: text.to_owned() }];
    assert_eq!(write_all(&evals, &file("1"), false).expect("written").added.len(), 1);
    let again = write_all(&evals, &file("2"), false).expect("kept");
    assert_eq!((again.added.len(), again.kept.len()), (0, 1));
    assert_eq!(fs::read_to_string(evals.join("a.yaml")).expect("read"), "1");
    write_all(&evals, &file("3"), true).expect("replaced");
    assert_eq!(fs::read_to_string(evals.join("a.yaml")).expect("read"), "3");
}
#[test]
fn a_secret_that_is_a_name_is_not_written() {
    let secret = "correct-horse-5f1e";
    let server = ServerSpec { secrets: vec![secret.to_owned()], ..ServerSpec::default() };
    let described = Described::new(&server, None);
    let schema = json!({"type": "object", "properties": {secret: {"type": "string"}}, "required": [secret]});
    let tools = vec![
        json!({"name": secret, "inputSchema": {"type": "object"}}),
        json!({"name": "plain", "inputSchema": schema, "annotations": {"readOnlyHint": true}}),
        json!({"name": "clean", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}),
    ];
    let prompts = vec![json!({"name": secret})];
    let catalog = Catalog { tools, prompts, ..Catalog::default() };
    let mut names = FileNames::default();
    let mut files = of_tools(&catalog, &described, Consent::Cautious, &mut names);
    files.extend(of_offer(&catalog, &described, &|_| None, &mut names));
    assert_eq!(files.len(), 4);
    for file in texts(&files) {
        assert!(!file.name.contains("horse") && !file.text.contains("horse"), "{}\n{}", file.name, file.text);
        assert_eq!(file.text.contains("***"), file.name != "clean.yaml", "{}", file.text);
        assert_eq!(file.text.contains(SHOWN_SECRET), file.name != "clean.yaml", "{}", file.text);
    }
}

#[test]
fn resources_and_prompts_without_a_name_have_no_file() {
    let server = ServerSpec::default();
    let described = Described::new(&server, None);
    let named = json!({"uri": "x://a", "uriTemplate": "x://{a}", "name": "a"});
    let nameless = json!({"uri": "", "uriTemplate": " ", "name": ""});
    let both = vec![named, nameless];
    let catalog = Catalog { resources: both.clone(), templates: both.clone(), prompts: both, ..Catalog::default() };
    let files = of_offer(&catalog, &described, &|_| None, &mut FileNames::default());
    assert_eq!(files.len(), 3, "{files:?}");
}
