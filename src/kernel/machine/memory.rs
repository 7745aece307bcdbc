//! Shared variables as bytes, some of which grow while it is found how long they must be.

use crate::kernel::buffers::Fill;
use crate::kernel::program::Shared;

/// The bytes of one shared variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kernel) struct Memory {
    pub(in crate::kernel) bytes: Vec<u8>,
    /// What it grows by, while its length is sought.
    pub(in crate::kernel) grows: Option<Grows>,
    /// Texels, by dimension, of a texture.
    pub(in crate::kernel) texels: Option<[u32; 3]>,
}

/// An array whose length is sought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kernel) struct Grows {
    pub(in crate::kernel) fill: Fill,
    /// Elements that `arrayLength` gives meanwhile.
    pub(in crate::kernel) guess: u32,
    /// Whether it was asked for.
    pub(in crate::kernel) asked: bool,
}

/// Bytes that an array grows to at most.
pub(in crate::kernel) const MOST_GROWN: u64 = 256 << 20;

impl Memory {
    /// Elements of an array without a length.
    pub(in crate::kernel) fn length(&self, shared: &Shared) -> u32 {
        let Some(stride) = shared.stride else { return 0 };
        let bytes = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).saturating_sub(shared.bytes);
        bytes / stride.max(1)
    }

    /// Makes room for an element, where the length is still sought.
    pub(in crate::kernel) fn reach(&mut self, shared: &Shared, element: u32) {
        let (Some(grows), Some(stride)) = (&self.grows, shared.stride) else { return };
        let end = u64::from(shared.bytes) + (u64::from(element) + 1) * u64::from(stride);
        if end <= self.bytes.len() as u64 || end > MOST_GROWN {
            return;
        }
        let from = self.length(shared);
        let end = usize::try_from(end).unwrap_or(self.bytes.len());
        self.bytes.resize(end, 0);
        let start = shared.bytes as usize + from as usize * stride as usize;
        grows.fill.clone().write(&mut self.bytes[start..], stride, from);
    }
}
