//! The ways to show a moment of a trace. Stills, films and the panes of the window show what is in [`EXHIBITS`] and know nothing
//! else of it: a new exhibit is a file beside this one, its `mod` line and its row in the table.

mod advice;
mod analysis;
mod chart;
mod compare;
mod functions;
mod graph;
mod inspector;
mod kernel;
mod numbers;
mod prose;
mod readings;
mod regions;
mod rings;
mod sheet;
mod solids;
mod source;
mod table;
mod tasks;
mod tiles;
mod why;
mod words;

pub use advice::AdviceExhibit;
pub use analysis::AnalysisExhibit;
pub use chart::ChartExhibit;
pub use compare::CompareExhibit;
pub(super) use compare::Row as ComparedRow;
pub(super) use functions::Function;
pub use functions::FunctionExhibit;
pub use graph::GraphExhibit;
pub use inspector::InspectorExhibit;
pub use kernel::KernelExhibit;
pub use numbers::NumberExhibit;
pub use regions::RegionExhibit;
pub use rings::RingExhibit;
pub use solids::{IsoExhibit, PlaneExhibit, ScatterExhibit, TubeExhibit, refused as refused_solids};
pub use source::SourceExhibit;
pub use table::{Arranged, Column, Sort};
pub use tasks::{MachineExhibit, TaskExhibit, TaskView};
pub use tiles::TileExhibit;
pub use why::WhyExhibit;
pub use words::{MEANINGS, WordsExhibit};

use super::csv;
use super::info::Info;
use super::layout::Layout;
use super::plane::Plane;
use super::shot::{Shot, Taken};
use super::studio::Studio;
use super::tip::Tip;
use crate::analysis::GraphPart;
use crate::axis::Axis;
use crate::chart::ChartKind;
use crate::chart::kernel::KernelView;
use crate::reference::SourceError;
use crate::scene::solids::{Facets, SolidLook};
use crate::scene::{Camera, Composition, Scene, Stage, View};
use crate::tasks::Spot;
use egui::{Pos2, Vec2};

/// One exhibit that can be opened.
pub struct ExhibitEntry {
    /// Its name, on tabs and on the command line.
    pub name: &'static str,
    /// What it shows, for people.
    pub what: &'static str,
    /// The headings that its rows are sorted by; none = they are not.
    pub columns: &'static [Column],
    /// Makes it for a trace under its caches, or for tasks.
    pub open: fn(&Studio) -> Box<dyn Exhibit>,
    /// What it is of.
    pub of: &'static [Subject],
}

/// What a studio has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A trace under its caches.
    Trace,
    /// Tasks of a simulated machine.
    Tasks,
    /// A kernel, which has tasks too.
    Kernel,
}

impl Subject {
    /// What this studio has.
    #[must_use]
    pub fn of(studio: &Studio) -> Self {
        match (studio.kernel(), studio.tasks()) {
            (Some(_), _) => Self::Kernel,
            (None, Some(_)) => Self::Tasks,
            (None, None) => Self::Trace,
        }
    }
}

/// The row of a kind of chart.
macro_rules! charted {
    ($kind:ident) => {
        ExhibitEntry {
            name: ChartKind::$kind.name(),
            what: ChartKind::$kind.what(),
            columns: &[],
            open: |_| Box::new(AnalysisExhibit::new(ChartKind::$kind)),
            of: TRACE,
        }
    };
}

const TRACE: &[Subject] = &[Subject::Trace];
const TASKS: &[Subject] = &[Subject::Tasks];
const KERNEL: &[Subject] = &[Subject::Kernel];

/// The row of a view of kernels.
macro_rules! kernel {
    ($name:literal, $view:ident) => {
        ExhibitEntry {
            name: $name,
            what: KernelView::$view.what(),
            columns: &[],
            open: |_| Box::new(KernelExhibit::new(KernelView::$view)),
            of: KERNEL,
        }
    };
}

