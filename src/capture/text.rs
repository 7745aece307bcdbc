//! Assembler text as statements: what GNU as reads for x86-64, in AT&T syntax and, by way of [`super::intel`], in Intel's.
//!
//! Only what is needed to put code before instructions is understood: labels, directives, instructions with their prefixes and
//! operands, comments, strings. What is not certain to be an instruction is left alone.

use super::intel::{ATT, Syntax};
use std::borrow::Cow;

/// Words that come before a mnemonic and belong to the same instruction.
const PREFIXES: [&str; 21] = [
    "lock", "rep", "repe", "repz", "repne", "repnz", "data16", "data32", "addr32", "rex64", "rex", "rex.w", "cs", "ds",
    "es", "fs", "gs", "ss", "notrack", "bnd", "xacquire",
];

/// A part of a line between semicolons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    /// Labels at its start, with their colons; empty = none.
    pub(super) labels: &'a str,
    /// What follows them, trimmed, as it is written.
    pub(super) body: &'a str,
    /// The same with operands as AT&T syntax has them: what all questions are asked of.
    pub(super) read: Cow<'a, str>,
    pub(super) kind: Kind,
    /// The syntax that it is written in.
    pub(super) syntax: Syntax,
}

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Labels or nothing.
    Empty,
    /// A directive or an assignment.
    Directive,
    /// An instruction.
    Instruction,
    /// A prefix whose instruction is the next statement.
    Prefix,
}

/// Reads text line by line; what a line means may depend on those before it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    in_comment: bool,
    /// Depth of `.macro`, `.rept`, `.irp`, `.irpc`: instructions there are patterns, not code.
    patterns: u32,
    macros: Vec<String>,
    syntax: Syntax,
    /// Patterns written out as code here: what became of them is not seen.
    pub(super) written_out: bool,
}

impl Lines {
    /// For a text that begins in this syntax.
    pub(super) fn new(syntax: Syntax) -> Self {
        Self { syntax, ..Self::default() }
    }

