//! Instructions in Intel syntax, or without the signs of registers, as AT&T syntax has them: what stands left of an address
//! is not looked at twice, so that all that follows reads one syntax.
//!
//! ```text
//! mov   eax, DWORD PTR -20[rbp+rax*4]        gcc
//! mov   eax, dword ptr [rbp + 4*rax - 20]    clang
//! mov   -20(%rbp,%rax,4), %eax               as read here
//! ```
//!
//! Only operands change; mnemonics stay as they are. The result is never assembled as a whole: hooks take its address, whose
//! registers and numbers the decoder's have to equal.

use super::text::after_prefixes;

/// How a text is written from here on: `.intel_syntax` and `.att_syntax`, `prefix` and `noprefix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Syntax {
    /// Destinations first, addresses in brackets.
    pub(super) intel: bool,
    /// Registers begin with `%`.
    pub(super) prefix: bool,
}

/// AT&T syntax, as compilers write it unless told otherwise.
pub(super) const ATT: Syntax = Syntax { intel: false, prefix: true };

impl Default for Syntax {
    fn default() -> Self {
        ATT
    }
}

impl Syntax {
    /// What a directive says of it: the word after `.intel_syntax` or `.att_syntax`.
    pub(super) fn said(intel: bool, word: Option<&str>) -> Self {
        Self { intel, prefix: word != Some("noprefix") }
    }

    /// Statements in AT&T syntax, for a place where this one holds.
    pub(super) fn around(self, att: String) -> String {
        if self == ATT || att.is_empty() {
            return att;
        }
        let name = if self.intel { "intel" } else { "att" };
        let prefix = if self.prefix { "prefix" } else { "noprefix" };
        format!(".att_syntax prefix; {att}.{name}_syntax {prefix}; ")
    }

    /// An instruction with its operands in AT&T syntax and order.
    pub(super) fn read(self, body: &str) -> String {
        let rest = after_prefixes(body);
        let (head, operands) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        let prefixes = &body[..body.len() - rest.len()];
        let mnemonic = head.to_ascii_lowercase();
        let read: Vec<String> = if self.intel {
            split(operands).rev().map(|o| operand(o, jumps(&mnemonic))).collect()
        } else {
            split(operands).map(signed).collect()
        };
        format!("{prefixes}{mnemonic} {}", read.join(", "))
    }
}

/// Whether a name alone is where the instruction goes to, not what it loads.
fn jumps(mnemonic: &str) -> bool {
    mnemonic.starts_with('j') || mnemonic.starts_with("call") || mnemonic.starts_with("loop") || mnemonic == "xbegin"
}

/// Operands at commas outside brackets.
fn split(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let mut depth = 0i32;
    let mut starts = vec![0];
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ',' if depth == 0 => starts.push(at + 1),
            _ => {}
        }
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|at| at - 1).chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(from, to)| text[from..to].trim()).filter(|o| !o.is_empty())
}

/// Names of registers that operands are, without `%`.
fn is_register(word: &str) -> bool {
    const NAMED: [&str; 17] =
        ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "al", "bl", "cl", "dl", "ah", "bh", "ch", "dh", "ip"];
    const NUMBERED: [&str; 10] = ["xmm", "ymm", "zmm", "tmm", "mm", "bnd", "cr", "dr", "st", "k"];
    let lower = word.to_ascii_lowercase();
    let word = lower.as_str();
    let number = |tail: &str| !tail.is_empty() && tail.len() < 3 && tail.bytes().all(|b| b.is_ascii_digit());
    let wide = word.strip_prefix(['e', 'r']).filter(|w| NAMED[..8].contains(w) || *w == "ip");
    wide.is_some()
        || NAMED[..16].contains(&word)
        || ["sil", "dil", "bpl", "spl", "st"].contains(&word)
        || SEGMENTS.contains(&word)
        || NUMBERED.iter().any(|n| word.strip_prefix(n).is_some_and(number))
        || word.strip_prefix('r').is_some_and(|n| number(n.trim_end_matches(['d', 'w', 'b'])))
}

const SEGMENTS: [&str; 6] = ["cs", "ds", "es", "fs", "gs", "ss"];

/// A register as AT&T syntax has it.
fn register(text: &str) -> Option<String> {
    let bare = text.strip_prefix('%').unwrap_or(text);
    let name = bare.split('(').next().unwrap_or(bare).trim();
    is_register(name).then(|| format!("%{}", bare.to_ascii_lowercase()))
}

/// Words: names and numbers, with where they are. `x@tpoff` is one.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + text[at..].find(part)?;
        let to = text[from..].find(|c| !part(c)).map_or(text.len(), |n| from + n);
        at = to;
        Some((from, &text[from..to]))
    })
}

