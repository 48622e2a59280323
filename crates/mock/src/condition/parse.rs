//! Reads a condition. Errors come with their position in the text and with the correct form.

use mcprove_model::nearest;
use serde_json::{Number, Value};

use super::{Comparison, Condition, Term, TextTest};

/// Error in a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Its start, in bytes.
    pub(crate) start: usize,
    /// Its end, in bytes.
    pub(crate) end: usize,
    /// Description of the error.
    pub(crate) message: String,
    /// Advice on what to write instead.
    pub(crate) help: String,
}

/// Maximum nesting depth of a condition.
const DEPTH: usize = 64;
/// Maximum number of tokens in a condition.
const LENGTH: usize = 1_000;

const FUNCTIONS: &str = "known: has(args.x), size(x), x.size(), x.contains(y), x.startsWith(y), x.endsWith(y)";

/// Reads a condition.
pub(crate) fn parse(text: &str) -> Result<Condition, Mistake> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0, end: text.len(), depth: 0 };
    let term = reader.or()?;
    match reader.peek() {
        None => Ok(Condition(term)),
        Some(token) => Err(mistake(
            token,
            format!("the condition should end before `{}`", &text[token.start..token.end]),
            "join conditions with `&&` or `||`",
        )),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Word(String),
    Text(String),
    Number(Number),
    Sign(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

fn mistake(token: &Token, message: impl Into<String>, help: impl Into<String>) -> Mistake {
    Mistake { start: token.start, end: token.end, message: message.into(), help: help.into() }
}

const SIGNS: [&str; 19] =
    ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",", ".", "=", "&", "|", "-"];

fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Kind::Word(rest[..length].to_owned()), length)
        } else if first.is_ascii_digit() {
            number(rest, at)?
        } else if first == '"' || first == '\'' {
            quoted(rest, at)?
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Kind::Sign(sign), sign.len())
        } else {
            return Err(Mistake {
                start: at,
                end: at + first.len_utf8(),
                message: format!("`{first}` means nothing in a condition"),
                help: "put text in quotes".to_owned(),
            });
        };
        let token = Token { kind, start: at, end: at + length };
        if tokens.len() == LENGTH {
            return Err(mistake(&token, "the condition is too long", "split it into several answers"));
        }
        tokens.push(token);
        at += length;
    }
    Ok(tokens)
}

fn number(rest: &str, at: usize) -> Result<(Kind, usize), Mistake> {
    let is_part = |(index, c): &(usize, char)| {
        let after_exponent = rest[..*index].ends_with(['e', 'E']);
        c.is_ascii_alphanumeric() || *c == '.' || after_exponent && matches!(c, '+' | '-')
    };
    let length = rest.char_indices().find(|part| !is_part(part)).map_or(rest.len(), |(index, _)| index);
    match serde_json::from_str::<Number>(&rest[..length]) {
        Ok(number) => Ok((Kind::Number(number), length)),
        Err(_) => Err(Mistake {
            start: at,
            end: at + length,
            message: format!("invalid number `{}`", &rest[..length]),
            help: "write it as in `42` or `2.5`, or put it in quotes if it is text".to_owned(),
        }),
    }
}

