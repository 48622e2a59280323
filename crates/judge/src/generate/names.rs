//! Guesses about a property by its name: the last resort if a schema says nothing more.

use super::types::Types;

/// Words in names, and a text that a person might write there; the first word that is found counts.
const TEXTS: &[(&str, &str)] = &[
    ("email", "user@example.com"),
    ("mail", "user@example.com"),
    ("timezone", "Europe/London"),
    ("tz", "Europe/London"),
    ("url", "https://example.com/"),
    ("uri", "https://example.com/"),
    ("link", "https://example.com/"),
    ("href", "https://example.com/"),
    ("domain", "example.com"),
    ("hostname", "localhost"),
    ("host", "localhost"),
    ("directory", "."),
    ("folder", "."),
    ("dir", "."),
    ("cwd", "."),
    ("root", "."),
    ("filename", "notes.txt"),
    ("filepath", "notes.txt"),
    ("path", "notes.txt"),
    ("file", "notes.txt"),
    ("source", "notes.txt"),
    ("destination", "notes-copy.txt"),
    ("glob", "*.txt"),
    ("regex", "[a-z]+"),
    ("pattern", "*"),
    ("sql", "SELECT 1"),
    ("query", "example"),
    ("search", "example"),
    ("keyword", "example"),
    ("datetime", "2024-01-15T09:30:00Z"),
    ("timestamp", "2024-01-15T09:30:00Z"),
    ("date", "2024-01-15"),
    ("day", "2024-01-15"),
    ("time", "14:30"),
    ("language", "en"),
    ("locale", "en-US"),
    ("lang", "en"),
    ("country", "DE"),
    ("city", "Berlin"),
    ("location", "Berlin"),
    ("address", "1 Main Street"),
    ("currency", "EUR"),
    ("phone", "+1 555 0100"),
    ("color", "#336699"),
    ("colour", "#336699"),
    ("branch", "main"),
    ("commit", "HEAD"),
    ("ref", "HEAD"),
    ("revision", "HEAD"),
    ("repository", "example"),
    ("repo", "example"),
    ("owner", "example"),
    ("version", "1.0.0"),
    ("expression", "1 + 1"),
    ("code", "1 + 1"),
    ("command", "echo hello"),
    ("title", "Hello"),
    ("subject", "Hello"),
    ("message", "hello"),
    ("content", "hello"),
    ("text", "hello"),
    ("body", "hello"),
    ("description", "hello"),
    ("comment", "hello"),
    ("note", "hello"),
    ("prompt", "hello"),
    ("input", "hello"),
    ("symbol", "main"),
    ("username", "alice"),
    ("user", "alice"),
    ("id", "1"),
    ("uuid", "f81d4fae-7dec-41d0-8765-00a0c91e6bf6"),
    ("key", "key"),
    ("label", "example"),
    ("tag", "example"),
    ("category", "example"),
    ("name", "example"),
];

/// Words in names, and a number that is usual there.
const NUMBERS: &[(&str, i64)] = &[
    ("limit", 10),
    ("max", 10),
    ("count", 10),
    ("size", 10),
    ("width", 100),
    ("height", 100),
    ("port", 8080),
    ("year", 2024),
    ("month", 6),
    ("day", 15),
    ("latitude", 52),
    ("lat", 52),
    ("longitude", 13),
    ("lng", 13),
    ("lon", 13),
];

/// Words that make a path the path of a folder.
const FOLDERS: &[&str] = &["dir", "directory", "folder", "project", "repo", "repository", "root", "workspace"];

/// A text that fits a property's name.
pub(crate) fn text(name: &str) -> &'static str {
    let words = words(name);
    if words.last().is_some_and(|last| last == "path") && words.iter().any(|word| FOLDERS.contains(&word.as_str())) {
        return ".";
    }
    find(&words, TEXTS).unwrap_or("example")
}

/// A number that fits a property's name.
pub(crate) fn number(name: &str) -> i64 {
    find(&words(name), NUMBERS).unwrap_or(1)
}

/// Beginnings of descriptions of values of one type.
const BEGINNINGS: &[(&str, Types)] = &[
    ("a boolean", Types::BOOLEAN),
    ("array of ", Types::LIST),
    ("boolean", Types::BOOLEAN),
    ("how many ", Types::NUMBER),
    ("if true", Types::BOOLEAN),
    ("list of ", Types::LIST),
    ("maximum number ", Types::NUMBER),
    ("number of ", Types::NUMBER),
    ("the number of ", Types::NUMBER),
    ("true if ", Types::BOOLEAN),
    ("true to ", Types::BOOLEAN),
    ("whether ", Types::BOOLEAN),
];

/// The types that a description speaks of; none when it does not say.
pub(crate) fn types_in_words(description: &str) -> Types {
    let head = description.trim_start();
    let head = head[..head.floor_char_boundary(24)].to_lowercase();
    let found = BEGINNINGS.iter().find(|(beginning, _)| head.starts_with(beginning));
    found.map_or(Types::NONE, |(_, types)| *types)
}

/// A name split into words in lower case: `userId`, `user_id` and `user-id` give the same two.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last_was_lower = false;
    let mut open = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            open = false;
            last_was_lower = false;
            continue;
        }
        if !open || letter.is_uppercase() && last_was_lower {
            words.push(String::new());
            open = true;
        }
        last_was_lower = letter.is_lowercase() || letter.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// A word without the ending of the plural.
pub(crate) fn singular(word: &str) -> &str {
    let plural = word.len() > 3 && !word.ends_with("ss") && !word.ends_with("us");
    if plural { word.strip_suffix('s').unwrap_or(word) } else { word }
}

fn find<T: Copy>(words: &[String], table: &[(&str, T)]) -> Option<T> {
    // The last word is what the name is: a `user_email` is an email, an `email_user` a user.
    let last = words.last()?;
    let by_word = |word: &str| table.iter().find(|(known, _)| *known == singular(word)).map(|(_, found)| *found);
    by_word(last).or_else(|| words.iter().find_map(|word| by_word(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_into_words() {
        assert_eq!(words("userId"), ["user", "id"]);
        assert_eq!(words("user_ids-2"), ["user", "ids", "2"]);
        assert_eq!(words("HTTPServer"), ["httpserver"]);
        assert!(words("$_").is_empty());
        assert_eq!((singular("paths"), singular("status"), singular("class")), ("path", "status", "class"));
    }

    #[test]
    fn a_name_suggests_a_value() {
        assert_eq!(text("source_timezone"), "Europe/London");
        assert_eq!(text("filePath"), "notes.txt");
        assert_eq!(text("email_user"), "alice");
        assert_eq!(text("repo_path"), ".");
        assert_eq!(text("foo"), "example");
        assert_eq!(text(""), "example");
        assert_eq!(number("page_limit"), 10);
        assert_eq!(number("n"), 1);
        assert_eq!(types_in_words("Whether another step is needed"), Types::BOOLEAN);
        assert_eq!(types_in_words("The name of the thing"), Types::NONE);
    }
}
