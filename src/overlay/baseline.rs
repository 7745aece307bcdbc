//! What a studio is compared with, called A where the studio itself is B: the same trace under other caches, or another trace.

use super::shot::Shot;
use super::studio::Studio;
use crate::axis::Position;
use crate::reference::{Region, SourceError, bytes_named};
use crate::scene::palette::RegionColors;
use crate::scene::{RegionOrder, Shade, View};
use crate::timeline::{InStep, StepBy, StepError};
use crate::units::ByteRange;
use std::collections::HashMap;
use std::sync::Arc;

/// See the module.
pub struct Baseline {
    pub(super) studio: Studio,
    /// Where it is another trace.
    other: Option<OtherTrace>,
}

/// How another trace belongs to this one.
#[derive(Clone)]
struct OtherTrace {
    /// As it was asked for.
    asked: Option<StepBy>,
    by: StepBy,
    step: InStep,
    /// Of each region of A, that of B of the same name.
    regions: Vec<Option<usize>>,
}

impl Baseline {
    /// The same trace under other caches.
    #[must_use]
    pub fn caches(studio: Studio) -> Self {
        Self { studio, other: None }
    }

    /// Another trace, beside `this`; `by` says how they go in step. Where they do not go so, and where nothing is said, they go by marks
    /// of one name or, without any, by references; why they do not comes with it.
    #[must_use]
    pub fn trace(this: &Studio, studio: Studio, by: Option<StepBy>) -> (Self, Option<StepError>) {
        let (now, other) = (this.timeline(), studio.timeline());
        let (step, error) = match by.as_ref().map(|by| (by.clone(), InStep::new(now, other, by))) {
            Some((by, Ok(step))) => ((by, step), None),
            Some((_, Err(error))) => (InStep::usual(now, other), Some(error)),
            None => (InStep::usual(now, other), None),
        };
        let regions = alike(&studio.tables().regions, &this.tables().regions);
        let (used, step) = step;
        (Self { studio, other: Some(OtherTrace { asked: by, by: used, step, regions }) }, error)
    }

    /// The same beside what `this` has become.
    #[must_use]
    pub fn again(self, this: &Studio) -> Self {
        match self.other {
            Some(OtherTrace { asked, .. }) => Self::trace(this, self.studio, asked).0,
            None => self,
        }
    }

    /// As [`Baseline::again`], of the same trace under other caches.
    #[must_use]
    pub fn recached(self, studio: Studio, this: &Studio) -> Self {
        Self { studio, ..self }.again(this)
    }

