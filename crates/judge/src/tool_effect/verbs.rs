//! The verbs that say what a tool does, one table for the scans and for rule USE-009.

/// The effect that a verb stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerbKind {
    /// It looks at something.
    Reads,
    /// It changes stored data.
    Changes,
    /// It makes something happen, which may change anything.
    Acts,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Verb {
    pub(crate) word: &'static str,
    pub(crate) kind: VerbKind,
    /// True if the word is a common noun, too: a `commit` can be listed.
    pub(crate) is_noun: bool,
}

/// The row of a word.
pub(crate) fn verb(word: &str) -> Option<&'static Verb> {
    VERBS.binary_search_by_key(&word, |verb| verb.word).ok().map(|at| &VERBS[at])
}

/// The row of a word in prose, where verbs have endings: `deletes`, `writing`.
pub(crate) fn verb_in_prose(word: &str) -> Option<&'static Verb> {
    let stems = [
        word.strip_suffix("ies").map(|stem| format!("{stem}y")),
        word.strip_suffix("es").map(str::to_owned),
        word.strip_suffix('s').map(str::to_owned),
        word.strip_suffix("ing").map(str::to_owned),
        word.strip_suffix("ing").map(|stem| format!("{stem}e")),
    ];
    verb(word).or_else(|| stems.into_iter().flatten().find_map(|stem| verb(&stem)))
}

impl Verb {
    const fn or_noun(mut self) -> Self {
        self.is_noun = true;
        self
    }
}

const fn reads(word: &'static str) -> Verb {
    Verb { word, kind: VerbKind::Reads, is_noun: false }
}

const fn changes(word: &'static str) -> Verb {
    Verb { word, kind: VerbKind::Changes, is_noun: false }
}

const fn acts(word: &'static str) -> Verb {
    Verb { word, kind: VerbKind::Acts, is_noun: false }
}