fn quoted(rest: &str, at: usize) -> Result<(Kind, usize), Mistake> {
    let mut chars = rest.char_indices();
    let quote = chars.next().map_or('"', |(_, quote)| quote);
    let mut text = String::new();
    while let Some((index, c)) = chars.next() {
        if c == quote {
            return Ok((Kind::Text(text), index + 1));
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        let escaped = chars.next().map(|(_, c)| c);
        let code = |digits: usize, chars: &mut std::str::CharIndices<'_>| {
            let digits: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
        };
        let meant = match escaped {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some(c @ ('\\' | '"' | '\'' | '`' | '?')) => Some(c),
            Some('x') => code(2, &mut chars),
            Some('u') => code(4, &mut chars),
            Some('U') => code(8, &mut chars),
            Some(_) | None => None,
        };
        let Some(meant) = meant else {
            let length = escaped.map_or(1, |c| 1 + c.len_utf8());
            return Err(Mistake {
                start: at + index,
                end: at + index + length,
                message: format!("unknown escape `{}`", &rest[index..index + length]),
                help: "write `\\\\` for a backslash; known: \\n \\t \\r \\\\ \\\" \\' \\xHH \\uHHHH".to_owned(),
            });
        };
        text.push(meant);
    }
    Err(Mistake {
        start: at,
        end: at + rest.len(),
        message: "this text has no closing quote".to_owned(),
        help: format!("add a `{quote}`"),
    })
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    end: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let taken = self.peek().is_some_and(|token| matches!(token.kind, Kind::Sign(other) if other == sign));
        self.at += usize::from(taken);
        taken
    }

    fn expect(&mut self, sign: &str, why: &str) -> Result<(), Mistake> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(self.wrong(format!("a `{sign}` is missing {why}"), format!("add `{sign}`")))
    }

    fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Mistake {
        match self.peek() {
            Some(token) => mistake(token, message, help),
            None => Mistake { start: self.end, end: self.end, message: message.into(), help: help.into() },
        }
    }

    fn or(&mut self) -> Result<Term, Mistake> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.wrong("the condition is nested too deeply", "split it into several answers"));
        }
        let mut left = self.and()?;
        while self.takes("||") {
            left = Term::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Term, Mistake> {
        let mut left = self.comparison()?;
        while self.takes("&&") {
            left = Term::And(Box::new(left), Box::new(self.comparison()?));
        }
        for (single, double) in [("&", "&&"), ("|", "||")] {
            if self.peek().is_some_and(|token| token.kind == Kind::Sign(single)) {
                return Err(self.wrong(format!("`{single}` means nothing in a condition"), format!("write `{double}`")));
            }
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Term, Mistake> {
        const SIGNS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Different),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let left = self.unary()?;
        if self.peek().is_some_and(|token| token.kind == Kind::Sign("=")) {
            return Err(self.wrong("`=` does not compare", "write `==`"));
        }
        if let Some(token) = self.peek()
            && token.kind == Kind::Word("in".to_owned())
        {
            self.at += 1;
            return Ok(Term::In(Box::new(left), Box::new(self.unary()?)));
        }
        let sign = SIGNS.iter().find(|(sign, _)| self.takes(sign));
        let Some((_, how)) = sign else { return Ok(left) };
        let right = self.unary()?;
        if SIGNS.iter().any(|(sign, _)| self.peek().is_some_and(|token| token.kind == Kind::Sign(sign))) {
            return Err(self.wrong("comparisons cannot be chained", "join two of them with `&&`"));
        }
        Ok(Term::Compare(*how, Box::new(left), Box::new(right)))
    }

    fn unary(&mut self) -> Result<Term, Mistake> {
        let mut negations = 0usize;
        while self.takes("!") {
            negations += 1;
        }
        let mut term = self.postfix()?;
        // Double negation is not the identity: it also turns values that are not booleans into `false`.
        for _ in 0..negations.min(2 + negations % 2) {
            term = Term::Not(Box::new(term));
        }
        Ok(term)
    }

    fn postfix(&mut self) -> Result<Term, Mistake> {
        let mut term = self.primary()?;
        loop {
            if self.takes(".") {
                let Some(Token { kind: Kind::Word(name), .. }) = self.peek() else {
                    return Err(self.wrong("a name is missing after `.`", "write a name, or `[\"odd name\"]`"));
                };
                let token = self.at;
                self.at += 1;
                term = if self.takes("(") {
                    self.method(term, name, token)?
                } else {
                    Term::Member(Box::new(term), name.clone())
                };
            } else if self.takes("[") {
                let index = self.or()?;
                self.expect("]", "after the index")?;
                term = Term::Index(Box::new(term), Box::new(index));
            } else {
                return Ok(term);
            }
        }
    }

    fn method(&mut self, of: Term, name: &str, token: usize) -> Result<Term, Mistake> {
        let test = match name {
            "size" => {
                self.expect(")", "after `size(`")?;
                return Ok(Term::Size(Box::new(of)));
            }
            "contains" => TextTest::Contains,
            "startsWith" => TextTest::StartsWith,
            "endsWith" => TextTest::EndsWith,
            _ => return Err(self.unknown_function(name, token)),
        };
        let part = self.or()?;
        self.expect(")", &format!("after `{name}(…`"))?;
        Ok(Term::Text(test, Box::new(of), Box::new(part)))
    }

    fn unknown_function(&self, name: &str, token: usize) -> Mistake {
        let help = match nearest(name, ["has", "size", "contains", "startsWith", "endsWith"]) {
            Some(near) => format!("did you mean `{near}`?"),
            None => FUNCTIONS.to_owned(),
        };
        mistake(&self.tokens[token], format!("the function `{name}` is not known"), help)
    }

    fn primary(&mut self) -> Result<Term, Mistake> {
        let Some(token) = self.peek() else {
            return Err(self.wrong("the condition ends too early", "write a value, or an argument as in `args.city`"));
        };
        self.at += 1;
        match &token.kind {
            Kind::Text(text) => Ok(Term::Literal(Value::String(text.clone()))),
            Kind::Number(number) => Ok(Term::Literal(Value::Number(number.clone()))),
            Kind::Sign("-") => self.negative(token),
            Kind::Sign("(") => {
                let term = self.or()?;
                self.expect(")", "after the parenthesis")?;
                Ok(term)
            }
            Kind::Sign("[") => self.list(),
            Kind::Sign(sign) => Err(mistake(token, format!("a value is missing before `{sign}`"), "write one")),
            Kind::Word(word) => self.word(word, token),
        }
    }

    fn negative(&mut self, sign: &Token) -> Result<Term, Mistake> {
        let Some(Token { kind: Kind::Number(number), .. }) = self.peek() else {
            return Err(mistake(sign, "`-` is allowed only before numbers", "write a number after it"));
        };
        self.at += 1;
        let negative = serde_json::from_str::<Number>(&format!("-{number}"));
        negative.map(|number| Term::Literal(Value::Number(number))).map_err(|_| mistake(sign, "no number", "write one"))
    }

    fn list(&mut self) -> Result<Term, Mistake> {
        let mut items = Vec::new();
        if self.takes("]") {
            return Ok(Term::List(items));
        }
        loop {
            items.push(self.or()?);
            if self.takes("]") {
                return Ok(Term::List(items));
            }
            if !self.takes(",") {
                return Err(self.wrong("a `]` is missing after the list", "add `]`, or `,` between its items"));
            }
        }
    }

    fn word(&mut self, word: &str, token: &Token) -> Result<Term, Mistake> {
        let at = self.at - 1;
        if self.takes("(") {
            return match word {
                "has" => {
                    let of = self.or()?;
                    self.expect(")", "after `has(…`")?;
                    match of {
                        Term::Member(..) | Term::Index(..) => Ok(Term::Has(Box::new(of))),
                        _ => Err(mistake(token, "`has` asks for an argument", "write it as in `has(args.city)`")),
                    }
                }
                "size" => {
                    let of = self.or()?;
                    self.expect(")", "after `size(…`")?;
                    Ok(Term::Size(Box::new(of)))
                }
                _ => Err(self.unknown_function(word, at)),
            };
        }
        match word {
            "true" => Ok(Term::Literal(Value::Bool(true))),
            "false" => Ok(Term::Literal(Value::Bool(false))),
            "null" => Ok(Term::Literal(Value::Null)),
            "args" => Ok(Term::Args),
            _ => Err(mistake(
                token,
                format!("`{word}` is not known"),
                format!("write `args.{word}` for an argument, or `\"{word}\"` for text"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_where_they_are() {
        for (text, place, message, help) in [
            ("", "", "ends too early", "args.city"),
            ("args.id = 1", "=", "`=` does not compare", "`==`"),
            ("args.a & args.b", "&", "means nothing", "`&&`"),
            ("city == 'x'", "city", "`city` is not known", "`args.city`"),
            ("args.a == 'x", "'x", "no closing quote", "add a `'`"),
            ("args.a == 'x\\q'", "\\q", "unknown escape", "known: \\n"),
            ("args.a.matches('x')", "matches", "`matches` is not known", "known: has"),
            ("args.a.contain('x')", "contain", "`contain` is not known", "did you mean `contains`?"),
            ("args.a.contains('x'", "", "a `)` is missing", "add `)`"),
            ("args.a in [1, 2", "", "a `]` is missing", "add `]`"),
            ("args.a == 1 args.b", "args", "should end", "&&"),
            ("1 < args.a < 3", "<", "chained", "&&"),
            ("args. == 3", "==", "a name is missing", "odd name"),
            ("args.a == #", "#", "means nothing", "quotes"),
            ("args.a == 12abc", "12abc", "invalid number", "quotes"),
            ("args.a == ", "", "ends too early", "a value"),
            ("has(args)", "has", "asks for an argument", "has(args.city)"),
            ("exists(args.a)", "exists", "is not known", "known: has"),
            ("- args.a > 1", "-", "only before numbers", "a number"),
        ] {
            let wrong = parse(text).expect_err(text);
            assert_eq!(&text[wrong.start..wrong.end], place, "{text}: {wrong:?}");
            assert!(wrong.message.contains(message) && wrong.help.contains(help), "{text}: {wrong:?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(parse(&format!("{}1{}", "(".repeat(60), ")".repeat(60))).is_ok());
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&format!("{}args.a", "!".repeat(900))).is_ok());
        assert!(parse(&format!("args{}", ".a".repeat(100_000))).is_err());
    }
}
