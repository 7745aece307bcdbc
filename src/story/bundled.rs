//! The storyboards that travel inside the binary: `lessons/*.story.toml`.

/// One bundled storyboard.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Name for the command line.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
    /// What it is about: a line for who chooses among them.
    pub look: &'static str,
}

macro_rules! stories {
    ($($name:literal: $look:literal),* $(,)?) => {
        [$(Bundled { name: $name, text: include_str!(concat!("../../lessons/", $name, ".story.toml")), look: $look }),*]
    };
}

/// All of them, in the order in which a course would show them.
pub const STORIES: [Bundled; 8] = stories![
    "why-columns-miss": "Watch: why the standard multiply is slow: B is walked down its columns.",
    "blocks-stay": "Watch: turn B, or multiply in blocks that stay in the cache.",
    "a-shrinking-working-set": "Watch: bubble sort: when a working set begins to fit.",
    "merges-spill": "Watch: merge sort: which merges spill from L1, and which from L2.",
    "material-points": "Watch: a simulation step: what streams, and what stays.",
    "dirty-lines": "Watch: write back and write through, side by side.",
    "stencil-before-it-runs": "Watch: a stencil's layout and order, chosen from its loops alone.",
    "hash-join": "Watch: a hash join under a server's caches (needs gcc or clang).",
];

/// Programs that bundled storyboards compile and record, by the names of their files.
const PROGRAMS: [(&str, &str); 1] = [("hash_join.c", include_str!("../../lessons/hash_join.c"))];

/// The storyboard of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Bundled> {
    STORIES.iter().find(|story| story.name == name)
}

/// The text of a bundled program.
#[must_use]
pub fn program(name: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