    /// The statements of a line; `None` where it must be left as it is.
    pub(super) fn read<'a>(&mut self, line: &'a str) -> Option<Vec<Statement<'a>>> {
        // The usual line of a compiler needs no search for comments and strings.
        let plain = !line.bytes().any(|b| matches!(b, b'#' | b'/' | b';' | b'"' | b'\''));
        let was_in_comment = self.in_comment;
        let parts = if plain && !was_in_comment { vec![line] } else { self.split(line) };
        if was_in_comment || self.in_comment {
            // A comment over several lines: rare enough to leave its first and last line alone.
            return None;
        }
        let mut out: Vec<Statement<'_>> = Vec::with_capacity(parts.len());
        for part in parts {
            let statement = self.statement(part);
            if statement.kind == Kind::Directive {
                self.follow(statement.body);
            }
            out.push(statement);
        }
        Some(out)
    }

    /// Splits at semicolons outside strings and drops comments.
    fn split<'a>(&mut self, line: &'a str) -> Vec<&'a str> {
        let bytes = line.as_bytes();
        let (mut out, mut start, mut at, mut quoted) = (Vec::new(), 0, 0, false);
        while at < bytes.len() {
            if self.in_comment {
                if bytes[at..].starts_with(b"*/") {
                    self.in_comment = false;
                    at += 1;
                }
            } else if quoted {
                match bytes[at] {
                    b'\\' => at += 1,
                    b'"' => quoted = false,
                    _ => {}
                }
            } else {
                match bytes[at] {
                    b'"' => quoted = true,
                    b'\'' => at += 1,
                    b'#' => break,
                    b'/' if bytes[at..].starts_with(b"//") => break,
                    b'/' if bytes[at..].starts_with(b"/*") => {
                        self.in_comment = true;
                        at += 1;
                    }
                    b';' => {
                        out.push(&line[start..at]);
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            at += 1;
        }
        out.push(line.get(start..at.min(line.len())).unwrap_or_default());
        out
    }

    fn statement<'a>(&self, part: &'a str) -> Statement<'a> {
        let part = part.trim();
        let mut rest = part;
        while let Some(end) = label_end(rest) {
            rest = rest[end..].trim_start();
        }
        let labels = part[..part.len() - rest.len()].trim_end();
        let kind = match rest.split_whitespace().next() {
            None => Kind::Empty,
            Some(_) if rest.starts_with(['.', '"', '\\']) || is_assignment(rest) => Kind::Directive,
            Some(word) if self.patterns > 0 || self.macros.iter().any(|m| m == word) => Kind::Directive,
            Some(_) if rest.contains("/*") => Kind::Directive,
            Some(_) if mnemonic(rest).is_empty() => Kind::Prefix,
            Some(_) => Kind::Instruction,
        };
        let read = match kind {
            Kind::Instruction if self.syntax != ATT => Cow::Owned(self.syntax.read(rest)),
            _ => Cow::Borrowed(rest),
        };
        Statement { labels, body: rest, read, kind, syntax: self.syntax }
    }

    fn follow(&mut self, body: &str) {
        let mut words = body.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
        match words.next().unwrap_or_default() {
            ".macro" => {
                self.patterns += 1;
                self.macros.extend(words.next().map(str::to_owned));
            }
            ".rept" | ".irp" | ".irpc" => {
                self.patterns += 1;
                self.written_out = true;
            }
            ".endm" | ".endr" => self.patterns = self.patterns.saturating_sub(1),
            // A pattern changes the syntax where it is written out, not here.
            ".intel_syntax" if self.patterns == 0 => self.syntax = Syntax::said(true, words.next()),
            ".att_syntax" if self.patterns == 0 => self.syntax = Syntax::said(false, words.next()),
            word => self.written_out |= self.patterns == 0 && self.macros.iter().any(|m| m == word),
        }
    }
}

/// One past the colon of a label at the start; `%fs:0` and `x@y:` are none.
fn label_end(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$')))?;
    (end > 0 && text[end..].starts_with(':')).then_some(end + 1)
}

fn is_assignment(text: &str) -> bool {
    let name = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))).unwrap_or(text.len());
    let rest = text[name..].trim_start();
    rest.starts_with('=')
}

/// The mnemonic of an instruction, after its prefixes; empty where there are only prefixes.
pub(super) fn mnemonic(body: &str) -> &str {
    after_prefixes(body).split_whitespace().next().unwrap_or_default()
}

/// Whether the instruction repeats itself.
pub(super) fn repeats(body: &str) -> bool {
    body.split_whitespace().take(2).any(|w| w.starts_with("rep"))
}

pub(super) fn after_prefixes(body: &str) -> &str {
    let mut rest = body.trim_start();
    while let Some(word) = rest.split_whitespace().next() {
        if !PREFIXES.contains(&word.to_ascii_lowercase().as_str()) && !word.starts_with('{') {
            break;
        }
        rest = rest[word.len()..].trim_start();
    }
    rest
}

