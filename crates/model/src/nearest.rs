//! "did you mean".

/// The candidate that a misspelt word most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let length = word.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.chars().count();
            let limit = 1.max(other.min(length) / 3);
            // Words of too different a length need not be compared letter by letter.
            let distance = (other.abs_diff(length) <= limit)
                .then(|| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()))?;
            // Of a single letter nothing is left when it is changed.
            (distance <= limit && distance < other.min(length)).then_some((distance, candidate))
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
