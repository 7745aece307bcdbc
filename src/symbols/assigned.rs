//! Which variable takes what a call returns: `double *a = malloc(n)`, `rows[i] = malloc(n)`, `p->data = new int[n]`.
//!
//! First the source line's text is read up to the call's column; what stands left of the last `=` must then be a pointer by
//! the debug information of variables in scope there. Without the text, a variable whose location list begins with the
//! return register just after the call, or whose stack slot or address the next instruction stores that register to, tells
//! it. Anything else is `None`.

use super::debug::{Debug, Die};
use super::lines::Place;
use super::types::is_elsewhere;
use super::{Assigned, Module, frames};
use gimli::{AttributeValue, Operation};

/// Lines before the call's that a statement may have begun on.
const LINES_BACK: u32 = 4;

/// What the text left of a `=` says: a variable, and the way from it to the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) root: String,
    /// From the variable outwards.
    pub(super) path: Vec<Step>,
    /// As it is shown: `rows[i]`.
    shown: String,
    /// `*` stands before it, which dereferences it, or declares it.
    pub(super) stars: usize,
    /// A type stands before it: it is declared here.
    pub(super) declared: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Index,
    Member(String),
}

pub(super) fn find(module: &Module, return_address: u64) -> Option<Assigned> {
    let call = return_address.checked_sub(1)?;
    let text = module.lines.place(call).and_then(|place| statement(module, &place));
    let by_text = text.map(|text| target(&text).and_then(|t| resolve(module, call, &t)));
    match by_text {
        Some(found) => found,
        None => by_list(module, return_address).or_else(|| by_store(module, return_address)),
    }
}

/// The text of the statement up to the call at `place`; `None` where the source is not to be had.
pub(super) fn statement(module: &Module, place: &Place) -> Option<String> {
    let line = module.lines.raw(&place.file, place.line);
    let column = usize::try_from(place.column?).ok()?.checked_sub(1)?;
    let (before, after) = line.split_at_checked(column)?;
    // C++ gives the column of the parenthesis, C that of the name, or within `hooks.pool->get(n)`.
    let before = if after.starts_with(['(', '.', '-']) { without_callee(before) } else { before };
    let mut text = before.to_owned();
    if !line.trim().is_empty() && fortran_allocate(&line).is_some() {
        return Some(line);
    }
    for back in 1..=LINES_BACK {
        if text.contains([';', '{', '}']) || place.line <= back {
            break;
        }
        let line = module.lines.raw(&place.file, place.line - back);
        text = format!("{} {text}", line.split("//").next().unwrap_or_default());
    }
    Some(text)
}

/// Without the name of what is called at its end: `x`, `a.b->c`.
fn without_callee(text: &str) -> &str {
    let name = |c: char| c == '_' || c.is_alphanumeric();
    let mut rest = text.trim_end().trim_end_matches(name);
    while let Some(owner) = rest.strip_suffix("->").or_else(|| rest.strip_suffix('.')) {
        rest = owner.trim_end().trim_end_matches(name);
    }
    rest
}

/// `a` of Fortran's `allocate(a(n, m))`, where it names one array.
fn fortran_allocate(line: &str) -> Option<String> {
    let line = line.split('!').next().unwrap_or_default().trim();
    let inner = line.to_ascii_lowercase().strip_prefix("allocate")?.trim_start().strip_prefix('(')?.to_owned();
    let end = inner.find(['(', ')', ',', '%'])?;
    let name = inner.get(..end)?.trim().to_owned();
    let mut depth = 0i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            // A second array, or stat=.
            ',' if depth == 0 => return None,
            _ => {}
        }
    }
    (inner.as_bytes().get(end) == Some(&b'(') && is_word(&name)).then_some(name)
}

pub(super) fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic()) && chars.all(|c| c == '_' || c.is_alphanumeric())
}

/// Words and signs.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut token = c.to_string();
        if c == '_' || c.is_alphanumeric() {
            while let Some(&next) = chars.peek().filter(|n| **n == '_' || n.is_alphanumeric()) {
                token.push(next);
                chars.next();
            }
        } else if let Some(&next) = chars.peek() {
            let two: String = [c, next].iter().collect();
            if ["->", "::", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%="].contains(&&*two) {
                chars.next();
                token = two;
            }
        }
        out.push(token);
    }
    out
}

