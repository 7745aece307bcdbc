//! Text from elsewhere, made fit to be shown: on a terminal, in a table, in the window and in its title.
//!
//! Names in traces, names of files and lines of sources are whatever somebody wrote. On a terminal an escape sequence moves
//! the cursor, sets the clipboard or clears what was said; a line break forges a row of a table; a sign that turns the
//! direction of writing makes `exe.txt` of `txt.exe`; a name of megabytes takes gigabytes to lay out. What is shown therefore
//! goes through here: [`line()`] writes out what does something instead of being seen (`\n`, `\u{1b}`), [`name`] also shortens.
//! Nothing else writes to standard output or standard error: [`tell`], [`out`] and [`raw`] are the only ways, which lints hold.
//! JSON keeps every sign, written as its escape where a terminal would obey it ([`json`]).

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a name that is shown.
pub const NAME: usize = 120;
/// Columns of words in a picture or window: more than any has room for.
const WORDS: usize = 400;
/// Columns of a sentence that is shown: a path of the greatest length and words around it fit.
const SENTENCE: usize = 6000;
/// Signs without a width that may follow one that has some: more than any script stacks.
const STACKED: usize = 4;

/// Whether a sign does something to its surroundings instead of being seen itself.
#[must_use]
pub fn acts(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Breaks of lines and paragraphs; soft hyphen; directions of writing; joiners and other signs without a width;
        // notes between lines; tags.
        '\u{2028}' | '\u{2029}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        // NUL, BEL, ESC, CR, DEL and the like, and those of 0x80 to 0x9f.
        c => c.is_control(),
    }
}

/// How many columns a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// One line, every sign of which is seen: what acts is written out, what is stacked past reading is left out.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) || is_fit(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    put(&mut out, text, &mut 0, TEXT);
    Cow::Owned(out)
}

/// As [`line()`], and of [`NAME`] columns at most: the middle of a longer one is left out, for names differ at their ends.
#[must_use]
pub fn name(text: &str) -> Cow<'_, str> {
    short(text, NAME)
}

/// As [`line()`], for words in a picture or a window.
#[must_use]
pub fn words(text: &str) -> Cow<'_, str> {
    short(text, WORDS)
}

/// As [`line()`], of `most` columns at most; `…` stands for what is left out.
#[must_use]
pub fn short(text: &str, most: usize) -> Cow<'_, str> {
    // A sign takes 4 bytes and STACKED more with it: what is past that is not looked at, however long the text is.
    let reach = most.saturating_mul(4 * (1 + STACKED));
    if text.len() <= reach {
        let whole = line(text);
        if width(&whole) <= most {
            return whole;
        }
    }
    let (head, tail) = (most / 3 * 2, most.saturating_sub(most / 3 * 2 + 1));
    let first = line(&text[..text.floor_char_boundary(reach)]).into_owned();
    let last = line(&text[text.ceil_char_boundary(text.len().saturating_sub(reach))..]).into_owned();
    let mut out = cut(first.chars(), head);
    out.push('…');
    out.extend(cut(last.chars().rev(), tail).chars().rev());
    Cow::Owned(out)
}

/// As many signs as take `most` columns.
fn cut(signs: impl Iterator<Item = char>, most: usize) -> String {
    let mut left = most;
    signs.take_while(|c| left.checked_sub(c.width().unwrap_or(1)).map(|rest| left = rest).is_some()).collect()
}

/// Several lines, each as [`line()`] has it: the breaks between them stay. For what a tool said, and help.
#[must_use]
pub fn lines(text: &str) -> String {
    let all: Vec<Cow<'_, str>> = text.split('\n').map(|text| line(text.strip_suffix('\r').unwrap_or(text))).collect();
    all.join("\n")
}

/// A word of a command that is suggested, so that a shell takes it for one word and nothing else.
#[must_use]
pub fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./+:@%,=-".contains(c) || !c.is_ascii() && !acts(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    if !word.chars().any(acts) {
        return Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")));
    }
    // bash, zsh, ksh and, since 2024, POSIX: $'...' says any sign by its code.
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if acts(c) => c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| out.push_str(&format!("\\x{b:02x}"))),
            c => out.push(c),
        }
    }
    out.push('\'');
    Cow::Owned(out)
}

