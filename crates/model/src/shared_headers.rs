//! The headers of an HTTP request or response; clones share them, since most exchanges of a session have the same.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// Headers in their order on the wire.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<(String, String)>")]
pub struct SharedHeaders(Arc<Vec<(String, String)>>);

impl SharedHeaders {
    /// The headers for a change; those of other clones stay as they are.
    pub fn to_mut(&mut self) -> &mut [(String, String)] {
        Arc::make_mut(&mut self.0).as_mut_slice()
    }
}

impl Deref for SharedHeaders {
    type Target = [(String, String)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<Vec<(String, String)>> for SharedHeaders {
    fn from(headers: Vec<(String, String)>) -> Self {
        Self(Arc::new(headers))
    }
}

impl Serialize for SharedHeaders {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}
