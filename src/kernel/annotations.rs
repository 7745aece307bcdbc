//! Comments that say what of a kernel is looked at: `// @watch NAME` and `// @emit EXPRESSION`, after Klein, "Visual exploration of GPU
//! kernels" (thesis), whose language had both as statements.
//!
//! ```text
//! var<workgroup> sums: array<f32, 64>; // @watch       of what is watched alone accesses are told
//! sums[i] += sums[i + s];              // @emit sums[i]      the value is told of each item that comes by, as an f32
//! sums[i] += sums[i + s];              // @emit sums[i] as lines
//! ```
//!
//! They are comments to all others, so the kernel is the same there. Here an expression takes the place of its comment, in the same
//! line: lines stay as they are. What it reads, and that it is evaluated, is counted nowhere.

use super::error::KernelError;
use std::ops::Range;

/// The variable that takes the place of a value that is told.
pub(super) const EMITTED: &str = "orrery_emitted";

/// A value that is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Emit {
    /// Line, the first being 1.
    pub line: u32,
    /// The expression.
    pub words: String,
    /// How values are drawn, where it says so.
    pub form: Option<ValueForm>,
}

/// How values that are told are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueForm {
    /// A bar for each item: its last value.
    Bars,
    /// A line for each item, from its first value to its last.
    Lines,
    /// A dot for each value, above its item.
    Scatter,
    /// Values of an item upon each other.
    Areas,
}

impl ValueForm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bars, Self::Lines, Self::Scatter, Self::Areas];

    /// Its name, as annotations have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bars => "bars",
            Self::Lines => "lines",
            Self::Scatter => "scatter",
            Self::Areas => "areas",
        }
    }
}

/// What the comments of a source say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Annotations {
    /// The source with expressions in place of comments.
    pub(super) text: String,
    /// Values that are told, in the order of the source.
    pub(super) emits: Vec<Emit>,
    /// Where the statements of each are, in `text`.
    pub(super) places: Vec<Range<usize>>,
    /// Names of variables that are watched, and the lines that say so.
    pub(super) watched: Vec<(String, u32)>,
}

impl Annotations {
    /// Reads the comments of a source.
    ///
    /// # Errors
    /// [`KernelError::Source`] for a comment that names nothing, or more than it closes.
    pub(super) fn of(file: &str, source: &str) -> Result<Self, KernelError> {
        let mut out = Self::default();
        let mut copied = 0;
        for (line, Range { start, end }) in comments(source) {
            let words = source[start..end].trim_start_matches('/').trim();
            let wrong = |words: &str| Err(KernelError::Source(format!("{file}:{line}: {words}")));
            if let Some(names) = after(words, "@watch") {
                let names: Vec<String> = match names {
                    "" => declared(source[..start].lines().last().unwrap_or("")).into_iter().collect(),
                    names => names.split(',').map(|name| name.trim().to_owned()).collect(),
                };
                if names.is_empty() {
                    return wrong(
                        "`// @watch`: found no variable; expected its name, as in `// @watch sums`, or a declaration before it",
                    );
                }
                out.watched.extend(names.into_iter().map(|name| (name, line)));
            } else if let Some(expressions) = after(words, "@emit") {
                let (expressions, form) = match formed(expressions) {
                    Ok(found) => found,
                    Err(form) => {
                        return wrong(&format!(
                            "`// {words}`: found `as {form}`; expected as {}",
                            ValueForm::ALL.map(ValueForm::name).join(", as ")
                        ));
                    }
                };
                let Some(expressions) = parted(expressions.trim_end().trim_end_matches(';')) else {
                    return wrong(&format!(
                        "`// {words}`: found brackets that do not fit together; expected an expression, as in `// @emit sums[i]`"
                    ));
                };
                out.text.push_str(&source[copied..start]);
                copied = end;
                for expression in expressions {
                    if expression.is_empty() {
                        return wrong(&format!(
                            "`// {words}`: found no expression; expected one of a number, as in `// @emit sums[i]`"
                        ));
                    }
                    let from = out.text.len();
                    out.text.push_str(&format!(" {EMITTED} = f32({expression});"));
                    out.places.push(from..out.text.len());
                    out.emits.push(Emit { line, words: expression.to_owned(), form });
                }
            }
        }
        out.text.push_str(&source[copied..]);
        if !out.emits.is_empty() {
            out.text.push_str(&format!("\nvar<private> {EMITTED}: f32;\n"));
        }
        Ok(out)
    }

    /// Which of the values is told there.
    pub(super) fn emit_at(&self, at: &Range<usize>) -> Option<usize> {
        self.places.iter().position(|place| place.start <= at.start && at.end <= place.end)
    }
}

/// What stands after a word.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