fn is_fit(text: &str) -> bool {
    let mut stack = 0;
    text.chars().all(|c| {
        stack = if c.width() == Some(0) { stack + 1 } else { 0 };
        stack <= STACKED && !acts(c)
    })
}

/// How what acts is written, and what is stacked past reading.
#[derive(Clone, Copy, Debug)]
struct Manner {
    acts: fn(&mut String, char),
    stacked: fn(&mut String, char),
}

/// For reading: no more is stacked than scripts do.
const TEXT: Manner = Manner { acts: write_out, stacked: |_, _| () };
/// For programs that read it back: nothing is lost.
const CODE: Manner = Manner { acts: write_code, stacked: write_code };

/// As Rust writes it within quotes.
fn write_out(out: &mut String, c: char) {
    out.extend(c.escape_default());
}

/// As JSON and TOML do.
fn write_code(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Appends a text, in a manner. `stack` counts the signs without a width since the last that has some.
fn put(out: &mut String, text: &str, stack: &mut usize, manner: Manner) {
    for c in text.chars() {
        if acts(c) {
            *stack = 0;
            (manner.acts)(out, c);
            continue;
        }
        *stack = if c.width() == Some(0) { *stack + 1 } else { 0 };
        if *stack <= STACKED { out.push(c) } else { (manner.stacked)(out, c) }
    }
}

/// Writes one line on standard error: `note: ...`, `error: ...`. A reader that has gone away is nobody's fault.
pub fn tell(sentence: fmt::Arguments<'_>) {
    let sentence = sentence.to_string();
    speak(&short(&sentence, SENTENCE));
}

/// Writes several lines on standard error, for what another program said.
pub fn say_lines(text: &str) {
    speak(&lines(text));
}

#[expect(clippy::disallowed_methods, reason = "this is the place")]
fn speak(text: &str) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Whether standard error is a terminal.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Whether standard output is a terminal.
#[must_use]
pub fn is_read_by_people() -> bool {
    raw().is_terminal()
}

/// Standard output for text: line breaks stay, all else that acts is written out.
#[must_use]
pub fn out() -> Fit<impl Write> {
    Fit::new(StandardOutput(raw()), TEXT)
}

/// Standard output for JSON and TOML: what acts is written as their escape, so that it reads back as it was.
#[must_use]
pub fn json() -> Fit<impl Write> {
    Fit::new(StandardOutput(raw()), CODE)
}

/// Standard output for pictures and traces: bytes as they are.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub fn raw() -> io::Stdout {
    io::stdout()
}

/// Writes what is still on its way to standard output.
///
/// # Errors
/// Where it is not taken.
pub fn flush() -> io::Result<()> {
    StandardOutput(raw()).flush()
}

/// Standard output. Its errors say that it is the place.
#[derive(Debug)]
struct StandardOutput(io::Stdout);

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(unwritten)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(unwritten)
    }
}

/// The error of standard output, with its place. The kind of error stays, so that a closed pipe and a full disk are told apart.
pub(crate) fn unwritten(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output cannot be written to: {error}"))
}

/// A writer of text that lets through nothing but what is seen, and line breaks.
#[derive(Debug)]
pub struct Fit<W: Write> {
    inner: W,
    manner: Manner,
    /// The first bytes of a sign, whose others have not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Fit<W> {
    fn new(inner: W, manner: Manner) -> Self {
        Self { inner, manner, begun: Vec::new() }
    }

    /// For text.
    pub fn text(inner: W) -> Self {
        Self::new(inner, TEXT)
    }
}

