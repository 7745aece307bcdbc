//! Types of WGSL as the machine sees them: scalars one after the other, each with its place in memory.

use super::error::KernelError;
use naga::{ArraySize, Handle, Module, Scalar, Type, TypeInner, VectorSize};
use std::cell::RefCell;
use std::rc::Rc;

/// The most scalars of one value that is computed with: an array of that length is read and written whole.
const MOST_SCALARS: u64 = 1 << 16;

/// One scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leaf {
    /// Bytes from the start of the value, as it lies in memory.
    pub(super) offset: u32,
    pub(super) scalar: Scalar,
}

/// Sizes of all types of a module.
#[derive(Debug)]
pub(super) struct Types {
    /// Scalars of each type's values; those of an array without a length are those of one element.
    counts: Vec<u64>,
    leaves: RefCell<Vec<Option<Rc<[Leaf]>>>>,
    layouts: Vec<(u32, u32)>,
}

impl Types {
    pub(super) fn new(module: &Module) -> Result<Self, KernelError> {
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).map_err(|error| KernelError::TooMuch(format!("types: {error}")))?;
        let mut counts: Vec<u64> = Vec::new();
        let mut layouts = Vec::new();
        for (handle, ty) in module.types.iter() {
            let of = |handle: Handle<Type>| counts.get(handle.index()).copied().unwrap_or(0);
            counts.push(match &ty.inner {
                TypeInner::Array { base, size, .. } => of(*base).saturating_mul(elements(*size).unwrap_or(1).into()),
                TypeInner::Struct { members, .. } => {
                    members.iter().fold(0u64, |sum, member| sum.saturating_add(of(member.ty)))
                }
                inner => flat(inner).map_or(0, |(count, _)| u64::from(count)),
            });
            layouts.push((layouter[handle].size, layouter[handle].alignment.round_up(1)));
        }
        let leaves = RefCell::new(vec![None; counts.len()]);
        Ok(Self { counts, leaves, layouts })
    }

    /// How many scalars a value has.
    pub(super) fn count(&self, ty: Handle<Type>) -> u64 {
        self.counts[ty.index()]
    }

    /// Bytes of a value in memory, and what its address is a multiple of.
    pub(super) fn layout(&self, ty: Handle<Type>) -> (u32, u32) {
        self.layouts[ty.index()]
    }

    /// Where the scalars of a value lie.
    pub(super) fn leaves(&self, module: &Module, ty: Handle<Type>) -> Result<Rc<[Leaf]>, KernelError> {
        if let Some(leaves) = &self.leaves.borrow()[ty.index()] {
            return Ok(Rc::clone(leaves));
        }
        if self.count(ty) > MOST_SCALARS {
            let name = module.types[ty].name.clone().unwrap_or_else(|| "an array or struct".into());
            return Err(KernelError::TooMuch(format!(
                "a value of {} scalars ({name}) is computed with; expected {MOST_SCALARS} at most; read and write parts of it",
                self.count(ty)
            )));
        }
        let mut out = Vec::new();
        match &module.types[ty].inner {
            TypeInner::Array { base, size, stride } => {
                let element = self.leaves(module, *base)?;
                for n in 0..elements(*size).unwrap_or(1) {
                    out.extend(element.iter().map(|leaf| Leaf { offset: leaf.offset + n * stride, ..*leaf }));
                }
            }
            TypeInner::Struct { members, .. } => {
                for member in members {
                    let inner = self.leaves(module, member.ty)?;
                    out.extend(inner.iter().map(|leaf| Leaf { offset: leaf.offset + member.offset, ..*leaf }));
                }
            }
            inner => out = leaves_of(inner),
        }
        let leaves: Rc<[Leaf]> = out.into();
        self.leaves.borrow_mut()[ty.index()] = Some(Rc::clone(&leaves));
        Ok(leaves)
    }
}

/// Elements of an array; `None` where the buffer's size tells.
pub(super) fn elements(size: ArraySize) -> Option<u32> {
    match size {
        ArraySize::Constant(count) => Some(count.get()),
        ArraySize::Pending(_) | ArraySize::Dynamic => None,
    }
}

/// Scalars of a value that is neither array nor struct.
pub(super) fn flat(inner: &TypeInner) -> Option<(u32, Scalar)> {
    Some(match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => (1, scalar),
        TypeInner::Vector { size, scalar } => (size as u32, scalar),
        TypeInner::Matrix { columns, rows, scalar } => (columns as u32 * rows as u32, scalar),
        TypeInner::ValuePointer { size, scalar, .. } => (size.map_or(1, |size| size as u32), scalar),
        _ => return None,
    })
}

/// Bytes from one column of a matrix to the next.
pub(super) fn column_stride(rows: VectorSize, scalar: Scalar) -> u32 {
    let rows = if rows == VectorSize::Bi { 2 } else { 4 };
    rows * u32::from(scalar.width)
}

/// Where the scalars of a value lie that is neither array nor struct.
pub(super) fn leaves_of(inner: &TypeInner) -> Vec<Leaf> {
    let Some((count, scalar)) = flat(inner) else { return Vec::new() };
    let width = u32::from(scalar.width);
    let place = |n: u32| match *inner {
        TypeInner::Matrix { rows, .. } => n / rows as u32 * column_stride(rows, scalar) + n % rows as u32 * width,
        _ => n * width,
    };
    (0..count).map(|n| Leaf { offset: place(n), scalar }).collect()
}

/// A scalar at `at`, as the machine holds it: its bits, in the low end.
pub(super) fn load(bytes: &[u8], at: usize, scalar: Scalar) -> u64 {
    let mut word = [0u8; 8];
    let width = usize::from(scalar.width).min(8);
    if let Some(from) = bytes.get(at..at + width) {
        word[..width].copy_from_slice(from);
    }
    u64::from_le_bytes(word)
}

/// Puts a scalar where [`load`] finds it.
pub(super) fn store(bytes: &mut [u8], at: usize, scalar: Scalar, value: u64) {
    let width = usize::from(scalar.width).min(8);
    if let Some(to) = bytes.get_mut(at..at + width) {
        to.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}