/// Expressions, and how they are drawn: `as` is no word of an expression. What is no form is given back.
fn formed(text: &str) -> Result<(&str, Option<ValueForm>), &str> {
    let Some((expressions, form)) = text.rsplit_once(" as ") else { return Ok((text, None)) };
    let form = form.trim().trim_end_matches(';');
    let found = ValueForm::ALL.into_iter().find(|of| of.name() == form);
    found.map(|found| (expressions, Some(found))).ok_or(form)
}

/// Comments to the end of a line: the line's number, and where they are. Those within `/* */` are none.
fn comments(source: &str) -> Vec<(u32, Range<usize>)> {
    let bytes = source.as_bytes();
    let (mut out, mut at, mut line, mut depth) = (Vec::new(), 0, 1, 0u32);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => {
                depth += 1;
                at += 1;
            }
            (b'*', Some(b'/')) if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            (b'/', Some(b'/')) if depth == 0 => {
                let end = source[at..].find('\n').map_or(bytes.len(), |n| at + n);
                let end = if source[at..end].ends_with('\r') { end - 1 } else { end };
                out.push((line, at..end));
                at = end;
                continue;
            }
            (b'\n', _) => line += 1,
            _ => {}
        }
        at += 1;
    }
    out
}

/// The variable that a line declares.
fn declared(line: &str) -> Option<String> {
    let mut words = line.split("var").skip(1);
    let rest = words.find(|rest| rest.starts_with(['<', ' ']))?;
    let rest = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?.1,
        None => rest,
    };
    let name: String = rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Expressions between commas that stand in no brackets; nothing where brackets do not fit together.
fn parted(text: &str) -> Option<Vec<&str>> {
    let (mut out, mut from, mut open) = (Vec::new(), 0, Vec::new());
    for (at, sign) in text.char_indices() {
        match sign {
            '(' => open.push(')'),
            '[' => open.push(']'),
            ')' | ']' if open.pop() != Some(sign) => return None,
            ';' | '{' | '}' => return None,
            ',' if open.is_empty() => {
                out.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(text[from..].trim());
    open.is_empty().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> Annotations {
        Annotations::of("k.wgsl", source).expect("read")
    }

    #[test]
    fn an_expression_takes_the_place_of_its_comment_in_the_same_line() {
        let source = "fn f() {\r\n  a = 1; // @emit a, max(b, c[1])\r\n  b = 2; // @emitted\n}\n";
        let found = of(source);
        let made = "fn f() {\r\n  a = 1;  orrery_emitted = f32(a); orrery_emitted = f32(max(b, c[1]));\r\n  b = 2; // @emitted\n}\n";
        assert_eq!(found.text, format!("{made}\nvar<private> orrery_emitted: f32;\n"));
        let emit = |words: &str| Emit { line: 2, words: words.into(), form: None };
        assert_eq!(found.emits, [emit("a"), emit("max(b, c[1])")]);
        let at = made.find("c[1]").expect("there");
        assert_eq!((found.emit_at(&(at..at + 4)), found.emit_at(&(10..14))), (Some(1), None));
    }

    #[test]
    fn an_expression_says_how_it_is_drawn() {
        let found = of("a // @emit a, b as areas\n// @emit c;\n");
        let forms: Vec<_> = found.emits.iter().map(|emit| (emit.words.as_str(), emit.form)).collect();
        assert_eq!(forms, [("a", Some(ValueForm::Areas)), ("b", Some(ValueForm::Areas)), ("c", None)]);
    }

    #[test]
    fn what_is_no_annotation_stays_as_it_is() {
        for source in ["// emit a\n", "/* // @emit a\n */ x", "/* /* */ // @watch a */", "// see @emit a", ""] {
            assert_eq!(of(source), Annotations { text: source.into(), ..Annotations::default() }, "{source}");
        }
    }

    #[test]
    fn names_are_watched() {
        let found = of(
            "var<workgroup> sums: array<f32, 64>; // @watch\n// @watch a, b\n@group(0) var<storage, read_write> g : f32;//@watch",
        );
        let of = |name: &str, line: u32| (name.to_owned(), line);
        assert_eq!(found.watched, [of("sums", 1), of("a", 2), of("b", 2), of("g", 3)]);
        for (source, expect) in [
            ("\n// @watch", "k.wgsl:2: `// @watch`: found no variable"),
            ("// @emit", "k.wgsl:1: `// @emit`: found no expression"),
            ("// @emit a,", "found no expression"),
            ("// @emit a[1", "found brackets that do not fit together"),
            ("// @emit a); b(", "found brackets"),
            ("// @emit a as pies", "found `as pies`; expected as bars, as lines, as scatter, as areas"),
        ] {
            let error = Annotations::of("k.wgsl", source).expect_err(source).to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
