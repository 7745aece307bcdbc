//! The whole state every so many references: kept in memory or on a shelf, so that any moment is had by a short replay.

use super::aside::{aside, joined};
use super::ladder::{edge_after, every_other};
use super::setup::Setup;
use super::shelf::{Shelf, Slip};
use super::{Options, Tally};
use crate::sim::{Hierarchy, Packed, Packer, Shards};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;

/// Bytes of a state that are worth a thread to pack them.
const BYTES_WORTH_A_THREAD: usize = 1 << 18;

/// State and counts at one tick, packed.
#[derive(Clone, Debug)]
struct Keyframe {
    state: Packed,
    /// A [`Tally`].
    tally: Box<[u8]>,
}

impl Keyframe {
    fn of(packer: &RwLock<Packer>, state: &Hierarchy, tally: &Tally) -> Self {
        let mut packer = packer.write().unwrap_or_else(PoisonError::into_inner);
        Self { state: packer.pack(state), tally: tally.packed() }
    }

    fn bytes(&self) -> usize {
        self.state.bytes() + self.tally.len()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = u32::try_from(self.tally.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        out.extend(&self.tally);
        out.extend(self.state.to_bytes());
        out
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (length, bytes) = bytes.split_first_chunk()?;
        let (tally, state) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Self { state: Packed::read(state)?, tally: tally.into() })
    }

    /// Brings a hierarchy and a tally to what they were; `None` where it is damaged.
    fn restore(&self, packer: &RwLock<Packer>, state: &mut Hierarchy, tally: &mut Tally) -> Option<()> {
        let packer = packer.read().unwrap_or_else(PoisonError::into_inner);
        packer.unpack(&self.state, state)?;
        tally.restore(&self.tally)
    }
}

/// A keyframe in memory or on a shelf.
#[derive(Clone)]
enum Kept {
    Here(Arc<Keyframe>),
    There(Arc<dyn Shelf>, Slip),
}

impl Kept {
    /// Bytes in memory.
    fn here(&self) -> usize {
        match self {
            Self::Here(keyframe) => keyframe.bytes(),
            Self::There(..) => size_of::<Self>(),
        }
    }

    /// Bytes on a shelf.
    fn there(&self) -> u64 {
        match self {
            Self::Here(_) => 0,
            Self::There(_, slip) => u64::from(slip.bytes),
        }
    }

    /// Goes from memory to a shelf, where there is room.
    fn shelve(&mut self, shelf: &Arc<dyn Shelf>) -> bool {
        let Self::Here(keyframe) = self else { return true };
        let Some(slip) = shelf.put(&keyframe.to_bytes()) else { return false };
        *self = Self::There(Arc::clone(shelf), slip);
        true
    }

    /// `None` where the shelf has lost it.
    fn keyframe(&self) -> Option<Arc<Keyframe>> {
        match self {
            Self::Here(keyframe) => Some(Arc::clone(keyframe)),
            Self::There(shelf, slip) => shelf.get(slip).and_then(|bytes| Keyframe::read(&bytes)).map(Arc::new),
        }
    }
}

/// Keyframes at equal distances, the first before reference 0. A clone shares them.
#[derive(Clone)]
pub(super) struct Keyframes {
    kept: Vec<Kept>,
    /// References between two of them.
    spacing: u64,
    packer: Arc<RwLock<Packer>>,
}

impl Keyframes {
    fn new(spacing: u64) -> Self {
        Self { kept: Vec::new(), spacing: spacing.max(1), packer: Arc::default() }
    }

    pub(super) fn spacing(&self) -> u64 {
        self.spacing
    }

    /// Bytes of them in memory, without the tags that they share.
    pub(super) fn bytes(&self) -> usize {
        self.kept.iter().map(Kept::here).sum()
    }