/// What the text says is assigned; `text` ends where the call's name begins.
pub(super) fn target(text: &str) -> Option<Target> {
    if let Some(root) = fortran_allocate(text) {
        return Some(Target { shown: root.clone(), root, path: Vec::new(), stars: 0, declared: true });
    }
    let all = tokens(text);
    // From the last statement on.
    let from = all.iter().rposition(|t| matches!(t.as_str(), ";" | "{" | "}")).map_or(0, |n| n + 1);
    let all = all.get(from..)?;
    let equals = all.iter().rposition(|t| t == "=")?;
    if !is_cast_only(all.get(equals + 1..)?) {
        return None;
    }
    left(all.get(..equals)?)
}

/// Whether nothing stands between `=` and the call but casts, `new T[`, and scopes such as `std::`.
pub(super) fn is_cast_only(tokens: &[String]) -> bool {
    let mut rest = tokens;
    while let Some(first) = rest.first().map(String::as_str) {
        match first {
            "::" => rest = &rest[1..],
            "new" => return true,
            "static_cast" | "reinterpret_cast" => {
                let Some(close) = rest.iter().position(|t| t == ">") else { return false };
                rest = &rest[close + 1..];
            }
            "(" => match rest.iter().position(|t| t == ")") {
                // A cast: words, `*` and `::` in parentheses.
                Some(close) => {
                    let is_type = |t: &String| is_word(t) || matches!(t.as_str(), "*" | "::" | "<" | ">");
                    if close == 1 || !rest[1..close].iter().all(is_type) {
                        return false;
                    }
                    rest = &rest[close + 1..];
                }
                None => rest = &rest[1..],
            },
            word if is_word(word) && rest.get(1).is_some_and(|t| t == "::") => rest = &rest[2..],
            _ => return false,
        }
    }
    true
}

/// The place that an assignment's left side names.
pub(super) fn left(tokens: &[String]) -> Option<Target> {
    let mut at = tokens.len();
    let mut path = Vec::new();
    let word = |at: usize| tokens.get(at).filter(|t| is_word(t));
    let root = loop {
        let last = at.checked_sub(1)?;
        if tokens[last] == "]" {
            let mut depth = 0i32;
            let open = (0..at).rev().find(|&n| {
                depth += i32::from(tokens[n] == "]") - i32::from(tokens[n] == "[");
                depth == 0
            })?;
            path.push(Step::Index);
            at = open;
        } else if let Some(name) = word(last) {
            match last.checked_sub(1).and_then(|n| tokens.get(n)).map(String::as_str) {
                Some("->" | ".") => {
                    path.push(Step::Member(name.clone()));
                    at = last - 1;
                }
                _ => break name.clone(),
            }
        } else if tokens[last] == ")" && path.is_empty() {
            // `double (*m)[16]` lost its extents above; `(*out)` stays unsure.
            return None;
        } else if tokens[last] == ")" {
            let open = (0..last).rev().find(|&n| tokens[n] == "(")?;
            let [star, name] = tokens.get(open + 1..last)? else { return None };
            let declares = open > 0 && is_word(&tokens[open - 1]) && star == "*" && is_word(name);
            let shown = name.clone();
            return declares.then(|| Target { root: name.clone(), path: vec![], shown, stars: 0, declared: true });
        } else {
            return None;
        }
    };
    let begin = at - 1;
    path.reverse();
    // What stands before, back to where this expression begins.
    let from = (0..begin).rev().find(|&n| matches!(tokens[n].as_str(), "(" | ")" | "," | ":" | "=" | "?"));
    let before = tokens.get(from.map_or(0, |n| n + 1)..begin)?;
    let before: Vec<&String> = before.iter().filter(|t| !matches!(t.as_str(), "return" | "else" | "do")).collect();
    let stars = before.iter().rev().take_while(|t| ***t == "*").count();
    let declared = before.iter().any(|t| is_word(t)) || from.is_some_and(|n| tokens[n] == ",");
    let shown = tokens.get(begin..)?.concat();
    let path = if before.iter().any(|t| is_word(t)) && path.iter().all(|s| *s == Step::Index) { vec![] } else { path };
    Some(Target { root, path, shown, stars, declared })
}

