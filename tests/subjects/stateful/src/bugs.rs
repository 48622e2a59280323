//! The bugs and the habits, and the tools that a server with each of them has.

/// The tools of a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Notes,
    Values,
    Counters,
    Graph,
    Settings,
    Unusual,
    Projects,
    Robots,
}

pub(crate) struct Bug {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
}

const fn notes(name: &'static str) -> Bug {
    Bug { name, group: Group::Notes }
}

const fn values(name: &'static str) -> Bug {
    Bug { name, group: Group::Values }
}

const fn graph(name: &'static str) -> Bug {
    Bug { name, group: Group::Graph }
}

/// Every bug; `none` of each group has none.
pub(crate) const BUGS: &[Bug] = &[
    graph("batch-deletes-last"),
    graph("batch-keeps-first"),
    graph("batch-shifts"),
    notes("count-drifts"),
    notes("crash-after-delete"),
    notes("cursor-repeats"),
    notes("delete-forgotten"),
    notes("descriptor-leak"),
    notes("half-import"),
    graph("index-keeps-deleted"),
    notes("id-reuse"),
    notes("limit-plus-one"),
    notes("list-keeps-title"),
    notes("list-truncated"),
    Bug { name: "lost-increment", group: Group::Counters },
    notes("page-off-by-one"),
    notes("read-recolors"),
    notes("resource-stale"),
    Bug { name: "restart-default", group: Group::Settings },
    notes("resurrect"),
    notes("search-after-delete"),
    notes("search-after-update"),
    notes("second-update-lost"),
    notes("sort-drops"),
    notes("stale-list"),
    notes("stale-read"),
    notes("tag-twice"),
    notes("temporary-leak"),
    notes("update-wipes"),
    values("case-collision"),
    values("double-key"),
    values("prefix-delete"),
];

const fn unusual(name: &'static str) -> Bug {
    Bug { name, group: Group::Unusual }
}

/// What correct servers do, although it may look like a bug.
pub(crate) const HABITS: &[Bug] = &[
    values("any-case"),
    unusual("archive"),
    unusual("cursor-snapshot"),
    unusual("defaults"),
    unusual("delete-any"),
    values("error-text"),
    unusual("escapes"),
    unusual("id-pool"),
    values("keeps-first"),
    unusual("lowercases"),
    unusual("markdown"),
    unusual("newest"),
    unusual("one-based"),
    Bug { name: "projects", group: Group::Projects },
    values("prose"),
    unusual("rate-limit"),
    values("queries"),
    values("raw"),
    unusual("recent-first"),
    Bug { name: "robots", group: Group::Robots },
    unusual("session"),
    unusual("settles"),
    values("shows-key"),
    unusual("soft-delete"),
    unusual("stamps"),
    unusual("trims"),
    unusual("undo"),
    unusual("unread"),
    unusual("upsert"),
    unusual("version"),
    unusual("views"),
];