    /// The same once more, to be gone about in by somebody else.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn another(&self) -> Result<Self, SourceError> {
        Ok(Self { studio: self.studio.another()?, other: self.other.clone() })
    }

    /// The trace that it is, without what it belongs to.
    #[must_use]
    pub fn into_studio(self) -> Studio {
        self.studio
    }

    /// The trace that it is.
    #[must_use]
    pub fn studio(&self) -> &Studio {
        &self.studio
    }

    /// What the two go in step by, where they are two traces.
    #[must_use]
    pub fn by(&self) -> Option<&StepBy> {
        self.other.as_ref().map(|other| &other.by)
    }

    /// Whether it is another trace.
    #[must_use]
    pub fn is_trace(&self) -> bool {
        self.other.is_some()
    }

    /// Where A is while B is at `position`.
    #[must_use]
    pub fn position(&self, position: Position) -> Position {
        self.other.as_ref().map_or(position, |other| other.step.other(position))
    }

    /// Where B is while A is at `position`.
    #[must_use]
    pub fn position_here(&self, position: Position) -> Position {
        self.other.as_ref().map_or(position, |other| other.step.this(position))
    }

    /// The region of B that has the name of one of A.
    #[must_use]
    pub fn region_here(&self, region: usize) -> Option<usize> {
        self.other.as_ref().map_or(Some(region), |other| other.regions.get(region).copied().flatten())
    }

    /// The shot of A that belongs to one of B.
    #[must_use]
    pub fn shot(&self, this: &Studio, shot: &Shot) -> Shot {
        if self.other.is_none() {
            return shot.clone();
        }
        let mut shot = Shot { view: self.view(this, &shot.view), ..shot.clone() };
        shot.position = self.position(shot.position);
        shot.playback.range = shot.playback.range.map(|point| point.map(|at| self.position(at)));
        shot.playback.stretch = shot.playback.stretch.placed(|at| self.position(at));
        // It is of bytes of B.
        shot.life = None;
        shot
    }

    /// The view of A that belongs to one of B: regions and what is pinned are found by their names.
    #[must_use]
    pub fn view(&self, this: &Studio, view: &View) -> View {
        let Some(other) = &self.other else { return view.clone() };
        let shade = |region: &Option<usize>| region.and_then(|n| view.shades.get(n)).copied().unwrap_or_default();
        let plain = view.shades.iter().all(|shade| *shade == Shade::default());
        let shades: Arc<[Shade]> = if plain { Arc::default() } else { other.regions.iter().map(shade).collect() };
        let colors = RegionColors::new(other.regions.iter().map(|region| region.and_then(|n| view.colors.own(n))));
        // Regions that only the other has stand behind those that are put first.
        let order = view.order.first().iter();
        let order = RegionOrder::new(order.filter_map(|n| other.regions.iter().position(|region| *region == Some(*n))));
        View { shades, colors, order, pin: view.pin.and_then(|pin| self.pinned(this, pin)), ..view.clone() }
    }

    /// The bytes of A that are called as some of B.
    fn pinned(&self, this: &Studio, bytes: ByteRange) -> Option<ByteRange> {
        called_alike(&this.tables().regions, bytes, &self.studio.tables().regions)
    }

    /// The bytes of B that are called as some of A.
    #[must_use]
    pub fn bytes_here(&self, this: &Studio, bytes: ByteRange) -> Option<ByteRange> {
        if self.other.is_none() {
            return Some(bytes);
        }
        called_alike(&self.studio.tables().regions, bytes, &this.tables().regions)
    }
}

/// The bytes in `others` that are called as `bytes` are in `regions`.
fn called_alike(regions: &[Region], bytes: ByteRange, others: &[Region]) -> Option<ByteRange> {
    let region = regions.iter().find(|region| (region.base..region.end()).contains(&bytes.first))?;
    let named = |addr| bytes_named(others, &region.element_name(addr)).ok();
    let (first, last) = (named(bytes.first)?.first, named(bytes.last.min(region.end() - 1))?.last);
    (first <= last).then_some(ByteRange { first, last })
}