/// Looks the target up among the variables in scope; its type must be a pointer.
pub(super) fn resolve(module: &Module, pc: u64, target: &Target) -> Option<Assigned> {
    let debug = &module.debug;
    let (scoped, this) = in_scope(debug, pc, &target.root);
    let member = || this.and_then(|t| debug.member(pointee(debug, t)??, &target.root, 0));
    let unit = debug.function_at(pc).map(|f| f.die.unit);
    let global = || {
        let all = debug.globals.get(&target.root)?;
        all.iter().find(|die| Some(die.unit) == unit).or(all.first()).copied()
    };
    let mut at = scoped.or_else(member).or_else(global)?;
    for step in &target.path {
        at = match step {
            Step::Index => element(debug, at)?,
            Step::Member(name) => {
                let inner = pointee(debug, at).unwrap_or(Some(at))?;
                debug.member(inner, name, 0)?
            }
        };
    }
    if !target.declared {
        for _ in 0..target.stars {
            at = pointee(debug, at)??;
        }
        let name = format!("{}{}", "*".repeat(target.stars), target.shown);
        return assigned(debug, name, at);
    }
    assigned(debug, target.shown.split('[').next().unwrap_or_default().to_owned(), at)
        .map(|a| Assigned { name: if target.path.is_empty() { a.name } else { target.shown.clone() }, ..a })
}

/// The type of the innermost variable of this name whose scope holds `pc`, and that of `this`.
pub(super) fn in_scope(debug: &Debug, pc: u64, name: &str) -> (Option<Die>, Option<Die>) {
    let Some(function) = debug.function_at(pc) else { return (None, None) };
    let (mut found, mut this) = (None, None);
    let unit = function.die.unit;
    // Inner blocks come after outer ones.
    frames::walk(
        debug,
        function.die,
        &mut |unit, e| debug.covers(unit, e, pc).unwrap_or(true),
        &mut |entry| match debug.name(unit, entry) {
            Some(n) if n == name => found = debug.type_through(unit, entry).or(found),
            Some(n) if n == "this" => this = debug.type_through(unit, entry).or(this),
            _ => {}
        },
    );
    (found, this)
}

/// What a pointer type points to: `Some(None)` for `void *`, `None` for what is no pointer.
fn pointee(debug: &Debug, die: Die) -> Option<Option<Die>> {
    let (at, entry) = debug.plain(die)?;
    let points = [gimli::DW_TAG_pointer_type, gimli::DW_TAG_reference_type];
    points.contains(&entry.tag()).then(|| debug.type_of(at.unit, &entry))
}

/// The type of `x[i]`.
fn element(debug: &Debug, die: Die) -> Option<Die> {
    if let Some(inner) = pointee(debug, die) {
        return inner;
    }
    let (at, entry) = debug.plain(die)?;
    let one = entry.tag() == gimli::DW_TAG_array_type && debug.extents(at).is_some_and(|e| e.len() == 1);
    if one { debug.type_of(at.unit, &entry) } else { None }
}

/// A pointer's name and what it points to.
fn assigned(debug: &Debug, name: String, die: Die) -> Option<Assigned> {
    let (at, entry) = debug.plain(die)?;
    // Fortran's allocatable arrays are their elements' arrays.
    let inner = if entry.tag() == gimli::DW_TAG_array_type && is_elsewhere(&entry) {
        debug.type_of(at.unit, &entry)
    } else {
        pointee(debug, die)?
    };
    let unknown = || Assigned { name: name.clone(), elem_type: String::new(), elem_bytes: 1, inner_shape: Vec::new() };
    let Some(layout) = inner.and_then(|t| debug.layout(t)) else { return Some(unknown()) };
    Some(Assigned {
        elem_type: layout.elem_type,
        elem_bytes: layout.elem_bytes,
        inner_shape: layout.shape,
        ..unknown()
    })
}

