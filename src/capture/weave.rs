//! Puts a call before each instruction that touches memory, and recording functions in the place of some of the C library's.
//!
//! The text is read twice with the same eyes: first every instruction gets a label, so that the assembler's own output says
//! which bytes it became and a decoder what they touch ([`Plan`]); then the calls are written before those that touch
//! something. The form of the call is that of `capture/hooks.S`.

use super::text::{Kind, Lines, Statement, memory_operand, mnemonic, operands, repeats};
use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions, OpAccess, OpKind, Register,
};
use std::fmt::Write as _;

/// Labels of the first reading: `SITE` and the instruction's number.
pub(super) const SITE: &str = "__orrery_site_";

/// Functions of the C and C++ libraries whose calls go to the runtime's function of the same name with `__orrery_` before
/// it (`capture/alloc.c`, `capture/ranges.c`).
pub(super) const REPLACED: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "strdup",
    "strndup",
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "bzero",
    "memcmp",
    "memchr",
    "strlen",
    "strnlen",
    "strcpy",
    "strncpy",
    "stpcpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strchr",
    "strrchr",
    "__memcpy_chk",
    "__memmove_chk",
    "__mempcpy_chk",
    "__memset_chk",
    "__strcpy_chk",
    "__strncpy_chk",
    "__strcat_chk",
    "__strncat_chk",
    "__stpcpy_chk",
    "_exit",
    "_Exit",
    "quick_exit",
];

/// Bytes that the hooks know.
const SIZES: [usize; 9] = [1, 2, 4, 6, 8, 10, 16, 32, 64];

/// What an instruction needs before it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hook {
    /// The name of a hook that takes the address of the operand in memory.
    Operand(String),
    /// The name of one that looks at the registers itself: `rep_movs8`.
    Registers(String),
}

/// What each instruction of a text needs, by its number, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Plan {
    hooks: Vec<Option<Hook>>,
    /// Instructions that touch memory in a way that is not recorded (gathers, saved processor states).
    pub(super) left_out: u64,
}

/// The text with a label before each instruction, and their number.
pub(super) fn labelled(source: &str) -> (String, usize) {
    let mut out = String::with_capacity(source.len() * 2);
    let mut count = 0;
    for_each_line(source, |line, statements, first| {
        let Some(statements) = statements.filter(|_| first.iter().any(Option::is_some)) else {
            out.push_str(line);
            out.push('\n');
            return;
        };
        for (s, site) in statements.iter().zip(first) {
            // Writing to a String cannot fail.
            let _ = match site {
                Some(n) => writeln!(out, "{} {SITE}{n}: {}", s.labels, s.body),
                None => writeln!(out, "{} {}", s.labels, s.body),
            };
            count = site.map_or(count, |n| n + 1);
        }
    });
    (out, count)
}

