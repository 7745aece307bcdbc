//! Puts a call before each instruction that touches memory, and recording functions in the place of some of the C library's.
//!
//! The text is read twice with the same eyes: first every instruction gets a label, so that the assembler's own output says
//! which bytes it became and a decoder what they touch ([`Plan`]); then the calls are written before those that touch
//! something. The form of the call is that of `capture/hooks.S`.

use super::intel::{ATT, Syntax};
use super::text::{Kind, Lines, Statement, memory_operand, mnemonic, operands, repeats};
use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions, OpAccess, OpKind,
    Register,
};

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
    "vfork",
    "clone",
];

/// Moves whose address has 64 bits and cannot be computed by `lea`.
const WIDE: [Code; 8] = [
    Code::Mov_AL_moffs8,
    Code::Mov_AX_moffs16,
    Code::Mov_EAX_moffs32,
    Code::Mov_RAX_moffs64,
    Code::Mov_moffs8_AL,
    Code::Mov_moffs16_AX,
    Code::Mov_moffs32_EAX,
    Code::Mov_moffs64_RAX,
];

/// Bytes that the hooks know.
const SIZES: [usize; 9] = [1, 2, 4, 6, 8, 10, 16, 32, 64];

/// What an instruction needs before it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hook {
    /// The name of a hook that takes the address of the operand in memory, and that address as the decoder has it.
    Operand(String, Address),
    /// The name of one that looks at the registers itself: `rep_movs8`.
    Registers(String),
}

/// Registers of an address, as AT&T syntax has them in its parentheses; empty = none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address(String);

/// What each instruction of a text needs, by its number, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Plan {
    hooks: Vec<Option<Hook>>,
    /// Instructions that touch memory in a way that is not recorded (gathers, saved processor states).
    pub(super) left_out: u64,
}

/// The text with a label before each instruction.
pub(super) struct Labelled {
    /// The text.
    pub(super) text: String,
    /// The number of instructions.
    pub(super) count: usize,
    /// Whether macros or repetitions were written out as code, whose instructions have no labels.
    pub(super) written_out: bool,
}

/// Puts a label before each instruction.
pub(super) fn labelled(source: &str, syntax: Syntax) -> Labelled {
    let mut out = String::with_capacity(source.len() * 2);
    let mut count = 0;
    let written_out = for_each_line(source, syntax, |line, statements, first| {
        let Some(statements) = statements.filter(|_| first.iter().any(Option::is_some)) else {
            out.push_str(line);
            out.push('\n');
            return;
        };
        let part = |(s, site): (&Statement<'_>, &Option<usize>)| match site {
            Some(n) => {
                count = n + 1;
                format!("{} {SITE}{n}: {}", s.labels, s.body)
            }
            None => format!("{} {}", s.labels, s.body),
        };
        out.push_str(&statements.iter().zip(first).map(part).collect::<Vec<_>>().join("; "));
        out.push('\n');
    });
    Labelled { text: out, count, written_out }
}

