//! FNV-1a: a hash that is the same on every machine and in every version. Not for secrets.

/// The hash of no bytes.
pub const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds bytes to a hash.
pub fn fnv1a(start: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_are_met() {
        assert_eq!(fnv1a(FNV_START, *b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(FNV_START, *b"foobar"), 0x8594_4171_f739_67e8);
    }
}
