//! Whether a function keeps the block that a call gave it or hands it on to its caller, as `xmalloc` does: what a block is
//! called is said where it is kept.
//!
//! By the text of the source: `return malloc(n)`, `p = malloc(n)` with a `return p` after it, `*out = p`, and headers of the
//! language itself. Where there is no text, a function keeps what it gets.

use super::assigned::{in_scope, is_cast_only, is_word, left, resolve, statement, target, tokens};
use super::lines::Place;
use super::{Assigned, Module, lines};

/// Lines after the call in which the function may hand the block on.
const LINES_ON: u32 = 100;

/// Calls inlined into each other that are looked at.
const INLINED: usize = 16;

/// Where headers that come with compilers are.
const COMPILERS: [&str; 3] = ["/usr/include/c++/", "/usr/lib/gcc", "/usr/local/include/c++/"];

/// How a function gave a block to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// As what it returns.
    Result,
    /// Through a pointer that it was passed.
    Argument,
}

/// What becomes of a block in the function that a call returns it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays there.
    Kept {
        /// The variable that takes it, where that is sure.
        assigned: Option<Assigned>,
        /// Name of the source file.
        file: String,
        /// Line of the call.
        line: u32,
    },
    /// The function's own caller gets it.
    Passed(Handed),
}

/// The fate of what the call that returns to `return_address` gave; `None` where no source line is known.
pub(super) fn follow(module: &Module, return_address: u64, mut handed: Handed) -> Option<Fate> {
    let call = return_address.checked_sub(1)?;
    let places = module.lines.places(call, INLINED);
    let innermost = places.first()?;
    for place in &places {
        if COMPILERS.iter().any(|folder| place.file.starts_with(folder)) {
            handed = Handed::Result;
            continue;
        }
        let kept = |assigned| Some(Fate::Kept { assigned, file: lines::shown(&place.file), line: place.line });
        let Some(text) = statement(module, place) else {
            let here = std::ptr::eq(place, innermost) && handed == Handed::Result;
            return kept(if here { module.assigned_at(return_address) } else { None });
        };
        let target = match handed {
            Handed::Result if is_returned(&text) => continue,
            Handed::Result => target(&text),
            Handed::Argument => argument(module, place),
        };
        let Some(target) = target else { return kept(None) };
        let plain = target.path.is_empty() && in_scope(&module.debug, call, &target.root).0.is_some();
        if plain && !target.declared && target.stars == 1 {
            handed = Handed::Argument;
        } else if let Some(on) = handed_on(module, place, &target.root).filter(|_| plain) {
            handed = on;
        } else {
            return kept(resolve(module, call, &target));
        }
    }
    Some(Fate::Passed(handed))
}

/// Whether the statement up to the call is `return`, with casts at most.
fn is_returned(text: &str) -> bool {
    let all = tokens(text);
    let from = all.iter().rposition(|t| matches!(t.as_str(), ";" | "{" | "}")).map_or(0, |n| n + 1);
    let last = all.get(from..).unwrap_or_default();
    let returns = last.iter().rposition(|t| t == "return");
    returns.is_some_and(|n| is_cast_only(&last[n + 1..]))
}

/// What the first argument of the form `&x` names, of the call at `place`.
fn argument(module: &Module, place: &Place) -> Option<super::assigned::Target> {
    let line = module.lines.raw(&place.file, place.line);
    let column = usize::try_from(place.column?).ok()?.checked_sub(1)?;
    let next = module.lines.raw(&place.file, place.line + 1);
    let all = tokens(&format!("{} {next}", line.get(column..)?));
    let at = all.windows(2).position(|w| matches!(w[0].as_str(), "(" | ",") && w[1] == "&")? + 2;
    let mut depth = 0i32;
    let ends = |t: &String| {
        depth += i32::from(matches!(t.as_str(), "(" | "[")) - i32::from(matches!(t.as_str(), ")" | "]"));
        depth < 0 || (depth == 0 && t == ",")
    };
    let end = at + all.get(at..)?.iter().position(ends)?;
    left(all.get(at..end)?)
}

/// How the function gives its variable `name` to its caller after `place`; a function ends at a brace in the first column.
fn handed_on(module: &Module, place: &Place, name: &str) -> Option<Handed> {
    let first = module.lines.raw(&place.file, place.line);
    let column = usize::try_from(place.column.unwrap_or(1)).unwrap_or(1).saturating_sub(1);
    let mut text = first.get(column..).unwrap_or_default().to_owned();
    for n in 1..=LINES_ON {
        let line = module.lines.raw(&place.file, place.line.saturating_add(n));
        if line.starts_with('}') {
            break;
        }
        text.push(' ');
        text.push_str(line.split("//").next().unwrap_or_default());
    }
    leaves(&tokens(&text), name)
}

fn leaves(all: &[String], name: &str) -> Option<Handed> {
    for (at, token) in all.iter().enumerate() {
        let rest = &all[at + 1..];
        let end = rest.iter().position(|t| t == ";").unwrap_or(rest.len());
        let rest = &rest[..end];
        if token == "return"
            && let Some(n) = rest.iter().position(|t| t == name)
            && is_cast_only(&rest[..n])
            && rest[n + 1..].iter().all(|t| t == ")")
        {
            return Some(Handed::Result);
        }
        let begins = at == 0 || matches!(all[at - 1].as_str(), ";" | "{" | "}" | ")" | "else");
        if let ("*", [out, equals, what]) = (token.as_str(), rest)
            && begins
            && is_word(out)
            && equals == "="
            && what == name
        {
            return Some(Handed::Argument);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_a_function_is_seen() {
        for (text, fate) in [
            ("(n); if (!p) abort(); return p; ", Some(Handed::Result)),
            ("(n); return (char *)p;", Some(Handed::Result)),
            ("(n); return (p);", Some(Handed::Result)),
            ("(n); if (p) { used += n; } *pp = p; return n;", Some(Handed::Argument)),
            ("(n); return p->next;", None),
            ("(n); return p + 1;", None),
            ("(n); return q;", None),
            ("(n); x = 3 * pp; y = p;", None),
            ("(n); return f(p);", None),
        ] {
            assert_eq!(leaves(&tokens(text), "p"), fate, "{text}");
        }
        for (text, is) in [
            ("{ return ", true),
            ("if (!n) return NULL; return (void *)", true),
            ("return 1 + ", false),
            ("p = ", false),
            ("return f(", false),
        ] {
            assert_eq!(is_returned(text), is, "{text}");
        }
    }
}