/// All exhibits, in the order in which they are offered.
pub static EXHIBITS: &[ExhibitEntry] = &[
    ExhibitEntry {
        name: "rings",
        what: "caches as rings, a dot for each line or request",
        columns: &[],
        open: |studio| match Subject::of(studio) {
            Subject::Trace => Box::new(RingExhibit::new(studio, Composition::Dots)),
            Subject::Tasks | Subject::Kernel => Box::new(MachineExhibit::default()),
        },
        of: &[Subject::Trace, Subject::Tasks],
    },
    ExhibitEntry {
        name: "numbers",
        what: "this reference, levels, TLBs and regions as tables",
        columns: &numbers::COLUMNS,
        open: |studio| Box::new(NumberExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "large",
        what: "caches as rings, sums in place of dots",
        columns: &[],
        open: |studio| Box::new(RingExhibit::new(studio, Composition::Large)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "source",
        what: "source lines with their references and misses",
        columns: &source::COLUMNS,
        open: |studio| Box::new(SourceExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "chart",
        what: "misses over time, of levels and of regions",
        columns: &[],
        open: |studio| Box::new(ChartExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "advice",
        what: "what would help, and what that would bring: simulated",
        columns: &[],
        open: |_| Box::new(AdviceExhibit),
        of: TRACE,
    },
    ExhibitEntry {
        name: "inspector",
        what: "what is pinned: where it lived, its set, all that happened to it",
        columns: &[],
        open: |studio| Box::new(InspectorExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "compare",
        what: "misses under these caches and under those before",
        columns: &compare::COLUMNS,
        open: |studio| Box::new(CompareExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "regions",
        what: "all regions as a table to sort, to dim and to hide",
        columns: &regions::COLUMNS,
        open: |studio| Box::new(RegionExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "functions",
        what: "functions with their references and misses",
        columns: &functions::COLUMNS,
        open: |studio| Box::new(FunctionExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "tiles",
        what: "arrays, a tile an element: accesses, misses, stack distances, what is touched",
        columns: &tiles::COLUMNS,
        open: |studio| Box::new(TileExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "plane",
        what: "an array as solids over a plane: local minus remote accesses of its elements",
        columns: &[],
        open: |_| Box::new(PlaneExhibit::default()),
        of: TRACE,
    },
    ExhibitEntry {
        name: "scatter",
        what: "an array as glyphs over a plane: who accessed which element, and how often",
        columns: &[],
        open: |_| Box::new(ScatterExhibit::default()),
        of: TRACE,
    },
    ExhibitEntry {
        name: "iso",
        what: "an array of three dimensions as surfaces where accesses are equally many",
        columns: &[],
        open: |_| Box::new(IsoExhibit::default()),
        of: TRACE,
    },
    ExhibitEntry {
        name: "tube",
        what: "an array's elements over time as a tube: its radius is accesses in a slice",
        columns: &[],
        open: |_| Box::new(TubeExhibit::default()),
        of: TRACE,
    },
    ExhibitEntry {
        name: "graph",
        what: "loops and arrays as a graph: what moves from one to another",
        columns: &graph::COLUMNS,
        open: |studio| Box::new(GraphExhibit::new(studio)),
        of: TRACE,
    },
    ExhibitEntry {
        name: "why",
        what: "why this reference missed or hit, in sentences",
        columns: &[],
        open: |_| Box::new(WhyExhibit),
        of: TRACE,
    },
    ExhibitEntry {
        name: "words",
        what: "what the words of the pictures mean",
        columns: &[],
        open: |_| Box::new(WordsExhibit),
        of: TRACE,
    },
    charted!(MissRatio),
    charted!(StackDistance),
    charted!(Classes),
    charted!(Sets),
    charted!(Map),
    charted!(Displaced),
    ExhibitEntry {
        name: "tasks",
        what: "tasks: charts of all locations, one location, one task",
        columns: &[],
        open: |_| Box::new(TaskExhibit::new(TaskView::All)),
        of: TASKS,
    },
    ExhibitEntry {
        name: "overview",
        what: "tasks: a chart for each location",
        columns: &[],
        open: |_| Box::new(TaskExhibit::new(TaskView::Overview)),
        of: &[Subject::Tasks, Subject::Kernel],
    },
    ExhibitEntry {
        name: "component",
        what: "tasks: those of one location as bars",
        columns: &[],
        open: |_| Box::new(TaskExhibit::new(TaskView::Component)),
        of: &[Subject::Tasks, Subject::Kernel],
    },
    ExhibitEntry {
        name: "task",
        what: "tasks: one of them, what it is a part of, and its parts",
        columns: &[],
        open: |_| Box::new(TaskExhibit::new(TaskView::Task)),
        of: TASKS,
    },
    ExhibitEntry {
        name: "topology",
        what: "tasks: who asks whom, and how often",
        columns: &[],
        open: |_| Box::new(TaskExhibit::new(TaskView::Topology)),
        of: TASKS,
    },
    kernel!("kernel", All),
    kernel!("kernel-memory", Memory),
    kernel!("kernel-divergence", Divergence),
    kernel!("kernel-branches", Branches),
    kernel!("kernel-source", Source),
    kernel!("kernel-image", Image),
    kernel!("kernel-values", Values),
    kernel!("kernel-groups", Groups),
];

/// The row of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static ExhibitEntry> {
    EXHIBITS.iter().find(|row| row.name == name)
}

impl ExhibitEntry {
    /// Whether [`Camera::at`] counts from its upper left corner, in heights of type: all but the rings.
    #[must_use]
    pub fn is_sheet(&self) -> bool {
        !matches!(self.name, "rings" | "large")
    }

    /// Whether its camera goes round what is seen: [`Camera::at`] counts degrees, round and up.
    #[must_use]
    pub fn is_solid(&self) -> bool {
        matches!(self.name, "plane" | "scatter" | "iso" | "tube")
    }

    /// How its rows are sorted by these words of the command line: see [`Sort::parse`].
    ///
    /// # Errors
    /// What was found, and what was expected.
    pub fn sort(&self, words: &str) -> Result<Sort, String> {
        if self.columns.is_empty() {
            let sortable = EXHIBITS.iter().filter(|row| !row.columns.is_empty()).map(|row| row.name);
            let sortable = sortable.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "{words}: found `{}`, whose rows are not sorted; expected one of {sortable}",
                self.name
            ));
        }
        Sort::parse(self.columns, words).map_err(|wrong| format!("{wrong} in `{}`", self.name))
    }

    /// Makes it with its rows arranged so.
    #[must_use]
    pub fn open_arranged(&self, studio: &Studio, arranged: Arranged) -> Box<dyn Exhibit> {
        let mut exhibit = (self.open)(studio);
        exhibit.arrange(arranged);
        exhibit
    }
}

/// The row that shows the rings in this composition.
#[must_use]
pub fn of_composition(composition: Composition) -> &'static ExhibitEntry {
    let name = if composition.is_large() { "large" } else { "rings" };
    named(name).unwrap_or(&EXHIBITS[0])
}

/// The rows that have something to show of a studio.
pub fn offered(subject: Subject) -> impl DoubleEndedIterator<Item = &'static ExhibitEntry> + Clone {
    EXHIBITS.iter().filter(move |row| row.of.contains(&subject))
}

/// The row in which these caches and regions, or tasks, are read best.
#[must_use]
pub fn suited(studio: &Studio) -> &'static ExhibitEntry {
    if studio.kernel().is_some() {
        return named("kernel").unwrap_or(&EXHIBITS[0]);
    }
    if studio.tasks().is_some() {
        return named("tasks").unwrap_or(&EXHIBITS[0]);
    }
    of_composition(Stage::composition_for(studio.timeline().start(), &studio.tables().regions))
}

/// The row after this one of a subject, round and round; the first where this one is of another.
#[must_use]
pub fn after(row: &ExhibitEntry, subject: Subject) -> &'static ExhibitEntry {
    if !row.of.contains(&subject) {
        return offered(subject).next().unwrap_or(&EXHIBITS[0]);
    }
    let mut rows = offered(subject).cycle();
    rows.find(|other| other.name == row.name);
    rows.next().unwrap_or(&EXHIBITS[0])
}

/// What an exhibit shows of a moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Caches as rings around the CPU.
    Rings(Scene),
    /// Bars and words on a plane.
    Plane(Plane),
    /// Components of a machine as rings, with words of its own round them.
    Machine(Scene, Plane),
    /// Solids in space, with bars and words over them.
    Solids(Facets, Plane),
}

impl Picture {
    /// Shapes in world units, where it has any.
    #[must_use]
    pub fn scene(&self) -> Option<&Scene> {
        match self {
            Self::Rings(scene) | Self::Machine(scene, _) => Some(scene),
            Self::Plane(_) | Self::Solids(..) => None,
        }
    }

    /// Triangles in space as they are seen, where it has any.
    #[must_use]
    pub fn solids(&self) -> Option<&Facets> {
        match self {
            Self::Solids(facets, _) => Some(facets),
            _ => None,
        }
    }

    /// What lies flat, where anything does.
    #[must_use]
    pub fn plane(&self) -> Option<&Plane> {
        match self {
            Self::Plane(plane) | Self::Machine(_, plane) | Self::Solids(_, plane) => Some(plane),
            Self::Rings(_) => None,
        }
    }
}

/// How somebody asks to look elsewhere; places are pixels of the target (in a window: points).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gesture {
    /// So many times as close, around a place, or around the middle of what is seen.
    Closer(f32, Option<Pos2>),
    /// The wheel was turned by so many pixels, over a place.
    Wheel(f32, Pos2),
    /// The picture was dragged along.
    Drag(Vec2),
    /// The whole picture again.
    Whole,
}