/// Of AT&T syntax without the signs of registers.
fn signed(operand: &str) -> String {
    let mut out = String::with_capacity(operand.len() + 4);
    let mut at = 0;
    for (from, word) in words(operand) {
        out.push_str(&operand[at..from]);
        if is_register(word) && !operand[..from].ends_with(['%', '$']) {
            out.push('%');
        }
        out.push_str(word);
        at = from + word.len();
    }
    out.push_str(&operand[at..]);
    out
}

/// Of Intel syntax.
fn operand(text: &str, jumps: bool) -> String {
    // Masks and roundings: `{k1}{z}`.
    let (text, mask) = text.split_at(text.find('{').unwrap_or(text.len()));
    let text = text.trim();
    if let Some(register) = register(text) {
        return format!("{}{register}", if jumps { "*" } else { "" });
    }
    let first = words(text).next().map_or("", |(_, word)| word);
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '~' | '\'' | '(' | '$'));
    let is_address = text.contains(['[', ':']) || words(text).any(|(_, w)| w.eq_ignore_ascii_case("ptr"));
    if first.eq_ignore_ascii_case("offset") || is_number && !is_address {
        return format!("${text}");
    }
    if jumps && !is_address {
        return text.to_owned();
    }
    // What cannot be read stays as it is, and the decoder's registers will not be found in it.
    let read = address(text).unwrap_or_else(|| text.to_owned());
    format!("{}{read}{mask}", if jumps { "*" } else { "" })
}

/// `DWORD PTR fs:x@tpoff[0+rax*4]` as `%fs:x@tpoff(,%rax,4)`.
fn address(text: &str) -> Option<String> {
    // Sizes say what is loaded, not from where.
    let mut text = text.to_owned();
    let ends_size = |word: &str| word.eq_ignore_ascii_case("ptr") || word.eq_ignore_ascii_case("bcst");
    loop {
        let found = words(&text).find(|(_, word)| ends_size(word)).map(|(at, word)| (at, at + word.len()));
        let Some((at, past)) = found else { break };
        let size = words(&text[..at]).last().map(|(from, _)| from)?;
        text.replace_range(size..past, "");
    }
    let mut segment = String::new();
    while let Some((before, after)) = text.split_once(':') {
        let name = words(before).last()?.1.to_ascii_lowercase();
        if !SEGMENTS.contains(&name.as_str()) {
            return None;
        }
        let rest = before.trim_end();
        let rest = rest[..rest.len() - name.len()].trim_end_matches('%');
        segment = format!("%{name}:");
        text = format!("{rest}{after}");
    }
    let terms = terms(&text.replace('[', "+(").replace(']', ")"))?;
    let (mut base, mut index) = (None::<String>, None::<(String, u32)>);
    let (mut number, mut names) = (0i64, String::new());
    for (negative, term) in terms {
        let scaled = term.split_once('*').map(|(a, b)| (a.trim(), b.trim()));
        let scaled = scaled
            .and_then(|(a, b)| Some((register(a).or_else(|| register(b))?, a.parse().or_else(|_| b.parse()).ok()?)));
        if let Some(scaled) = scaled {
            if negative || index.replace(scaled).is_some() {
                return None;
            }
        } else if let Some(register) = register(&term) {
            if negative {
                return None;
            }
            // The stack pointer can be no index: whichever is named first, it is the base.
            match (&base, index.is_some()) {
                (None, _) => base = Some(register),
                (Some(_), true) => return None,
                (Some(old), false) if register == "%rsp" => {
                    index = Some((old.clone(), 1));
                    base = Some(register);
                }
                (Some(_), false) => index = Some((register, 1)),
            }
        } else if let Some(value) = value(&term) {
            number = if negative { number.checked_sub(value)? } else { number.checked_add(value)? };
        } else if words(&term).any(|(_, w)| is_register(w)) {
            return None;
        } else {
            names.push_str(if negative { "-" } else { "+" });
            names.push_str(&term);
        }
    }
    let mut out = names.strip_prefix('+').unwrap_or(&names).to_owned();
    if number != 0 || out.is_empty() && base.is_none() && index.is_none() {
        out.push_str(&if out.is_empty() { number.to_string() } else { format!("{number:+}") });
    }
    match (base, index) {
        (None, None) => {}
        (Some(base), None) => out.push_str(&format!("({base})")),
        (base, Some((index, scale))) => out.push_str(&format!("({},{index},{scale})", base.unwrap_or_default())),
    }
    Some(format!("{segment}{out}"))
}

fn value(term: &str) -> Option<i64> {
    match term.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        // One that begins with 0 is octal: left to the assembler.
        None if term.len() > 1 && term.starts_with('0') => None,
        None => term.parse().ok(),
    }
}