impl<W: Write> Write for Fit<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.begun);
        // What is no UTF-8 is told by a sign of its own; an end that may go on waits.
        let rest = match std::str::from_utf8(&all) {
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            _ => all.len(),
        };
        self.begun.extend_from_slice(&all[rest..]);
        let text = String::from_utf8_lossy(&all[..rest]);
        let mut out = String::with_capacity(text.len());
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                out.push('\n');
            }
            put(&mut out, line, &mut 0, self.manner);
        }
        self.inner.write_all(out.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// As `eprintln!`, through [`tell`]: one line on standard error, whatever names are in it.
#[cfg(feature = "capture")]
macro_rules! say {
    ($($words:tt)*) => { $crate::shown::tell(format_args!($($words)*)) };
}
#[cfg(feature = "capture")]
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out_and_the_rest_stays() {
        for (text, shown) in [
            ("plain A[1] { x }", "plain A[1] { x }"),
            ("Größe 長さ ∑ é e\u{301}", "Größe 長さ ∑ é e\u{301}"),
            ("a\nb\r\0\x07\x1b[31m\x7f", "a\\nb\\r\\u{0}\\u{7}\\u{1b}[31m\\u{7f}"),
            ("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"),
            ("x\u{202e}txt.exe\u{2066}\u{200b}\u{feff}", "x\\u{202e}txt.exe\\u{2066}\\u{200b}\\u{feff}"),
            ("a\u{2028}b\u{2029}\u{e0041}\u{ad}", "a\\u{2028}b\\u{2029}\\u{e0041}\\u{ad}"),
        ] {
            assert_eq!(line(text), shown);
            assert_eq!(line(&line(text)), shown, "once more changes nothing");
            assert!(!shown.chars().any(acts));
        }
        assert!(matches!(line("Größe"), Cow::Borrowed(_)));
    }

    #[test]
    fn words_of_commands_are_one_word() {
        for (word, expect) in [
            ("a/b-1.log", "a/b-1.log"),
            ("", "''"),
            ("my trace", "'my trace'"),
            ("it's; rm -rf $HOME `x`", "'it'\\''s; rm -rf $HOME `x`'"),
            ("a\nb'\\\u{9b}", "$'a\\x0ab\\'\\\\\\xc2\\x9b'"),
            ("Größe", "Größe"),
        ] {
            assert_eq!(quoted(word), expect);
        }
    }

    #[test]
    fn signs_are_stacked_no_higher_than_scripts_do() {
        let tall = format!("z{}y", "\u{301}".repeat(500));
        assert_eq!(line(&tall), format!("z{}y", "\u{301}".repeat(STACKED)));
        assert_eq!(line(&"\u{301}".repeat(500)), "\u{301}".repeat(STACKED));
    }

    #[test]
    fn long_names_keep_both_ends() {
        let long = format!("first{}last", "x".repeat(5_000_000));
        let shown = name(&long);
        assert!(shown.starts_with("first") && shown.ends_with("last") && shown.contains('…'), "{shown}");
        assert_eq!(width(&shown), NAME);
        assert_eq!(name(&"y".repeat(NAME)), "y".repeat(NAME));
        // By columns, not by letters; what is written out counts as it is seen.
        assert!(width(&name(&"長".repeat(NAME))) <= NAME && width(&name(&"\u{1b}".repeat(NAME))) <= NAME);
        assert!(name(&"\u{301}".repeat(5_000_000)).len() < 100);
        for most in 0..20 {
            assert!(width(&short("長a\u{1b}b長c長d長e", most)) <= most.max(1), "{most}");
        }
    }

    #[test]
    fn a_writer_lets_line_breaks_through_alone_however_it_is_fed() {
        let text = "r\u{1b}ow 1\nrow\t2 é\u{202e}長\u{9b}\n";
        let expect = "r\\u{1b}ow 1\nrow\\t2 é\\u{202e}長\\u{9b}\n";
        for step in 1..9 {
            let mut out = Vec::new();
            let mut writer = Fit::text(&mut out);
            text.as_bytes().chunks(step).for_each(|part| writer.write_all(part).unwrap());
            writer.flush().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expect, "{step} bytes at once");
        }
        let mut out = Vec::new();
        Fit::text(&mut out).write_all(b"a\xff\xfeb").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn json_reads_back_as_it_was() {
        let text = "\u{1b}]0;\u{7}\u{9b}\u{202e}\u{e0041}\n長z\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}";
        let mut out = Vec::new();
        serde_json::to_writer_pretty(Fit::new(&mut out, CODE), &[text]).unwrap();
        let written = String::from_utf8(out).unwrap();
        assert!(!written.chars().any(|c| c != '\n' && acts(c)), "{written:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), [text]);
    }
}
