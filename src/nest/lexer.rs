//! Text into words, numbers and signs, each with its place.

use super::fault::NestError;

/// A place in a text, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    pub(super) line: u32,
    pub(super) column: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    Word(String),
    Whole(i64),
    /// A number with a point or exponent: a value, of which nothing here depends.
    Decimal(String),
    Text(String),
    Sign(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) what: Lexeme,
    pub(super) at: At,
    /// Bytes of the text.
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The longest first.
const SIGNS: [&str; 36] = [
    "..=", "**", "//", "..", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "=", "+", "-", "*",
    "/", "%", "(", ")", "[", "]", "{", "}", ",", ";", "!", ":", "?", ".", "|", "&",
];

impl Lexeme {
    /// As a message shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) | Self::Decimal(word) => format!("`{}`", short(word)),
            Self::Whole(number) => format!("`{number}`"),
            Self::Text(text) => format!("the text \"{}\"", short(text)),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".into(),
        }
    }
}

/// A text as it may stand in a message.
pub(super) fn short(text: &str) -> String {
    let shown = crate::shown::line(text);
    if shown.chars().count() <= 60 {
        return shown.into_owned();
    }
    shown.chars().take(57).chain("...".chars()).collect()
}

/// Where `name:line:column` stands.
pub(super) fn place(name: &str, at: At) -> String {
    format!("{name}:{}:{}", at.line, at.column)
}

/// All tokens, [`Lexeme::End`] the last. `#` starts a comment that goes to the end of the line.
pub(super) fn tokens(name: &str, text: &str) -> Result<Vec<Token>, NestError> {
    let mut out = Vec::new();
    let (mut at, mut line, mut line_start) = (0, 1u32, 0);
    let bytes = text.as_bytes();
    let column = |line_start: usize, at: usize| {
        u32::try_from(text.get(line_start..at).map_or(0, |t| t.chars().count())).unwrap_or(u32::MAX - 1) + 1
    };
    while let Some(&byte) = bytes.get(at) {
        let here = At { line, column: if byte == b'\n' { 0 } else { column(line_start, at) } };
        let fault = |found: String, expected: &str, remedy: &str| {
            Err(NestError::new(place(name, here), found, expected, remedy))
        };
        let rest = &text[at..];
        let from = at;
        let what = match byte {
            b'\n' => {
                at += 1;
                (line, line_start) = (line + 1, at);
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'"' => {
                let inside = &rest[1..];
                let Some(end) = inside.find(['"', '\n']).filter(|end| inside[*end..].starts_with('"')) else {
                    return fault("a text without an end".into(), "`\"` before the end of the line", "close the text");
                };
                at += end + 2;
                Lexeme::Text(inside[..end].to_owned())
            }
            b'0'..=b'9' => {
                let (length, what) = number(rest);
                at += length;
                match what {
                    Some(what) => what,
                    None => {
                        let found = format!("the number `{}`", short(&rest[..length]));
                        return fault(found, "a whole number below 2^63, or a decimal number", "write a smaller one");
                    }
                }
            }
            _ => {
                let word: usize =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
                if word > 0 {
                    at += word;
                    Lexeme::Word(rest[..word].to_owned())
                } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                    at += sign.len();
                    Lexeme::Sign(sign)
                } else {
                    let sign = rest.chars().next().map_or(String::new(), |c| short(&c.to_string()));
                    return fault(format!("`{sign}`"), "a word, a number or an operator", "remove it");
                }
            }
        };
        out.push(Token { what, at: here, from, to: at });
    }
    let end = At { line, column: column(line_start, text.len()) };
    out.push(Token { what: Lexeme::End, at: end, from: text.len(), to: text.len() });
    Ok(out)
}

/// Bytes of a number, and which it is; none where it is past 64 bits. `0..N` has the number 0.
fn number(text: &str) -> (usize, Option<Lexeme>) {
    let run =
        |from: usize, test: fn(&u8) -> bool| from + text.as_bytes()[from..].iter().take_while(|b| test(b)).count();
    if let Some(hex) = text.strip_prefix("0x") {
        let length = run(2, u8::is_ascii_hexdigit);
        let digits = &hex[..length - 2];
        return (length, i64::from_str_radix(digits, 16).ok().map(Lexeme::Whole));
    }
    let digit = |b: &u8| b.is_ascii_digit() || *b == b'_';
    let mut end = run(0, digit);
    let mut whole = true;
    let bytes = text.as_bytes();
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        whole = false;
        end = run(end + 1, digit);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            whole = false;
            end = run(end + 1 + sign, digit);
        }
    }
    let words = &text[..end];
    if !whole {
        return (end, Some(Lexeme::Decimal(words.to_owned())));
    }
    (end, words.replace('_', "").parse().ok().map(Lexeme::Whole))
}