    /// Bytes of the tags that they share.
    pub(super) fn shared_bytes(&self) -> usize {
        self.packer.read().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    /// Number of the last one: it is before reference [`Keyframes::spacing`] times that.
    pub(super) fn last(&self) -> u64 {
        (self.kept.len() as u64).saturating_sub(1)
    }

    /// Reference before which the last keyframe before `tick` is.
    pub(super) fn before(&self, tick: u64) -> u64 {
        (tick / self.spacing).min(self.last()) * self.spacing
    }

    /// The keyframe before reference `tick`, which has one; `None` where the shelf has lost it.
    fn at(&self, tick: u64) -> Option<Arc<Keyframe>> {
        let index = usize::try_from(tick / self.spacing).ok()?;
        self.kept.get(index).and_then(Kept::keyframe)
    }

    /// Brings a tally to the keyframe before reference `tick`; `None` where that is not to be had.
    pub(super) fn restore_tally(&self, tick: u64, tally: &mut Tally) -> Option<()> {
        tally.restore(&self.at(tick)?.tally)
    }

    /// Brings a hierarchy and a tally to the last keyframe before `tick` that can be had; the reference before which it is. One
    /// that is damaged on its shelf costs time and nothing else: the one before stands in.
    pub(super) fn restore_before(&self, tick: u64, setup: &Setup, state: &mut Hierarchy, tally: &mut Tally) -> u64 {
        let mut at = self.before(tick);
        loop {
            let restored = self.at(at).and_then(|keyframe| keyframe.restore(&self.packer, state, tally));
            if restored.is_some() {
                return at;
            }
            if at == 0 {
                state.clone_from(&setup.start);
                tally.clone_from(&setup.empty);
                return 0;
            }
            at -= self.spacing;
        }
    }

    /// Puts all on a shelf, for [`Keyframes::read`]; `None` where there is no room, or one is damaged.
    pub(super) fn store(&self, shelf: &dyn Shelf) -> Option<(u64, Vec<Slip>, Packer)> {
        let put = |kept: &Kept| shelf.put(&kept.keyframe()?.to_bytes());
        let slips = self.kept.iter().map(put).collect::<Option<Vec<_>>>()?;
        let packer = self.packer.read().unwrap_or_else(PoisonError::into_inner).clone();
        Some((self.spacing, slips, packer))
    }

    /// What [`Keyframes::store`] put on a shelf; `None` where there is none.
    pub(super) fn read(shelf: &Arc<dyn Shelf>, (spacing, slips, packer): (u64, Vec<Slip>, Packer)) -> Option<Self> {
        let there = |slip| Kept::There(Arc::clone(shelf), slip);
        let kept: Vec<Kept> = slips.into_iter().map(there).collect();
        (spacing > 0 && !kept.is_empty()).then(|| Self { kept, spacing, packer: Arc::new(RwLock::new(packer)) })
    }
}

/// Makes keyframes of a trace that is indexed, within a budget.
pub(super) struct Keeper {
    keyframes: Keyframes,
    /// Bytes that may be in memory.
    most_here: usize,
    /// Bytes that may be on the shelf.
    most_there: u64,
    /// Where keyframes go that memory has no room for.
    shelf: Option<Arc<dyn Shelf>>,
    /// Keyframes at the front that are on the shelf.
    shelved: usize,
    /// The newest keyframe, while another thread packs it.
    packing: Option<JoinHandle<Keyframe>>,
    /// Bytes of the keyframes in memory.
    held: usize,
}

impl Keeper {
    /// Of no keyframe yet.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            keyframes: Keyframes::new(options.spacing),
            most_here: options.keyframe_bytes,
            most_there: options.shelf_bytes,
            shelf: None,
            shelved: 0,
            packing: None,
            held: 0,
        }
    }

    /// With a shelf for keyframes that memory has no room for.
    pub(super) fn with_shelf(self, shelf: Arc<dyn Shelf>) -> Self {
        Self { shelf: Some(shelf), ..self }
    }

    /// The reference after `tick` before which the next keyframe is to be.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        edge_after(tick, self.keyframes.spacing)
    }

    /// Says that reference `tick` is next: keeps what is before it, where a keyframe is to be. Where they outgrow their budget,
    /// every other one goes.
    pub(super) fn step(&mut self, tick: u64, state: &Shards, tally: &Tally) {
        if !tick.is_multiple_of(self.keyframes.spacing) {
            return;
        }
        self.packed();
        if !tick.is_multiple_of(self.keyframes.spacing) {
            // The one before doubled the spacing.
            return;
        }
        if state.shape().state_bytes() >= BYTES_WORTH_A_THREAD {
            let packer = Arc::clone(&self.keyframes.packer);
            let (state, tally) = (state.hierarchy().into_owned(), tally.clone());
            self.packing = aside("pack", move || Keyframe::of(&packer, &state, &tally));
            if self.packing.is_some() {
                return;
            }
        }
        self.add(Keyframe::of(&self.keyframes.packer, &state.hierarchy(), tally));
    }

    /// All that were kept.
    pub(super) fn keyframes(&mut self) -> &Keyframes {
        self.packed();
        &self.keyframes
    }

    /// Takes the keyframe that is being packed.
    fn packed(&mut self) {
        if let Some(thread) = self.packing.take() {
            self.add(joined(thread));
        }
    }

    fn add(&mut self, keyframe: Keyframe) {
        let kept = &mut self.keyframes.kept;
        self.held += keyframe.bytes();
        kept.push(Kept::Here(Arc::new(keyframe)));
        // The oldest go first: who plays while a trace grows asks for the newest.
        while self.held > self.most_here
            && let Some(shelf) = self.shelf.clone()
            && let Some(oldest) = kept.get_mut(self.shelved)
        {
            let here = oldest.here();
            if oldest.shelve(&shelf) {
                self.held -= here;
                self.shelved += 1;
            } else {
                self.shelf = None;
            }
        }
        let there: u64 = kept[..self.shelved].iter().map(Kept::there).sum();
        let is_full = self.held > self.most_here || there > self.most_there;
        if is_full && kept.len() > 2 {
            self.keyframes.spacing *= 2;
            every_other(kept, 0);
            self.shelved = self.shelved.div_ceil(2);
            self.held = kept[self.shelved..].iter().map(Kept::here).sum();
        }
    }
}
