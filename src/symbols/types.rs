//! A type's entry into what memory holds: element, size, shape.

use super::debug::{Debug, Die, Entry, Language};
use gimli::{AttributeValue, DwTag};

/// Types nest no deeper than this; a chain that does is a circle in damaged data.
const DEEPEST: u32 = 64;

/// How a variable lies in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) bytes: u64,
    pub(super) elem_bytes: u32,
    pub(super) elem_type: String,
    /// Outermost first; empty = no array.
    pub(super) shape: Vec<u64>,
    pub(super) row_major: bool,
}

/// Whether an entry only gives another type a name or a qualifier.
pub(super) fn is_wrapper(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_immutable_type
    )
}

impl Debug {
    /// How a variable of this type lies in memory; `None` where its size is not fixed or not told.
    pub(super) fn layout(&self, die: Die) -> Option<Layout> {
        self.layout_within(die, 0)
    }

    fn layout_within(&self, die: Die, depth: u32) -> Option<Layout> {
        if depth > DEEPEST {
            return None;
        }
        let (die, entry) = self.defined(die)?;
        let tag = entry.tag();
        if is_wrapper(tag) {
            let mut inner = self.layout_within(self.type_of(die.unit, &entry)?, depth + 1)?;
            if tag == gimli::DW_TAG_typedef && inner.shape.is_empty() {
                inner.elem_type = self.name(die.unit, &entry).unwrap_or(inner.elem_type);
            }
            return Some(inner);
        }
        if tag == gimli::DW_TAG_array_type && entry.attr_value(gimli::DW_AT_GNU_vector).is_none() {
            return self.array(die, &entry, depth);
        }
        if let Some(inner) = self.std_array(die, &entry, depth) {
            return Some(inner);
        }
        self.single(die, &entry)
    }

    /// A type that is one element.
    fn single(&self, die: Die, entry: &Entry) -> Option<Layout> {
        let bytes = self.size(die, entry)?;
        Some(Layout {
            bytes,
            elem_bytes: u32::try_from(bytes).ok().filter(|&b| b > 0)?,
            elem_type: self.type_name(die, 0),
            shape: Vec::new(),
            row_major: self.language(die.unit) != Language::Fortran,
        })
    }