/// By region of `regions`, the one of `others` of its name; of several of one name the nth is beside the nth.
fn alike(regions: &[Region], others: &[Region]) -> Vec<Option<usize>> {
    let mut by_name: HashMap<&str, (usize, Vec<usize>)> = HashMap::new();
    for (n, other) in others.iter().enumerate() {
        by_name.entry(&other.name).or_default().1.push(n);
    }
    let other_of = |region: &Region| {
        let (next, found) = by_name.get_mut(region.name.as_str())?;
        let n = found.get(*next).copied();
        *next += 1;
        n
    };
    regions.iter().map(other_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::exhibits::{CompareExhibit, Picture};
    use crate::overlay::tests::{studio, studio_of};
    use crate::overlay::{Parts, Playback};
    use crate::reference::{Kind, Mark, Reference, Tables};
    use crate::scene::palette::Rgba;
    use crate::sim::config::preset;

    /// Half as long as the trace of tests, B before A, elsewhere in memory, and a region of its own.
    fn other() -> Studio {
        let region = |name: &str, base| Region {
            elem_type: "double".into(),
            shape: vec![1024].into(),
            ..Region::new(name, base, 8 * 1024)
        };
        let references = (0..500u64).map(|n| Reference::new(Kind::Read, 0x20_0000 + 8 * n, 8)).collect();
        let mark = |reference, name: &str| Mark { reference, name: name.into() };
        let tables = Tables {
            title: "half".into(),
            regions: vec![region("B", 0x10_0000), region("A", 0x20_0000), region("C", 0x30_0000)],
            marks: vec![mark(50, "first"), mark(300, "second")],
            ..Tables::default()
        };
        studio_of(references, tables, &preset("paper").expect("there"))
    }

    /// A colour that the palette has not.
    const PURE: Rgba = [255, 255, 0, 255];

    #[test]
    fn another_trace_is_shown_where_it_belongs_and_what_is_chosen_is_found_by_its_name() {
        let mut this = studio();
        let (baseline, error) = Baseline::trace(&this, other(), None);
        assert!(error.is_none() && baseline.by() == Some(&StepBy::Marks));
        let view = View {
            shades: [Shade::Full, Shade::Dim].into(),
            colors: RegionColors::new([Some(PURE)]),
            order: RegionOrder::new([1, 0]),
            pin: Some(ByteRange { first: 0x1008, last: 0x100f }),
            ..View::default()
        };
        let range = [Some(Position::at(100)), Some(Position::at(600))];
        let shot = Shot::still([800, 600], Position::at(350), view, Parts::default());
        let shot = Shot { playback: Playback { range, ..Playback::default() }, ..shot };
        let own = baseline.shot(&this, &shot);
        assert_eq!(own.position, Position::at(175));
        assert_eq!(own.playback.range, [Some(Position::at(50)), Some(Position::at(300))]);
        assert_eq!(own.view.shades.to_vec(), [Shade::Dim, Shade::Full, Shade::Full], "B is dimmed");
        assert_eq!([0, 1, 2].map(|n| own.view.colors.own(n)), [None, Some(PURE), None], "A is recoloured");
        assert_eq!(own.view.order.all(3), [0, 1, 2], "B before A, as it is there");
        assert_eq!(own.view.pin, Some(ByteRange { first: 0x20_0008, last: 0x20_000f }), "A[1]");
        let back = [baseline.region_here(0), baseline.region_here(1), baseline.region_here(2)];
        assert_eq!((back, baseline.position_here(own.position)), ([Some(1), Some(0), None], shot.position));
        assert_eq!(baseline.bytes_here(&this, ByteRange::new(0x20_0008, 8)), shot.view.pin);
        this.compare_with(Some(baseline));
        let mut compare = CompareExhibit::new(&this);
        let taken = Shot { playback: Playback::default(), ..shot }.take(&mut this, &mut compare).expect("in memory");
        let Picture::Plane(plane) = &taken.picture else { panic!("a comparison is a plane") };
        let said: Vec<&str> = plane.words.iter().map(|words| words.text.as_str()).collect();
        let lead = ["A at 175 of 500, B at 350 of 1,000", "misses both under paper, in step by marks; less is better"];
        for words in ["A: half", "B: two arrays", lead[0], lead[1], "A[1024]", "B[1024]", "C[1024]"] {
            assert!(said.contains(&words), "{words} in {said:?}");
        }
        assert_eq!(this.baseline().map(|baseline| baseline.studio().moment().tick), Some(175));
    }

    #[test]
    fn what_does_not_go_in_step_as_asked_goes_as_is_usual_and_says_why() {
        let this = studio();
        let (baseline, error) = Baseline::trace(&this, other(), Some(StepBy::Line("a.c:1".into(), None)));
        assert!(error.is_some_and(|error| error.to_string().starts_with("a.c:1 makes no reference in this trace")));
        assert_eq!(baseline.by(), Some(&StepBy::Marks));
        let other_caches = Baseline::caches(studio());
        assert!(!other_caches.is_trace() && other_caches.by().is_none());
        assert_eq!(other_caches.position(Position::at(7)), Position::at(7));
    }
}
