//! The storyboards that travel inside the binary: `lessons/*.story.toml`.

/// What stands before the name of a bundled storyboard where a path is expected: `story:why-columns-miss`.
pub const SCHEME: &str = "story:";

/// One bundled storyboard.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Name for the command line.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
}

macro_rules! stories {
    ($($name:literal),* $(,)?) => {
        [$(Bundled { name: $name, text: include_str!(concat!("../../lessons/", $name, ".story.toml")) }),*]
    };
}

/// All of them, in the order in which a course would show them.
pub const STORIES: [Bundled; 7] = stories![
    "why-columns-miss",
    "blocks-stay",
    "a-shrinking-working-set",
    "merges-spill",
    "material-points",
    "dirty-lines",
    "hash-join",
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
