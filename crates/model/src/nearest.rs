//! "did you mean".

/// The candidate that a misspelt word most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            let shorter = candidate.chars().count().min(word.chars().count());
            // Of a single letter nothing is left when it is changed.
            *distance <= 1.max(shorter / 3) && *distance < shorter
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_words_only() {
        let known = ["contains", "contains_any", "not_contains", "equals"];
        assert_eq!(nearest("contain", known), Some("contains"));
        assert_eq!(nearest("Equal", known), Some("equals"));
        assert_eq!(nearest("timeout", known), None);
        assert_eq!(nearest("c", ["a", "b"]), None);
        assert_eq!(nearest("rnu", ["fuzz", "run"]), Some("run"));
    }
}
