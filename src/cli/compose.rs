//! What `--view` may ask for.

use clap::ValueEnum;

/// `--view`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Compose {
    /// Large where a cache holds so many lines that dots would melt, else dots
    #[default]
    Auto,
    /// A dot for each line, and for each element where there is room; of a file of tasks, for each request
    #[value(name = "rings", alias = "dots")]
    Dots,
    /// Patches, bars by who served, sums of what flows
    Large,
    /// The reference, levels, TLBs and regions as tables
    Numbers,
    /// Source lines with their references and misses
    Source,
    /// Misses over time, of levels and of regions
    Chart,
    /// What --pin marks: where it lived, its set, all that happened to it
    Inspector,
    /// Misses of this trace and of what --against names
    Compare,
    /// All regions, a row each
    Regions,
    /// Functions with their references and misses
    Functions,
    /// Arrays, a tile an element: accesses, misses, stack distances, what is touched
    Tiles,
    /// An array as solids over a plane: local minus remote accesses of its elements, by core
    Plane,
    /// A glyph for each element and core over a plane, as high as its accesses in the last 8 slices or in --slice
    Scatter,
    /// An array of three dimensions as isosurfaces: where as many accesses of its elements were counted, in the last 8 slices or in --slice
    Iso,
    /// An array's elements over time as a tube: its radius is accesses in a slice, of the last 15 or of --slice
    Tube,
    /// Loops and arrays as a graph: what moves from one to another
    Graph,
    /// Why this reference missed or hit, in sentences
    Why,
    /// What would help, and what that would bring: simulated
    Advice,
    /// What the words of the pictures mean
    Words,
    /// Misses of every cache size, the levels marked
    MissRatio,
    /// How often each stack distance occurred
    StackDistance,
    /// Misses of a level (that of --strip) over time, by class
    Classes,
    /// Accesses and misses of each set of a level (that of --strip)
    Sets,
    /// Which parts of which arrays are touched when
    Map,
    /// Whose references push whose lines out of a level (that of --strip)
    Displaced,
    /// Of a file of tasks: charts of all locations, one location, one task
    Tasks,
    /// Of a file of tasks: a chart for each location
    Overview,
    /// Of a file of tasks: those of one location as bars
    Component,
    /// Of a file of tasks: one of them, what it is a part of, and its parts
    Task,
    /// Of a file of tasks: who asks whom, and how often
    Topology,
    /// Of a kernel: all views in one picture
    Kernel,
    /// Of a kernel: what the items of a group did to memory, and its banks
    KernelMemory,
    /// Of a kernel: a ring for each class of warps that branch alike
    KernelDivergence,
    /// Of a kernel: how many items went each way
    KernelBranches,
    /// Of a kernel: the source with what its lines cost
    KernelSource,
    /// Of a kernel: its buffers and textures that are pictures
    KernelImage,
    /// Of a kernel: values that `// @emit` in the source tells
    KernelValues,
    /// Of a kernel: a map of the groups of a launch, and what each costs
    KernelGroups,
}

impl Compose {
    /// Its name, that of an exhibit; `None` = what suits.
    #[must_use]
    pub fn exhibit(self) -> Option<String> {
        let name = self.to_possible_value()?.get_name().to_owned();
        (self != Self::Auto).then_some(name)
    }
}