    /// Bytes of a type that is no array (or a vector register's worth of one).
    fn size(&self, die: Die, entry: &Entry) -> Option<u64> {
        match entry.attr_value(gimli::DW_AT_byte_size) {
            Some(value) => value.udata_value(),
            None => match entry.tag() {
                gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                    Some(u64::from(self.units.get(die.unit)?.header.address_size()))
                }
                // A vector of the machine: its elements together.
                gimli::DW_TAG_array_type => Some(self.array(die, entry, DEEPEST - 1)?.bytes),
                _ => None,
            },
        }
    }

    /// C++'s `std::array<T, N>` is a class with one member, an array: shown as that array.
    fn std_array(&self, die: Die, entry: &Entry, depth: u32) -> Option<Layout> {
        let class = matches!(entry.tag(), gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type);
        if !class || !self.name(die.unit, entry)?.starts_with("array<") {
            return None;
        }
        let is_data = |e: &Entry| e.tag() == gimli::DW_TAG_member && e.attr_value(gimli::DW_AT_external).is_none();
        let mut members = self.children(die).into_iter().filter(|(_, e)| is_data(e));
        let (_, only) = members.next()?;
        let name = self.name(die.unit, &only)?;
        if members.next().is_some() || !matches!(name.as_str(), "_M_elems" | "__elems_") {
            return None;
        }
        let inner = self.layout_within(self.type_of(die.unit, &only)?, depth + 1)?;
        (Some(inner.bytes) == self.size(die, entry)).then_some(inner)
    }

    fn array(&self, die: Die, entry: &Entry, depth: u32) -> Option<Layout> {
        if is_elsewhere(entry) {
            return None;
        }
        let shape = self.extents(die)?;
        let row_major = self.is_row_major(die.unit, entry);
        let inner = self.layout_within(self.type_of(die.unit, entry)?, depth + 1)?;
        let count = |extents: &[u64]| extents.iter().try_fold(1u64, |n, &e| n.checked_mul(e));
        let stride = match entry.attr_value(gimli::DW_AT_byte_stride) {
            Some(value) => value.udata_value()?,
            None => inner.bytes,
        };
        let bytes = count(&shape)?.checked_mul(stride)?;
        if stride != inner.bytes || (!inner.shape.is_empty() && inner.row_major != row_major) {
            // Elements that are arrays of another order, or stand apart: each is one element.
            let elem_type = format!("{}{}", inner.elem_type, brackets(&inner.shape));
            let elem_bytes = u32::try_from(stride).ok().filter(|&b| b > 0)?;
            return Some(Layout { bytes, elem_bytes, elem_type, shape, row_major });
        }
        let shape = if row_major { [shape, inner.shape].concat() } else { [inner.shape, shape].concat() };
        Some(Layout { bytes, elem_bytes: inner.elem_bytes, elem_type: inner.elem_type, shape, row_major })
    }

    /// Whether the last index of this array varies fastest.
    pub(super) fn is_row_major(&self, unit: usize, array: &Entry) -> bool {
        match array.attr_value(gimli::DW_AT_ordering) {
            Some(AttributeValue::Ordering(order)) => order == gimli::DW_ORD_row_major,
            _ => self.language(unit) != Language::Fortran,
        }
    }

    /// An array's extents as declared; `None` where one is not a constant.
    pub(super) fn extents(&self, array: Die) -> Option<Vec<u64>> {
        let first = if self.language(array.unit) == Language::Fortran { 1 } else { 0 };
        let number = |value: AttributeValue<super::Bytes>| match value {
            AttributeValue::Sdata(n) => Some(n),
            // Data forms have no sign; a bound is as large as it looks, but for all ones, which is -1.
            AttributeValue::Data4(u32::MAX) => Some(-1),
            other => other.udata_value().map(u64::cast_signed),
        };
        let mut out = Vec::new();
        for (_, child) in self.children(array) {
            if !matches!(child.tag(), gimli::DW_TAG_subrange_type | gimli::DW_TAG_enumeration_type) {
                continue;
            }
            let extent = match child.attr_value(gimli::DW_AT_count) {
                Some(count) => number(count)?,
                None => {
                    let lower = child.attr_value(gimli::DW_AT_lower_bound).map_or(Some(first), number)?;
                    let upper = number(child.attr_value(gimli::DW_AT_upper_bound)?)?;
                    upper.checked_sub(lower)?.checked_add(1)?
                }
            };
            out.push(u64::try_from(extent).ok().filter(|&n| n > 0)?);
        }
        (!out.is_empty()).then_some(out)
    }

    /// A type as people write it: `double`, `struct point`, `char *`.
    pub(super) fn type_name(&self, die: Die, depth: u32) -> String {
        let Some((die, entry)) = self.defined(die).filter(|_| depth <= DEEPEST) else { return String::new() };
        let name = self.name(die.unit, &entry);
        let tagged = |word: &str| match &name {
            Some(name) if self.language(die.unit) == Language::C => format!("{word} {name}"),
            Some(name) => name.clone(),
            None => word.into(),
        };
        let to = |sign: &str| match self.type_of(die.unit, &entry) {
            None => format!("void {sign}"),
            Some(inner) => {
                let inner = self.type_name(inner, depth + 1);
                let gap = if inner.ends_with(['*', '&']) { "" } else { " " };
                format!("{inner}{gap}{sign}")
            }
        };
        let inner = || self.type_of(die.unit, &entry).map_or_else(|| "void".into(), |t| self.type_name(t, depth + 1));
        match entry.tag() {
            gimli::DW_TAG_structure_type => tagged("struct"),
            gimli::DW_TAG_class_type => name.unwrap_or_else(|| "class".into()),
            gimli::DW_TAG_union_type => tagged("union"),
            gimli::DW_TAG_enumeration_type => tagged("enum"),
            gimli::DW_TAG_pointer_type => to("*"),
            gimli::DW_TAG_reference_type => to("&"),
            gimli::DW_TAG_rvalue_reference_type => to("&&"),
            gimli::DW_TAG_const_type => format!("const {}", inner()),
            gimli::DW_TAG_volatile_type => format!("volatile {}", inner()),
            gimli::DW_TAG_restrict_type | gimli::DW_TAG_atomic_type => inner(),
            gimli::DW_TAG_array_type => format!("{}{}", inner(), brackets(&self.extents(die).unwrap_or_default())),
            gimli::DW_TAG_subroutine_type => "function".into(),
            gimli::DW_TAG_ptr_to_member_type => "member pointer".into(),
            gimli::DW_TAG_string_type => "character".into(),
            _ => name.unwrap_or_default(),
        }
    }

    /// The type itself, past names and qualifiers.
    pub(super) fn plain(&self, die: Die) -> Option<(Die, Entry)> {
        let mut next = die;
        for _ in 0..DEEPEST {
            let (die, entry) = self.defined(next)?;
            if !is_wrapper(entry.tag()) {
                return Some((die, entry));
            }
            next = self.type_of(die.unit, &entry)?;
        }
        None
    }

    /// A member's type, in a structure, class or union, also where it is in a part without a name or in a base class.
    pub(super) fn member(&self, die: Die, name: &str, depth: u32) -> Option<Die> {
        let (die, entry) = self.plain(die)?;
        let holds = [gimli::DW_TAG_structure_type, gimli::DW_TAG_class_type, gimli::DW_TAG_union_type];
        if depth > 8 || !holds.contains(&entry.tag()) {
            return None;
        }
        let children = self.children(die);
        let is = |e: &Entry, tag| e.tag() == tag;
        let own = children.iter().filter(|(_, e)| is(e, gimli::DW_TAG_member) || is(e, gimli::DW_TAG_variable));
        for (at, child) in own {
            match self.name(at.unit, child) {
                Some(found) if found == name => return self.type_through(at.unit, child),
                Some(_) => {}
                None => {
                    let inner = self.type_of(at.unit, child).and_then(|t| self.member(t, name, depth + 1));
                    if inner.is_some() {
                        return inner;
                    }
                }
            }
        }
        let bases = children.iter().filter(|(_, e)| is(e, gimli::DW_TAG_inheritance));
        bases.filter_map(|(at, base)| self.type_of(at.unit, base)).find_map(|t| self.member(t, name, depth + 1))
    }
}

/// Whether the entry describes Fortran's allocatable or pointer array: a descriptor, with the elements elsewhere.
pub(super) fn is_elsewhere(array: &Entry) -> bool {
    let signs = [gimli::DW_AT_data_location, gimli::DW_AT_allocated, gimli::DW_AT_associated];
    signs.into_iter().any(|name| array.has_attr(name))
}

/// `[16][16]`
fn brackets(shape: &[u64]) -> String {
    shape.iter().map(|extent| format!("[{extent}]")).collect()
}