/// What was chosen in a picture that is not a matter of its exhibit alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// What of arrays is looked at as solids.
    Look(SolidLook),
    /// From where.
    Camera(Camera),
}

/// One way to show a moment of a trace.
pub trait Exhibit: Send {
    /// What its positions are places on: the references of the trace, where it says nothing else.
    fn axis(&self, studio: &Studio) -> Axis {
        studio.axis()
    }

    /// References before a position that a picture needs one by one. Who shows several exhibits of one studio tells the studio the
    /// largest of these numbers ([`Studio::keep`]), so that the exhibits do not send its cursor back and forth.
    fn history(&self, view: &View) -> u64;

    /// Picture and words of `shot`, which stands in its target as `layout` says. `view` is that of the shot, with the phase and the
    /// reach of the picture.
    ///
    /// # Errors
    /// When the trace cannot be read.
    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError>;

    /// What is at `at`, a pixel of the target, in the picture that was taken last; a dot counts up to `reach` pixels from its centre.
    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, reach: f32) -> Option<Tip>;

    /// What of a kernel is at `at`, in the picture that was taken last.
    fn spot(&self, _: &Studio, _at: Pos2) -> Option<Spot> {
        None
    }

    /// The camera after a gesture over what was taken.
    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera;

    /// How people arranged its rows: a pane that makes its exhibit anew hands that on.
    fn arranged(&self) -> Arranged {
        Arranged::default()
    }

    /// Arranges its rows so.
    fn arrange(&mut self, _: Arranged) {}

    /// The heading of a column was chosen: see [`Target::Column`](super::pen::Target::Column).
    fn sort(&mut self, _: u8) {}

    /// What a click on one of its words makes of what is looked at: see [`Target::Column`](super::pen::Target::Column).
    fn choose(&self, _: u8, _: &View) -> Option<Chosen> {
        None
    }

    /// The heading of a function was chosen, which has this source line: see [`Target::Fold`](super::pen::Target::Fold).
    fn fold(&mut self, _: &Studio, _: usize) {}

    /// A part of a graph was chosen, to be folded or unfolded: see [`Target::Part`](super::pen::Target::Part).
    fn turn_part(&mut self, _: GraphPart) {}

    /// A parameter of loops got a value: see [`Target::Parameter`](super::pen::Target::Parameter).
    fn set_parameter(&mut self, _: &Studio, _: u8, _: i64) {}

    /// The numbers of what was taken last as comma-separated values.
    fn csv(&self, _: &Studio, taken: &Taken) -> String {
        csv::tables(&taken.info)
    }

    /// Takes back a picture that is drawn, for the memory of its lists.
    fn reuse(&mut self, picture: Picture) {
        drop(picture);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_follow_each_other_round_and_round() {
        let mut seen: Vec<&str> = Vec::new();
        for subject in [Subject::Trace, Subject::Tasks, Subject::Kernel] {
            let first = offered(subject).next().expect("one");
            let mut row = first;
            for _ in offered(subject) {
                assert!(named(row.name).is_some_and(|found| found.what == row.what));
                assert!(row.of.len() > 1 || !seen.contains(&row.name), "{} is there twice", row.name);
                if !seen.contains(&row.name) {
                    seen.push(row.name);
                }
                row = after(row, subject);
            }
            assert_eq!(row.name, first.name, "of one subject round and round");
        }
        assert_eq!(seen.len(), EXHIBITS.len());
        for name in
            ["rings", "numbers", "source", "large", "chart", "inspector", "compare", "regions", "functions", "tiles"]
        {
            assert!(seen.contains(&name), "{name} is not in {seen:?}");
        }
        for kind in ChartKind::ALL {
            let row = named(kind.name()).expect("each kind of chart has a row");
            assert_eq!((row.what, row.of), (kind.what(), TRACE));
        }
        assert!(named("ring").is_none());
        assert_eq!([Composition::Dots, Composition::Large].map(|c| of_composition(c).name), ["rings", "large"]);
    }
}
