//! Arrays and structures that live in a function's stack frame.

use super::StackVariable;
use super::debug::{Debug, Die, Entry};
use gimli::{AttributeValue, Operation};

/// From the canonical frame address to where x86-64's frame pointer points: past the return address and the old pointer.
const FRAME_POINTER: i64 = -16;

/// Numbers of the frame pointer among the registers, x86-64.
const RBP: gimli::Register = gimli::Register(6);

/// What lies in the frame of the function that holds `pc`.
pub(super) fn arrays(debug: &Debug, x86_64: bool, pc: u64) -> Vec<StackVariable> {
    let mut out = Vec::new();
    for slot in slots(debug, x86_64, pc) {
        let Some(layout) = debug.layout(slot.type_die) else { continue };
        let structure = || {
            let holds = [gimli::DW_TAG_structure_type, gimli::DW_TAG_class_type, gimli::DW_TAG_union_type];
            debug.plain(slot.type_die).is_some_and(|(_, e)| holds.contains(&e.tag()))
        };
        if layout.shape.is_empty() && !structure() {
            continue;
        }
        out.push(StackVariable {
            name: slot.name,
            offset: slot.offset,
            bytes: layout.bytes,
            elem_bytes: layout.elem_bytes,
            elem_type: layout.elem_type,
            shape: layout.shape,
            row_major: layout.row_major,
            blocks: slot.block,
        });
    }
    out.sort_by(|a, b| (a.offset, &a.name, a.bytes).cmp(&(b.offset, &b.name, b.bytes)));
    // A function inlined twice may keep an array at one place both times: it is one array.
    out.dedup_by(|b, a| {
        let same =
            StackVariable { blocks: Vec::new(), ..a.clone() } == StackVariable { blocks: Vec::new(), ..b.clone() };
        if same {
            a.blocks.append(&mut b.blocks);
        }
        same
    });
    let spans: Vec<(i64, i64)> = out.iter().map(|a| (a.offset, a.offset.saturating_add_unsigned(a.bytes))).collect();
    for (n, array) in out.iter_mut().enumerate() {
        let shared = |(m, other): (usize, &(i64, i64))| m != n && other.0 < spans[n].1 && spans[n].0 < other.1;
        if !spans.iter().enumerate().any(shared) {
            array.blocks.clear();
        }
    }
    out
}

/// A variable with a fixed place in a frame.
pub(super) struct Slot {
    pub(super) name: String,
    /// From the canonical frame address.
    pub(super) offset: i64,
    pub(super) type_die: Die,
    /// Code of the block or inlined call around it; empty = the function itself.
    pub(super) block: Vec<(u64, u64)>,
}

/// All variables with a fixed place in the frame of the function that holds `pc`, inlined functions' too.
pub(super) fn slots(debug: &Debug, x86_64: bool, pc: u64) -> Vec<Slot> {
    let mut out = Vec::new();
    let Some(function) = debug.function_at(pc) else { return out };
    let unit = function.die.unit;
    let base = debug.entry(function.die).and_then(|e| frame_base(debug, unit, &e, x86_64));
    let Some(base) = base else { return out };
    // Blocks that are open, with their depths.
    let open = std::cell::RefCell::new(Vec::<(isize, Vec<(u64, u64)>)>::new());
    let enter = |unit: usize, entry: &Entry| {
        let mut open = open.borrow_mut();
        open.retain(|(depth, _)| *depth < entry.depth());
        let spans = debug.spans(unit, entry);
        // One without code of its own is where the one around it is.
        if !spans.is_empty() {
            open.push((entry.depth(), spans));
        }
        true
    };
    walk(debug, function.die, &mut { enter }, &mut |entry| {
        let offset = entry.attr_value(gimli::DW_AT_location).and_then(|value| frame_offset(debug, unit, value));
        let Some(offset) = offset.and_then(|n| n.checked_add(base)) else { return };
        if let (Some(name), Some(type_die)) = (debug.name(unit, entry), debug.type_through(unit, entry)) {
            let open = open.borrow();
            let around = open.iter().rev().find(|(depth, _)| *depth < entry.depth());
            out.push(Slot { name, offset, type_die, block: around.map_or_else(Vec::new, |(_, spans)| spans.clone()) });
        }
    });
    out
}

/// Visits the variables and parameters below a function, going into blocks and inlined calls that `enter` lets pass.
pub(super) fn walk(
    debug: &Debug,
    function: Die,
    enter: &mut dyn FnMut(usize, &Entry) -> bool,
    visit: &mut dyn FnMut(&Entry),
) {
    let Some(unit) = debug.units.get(function.unit) else { return };
    let Ok(mut entries) = unit.entries_at_offset(function.offset) else { return };
    if !matches!(entries.next_dfs(), Ok(Some(_))) {
        return;
    }
    let top = entries.current().map_or(0, |e| e.depth());
    // Depth of an entry whose inside is passed over.
    let mut closed: Option<isize> = None;
    while let Ok(Some(entry)) = entries.next_dfs() {
        let depth = entry.depth();
        if depth <= top {
            break;
        }
        if closed.is_some_and(|at| depth > at) {
            continue;
        }
        closed = None;
        match entry.tag() {
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => visit(entry),
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_common_block
                if enter(function.unit, entry) => {}
            // Types and nested functions have their own variables.
            _ => closed = Some(depth),
        }
    }
}

/// From the canonical frame address to what `DW_OP_fbreg` counts from.
fn frame_base(debug: &Debug, unit: usize, function: &Entry, x86_64: bool) -> Option<i64> {
    let AttributeValue::Exprloc(expression) = function.attr_value(gimli::DW_AT_frame_base)? else { return None };
    let mut operations = expression.operations(debug.units.get(unit)?.encoding());
    let base = match operations.next().ok()?? {
        Operation::CallFrameCFA => 0,
        // Clang without optimization: the frame pointer.
        Operation::Register { register } if x86_64 && register == RBP => FRAME_POINTER,
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(base)
}

/// `DW_OP_fbreg n`, alone or as the one place in a list.
fn frame_offset(debug: &Debug, unit: usize, value: AttributeValue<super::Bytes>) -> Option<i64> {
    let encoding = debug.units.get(unit)?.encoding();
    let of = |expression: gimli::Expression<super::Bytes>| {
        let mut operations = expression.operations(encoding);
        let Ok(Some(Operation::FrameOffset { offset })) = operations.next() else { return None };
        operations.next().ok()?.is_none().then_some(offset)
    };
    if let AttributeValue::Exprloc(expression) = value {
        return of(expression);
    }
    let mut list = debug.unit(unit)?.attr_locations(value).ok()??;
    let mut only = None;
    while let Some(entry) = list.next().ok()? {
        let offset = of(entry.data)?;
        if *only.get_or_insert(offset) != offset {
            return None;
        }
    }
    only
}