/// Calls `f` with each line, its statements, and for each statement the number of its instruction (a prefix on a line of its
/// own counts as its instruction, which then has no number itself). Gives whether patterns were written out.
fn for_each_line(
    source: &str,
    syntax: Syntax,
    mut f: impl FnMut(&str, Option<Vec<Statement<'_>>>, &[Option<usize>]),
) -> bool {
    let mut lines = Lines::new(syntax);
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
    lines.written_out
}

impl Plan {
    /// A plan for `count` instructions, none of which is known yet.
    pub(super) fn new(count: usize) -> Self {
        Self { hooks: vec![None; count], left_out: 0 }
    }

    /// Learns what instruction `number` is from the bytes it became; gives their number.
    pub(super) fn learn(&mut self, number: usize, bytes: &[u8], factory: &mut InstructionInfoFactory) -> usize {
        let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        let Some(slot) = self.hooks.get_mut(number) else { return 0 };
        match hook(&instruction, factory) {
            Ok(hook) => *slot = hook,
            Err(LeftOut) => self.left_out += 1,
        }
        instruction.len()
    }

    /// Counts what touches memory in code that no label stands before.
    pub(super) fn pass_over(&mut self, bytes: &[u8], factory: &mut InstructionInfoFactory) {
        for instruction in Decoder::new(64, bytes, DecoderOptions::NONE).into_iter().filter(|i| !i.is_invalid()) {
            self.left_out += u64::from(!matches!(hook(&instruction, factory), Ok(None)));
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
                let no_lea = instruction.is_vsib() || WIDE.contains(&instruction.code());
                if no_lea || !SIZES.contains(&size) {
                    return Err(LeftOut);
                }
                let letter = match access {
                    OpAccess::Read | OpAccess::CondRead => 'r',
                    OpAccess::Write | OpAccess::CondWrite => 'w',
                    _ => 'm',
                };
                return Ok(Some(Hook::Operand(format!("{letter}{size}"), address(instruction))));
            }
            // maskmovdqu and its like, and copies by addresses of 32 bits.
            OpKind::MemorySegDI
            | OpKind::MemorySegEDI
            | OpKind::MemorySegRDI
            | OpKind::MemoryESEDI
            | OpKind::MemorySegESI => return Err(LeftOut),
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

/// The registers of an instruction's address.
fn address(instruction: &Instruction) -> Address {
    let name = |r: Register| match r {
        Register::None => String::new(),
        Register::EIP => "%eip".into(),
        r => format!("%{r:?}").to_ascii_lowercase(),
    };
    let (base, index) = (name(instruction.memory_base()), name(instruction.memory_index()));
    Address(match instruction.memory_index_scale() {
        _ if index.is_empty() => base,
        scale => format!("{base},{index},{scale}"),
    })
}

impl Address {
    /// Whether an operand of a text has these registers.
    fn is_of(&self, operand: &str) -> bool {
        let inner = operand.rsplit_once('(').and_then(|(_, inner)| inner.strip_suffix(')')).unwrap_or_default();
        // Where the index has no factor, base and index may be named in either order.
        let swapped = |a: &str| {
            let (base, index) = a.strip_suffix(",1")?.split_once(',')?;
            Some(format!("{index},{base},1"))
        };
        inner == self.0 || swapped(inner).is_some_and(|s| s == self.0)
    }
}

/// Where the frame begins: the canonical frame address as a register and an offset (DWARF 5, section 6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameRule {
    register: char,
    offset: i64,
}

impl FrameRule {
    /// The frame address as an operand inside a call's preparation; `None` where it is not a register and an offset.
    fn address(self) -> Option<String> {
        match self.register {
            's' => Some(format!("{}(%rsp)", i64::from(PUSHED) + self.offset)),
            'b' => Some(format!("{}(%rbp)", self.offset)),
            _ => None,
        }
    }
}

/// At entry: the stack pointer stands one return address below.
const AT_ENTRY: FrameRule = FrameRule { register: 's', offset: 8 };

/// What the second reading knows of the place it stands at.
struct Place {
    /// Whether %rbp is the frame pointer of this function.
    framed: bool,
    rule: FrameRule,
    remembered: Vec<FrameRule>,
    /// The last label was that of a cold part, which is entered in the middle.
    cold: bool,
    /// The function's first instruction is still to come, and it has arrays to tell of.
    entering: bool,
    /// The function that this is, by number of `.cfi_startproc`.
    function: usize,
    /// Between `.cfi_startproc` and `.cfi_endproc`.
    described: bool,
}

impl Place {
    fn new() -> Self {
        Self {
            framed: false,
            rule: AT_ENTRY,
            remembered: Vec::new(),
            cold: false,
            entering: false,
            function: 0,
            described: false,
        }
    }

    fn pass(&mut self, s: &Statement<'_>) {
        if !s.labels.is_empty() && !s.labels.starts_with(".L") {
            self.cold = s.labels.contains(".cold");
        }
        match s.kind {
            Kind::Directive => self.follow(s.body),
            Kind::Instruction if mnemonic(&s.read).starts_with("mov") => {
                self.framed |= operands(&s.read).eq(["%rsp", "%rbp"]);
            }
            _ => {}
        }
    }

    fn follow(&mut self, body: &str) {
        if body.contains("@function") {
            self.framed = false;
        }
        let Some(cfi) = body.strip_prefix(".cfi_") else { return };
        let (name, rest) = cfi.split_once(char::is_whitespace).unwrap_or((cfi, ""));
        let mut values = rest.split(',').map(str::trim);
        let register = |v: Option<&str>| match v {
            Some("7" | "%rsp" | "rsp") => 's',
            Some("6" | "%rbp" | "rbp") => 'b',
            _ => '?',
        };
        let number = |v: Option<&str>| v.and_then(|v| v.parse().ok()).unwrap_or(0);
        match name {
            "startproc" => {
                (self.framed, self.rule, self.entering) = (false, AT_ENTRY, !self.cold);
                self.function += 1;
                self.described = true;
                self.remembered.clear();
            }
            "endproc" => self.described = false,
            "def_cfa" => self.rule = FrameRule { register: register(values.next()), offset: number(values.next()) },
            "def_cfa_register" => self.rule.register = register(values.next()),
            "def_cfa_offset" => self.rule.offset = number(values.next()),
            "adjust_cfa_offset" => self.rule.offset += number(values.next()),
            "remember_state" => self.remembered.push(self.rule),
            "restore_state" => self.rule = self.remembered.pop().unwrap_or(AT_ENTRY),
            // The frame is found by an expression: its function was realigned.
            "escape" => self.rule.register = '?',
            _ => {}
        }
    }

    /// Whether unwinders find the frame by the stack pointer here, so that they must be told when it moves.
    fn by_stack_pointer(&self) -> bool {
        self.described && self.rule.register == 's'
    }

    /// Whether the operand is a slot of the frame: what compilers keep there are registers saved and variables that found
    /// none. Gives its offset from the frame address, where that is known.
    fn slot(&self, operand: &str) -> Option<Option<i64>> {
        let (offset, inner) = operand.split_once('(').and_then(|(o, i)| Some((o, i.strip_suffix(')')?)))?;
        let base = match inner {
            "%rsp" => 's',
            "%rbp" if self.framed => 'b',
            _ => return None,
        };
        let offset: Option<i64> = if offset.is_empty() { Some(0) } else { offset.parse().ok() };
        Some(offset.filter(|_| base == self.rule.register).map(|o| o - self.rule.offset))
    }
}

/// Which functions (by number of `.cfi_startproc`, from 1) may have arrays in their frames that are reached by pointers or
/// indices.
fn with_arrays(source: &str, syntax: Syntax) -> Vec<bool> {
    let mut out = vec![false];
    let mut place = Place::new();
    for_each_line(source, syntax, |_, statements, _| {
        for s in statements.iter().flatten() {
            place.pass(s);
            if out.len() <= place.function {
                out.resize(place.function + 1, false);
            }
            if s.kind == Kind::Instruction {
                let in_frame = |o: &str| {
                    let inner = o.split_once('(').map_or("", |(_, inner)| inner);
                    let indexed = inner.contains(',') || mnemonic(&s.read).starts_with("lea");
                    indexed && (inner.starts_with("%rsp") || inner.starts_with("%rbp"))
                };
                let copied = mnemonic(&s.read).starts_with("mov") && operands(&s.read).next() == Some("%rsp");
                out[place.function] |= copied && !operands(&s.read).eq(["%rsp", "%rbp"]);
                out[place.function] |= operands(&s.read).any(in_frame);
            }
        }
    });
    out
}

/// Knows the arrays and structures in the frames of a text's functions.
pub(super) trait FrameArrays {
    /// Whether the byte at `offset` from the frame address belongs to one; asked of instruction `number`, which is one of
    /// function `function`.
    fn holds(&mut self, function: usize, number: usize, offset: i64) -> bool;

    /// Whether a block begins with instruction `number` whose arrays lie where those of another block do.
    fn begins(&mut self, function: usize, number: usize) -> bool;
}

/// The text with the calls in it. Instructions that are to be recorded, but whose address the text does not tell, are counted
/// as left out.
pub(super) fn woven(source: &str, syntax: Syntax, plan: &mut Plan, arrays: &mut impl FrameArrays) -> String {
    let mut out = String::with_capacity(source.len() * 3);
    let tells = with_arrays(source, syntax);
    let mut place = Place::new();
    for_each_line(source, syntax, |line, statements, sites| {
        let Some(statements) = statements else {
            out.push_str(line);
            out.push('\n');
            return;
        };
        let mut parts = Vec::new();
        let mut changed = false;
        for (n, (s, site)) in statements.iter().zip(sites).enumerate() {
            place.pass(s);
            let mut before = String::new();
            if place.entering && site.is_some() && mnemonic(&s.read) != "endbr64" {
                place.entering = false;
                if tells.get(place.function) == Some(&true) {
                    before.push_str(&around("frame", &format!("leaq {}(%rsp), %rdi; ", PUSHED + 8), &place));
                }
            }
            // In the middle of what a linker may rewrite nothing stands.
            if tells.get(place.function) == Some(&true)
                && let Some(number) = site
                && s.kind == Kind::Instruction
                && mnemonic(&s.read).len() == s.body.find(char::is_whitespace).unwrap_or(s.body.len())
                && !s.body.contains("__tls_get_addr")
                && let Some(frame) = place.rule.address()
                && arrays.begins(place.function, *number)
            {
                before.push_str(&around("frame", &format!("leaq {frame}, %rdi; "), &place));
            }
            if let Some(number) = site
                && let Some(hook) = plan.hooks.get(*number).and_then(Option::as_ref)
            {
                // `lock; addl $1, (%rax)`: the operand comes after the prefix.
                let whole = statements[n..].iter().find(|s| s.kind != Kind::Prefix).unwrap_or(s);
                match call(hook, s, &whole.read, &place, |offset| arrays.holds(place.function, *number, offset)) {
                    Ok(hook) => before.push_str(&hook.unwrap_or_default()),
                    Err(LeftOut) => plan.left_out += 1,
                }
            }
            let renamed = renamed(s);
            changed |= !before.is_empty() || renamed.is_some();
            parts.push(format!("{} {}{}", s.labels, s.syntax.around(before), renamed.as_deref().unwrap_or(s.body)));
        }
        // All on the line that it was, so that the assembler's line numbers stay those of the source.
        out.push_str(&if changed { parts.join("; ") } else { line.to_owned() });
        out.push('\n');
    });
    out
}

/// Bytes between %rsp at the hook's `lea` and %rsp of the program: the red zone and the saved %rdi.
const PUSHED: u32 = 128 + 8;

/// The call of a hook, with what computes its address. Unwinders find their way at each instruction of it: a signal's
/// handler may ask who called, or end the thread (`pthread_cancel`).
fn around(name: &str, address: &str, place: &Place) -> String {
    let moved = |bytes: i32| match place.by_stack_pointer() {
        true => format!(".cfi_adjust_cfa_offset {bytes}; "),
        false => String::new(),
    };
    format!(
        "leaq -128(%rsp), %rsp; {}pushq %rdi; {}{address}call *__orrery_{name}@GOTPCREL(%rip); popq %rdi; {}leaq 128(%rsp), %rsp; {}",
        moved(128),
        moved(8),
        moved(-8),
        moved(-128)
    )
}

/// The call before an instruction, whose operands `body` has; `None` where its operand is none that is recorded. `in_array`
/// tells of offsets from the frame address.
fn call(
    hook: &Hook,
    s: &Statement<'_>,
    body: &str,
    place: &Place,
    in_array: impl FnOnce(i64) -> bool,
) -> Result<Option<String>, LeftOut> {
    let (name, address) = match hook {
        Hook::Registers(name) => {
            return Ok(Some(around(&format!("{}{name}", if repeats(s.body) { "rep_" } else { "one_" }), "", place)));
        }
        Hook::Operand(name, address) => (name, address),
    };
    let operand = memory_operand(body).ok_or(LeftOut)?;
    // What was read into another syntax is held against what the assembler made of it.
    if s.syntax != ATT && !address.is_of(operand) {
        return Err(LeftOut);
    }
    // Tables of the linker, not of the program; it may also do away with the access.
    if ["@GOT", "@got", "@tls", "@TLS"].iter().any(|table| operand.contains(table)) || operand.starts_with("%gs:") {
        return Ok(None);
    }
    if let Some(slot) = place.slot(operand)
        && !slot.is_some_and(in_array)
    {
        return Ok(None);
    }
    if let Some(offset) = operand.strip_prefix("%fs:") {
        // Fixed cells of the thread's control block, such as the stack protector's.
        let ours = offset.contains(['(', '@']);
        return Ok(ours.then(|| around(&format!("fs_{name}"), &lea(offset, body), place)));
    }
    let operand = operand.rsplit_once(':').map_or(operand, |(_, o)| o);
    Ok(Some(around(name, &lea(operand, body), place)))
}

fn lea(operand: &str, body: &str) -> String {
    let by_stack = operand.split_once('(').is_some_and(|(_, inner)| inner.trim_start().starts_with("%rsp"));
    if !by_stack {
        return format!("leaq {operand}, %rdi; ");
    }
    // pop raises %rsp before it computes where to store.
    let pushed = PUSHED + if mnemonic(body).starts_with("pop") { 8 } else { 0 };
    let plus = if operand.starts_with('(') { "" } else { "+" };
    format!("leaq {pushed}{plus}{operand}, %rdi; ")
}

/// A call or jump to one of [`REPLACED`], to its double; a reference to the original stays, so that a static link still
/// brings it: in a section that no link keeps.
fn renamed(s: &Statement<'_>) -> Option<String> {
    if s.kind != Kind::Instruction || !(mnemonic(&s.read).starts_with("call") || mnemonic(&s.read).starts_with("jmp")) {
        return None;
    }
    let target = operands(&s.read).next()?;
    let name = target.strip_prefix('*').unwrap_or(target).split(['@', '(']).next()?;
    REPLACED.contains(&name).then(|| {
        let double = s.body.replacen(name, &format!("__orrery_{name}"), 1);
        format!(".pushsection .orrery.used,\"e\",@progbits; .quad {name}; .popsection; {double}")
    })
}