/// Calls `f` with each line, its statements, and for each statement the number of its instruction (a prefix on a line of its
/// own counts as its instruction, which then has no number itself).
fn for_each_line(source: &str, mut f: impl FnMut(&str, Option<Vec<Statement<'_>>>, &[Option<usize>])) {
    let mut lines = Lines::default();
    let (mut next, mut glued) = (0, false);
    for line in source.lines() {
        let statements = lines.read(line);
        let mut sites = Vec::new();
        for s in statements.iter().flatten() {
            let starts = matches!(s.kind, Kind::Instruction | Kind::Prefix) && !glued;
            sites.push(starts.then_some(next));
            next += usize::from(starts);
            if s.kind != Kind::Empty {
                glued = s.kind == Kind::Prefix;
            }
        }
        f(line, statements, &sites);
    }
}

impl Plan {
    /// A plan for `count` instructions, none of which is known yet.
    pub(super) fn new(count: usize) -> Self {
        Self { hooks: vec![None; count], left_out: 0 }
    }

    /// Learns what instruction `number` is from the bytes it became.
    pub(super) fn learn(&mut self, number: usize, bytes: &[u8], factory: &mut InstructionInfoFactory) {
        let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        let Some(slot) = self.hooks.get_mut(number) else { return };
        match hook(&instruction, factory) {
            Ok(hook) => *slot = hook,
            Err(LeftOut) => self.left_out += 1,
        }
    }
}

/// Touches memory, but nobody here knows how.
struct LeftOut;

fn hook(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Result<Option<Hook>, LeftOut> {
    if instruction.is_invalid() {
        return Ok(None);
    }
    let access: Vec<OpAccess> = {
        let info = factory.info_options(
            instruction,
            InstructionInfoOptions::NO_MEMORY_USAGE | InstructionInfoOptions::NO_REGISTER_USAGE,
        );
        (0..instruction.op_count()).map(|n| info.op_access(n)).collect()
    };
    let touches = |a: OpAccess| !matches!(a, OpAccess::None | OpAccess::NoMemAccess);
    for (n, &access) in (0..instruction.op_count()).zip(&access) {
        match instruction.op_kind(n) {
            OpKind::Memory if touches(access) => {
                let size = instruction.memory_size().size();
                let no_lea = instruction.is_vsib()
                    || instruction.memory_displ_size() == 8 && instruction.memory_base() == Register::None;
                if no_lea || !SIZES.contains(&size) {
                    return Err(LeftOut);
                }
                let letter = match access {
                    OpAccess::Read | OpAccess::CondRead => 'r',
                    OpAccess::Write | OpAccess::CondWrite => 'w',
                    _ => 'm',
                };
                return Ok(Some(Hook::Operand(format!("{letter}{size}"))));
            }
            OpKind::MemoryESRDI | OpKind::MemorySegRSI => {
                let size = instruction.memory_size().size();
                let name = format!("{:?}", instruction.mnemonic()).to_ascii_lowercase();
                return match name.get(..4) {
                    Some(name @ ("movs" | "stos" | "lods")) => Ok(Some(Hook::Registers(format!("{name}{size}")))),
                    _ => Err(LeftOut),
                };
            }
            _ => {}
        }
    }
    Ok(None)
}

/// What the second reading knows of the place it stands at.
#[derive(Default)]
struct Place {
    /// Whether %rbp is the frame pointer of this function.
    framed: bool,
}

impl Place {
    fn pass(&mut self, s: &Statement<'_>) {
        match s.kind {
            Kind::Directive if s.body.starts_with(".cfi_startproc") || s.body.contains("@function") => {
                self.framed = false
            }
            Kind::Instruction if mnemonic(s.body).starts_with("mov") => {
                self.framed |= operands(s.body).eq(["%rsp", "%rbp"]);
            }
            _ => {}
        }
    }

    /// Whether the operand is a slot of the frame: what compilers keep there are registers saved and variables that found
    /// none.
    fn is_slot(&self, operand: &str) -> bool {
        let Some(inner) = operand.split_once('(').and_then(|(_, i)| i.strip_suffix(')')) else { return false };
        inner == "%rsp" || (self.framed && inner == "%rbp")
    }
}

/// The text with the calls in it.
pub(super) fn woven(source: &str, plan: &Plan) -> String {
    let mut out = String::with_capacity(source.len() * 3);
    let mut place = Place::default();
    for_each_line(source, |line, statements, sites| {
        let Some(statements) = statements else {
            out.push_str(line);
            out.push('\n');
            return;
        };
        let before: Vec<String> = statements
            .iter()
            .zip(sites)
            .map(|(s, site)| {
                place.pass(s);
                let hook = site.and_then(|n| plan.hooks.get(n)).and_then(Option::as_ref);
                hook.and_then(|hook| call(hook, s.body, &place)).unwrap_or_default()
            })
            .collect();
        let renamed: Vec<Option<String>> = statements.iter().map(renamed).collect();
        if before.iter().all(String::is_empty) && renamed.iter().all(Option::is_none) {
            out.push_str(line);
            out.push('\n');
            return;
        }
        for ((s, before), renamed) in statements.iter().zip(&before).zip(&renamed) {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}\n{before}\t{}", s.labels, renamed.as_deref().unwrap_or(s.body));
        }
    });
    out
}

/// Bytes between %rsp at the hook's `lea` and %rsp of the program: the red zone and the saved %rdi.
const PUSHED: u32 = 128 + 8;

/// The lines of a call; `None` where the operand is none that is recorded.
fn call(hook: &Hook, body: &str, place: &Place) -> Option<String> {
    let (name, address) = match hook {
        Hook::Registers(name) => {
            let prefix = if repeats(body) { "rep_" } else { "one_" };
            (format!("{prefix}{name}"), String::new())
        }
        Hook::Operand(name) => {
            let operand = memory_operand(body)?;
            // Tables of the linker, not of the program; it may also do away with the access.
            if operand.contains("@GOT")
                || operand.contains("@got")
                || operand.contains("@tls")
                || operand.contains("@TLS")
            {
                return None;
            }
            if place.is_slot(operand) || operand.starts_with("%gs:") {
                return None;
            }
            if let Some(offset) = operand.strip_prefix("%fs:") {
                // Fixed cells of the thread's control block, such as the stack protector's.
                if !offset.contains(['(', '@']) {
                    return None;
                }
                (format!("fs_{name}"), lea(offset, body))
            } else {
                let operand = operand.rsplit_once(':').map_or(operand, |(_, o)| o);
                (name.clone(), lea(operand, body))
            }
        }
    };
    Some(format!(
        "\tleaq -128(%rsp), %rsp\n\tpushq %rdi\n{address}\tcall *__orrery_{name}@GOTPCREL(%rip)\n\tpopq %rdi\n\tleaq 128(%rsp), %rsp\n"
    ))
}

fn lea(operand: &str, body: &str) -> String {
    let by_stack = operand.split_once('(').is_some_and(|(_, inner)| inner.trim_start().starts_with("%rsp"));
    if !by_stack {
        return format!("\tleaq {operand}, %rdi\n");
    }
    // pop raises %rsp before it computes where to store.
    let pushed = PUSHED + if mnemonic(body).starts_with("pop") { 8 } else { 0 };
    let plus = if operand.starts_with('(') { "" } else { "+" };
    format!("\tleaq {pushed}{plus}{operand}, %rdi\n")
}

/// A call or jump to one of [`REPLACED`], to its double; the reference to the original stays, so that a static link still
/// brings it.
fn renamed(s: &Statement<'_>) -> Option<String> {
    if s.kind != Kind::Instruction || !(mnemonic(s.body).starts_with("call") || mnemonic(s.body).starts_with("jmp")) {
        return None;
    }
    let target = operands(s.body).next()?;
    let name = target.strip_prefix('*').unwrap_or(target).split(['@', '(']).next()?;
    REPLACED.contains(&name).then(|| {
        format!(".reloc ., R_X86_64_NONE, {name}\n\t{}", s.body.replacen(name, &format!("__orrery_{name}"), 1))
    })
}
