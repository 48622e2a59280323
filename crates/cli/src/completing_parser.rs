//! A value parser that suggests values to shell completion, and accepts whatever a function accepts.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};

/// Suggested values, and the function that reads a value.
#[derive(Clone)]
pub(crate) struct CompletingParser<T> {
    /// The values that a shell offers.
    pub(crate) names: fn() -> Vec<&'static str>,
    /// Reads a value, also one that is not offered.
    pub(crate) parse: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for CompletingParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        self.parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}
