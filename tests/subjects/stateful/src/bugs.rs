//! The bugs, and the tools that a server with each of them has.

/// The tools of a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Notes,
    Values,
    Counters,
    Settings,
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

/// Every bug; `none` of each group has none.
pub(crate) const BUGS: &[Bug] = &[
    notes("count-drifts"),
    notes("crash-after-delete"),
    notes("cursor-repeats"),
    notes("delete-forgotten"),
    notes("descriptor-leak"),
    notes("half-import"),
    notes("id-reuse"),
    notes("limit-plus-one"),
    notes("list-keeps-title"),
    notes("list-truncated"),
    Bug { name: "lost-increment", group: Group::Counters },
    notes("page-off-by-one"),
    notes("read-counts"),
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