/// Operands of an instruction, as written.
pub(super) fn operands(body: &str) -> impl Iterator<Item = &str> {
    let rest = after_prefixes(body);
    let rest = rest.find(char::is_whitespace).map_or("", |end| rest[end..].trim());
    let mut depth = 0u32;
    let split = rest.split(move |c| {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.map(str::trim).filter(|o| !o.is_empty())
}

/// The operand that lies in memory, without the star of an indirect jump and without masks.
pub(super) fn memory_operand(body: &str) -> Option<&str> {
    const SEGMENTS: [&str; 6] = ["%cs:", "%ds:", "%es:", "%fs:", "%gs:", "%ss:"];
    let in_memory =
        |o: &&str| !o.starts_with(['$', '{']) && (!o.starts_with('%') || SEGMENTS.iter().any(|s| o.starts_with(s)));
    let found = operands(body).map(|o| o.strip_prefix('*').unwrap_or(o)).find(in_memory)?;
    let end = found.find('{').unwrap_or(found.len());
    Some(found[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(String, String, Kind)> {
        let mut lines = Lines::default();
        let read = text.lines().filter_map(|l| {
            let statements = lines.read(l)?;
            Some(statements.into_iter().map(|s| (s.labels.to_owned(), s.body.to_owned(), s.kind)).collect::<Vec<_>>())
        });
        read.flatten().filter(|s| s.2 != Kind::Empty || !s.0.is_empty()).collect()
    }

    #[test]
    fn statements_are_told_apart() {
        use Kind::{Directive, Empty, Instruction, Prefix};
        let one = |text: &str| kinds(text).into_iter().next().unwrap_or_else(|| panic!("{text}: nothing"));
        for (text, labels, body, kind) in [
            ("\tmovl\t(%rax), %r8d", "", "movl\t(%rax), %r8d", Instruction),
            (".LFB11:", ".LFB11:", "", Empty),
            ("1: lock; addl $1, (%rax)", "1:", "lock", Prefix),
            ("\t.string \"a;b#c\\\"d\"", "", "\t.string \"a;b#c\\\"d\"".trim(), Directive),
            ("x = 3", "", "x = 3", Directive),
            ("movl %fs:40, %eax # canary", "", "movl %fs:40, %eax", Instruction),
            ("a: b: ret", "a: b:", "ret", Instruction),
            ("rex64", "", "rex64", Prefix),
            ("movb $';', %al", "", "movb $';', %al", Instruction),
        ] {
            assert_eq!(one(text), (labels.to_owned(), body.to_owned(), kind), "{text}");
        }
        assert_eq!(kinds("# a comment; movl (%rax), %ecx"), []);
        assert_eq!(kinds("/* from\n movl (%rax), %ecx\n here */"), []);
        assert_eq!(kinds("nop; nop").len(), 2);
    }

    #[test]
    fn patterns_are_no_code_and_other_syntax_is() {
        let text =
            ".macro m a\nmovl (%rax), \\a\n.endm\nm %ecx\n.intel_syntax noprefix\nmov eax, [rcx]\n.att_syntax\nret";
        let code: Vec<_> = kinds(text).into_iter().filter(|s| s.2 == Kind::Instruction).map(|s| s.1).collect();
        assert_eq!(code, ["mov eax, [rcx]", "ret"]);
        let mut lines = Lines::default();
        let read = |l| lines.read(l).map(|s| s.last().map(|s| s.read.to_string()));
        assert_eq!([".intel_syntax noprefix", "mov eax, [rcx]"].map(read)[1], Some(Some("mov (%rcx), %eax".into())));
    }

    #[test]
    fn the_operand_in_memory_is_found() {
        for (body, operand) in [
            ("movl\t(%rax), %r8d", Some("(%rax)")),
            ("addl $1, 8+x(%rip)", Some("8+x(%rip)")),
            ("lock addl\t$1, 4(%rax)", Some("4(%rax)")),
            ("movl %eax, (%rsp,%rdx,4)", Some("(%rsp,%rdx,4)")),
            ("call *16(%rax)", Some("16(%rax)")),
            ("movq %fs:x@tpoff, %rax", Some("%fs:x@tpoff")),
            ("vmovups (%rax), %zmm0{%k1}{z}", Some("(%rax)")),
            ("vmovups %zmm0, 64(%rax){%k1}", Some("64(%rax)")),
            ("imull $4, (%rcx), %eax", Some("(%rcx)")),
            ("pushq %rax", None),
            ("ret", None),
            ("incl counter", Some("counter")),
        ] {
            assert_eq!(memory_operand(body), operand, "{body}");
        }
        assert!(repeats("rep stosq") && !repeats("stosq"));
    }
}
