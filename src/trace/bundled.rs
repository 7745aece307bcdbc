//! The traces that travel inside the binary: recordings of the programs in `traces/programs/`.

use std::path::Path;

/// What stands before the name of a bundled trace where the path of a file is expected: `lesson:matmul16`.
pub const SCHEME: &str = "lesson:";

/// What stands before the name of a bundled storyboard where a path is expected: `story:why-columns-miss`.
pub const STORY_SCHEME: &str = "story:";

/// What stands before the name of a bundled nest of loops where the path of a file is expected: `loops:matmul`, or with values of its
/// parameters `loops:matmul?N=64`.
pub const LOOPS_SCHEME: &str = "loops:";

/// One bundled nest of loops.
#[derive(Clone, Copy, Debug)]
pub struct BundledNest {
    /// Name for the command line: `matmul`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// What to look for there: a line for who chooses among them.
    pub look: &'static str,
}

macro_rules! nests {
    ($($name:literal: $look:literal),* $(,)?) => {
        [$(BundledNest {
            name: $name,
            text: include_str!(concat!("../../traces/loops/", $name, ".loops")),
            look: $look,
        }),*]
    };
}

/// All bundled nests, in the order a lesson would take.
pub const NESTS: [BundledNest; 12] = nests![
    "outer": "An outer product: each element of A meets each of B.",
    "matmul": "Matrix multiply, B by columns: rows of A and columns of B are read along their lines.",
    "conv": "A 2-D convolution over channels: neighbours read the same elements again.",
    "hdiff": "Horizontal diffusion: 13 points of a plane are read for each result, planes innermost.",
    "hdiff_layout": "The same with k outermost in memory: neighbours share lines.",
    "hdiff_order": "The same with k outermost in the loops, too.",
    "hdiff_arrays": "All three arrays with k outermost: at full size each line comes once.",
    "hdiff_padded": "As hdiff_order, with rows padded to whole lines.",
    "gauss": "Gaussian elimination on four cores, rows dealt in turn: each step reads one row of another core.",
    "stencil": "A stencil in three dimensions on four cores: what lies at the border of a block is read by two.",
    "jacobi": "Jacobi with time: two grids, in turns.",
    "transpose": "A transpose: one of its two matrices is walked across its lines.",
];

/// The nest of this name.
#[must_use]
pub fn find_nest(name: &str) -> Option<&'static BundledNest> {
    NESTS.iter().find(|nest| nest.name == name)
}

/// The name after [`LOOPS_SCHEME`], where a path is one of a bundled nest: there need not be one of that name.
#[must_use]
pub fn nest_name_in(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(LOOPS_SCHEME)
}

/// One bundled trace.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Name for the command line: `matmul16`.
    pub name: &'static str,
    /// The native file.
    pub bytes: &'static [u8],
    /// The preset that shows what it is there to show.
    pub cache: &'static str,
    /// What to look for there: a line for who chooses among them.
    pub look: &'static str,
}

macro_rules! bundled {
    ($($name:literal under $cache:literal: $look:literal),* $(,)?) => {
        [$(Bundled {
            name: $name,
            bytes: include_bytes!(concat!("../../traces/", $name, ".orrery")),
            cache: $cache,
            look: $look,
        }),*]
    };
}

/// All of them, in the order a lesson would take.
pub const BUNDLED: [Bundled; 10] = bundled![
    "array_init" under "paper": "A stream of stores: each line misses once, then hits.",
    "matmul16" under "paper": "The walk down B's columns misses again and again.",
    "matmul16_transposed" under "paper": "The same product, B turned: rows against rows miss less.",
    "matmul16_blocked" under "paper": "The same product in 4×4 blocks: three blocks stay in L1.",
    "matmul12_blocked" under "paper": "A smaller product in blocks: C misses half as often as A.",
    "bubble_sort" under "paper": "Sweeps get shorter: first L2 stops missing, then L1.",
    "merge_sort" under "paper": "Merges get longer: those of 64 miss in L1, of 256 in L2.",
    "mpm" under "paper-x4": "Particles stream through; the lines of the grid stay.",
    "false_sharing" under "paper": "Four cores write to one line, which flies to and fro.",
    "false_sharing_padded" under "paper": "The same with a line for each core: the misses are gone.",
];

/// The trace of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Bundled> {
    BUNDLED.iter().find(|b| b.name == name)
}

/// The name after [`SCHEME`], where a path is one of a bundled trace: there need not be one of that name. Such a file is `./lesson:...`.
#[must_use]
pub fn name_in(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(SCHEME)
}

impl Bundled {
    /// What to write where the path of a file is expected.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{SCHEME}{}", self.name)
    }
}

#[cfg(all(test, feature = "formats"))]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_trace_opens_and_names_its_arrays() {
        for bundled in &BUNDLED {
            let trace = crate::trace::open(Path::new(&bundled.path()), None).expect(bundled.name);
            assert!(trace.len() > 1000 && !trace.tables().regions.is_empty() && !trace.tables().title.is_empty());
            assert!(!trace.tables().locations.is_empty(), "{} has no source lines", bundled.name);
        }
    }

    #[test]
    fn a_name_that_is_not_bundled_is_told_those_that_are() {
        let error = crate::trace::open(Path::new("lesson:matmul"), None).err().expect("no such lesson");
        let error = format!("{:#}", anyhow::Error::from(error));
        assert!(error.contains("lesson:matmul") && error.contains("matmul16_blocked"), "{error}");
        assert_eq!(name_in(Path::new("./lesson:mpm")), None);
    }
}