/// Every verb, in alphabetical order.
const VERBS: &[Verb] = &[
    acts("abort"),
    changes("ack"),
    changes("acknowledge"),
    acts("activate"),
    changes("add"),
    changes("alter"),
    changes("append"),
    changes("apply"),
    changes("approve"),
    changes("archive"),
    changes("assign"),
    changes("attach"),
    acts("authenticate"),
    changes("ban"),
    acts("book"),
    changes("broadcast"),
    acts("buy"),
    reads("calculate"),
    acts("call"),
    changes("cancel"),
    changes("change"),
    acts("charge"),
    reads("check"),
    acts("checkout"),
    changes("chmod"),
    changes("chown"),
    changes("clear"),
    acts("click"),
    changes("clone"),
    changes("close"),
    changes("commit").or_noun(),
    reads("compare"),
    reads("compute"),
    changes("configure"),
    reads("convert"),
    changes("copy"),
    reads("count"),
    changes("cp"),
    changes("create"),
    acts("deactivate"),
    changes("decline"),
    changes("delete"),
    changes("demote"),
    changes("deploy"),
    reads("describe"),
    changes("destroy"),
    changes("detach"),
    reads("detect"),
    reads("diff"),
    changes("disable"),
    changes("disconnect"),
    reads("discover"),
    changes("dismiss"),
    changes("dispatch"),
    acts("download"),
    changes("downvote"),
    acts("drag"),
    changes("drop"),
    changes("duplicate"),
    reads("echo"),
    changes("edit"),
    changes("enable"),
    changes("enqueue"),
    changes("erase"),
    changes("escalate"),
    reads("estimate"),
    acts("eval"),
    acts("evaluate"),
    changes("evict"),
    reads("examine"),
    acts("exec"),
    acts("execute"),
    reads("explain"),
    reads("fetch"),
    acts("fill"),
    reads("find"),
    changes("forget"),
    changes("fork"),
    reads("get"),
    reads("glob"),
    changes("grant"),
    reads("grep"),
    acts("halt"),
    reads("has"),
    reads("help"),
    changes("import"),
    acts("init"),
    acts("initialise"),
    acts("initialize"),
    changes("insert"),
    reads("inspect"),
    changes("install"),
    acts("interact"),
    changes("invite"),
    acts("invoke"),
    reads("is"),
    changes("kill"),
    acts("launch"),
    reads("list"),
    changes("lock"),
    acts("login"),
    acts("logout"),
    reads("look"),
    reads("lookup"),
    reads("ls"),
    acts("make"),
    reads("measure"),
    changes("merge"),
    changes("migrate"),
    changes("mkdir"),
    changes("modify"),
    changes("move"),
    changes("mute"),
    changes("mv"),
    acts("notify"),
    acts("open"),
    acts("order"),
    changes("overwrite"),
    reads("parse"),
    changes("patch"),
    acts("pause"),
    acts("pay"),
    reads("peek"),
    changes("persist"),
    changes("pin"),
    reads("ping"),
    acts("play"),
    changes("post").or_noun(),
    changes("postpone"),
    acts("press"),
    reads("preview"),
    changes("promote"),
    changes("provision"),
    changes("publish"),
    acts("purchase"),
    changes("purge"),
    changes("push"),
    changes("put"),
    reads("query"),
    reads("read"),
    changes("reassign"),
    changes("rebase"),
    acts("reboot"),
    changes("record").or_noun(),
    acts("refund"),
    changes("register"),
    changes("reject"),
    changes("release").or_noun(),
    changes("remember"),
    changes("remove"),
    changes("rename"),
    changes("reopen"),
    changes("reorder"),
    changes("repair"),
    changes("replace"),
    acts("reply"),
    changes("reschedule"),
    acts("reserve"),
    changes("reset"),
    changes("resolve"),
    changes("restart"),
    changes("restore"),
    acts("resume"),
    reads("retrieve"),
    changes("revert"),
    changes("revoke"),
    changes("rm"),
    changes("rollback"),
    changes("rotate"),
    acts("run"),
    changes("save"),
    acts("scale"),
    reads("scan"),
    changes("schedule"),
    reads("search"),
    acts("sell"),
    changes("send"),
    changes("set"),
    changes("share"),
    reads("show"),
    changes("shred"),
    acts("shutdown"),
    reads("sleep"),
    changes("snooze"),
    acts("spawn"),
    changes("stage"),
    acts("start"),
    changes("stash"),
    reads("stat"),
    reads("status"),
    acts("stop"),
    changes("store"),
    changes("submit"),
    changes("subscribe"),
    reads("suggest"),
    reads("sum"),
    reads("summarise"),
    reads("summarize"),
    acts("suspend"),
    changes("sync"),
    reads("tail"),
    changes("terminate"),
    reads("test"),
    reads("think"),
    changes("toggle"),
    changes("touch"),
    acts("trade"),
    changes("transfer"),
    reads("translate"),
    acts("trigger"),
    changes("truncate"),
    acts("type"),
    changes("unarchive"),
    changes("unassign"),
    changes("unban"),
    changes("unblock"),
    changes("unfollow"),
    changes("uninstall"),
    changes("unlink"),
    changes("unlock"),
    changes("unmute"),
    changes("unpin"),
    changes("unpublish"),
    changes("unregister"),
    changes("unset"),
    changes("unshare"),
    changes("unstage"),
    changes("unstar"),
    changes("unsubscribe"),
    changes("unwatch"),
    changes("update"),
    changes("upgrade"),
    changes("upload"),
    changes("upsert"),
    changes("upvote"),
    reads("validate"),
    reads("verify"),
    reads("view"),
    reads("wait"),
    reads("watch"),
    reads("whoami"),
    changes("wipe"),
    acts("withdraw"),
    changes("write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_finds_endings() {
        assert!(VERBS.is_sorted_by_key(|verb| verb.word));
        assert!(VERBS.windows(2).all(|pair| pair[0].word != pair[1].word));
        for (word, expected) in [
            ("deletes", Some("delete")),
            ("writing", Some("write")),
            ("applies", Some("apply")),
            ("kills", Some("kill")),
            ("deleted", None),
            ("processes", None),
            ("dataset", None),
        ] {
            assert_eq!(verb_in_prose(word).map(|verb| verb.word), expected, "{word}");
        }
    }
}
