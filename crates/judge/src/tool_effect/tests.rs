//! Names of real tools, and what they do.

use serde_json::{Value, json};

use super::*;

fn named(name: &str) -> ToolEffect {
    tool_effect(&json!({"name": name}), None)
}

fn is_skipped(effect: &ToolEffect) -> bool {
    matches!(effect, ToolEffect::Writes { .. } | ToolEffect::LooksLikeWriting { .. })
}

#[test]
fn annotations_decide() {
    let effect = |hints: Value| tool_effect(&json!({"name": "delete_all", "annotations": hints}), None);
    assert_eq!(effect(json!({"readOnlyHint": true})), ToolEffect::Reads);
    assert_eq!(effect(json!({"readOnlyHint": false})), ToolEffect::Writes { hint: "readOnlyHint: false" });
    let both = json!({"readOnlyHint": true, "destructiveHint": true});
    assert_eq!(effect(both), ToolEffect::Writes { hint: "destructiveHint: true" });
    assert!(matches!(effect(json!({"destructiveHint": false})), ToolEffect::LooksLikeWriting { .. }));
}

#[test]
fn names_that_write_are_skipped() {
    for name in [
        "kill_process",
        "write_file",
        "edit_block",
        "move_file",
        "create_directory",
        "set_config_value",
        "start_process",
        "execute_command",
        "run_query",
        "force_terminate",
        "interact_with_process",
        "git_add",
        "git_commit",
        "git_reset",
        "git_checkout",
        "git_init",
        "browser_click",
        "browser_type",
        "browser_press_key",
        "browser_fill_form",
        "browser_evaluate",
        "browser_close",
        "API-patch-block-children",
        "API-delete-a-block",
        "API-post-page",
        "github_create_issue",
        "notion-create-pages",
        "deleteFile",
        "removeItem",
        "send_email",
        "add_observations",
        "create_entities",
        "delete_relations",
        "get_or_create_user",
        "find_and_replace",
        "search_replace",
        "kubectl_apply",
        "kubectl_scale",
        "toggle-subscriber-updates",
        "puppeteer_fill",
        "write_data_to_excel",
        "copy_range",
        "apply_formula",
        "merge_cells",
        "rename_worksheet",
        "upload_file",
        "download_file",
        "push_files",
        "fork_and_merge",
        "update_issue",
        "publish",
        "pay_invoice",
        "order_pizza",
    ] {
        let effect = named(name);
        assert!(is_skipped(&effect), "{name}: {effect:?}");
    }
}

#[test]
fn names_that_read_are_called() {
    for name in [
        "list_processes",
        "get_deleted_items",
        "list_commits",
        "get_commit",
        "get_post",
        "search_posts",
        "git_log",
        "git_status",
        "git_diff_unstaged",
        "git_show",
        "git_branch",
        "read_file",
        "read_multiple_files",
        "get_file_info",
        "list_allowed_directories",
        "search_files",
        "describe_table",
        "get_pull_request_reviews",
        "get_merge_request",
        "commit_list",
        "post_search",
        "API-post-search",
        "API-get-user",
        "browser_snapshot",
        "browser_take_screenshot",
        "fetch",
        "echo",
        "convert_time",
        "get_current_time",
        "sequentialthinking",
        "resolve",
        "query",
        "count_updates",
        "check_for_updates",
        "fetch_call_log",
        "list_merge_requests",
        "get_set",
        "whoami",
        "weather",
        "resetting",
        "dataset_info",
        "settings",
        "createdAt",
        "get_config",
        "read_graph",
        "search_nodes",
        "open_nodes",
    ] {
        let effect = named(name);
        let expected =
            if matches!(name, "resolve" | "open_nodes") { is_skipped(&effect) } else { !is_skipped(&effect) };
        assert!(expected, "{name}: {effect:?}");
    }
}

#[test]
fn sums_are_no_writing() {
    let numbers = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "integer"}}});
    let add = json!({"name": "add", "description": "Add two numbers", "inputSchema": numbers});
    assert_eq!(tool_effect(&add, None), ToolEffect::Unclear);
    assert!(is_skipped(&named("add")));
}

#[test]
fn descriptions_arguments_and_instructions_count_where_names_say_nothing() {
    let with = |tool: Value| tool_effect(&tool, Some("Use `notes` to look. The tool sweeper deletes old notes."));
    let looks = |word: &str, place| ToolEffect::LooksLikeWriting { word: word.to_owned(), place };
    let output = json!({"properties": {"output_path": {"type": "string"}}});
    let cases = [
        (json!({"name": "generate_diagram", "inputSchema": output}), looks("output_path", WordPlace::Argument)),
        (json!({"name": "get_chart", "inputSchema": output}), looks("output_path", WordPlace::Argument)),
        (json!({"name": "memory", "description": "Stores a fact"}), looks("store", WordPlace::Description)),
        (json!({"name": "x", "description": "This tool deletes a row"}), looks("delete", WordPlace::Description)),
        (
            json!({"name": "todo", "description": "Manage items. Irreversibly drops old ones"}),
            looks("irreversibly", WordPlace::Description),
        ),
        (json!({"name": "todo", "description": "Overview; does not delete anything"}), ToolEffect::Unclear),
        (json!({"name": "get_it", "description": "Deletes nothing"}), ToolEffect::Unclear),
        (json!({"name": "x", "title": "Delete a row"}), looks("delete", WordPlace::Title)),
        (json!({"name": "term", "inputSchema": {"properties": {"cmd": {}}}}), looks("cmd", WordPlace::Argument)),
        (
            json!({"name": "file", "inputSchema": {"properties": {"path": {}, "content": {}}}}),
            looks("content", WordPlace::Argument),
        ),
        (json!({"name": "route", "inputSchema": {"properties": {"destination": {}}}}), ToolEffect::Unclear),
        (json!({"name": "perform_system_repair"}), looks("repair", WordPlace::Name)),
        (json!({"name": "fork_repository"}), looks("fork", WordPlace::Name)),
        (json!({"name": "unmute_host"}), looks("unmute", WordPlace::Name)),
        (json!({"name": "list_forks"}), ToolEffect::Unclear),
        (json!({"name": "complete_database_migration"}), looks("migration", WordPlace::Name)),
        (json!({"name": "list_migrations"}), ToolEffect::Unclear),
        (json!({"name": "sweeper"}), looks("deletes", WordPlace::Instructions)),
        (json!({"name": "notes"}), ToolEffect::Unclear),
        (json!({"name": "generate_uuid", "description": "Generates a UUID"}), ToolEffect::Unclear),
    ];
    for (tool, expected) in cases {
        assert_eq!(with(tool.clone()), expected, "{tool}");
    }
}
