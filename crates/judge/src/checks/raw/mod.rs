//! The checks of `assert_raw` besides those of any result: the raw reply, if any.

use super::CheckKind;

mod error;
mod error_code;
mod no_reply;
mod result;

/// Every check of a raw reply, in the order failures are reported.
pub(super) const CHECKS: &[CheckKind] = &[no_reply::KIND, error::KIND, error_code::KIND, result::KIND];
