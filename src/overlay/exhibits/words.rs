//! What the words of the pictures mean, for who reads them for the first time. The page `docs/words.md` has the same ones.

use super::prose::{self, LARGEST, Part};
use super::sheet::look_from_top;
use super::{Exhibit, Gesture, Picture};
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::{Camera, View};
use egui::Pos2;

/// See the module.
#[derive(Default)]
pub struct WordsExhibit;

/// Each word and what it means: what runs first, then caches, then what a picture shows.
pub const MEANINGS: [(&str, &str); 33] = [
    ("reference", "One access of the program to memory: a read, a write or a fetch of an instruction, at an address."),
    (
        "trace",
        "All references of a run, in the order in which they happened. Positions in it are numbers of references.",
    ),
    ("region", "A named part of memory: an array, a variable, a heap block. Each has a colour and an arc on the rim."),
    ("element", "One item of a region, such as A[3][5]. Each dot of the rings is an element, or a cache line of them."),
    ("cache", "Small fast memory between the processor and main memory. It holds copies of what was used."),
    (
        "level",
        "L1 is the cache beside the processor, L2 and L3 are larger, slower and farther out. Memory is the last.",
    ),
    ("cache line", "The piece of memory that a cache fetches and keeps as a whole, often 64 bytes: 8 doubles."),
    (
        "set",
        "A cache is divided into sets. Its address alone says in which set a line may be. One spiral arm is one set.",
    ),
    ("way", "A place for a line in a set. A set of 8 ways holds 8 lines. A cache of one set is fully associative."),
    ("rank", "How soon a line of a set is given up: 0 is the head of the arm, the last one goes next."),
    ("hit", "The line is in the cache that is asked."),
    ("miss", "It is not there: it is fetched from farther out, which takes longer."),
    ("compulsory", "A miss on a line that this cache was never asked for before. Only fetching ahead avoids it."),
    (
        "capacity",
        "A miss because more was used in between than the cache holds. Using data again sooner (blocking) or less data helps.",
    ),
    (
        "conflict",
        "A miss though the cache has room: too many lines that are used fall into one set. Other distances between rows or arrays help \
         (padding).",
    ),
    ("coherence", "A miss because another core wrote to the line and so took it away."),
    ("eviction", "A line leaves a full set so that another one can come in."),
    (
        "write-back",
        "A changed line that leaves is written to the next level. Until then it is dirty: newer than memory.",
    ),
    ("policy", "The rule by which a set chooses the line that leaves. LRU: the one that was used longest ago."),
    ("prefetch", "A line is fetched before the program asks for it."),
    ("TLB", "A cache of the addresses of pages, in which the processor looks before each access."),
    ("miss ratio", "Misses in a hundred references that ask a level."),
    ("footprint", "All bytes that a trace touches. What is used again and again within a while is its working set."),
    ("stack distance", "Different lines used between two uses of one. A cache of more lines, in one set, would hit."),
    ("locality", "Of time: what was used is used again soon. Of place: what lies beside it is used soon."),
    ("trail", "The last references as paths. Red ones came in, blue ones were pushed out, pale ones slid to the head."),
    ("ghost", "A faint dot: a copy of what stands farther in, too."),
    (
        "warm, cold",
        "Warm (red): hits of this level earn more than its misses cost, of late. Cold (blue): they earn less.",
    ),
    ("strip", "The bar below: the whole trace from left to right. Red is where references miss."),
    ("mark", "A name that the program or its trace gives to a moment."),
    ("phase", "A stretch in which the same code touches the same data, found by itself. A name from the trace wins."),
    ("pin", "A click on a dot: its copies, its life and its events are shown in all panes."),
    ("A and B", "What is compared: A is what was before, or the other trace, and B is what is shown now."),
];

impl Exhibit for WordsExhibit {
    fn history(&self, _: &View) -> u64 {
        0
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let (info, mut sheet) = prose::open(studio, shot, view, layout);
        let mut parts = vec![Part::Title("What the words mean".into(), String::new())];
        parts.extend(MEANINGS.iter().map(|&(word, what)| Part::Meaning(word, what.into())));
        prose::tell(&mut sheet, &parts, &view.camera);
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, _: &Studio, _: &Taken, _: Pos2, _: f32) -> Option<Tip> {
        None
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        look_from_top(camera, gesture, taken, LARGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::sim::MissClass;

    #[test]
    fn every_word_is_told_and_those_that_the_program_says_are_among_them() {
        let mut studio = crate::overlay::tests::studio();
        let shot = Shot::still([1200, 2400], Position::at(10), View::default(), Parts::default());
        let taken = shot.take(&mut studio, &mut WordsExhibit).expect("in memory");
        let plane = taken.picture.plane().expect("flat");
        for (word, what) in MEANINGS {
            assert!(plane.words.iter().any(|words| words.text == word), "{word}");
            let first = what.split(' ').next().expect("some");
            assert!(plane.words.iter().any(|words| words.text.starts_with(first)), "{what}");
        }
        for class in [MissClass::Compulsory, MissClass::Capacity, MissClass::Conflict, MissClass::Coherence] {
            assert!(MEANINGS.iter().any(|(word, _)| *word == class.word()), "{class:?}");
        }
    }

    #[test]
    fn the_page_of_the_manual_has_the_same_words() {
        let mut page = String::from(
            "# What the words mean\n\n`F1` shows this list in the window, and `orrery snapshot TRACE --view words -o words.png` draws it.\n\n\
             | Word | Means |\n|---|---|\n",
        );
        for (word, what) in MEANINGS {
            page.push_str(&format!("| {word} | {what} |\n"));
        }
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/words.md");
        if std::env::var_os("GOLDEN_UPDATE").is_some() {
            std::fs::write(&file, &page).expect("written");
        }
        let written = std::fs::read_to_string(&file).expect("docs/words.md; GOLDEN_UPDATE=1 writes it");
        assert_eq!(written, page, "docs/words.md; GOLDEN_UPDATE=1 writes it anew");
    }
}
