//! What each action is called where it is one row of a list: a row of the table of keys may have several.

use crate::app::keys::Action;
use crate::app::panes::Side;
use crate::app::transport::PRESETS;
use crate::overlay::pen::rate;

/// The words of an action. The compiler asks for those of a new one.
pub(super) fn of(action: Action) -> String {
    let words = match action {
        Action::PlayPause => "play or pause",
        Action::Step(1) => "one reference on",
        Action::Step(-1) => "one reference back",
        Action::Step(by) => return format!("{} references {}", by.unsigned_abs(), if by < 0 { "back" } else { "on" }),
        Action::Miss(true) => "next miss",
        Action::Miss(false) => "previous miss",
        Action::Eviction(true) => "next eviction",
        Action::Eviction(false) => "previous eviction",
        Action::Line(true) => "next reference of what is pinned, or else of this source line",
        Action::Line(false) => "previous reference of what is pinned, or else of this source line",
        Action::Inspect => "details of what is pinned",
        Action::Advice => "what would help, simulated",
        Action::Words => "what the words mean",
        Action::LookAtPin => "look closely at what is pinned",
        Action::Compare => "compare with the caches before, or with another trace",
        Action::Machine => "show A, what is compared with, in this pane, or B again",
        Action::CopyNumbers => "copy the numbers of the pane as CSV",
        Action::Output => "what the recorded program prints",
        Action::RecordAgain => "record the program once more, and compare",
        Action::Open => "open another trace",
        Action::Paste => "open the trace whose path or text was copied",
        Action::Start => "start of the trace",
        Action::End => "end of the trace",
        Action::Faster => "faster",
        Action::Slower => "slower",
        Action::Speed(preset) => {
            return format!("speed {} references a second", rate(PRESETS.get(preset).copied().unwrap_or(0.0)));
        }
        Action::Clock => "another clock: references, misses, cycles, adaptive",
        Action::Mark(true) => "next mark",
        Action::Mark(false) => "previous mark",
        Action::Bookmark => "bookmark here",
        Action::ToBookmark(true) => "next bookmark",
        Action::ToBookmark(false) => "previous bookmark",
        Action::Notes => "bookmarks and notes",
        Action::GoBack => "back to where the window was left",
        Action::CopyCommand => "copy the command that shows this",
        Action::Finder => "find something",
        Action::Point(true) => "in point: play from here",
        Action::Point(false) => "out point: play up to here",
        Action::Loop => "play over and over, or once",
        Action::Tail(true) => "longer trail",
        Action::Tail(false) => "shorter trail",
        Action::Closer(factor) if factor > 100 => "look closer",
        Action::Closer(_) => "look from farther away",
        Action::Whole => "the whole picture",
        Action::FullScreen => "full screen",
        Action::Still => "save the picture as PNG",
        Action::Exhibit => "the next exhibit",
        Action::Caches => "change the caches",
        Action::Undo(false) => "undo a change of the caches",
        Action::Undo(true) => "redo a change of the caches",
        Action::Split(Side::Right) => "another pane on the right",
        Action::Split(Side::Below) => "another pane below",
        Action::Close => "close this pane",
        Action::NextPane => "keys for the next pane",
        Action::Layout(layout) => return format!("layout {}: {}", layout.name(), layout.what()),
        Action::Text(1..) => "larger type",
        Action::Text(0) => "type as large as usual",
        Action::Text(_) => "smaller type",
        Action::Region(true) => "the region of what is pinned: before its neighbour, in tables and round the rim",
        Action::Region(false) => "the region of what is pinned: behind its neighbour, in tables and round the rim",
        Action::Radii => "rings to scale (area as capacity), or as thick as they fit",
        Action::Panels => "hide or show the tables",
        Action::Clip => "record this pane as a video, or end the video",
        Action::Strip => "the strip tells something else: who served, misses of a level, classes, temperature",
        Action::Theme => "another theme: dark, light, print",
        Action::Sheet => "list of keys",
        Action::Escape => "close what is open",
        Action::Quit => "quit",
    };
    words.to_owned()
}

/// Other words that people look for an action by; they are not shown.
pub(super) fn also(action: Action) -> &'static str {
    match action {
        Action::Point(_) => "range section between begin end select from to",
        Action::Loop => "repeat again",
        Action::Caches => "hierarchy size ways sets line policy what if edit preset add level",
        Action::Undo(false) => "revert",
        Action::Undo(true) => "again",
        Action::Theme => "white black bright paper printer colours colors appearance mode",
        Action::Still => "screenshot image export",
        Action::Clip => "film movie mp4 gif export",
        Action::Strip => "timeline bar below heat cold warm compulsory capacity conflict",
        Action::Clock => "time cycles tempo",
        Action::Faster | Action::Slower => "tempo rate",
        Action::Compare | Action::Machine => "difference diff versus side by side baseline",
        Action::CopyNumbers => "export table spreadsheet data",
        Action::CopyCommand => "share link url state session",
        Action::Open | Action::Paste => "file load import lesson example",
        Action::RecordAgain => "again rerun re-record repeat run start refresh recompile build measure",
        Action::Start => "beginning first restart rewind",
        Action::End => "last finish",
        Action::Miss(_) => "cache fault",
        Action::Inspect => "inspector history events life",
        Action::Advice => "advice advise remedy fix improve optimize optimise faster why slow",
        Action::Words => "glossary meaning help explain definition hit miss eviction set way line",
        Action::Closer(_) | Action::LookAtPin => "zoom magnify",
        Action::Whole => "zoom fit reset all",
        Action::Text(_) => "font size zoom projector accessibility",
        Action::Panels => "legend labels clean",
        Action::Notes | Action::Bookmark | Action::ToBookmark(_) => "annotation comment label",
        Action::GoBack => "resume continue last session",
        Action::Split(_) => "window view side by side",
        Action::Exhibit => "view tab chart table source regions functions tiles array",
        Action::Sheet => "shortcuts help keyboard manual",
        Action::FullScreen => "maximize present projector",
        Action::Quit => "exit leave close window",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keys::TABLE;
    use std::collections::BTreeMap;

    #[test]
    fn no_two_actions_have_the_same_words() {
        let mut known = BTreeMap::new();
        for &(_, action) in TABLE.iter().flat_map(|row| row.chords) {
            let other = known.insert(of(action), action).filter(|other| *other != action);
            assert_eq!(other, None, "{} is {action:?} too", of(action));
        }
        assert!(known.len() > 40, "{}", known.len());
    }
}