/// Bytes of code over which rax surely keeps what a call returned: constants loaded into other registers and rax stored
/// or copied, as between a call and the next; x86-64.
fn kept(code: &[u8]) -> u64 {
    let mut at = 0usize;
    loop {
        let rest = code.get(at..).unwrap_or_default();
        at += match rest {
            // mov r32, imm32; not eax.
            [0xb9..=0xbf, ..] => 5,
            [0x41, 0xb8..=0xbf, ..] => 6,
            // mov [..] or register, r64; xor r32, r32.
            [0x48 | 0x49 | 0x4c | 0x4d, 0x89, mode, next, ..] => match (mode >> 6, mode & 7) {
                (3, 0) if rest[0] & 1 == 0 => return at as u64,
                (3, _) => 3,
                (mode, base) => {
                    let index = usize::from(base == 4);
                    let wide = (mode == 0 && base == 5) || (mode == 0 && base == 4 && next & 7 == 5);
                    3 + index + if wide { 4 } else { [0, 1, 4, 0][usize::from(mode)] }
                }
            },
            [0x31, mode, ..] if mode >> 6 == 3 && mode & 7 != 0 => 2,
            _ => return at as u64,
        };
    }
}

/// A pointer whose location list has it in the return register just after the call, where there is just one.
fn by_list(module: &Module, return_address: u64) -> Option<Assigned> {
    let debug = &module.debug;
    let function = debug.function_at(return_address.checked_sub(1)?)?;
    let unit = debug.unit(function.die.unit)?;
    let kept = if module.elf.x86_64 { kept(module.elf.code(return_address)) } else { 0 };
    let after = return_address..=return_address.saturating_add(kept);
    // x86-64's rax, AArch64's x0: both are number 0.
    let begins = |value: AttributeValue<super::Bytes>| -> Option<()> {
        let mut list = unit.attr_locations(value).ok()??;
        while let Some(entry) = list.next().ok()? {
            let mut operations = entry.data.operations(unit.encoding());
            let first = operations.next().ok()?;
            let register = matches!(first, Some(Operation::Register { register: gimli::Register(0) }));
            if after.contains(&entry.range.begin) && register && operations.next().ok()?.is_none() {
                return Some(());
            }
        }
        None
    };
    let mut found: Vec<Assigned> = Vec::new();
    frames::walk(debug, function.die, &mut |_, _| true, &mut |entry| {
        let value = entry.attr_value(gimli::DW_AT_location);
        if value.and_then(begins).is_none() {
            return;
        }
        let (name, die) = (debug.name(function.die.unit, entry), debug.type_through(function.die.unit, entry));
        if let Some(one) = name.zip(die).and_then(|(name, die)| assigned(debug, name, die)) {
            found.push(one);
        }
    });
    let first = found.first()?;
    found.iter().all(|a| a == first).then(|| first.clone())
}

/// A pointer whose stack slot or address is where the instruction after the call stores rax, as code without optimization
/// does.
fn by_store(module: &Module, return_address: u64) -> Option<Assigned> {
    if !module.elf.x86_64 {
        return None;
    }
    let debug = &module.debug;
    let number = |bytes: &[u8]| Some(i64::from(i32::from_le_bytes(bytes.get(..4)?.try_into().ok()?)));
    // mov [rbp + n], rax; mov [rip + n], rax
    let slot = match module.elf.code(return_address) {
        [0x48, 0x89, 0x45, near, ..] => i64::from(near.cast_signed()),
        [0x48, 0x89, 0x85, far @ ..] => number(far)?,
        [0x48, 0x89, 0x05, far @ ..] => {
            let address = return_address.checked_add(7)?.checked_add_signed(number(far)?)?;
            let found = module.variables.iter().find(|v| v.address == address && v.bytes == 8)?;
            let short = found.name.rsplit("::").next()?;
            let types = debug.globals.get(short)?;
            let [only] = types.as_slice() else { return None };
            return assigned(debug, found.name.clone(), *only);
        }
        _ => return None,
    };
    // The frame pointer stands 16 below the canonical frame address.
    let mut at = frames::slots(debug, true, return_address - 1).into_iter().filter(|s| s.offset == slot - 16);
    let found = at.next()?;
    if at.next().is_some() {
        return None;
    }
    assigned(debug, found.name, found.type_die)
}
