//! Flows as bytes, for the file of an index.

use super::groups::Blocks;
use super::{Flows, Sparse};
use crate::sim::Hierarchy;
use serde::{Deserialize, Serialize};

/// Buckets in a part.
const PART: usize = 64;

/// What is not in the buckets.
#[derive(Serialize, Deserialize)]
struct Head {
    numbers: usize,
    blocks: Blocks,
    span: u64,
    len: u64,
    open: Vec<u32>,
}

impl Flows {
    /// As bytes, part by part, for [`Flows::read`].
    pub(in crate::timeline) fn parts(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let (numbers, blocks, span, len) = (self.groups.len, self.blocks.clone(), self.span, self.len);
        let head = postcard::to_allocvec(&Head { numbers, blocks, span, len, open: self.open.clone() });
        let parts = self.levels[0].chunks(PART).map(|part| {
            let nodes: Vec<&[u8]> = part.iter().map(|node| &**node).collect();
            postcard::to_allocvec(&nodes).unwrap_or_default()
        });
        std::iter::once(head.unwrap_or_default()).chain(parts)
    }

    /// What [`Flows::parts`] gave, of the same hierarchy and as many references; `None` where it is damaged or of others.
    pub(in crate::timeline) fn read(hierarchy: &Hierarchy, parts: &[Vec<u8>], len: u64) -> Option<Self> {
        let (head, parts) = parts.split_first()?;
        let head: Head = postcard::from_bytes(head).ok()?;
        let mut flows = Self::new(hierarchy, len);
        let same = (head.numbers, head.len, head.open.len()) == (flows.groups.len, len, flows.groups.len);
        if !same || !head.span.is_power_of_two() {
            return None;
        }
        for part in parts {
            let nodes: Vec<Vec<u8>> = postcard::from_bytes(part).ok()?;
            nodes.into_iter().for_each(|node| flows.push(Sparse::from(node)));
        }
        let Head { blocks, span, open, .. } = head;
        (flows.blocks, flows.span, flows.len, flows.open) = (blocks, span, len, open);
        Some(flows)
    }
}
