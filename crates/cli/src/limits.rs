//! `--limit NAME=VALUE`: bounds on what a server can cost, for servers that honestly need more, or may have less.

use mcprove_model::nearest;
use mcprove_wire::Limits;

/// A bound that can be set, with what it bounds.
struct Bound {
    name: &'static str,
    of: fn(&mut Limits) -> &mut usize,
}

/// Every bound, sorted by name.
const BOUNDS: &[Bound] = &[
    Bound { name: "frame-bytes", of: |limits| &mut limits.frame_bytes },
    Bound { name: "frames", of: |limits| &mut limits.frames },
    Bound { name: "kept-bytes", of: |limits| &mut limits.kept_bytes },
    Bound { name: "list-bytes", of: |limits| &mut limits.list_bytes },
    Bound { name: "message", of: |limits| &mut limits.message_bytes },
    Bound { name: "notifications", of: |limits| &mut limits.notifications },
    Bound { name: "pages", of: |limits| &mut limits.pages },
    Bound { name: "run-bytes", of: |limits| &mut limits.run_bytes },
    Bound { name: "stderr", of: |limits| &mut limits.stderr_bytes },
];

/// One bound set by the user.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    of: fn(&mut Limits) -> &mut usize,
    value: usize,
}

impl std::fmt::Debug for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Limit({})", self.value)
    }
}

/// Reads `NAME=VALUE`; a value is a number, or a size such as `1MiB`.
pub(crate) fn parse(text: &str) -> Result<Limit, String> {
    let names = || BOUNDS.iter().map(|bound| bound.name);
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!(
            "give NAME=VALUE, such as message=128MiB; names: {}",
            names().collect::<Vec<_>>().join(", ")
        ));
    };
    let bound = BOUNDS.iter().find(|bound| bound.name == name).ok_or_else(|| match nearest(name, names()) {
        Some(near) => format!("there is no such limit; did you mean `{near}`?"),
        None => format!("there is no such limit; known: {}", names().collect::<Vec<_>>().join(", ")),
    })?;
    let value = size(value).filter(|value| *value > 0);
    let value = value.ok_or("give a whole number above 0, or a size such as 64KiB, 128MiB or 1GiB")?;
    Ok(Limit { of: bound.of, value })
}

/// The usual bounds, but for these.
pub(crate) fn with(wanted: &[Limit]) -> Limits {
    let mut limits = Limits::default();
    for limit in wanted {
        *(limit.of)(&mut limits) = limit.value;
    }
    limits
}

fn size(text: &str) -> Option<usize> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((text, 0));
    number.trim().parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_bound_can_be_set() {
        assert!(BOUNDS.is_sorted_by(|a, b| a.name < b.name));
        for bound in BOUNDS {
            let limit = parse(&format!("{}=3", bound.name)).expect("a limit");
            assert_eq!(*(bound.of)(&mut with(&[limit])), 3, "{}", bound.name);
        }
    }

    #[test]
    fn sizes_have_units_and_nonsense_is_refused() {
        assert_eq!(with(&[parse("message=2MiB").expect("a limit")]).message_bytes, 2 << 20);
        for wrong in ["message", "message=", "message=0", "message=-1", "message=1MB", "message=99999999999GiB", "x=1"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("mesage=1").expect_err("a typo").contains("did you mean `message`?"));
    }
}