/// What a sum adds up, with whether it is taken off; parentheses are opened.
fn terms(text: &str) -> Option<Vec<(bool, String)>> {
    let mut out = Vec::new();
    let (mut from, mut negative) = (0, false);
    let mut depth = 0i32;
    for (at, c) in text.char_indices().chain([(text.len(), '+')]) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '+' | '-' if depth == 0 => {
                let term = text[from..at].trim();
                let inner = term.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
                match inner {
                    Some(inner) => out.extend(terms(inner)?.into_iter().map(|(n, t)| (n != negative, t))),
                    // A product keeps its sign: `4*-1` is left to the assembler.
                    None if term.ends_with('*') => continue,
                    None if term.is_empty() => {
                        negative ^= c == '-';
                        from = at + 1;
                        continue;
                    }
                    None => out.push((negative, term.to_owned())),
                }
                (from, negative) = (at + c.len_utf8(), c == '-');
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    (depth == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTEL: Syntax = Syntax { intel: true, prefix: false };

    #[test]
    fn operands_are_those_of_att_syntax() {
        for (intel, att) in [
            ("mov eax, DWORD PTR -20[rbp]", "mov -20(%rbp), %eax"),
            ("mov eax, dword ptr [rbp - 20]", "mov -20(%rbp), %eax"),
            ("mov rbp, rsp", "mov %rsp, %rbp"),
            ("movsd QWORD PTR 16[rax+rdx*8], xmm0", "movsd %xmm0, 16(%rax,%rdx,8)"),
            ("mov eax, dword ptr [rcx + 4*r15 + 12]", "mov 12(%rcx,%r15,4), %eax"),
            ("movsx eax, BYTE PTR -117[rsp]", "movsx -117(%rsp), %eax"),
            ("mov eax, [rax+rsp]", "mov (%rsp,%rax,1), %eax"),
            ("mov eax, 8[rax][rcx*4]", "mov 8(%rax,%rcx,4), %eax"),
            ("lea rdx, 0[0+rax*4]", "lea (,%rax,4), %rdx"),
            ("mov eax, DWORD PTR table[rip+36]", "mov table+36(%rip), %eax"),
            ("mov eax, dword ptr [rip + .L.q+8]", "mov .L.q+8(%rip), %eax"),
            ("mov eax, DWORD PTR fs:tl@tpoff[0+rax*4]", "mov %fs:tl@tpoff(,%rax,4), %eax"),
            ("mov eax, DWORD PTR fs:4+tl@tpoff", "mov %fs:tl@tpoff+4, %eax"),
            ("mov rax, QWORD PTR fs:[0]", "mov %fs:0, %rax"),
            ("mov eax, OFFSET FLAT:x", "mov $OFFSET FLAT:x, %eax"),
            ("mov DWORD PTR x, 5", "mov $5, x"),
            ("mov eax, x", "mov x, %eax"),
            ("call malloc", "call malloc"),
            ("call [QWORD PTR malloc@GOTPCREL[rip]]", "call *malloc@GOTPCREL(%rip)"),
            ("notrack jmp rax", "notrack jmp *%rax"),
            ("jmp [QWORD PTR .L4[0+rax*8]]", "jmp *.L4(,%rax,8)"),
            ("vmovups ZMMWORD PTR [rax+64]{k1}, zmm0", "vmovups %zmm0, 64(%rax){k1}"),
            ("vaddps zmm0, zmm1, DWORD PTR [rax]{1to16}", "vaddps (%rax){1to16}, %zmm1, %zmm0"),
            ("lock add dword ptr [rax], 1", "lock add $1, (%rax)"),
            ("MOV EAX, DWORD PTR [RAX+RCX*2]", "mov (%rax,%rcx,2), %eax"),
            ("mov eax, -8[rbp-4]", "mov -12(%rbp), %eax"),
            ("mov eax, [x-(4-8)+rax]", "mov x+4(%rax), %eax"),
            ("mov al, 'a'", "mov $'a', %al"),
            ("fadd st(0), st(1)", "fadd %st(1), %st(0)"),
            ("ret", "ret "),
        ] {
            assert_eq!(INTEL.read(intel), att, "{intel}");
        }
        // Not to be read: its registers are not where the decoder has them.
        for wrong in ["mov eax, [rax+rcx+rdx]", "mov eax, [rax-rcx]", "mov eax, [rax*3+4", "mov eax, gs2:[rax]"] {
            assert!(!INTEL.read(wrong).contains("(%"), "{wrong}: {}", INTEL.read(wrong));
        }
        let bare = Syntax { intel: false, prefix: false };
        assert_eq!(bare.read("mov 4(rax,rcx,2), eax"), "mov 4(%rax,%rcx,2), %eax");
        assert_eq!(bare.read("mov $x, %eax"), "mov $x, %eax");
        assert_eq!(bare.read("mov fs:x@tpoff, r10d"), "mov %fs:x@tpoff, %r10d");
    }
}
