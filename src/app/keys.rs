//! Every key of the window, in one table. The sheet that `?` opens and `orrery view --help` are made of it.

use super::layouts::NamedLayout;
use super::panes::Side;
use crate::overlay::exhibits::EXHIBITS;

/// A key as it is named on the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Key {
    Space,
    Left,
    Right,
    Home,
    End,
    Escape,
    Enter,
    Tab,
    F1,
    F5,
    F11,
    F12,
    /// A character, lower case.
    Char(char),
}

/// A key with what is held beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// Shift; of no meaning for a character, which is another one with it.
    pub shift: bool,
    /// Control.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Record what the pane shows, or end that.
    Clip,
    /// The strip tells something else.
    Strip,
    /// The next theme.
    Theme,
    /// Play or pause.
    PlayPause,
    /// Pause and go by so many references.
    Step(i64),
    /// To the nearest miss of the innermost level: the next (`true`) or the previous one.
    Miss(bool),
    /// To the first reference.
    Start,
    /// Past the last reference.
    End,
    /// One step faster.
    Faster,
    /// One step slower.
    Slower,
    /// Preset speed, 0 to 8.
    Speed(usize),
    /// Another clock: what time stands for.
    Clock,
    /// To the nearest reference for which the innermost level gives a line up: the next (`true`) or the previous one.
    Eviction(bool),
    /// To the next (`true`) or previous reference of what is pinned or, where nothing is, of the source line under way.
    Line(bool),
    /// To the next (`true`) or previous mark.
    Mark(bool),
    /// Open the comparison with the caches before.
    Compare,
    /// Show the caches before in this pane, or those of now again.
    Machine,
    /// Copy the numbers of the pane.
    CopyNumbers,
    /// Open the inspector of what is pinned.
    Inspect,
    /// Open what would help.
    Advice,
    /// Open what the words mean.
    Words,
    /// Look closely at what is pinned.
    LookAtPin,
    /// A bookmark here: asks for its name.
    Bookmark,
    /// To the next (`true`) or previous bookmark.
    ToBookmark(bool),
    /// Open or close the card of bookmarks and notes.
    Notes,
    /// Back to what the window showed when it was left.
    GoBack,
    /// Copy the command that shows this.
    CopyCommand,
    /// Open the finder, or close it.
    Finder,
    /// The in point (`true`) or the out point here, or away.
    Point(bool),
    /// Play over and over, or once.
    Loop,
    /// Trail longer (`true`) or shorter.
    Tail(bool),
    /// So many hundredths as close to the picture.
    Closer(u16),
    /// The whole picture.
    Whole,
    /// Into full screen or back.
    FullScreen,
    /// Save the picture as PNG.
    Still,
    /// The next exhibit.
    Exhibit,
    /// Open or close the card on which the caches are changed.
    Caches,
    /// Take a change of the caches back, or (`true`) make it again.
    Undo(bool),
    /// Another pane on a side of this one.
    Split(Side),
    /// Close the pane.
    Close,
    /// Keys are for the next pane.
    NextPane,
    /// The panes of a layout.
    Layout(NamedLayout),
    /// Type larger (1), smaller (-1), as usual (0).
    Text(i8),
    /// The region of what is pinned changes places with the one before (`true`) or after it.
    Region(bool),
    /// Rings to scale, or as thick as they fit.
    Radii,
    /// Hide or show title, tables and legend.
    Panels,
    /// Show or hide the sheet of keys.
    Sheet,
    /// Turn to the start page.
    Open,
    /// Open the file whose path was copied.
    Paste,
    /// Open or close what the recorded program prints.
    Output,
    /// Record the program once more.
    RecordAgain,
    /// Close what is open, else say that the next one quits.
    Escape,
    /// Leave the program.
    Quit,
}

/// One row of the sheet.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The keys, as people write them.
    pub keys: &'static str,
    /// What they do.
    pub what: &'static str,
    /// What is pressed, and what it does.
    pub chords: &'static [(Chord, Action)],
}

const fn key(key: Key) -> Chord {
    Chord { key, shift: false, ctrl: false, alt: false }
}

const fn char(c: char) -> Chord {
    key(Key::Char(c))
}

const fn shift(key: Key) -> Chord {
    Chord { key, shift: true, ctrl: false, alt: false }
}

const fn ctrl(key: Key) -> Chord {
    Chord { key, shift: false, ctrl: true, alt: false }
}

const fn alt(key: Key) -> Chord {
    Chord { key, shift: false, ctrl: false, alt: true }
}

/// All keys, in the order of the sheet.
pub const TABLE: [Row; 45] = [
    Row { keys: "Space", what: "play, pause; at the end: start over", chords: &[(key(Key::Space), Action::PlayPause)] },
    Row {
        keys: "Left, Right",
        what: "one reference back, on",
        chords: &[(key(Key::Left), Action::Step(-1)), (key(Key::Right), Action::Step(1))],
    },
    Row {
        keys: "Shift + Left, Right",
        what: "ten references",
        chords: &[(shift(Key::Left), Action::Step(-10)), (shift(Key::Right), Action::Step(10))],
    },
    Row {
        keys: "Ctrl + Left, Right",
        what: "previous, next miss",
        chords: &[(ctrl(Key::Left), Action::Miss(false)), (ctrl(Key::Right), Action::Miss(true))],
    },
    Row {
        keys: "Alt + Left, Right",
        what: "previous, next eviction",
        chords: &[(alt(Key::Left), Action::Eviction(false)), (alt(Key::Right), Action::Eviction(true))],
    },
    Row {
        keys: "J  K",
        what: "previous, next reference of what is pinned, or else of this source line",
        chords: &[(char('j'), Action::Line(false)), (char('k'), Action::Line(true))],
    },
    Row {
        keys: "Home, End",
        what: "start, end of the trace",
        chords: &[(key(Key::Home), Action::Start), (key(Key::End), Action::End)],
    },
    Row {
        keys: "[  ]",
        what: "previous, next mark",
        chords: &[(char('['), Action::Mark(false)), (char(']'), Action::Mark(true))],
    },
    Row {
        keys: "D  F",
        what: "details of what is pinned, look at it closely",
        chords: &[(char('d'), Action::Inspect), (char('f'), Action::LookAtPin)],
    },
    Row {
        keys: "M  P  N",
        what: "a bookmark here; previous, next bookmark",
        chords: &[
            (char('m'), Action::Bookmark),
            (char('p'), Action::ToBookmark(false)),
            (char('n'), Action::ToBookmark(true)),
        ],
    },
    Row { keys: "T", what: "bookmarks and notes", chords: &[(char('t'), Action::Notes)] },
    Row { keys: "R", what: "back to where the window was left", chords: &[(char('r'), Action::GoBack)] },
    Row {
        keys: "I  O  L",
        what: "play from here, up to here; over and over",
        chords: &[(char('i'), Action::Point(true)), (char('o'), Action::Point(false)), (char('l'), Action::Loop)],
    },
    Row {
        keys: "-  +",
        what: "slower, faster",
        chords: &[(char('-'), Action::Slower), (char('+'), Action::Faster), (char('='), Action::Faster)],
    },
    Row {
        keys: "1 to 9",
        what: "1, 3, 10, 30, 100, 300, 1,000, 10,000, 100,000 references/s",
        chords: &[
            (char('1'), Action::Speed(0)),
            (char('2'), Action::Speed(1)),
            (char('3'), Action::Speed(2)),
            (char('4'), Action::Speed(3)),
            (char('5'), Action::Speed(4)),
            (char('6'), Action::Speed(5)),
            (char('7'), Action::Speed(6)),
            (char('8'), Action::Speed(7)),
            (char('9'), Action::Speed(8)),
        ],
    },
    Row { keys: "C", what: "clock: references, misses, cycles, adaptive", chords: &[(char('c'), Action::Clock)] },
    Row {
        keys: ",  .",
        what: "trail shorter, longer",
        chords: &[(char(','), Action::Tail(false)), (char('.'), Action::Tail(true))],
    },
    Row {
        keys: "Z  X  0",
        what: "closer, farther, the whole picture",
        chords: &[(char('z'), Action::Closer(150)), (char('x'), Action::Closer(67)), (char('0'), Action::Whole)],
    },
    Row { keys: "V", what: "the next exhibit: rings, numbers ...", chords: &[(char('v'), Action::Exhibit)] },
    Row {
        keys: "S  B",
        what: "another pane: on the right, below",
        chords: &[(char('s'), Action::Split(Side::Right)), (char('b'), Action::Split(Side::Below))],
    },
    Row {
        keys: "Tab  W",
        what: "go to the next pane, close this one",
        chords: &[(key(Key::Tab), Action::NextPane), (char('w'), Action::Close)],
    },
    Row {
        keys: "Ctrl + 1, 2, 3",
        what: "layout: lecture, engineer, compare",
        chords: &[
            (ctrl(Key::Char('1')), Action::Layout(NamedLayout::Lecture)),
            (ctrl(Key::Char('2')), Action::Layout(NamedLayout::Engineer)),
            (ctrl(Key::Char('3')), Action::Layout(NamedLayout::Compare)),
        ],
    },
    Row {
        keys: "Ctrl + -, +, 0",
        what: "smaller type, larger type, type as usual",
        chords: &[
            (ctrl(Key::Char('-')), Action::Text(-1)),
            (ctrl(Key::Char('+')), Action::Text(1)),
            (ctrl(Key::Char('=')), Action::Text(1)),
            (ctrl(Key::Char('0')), Action::Text(0)),
        ],
    },
    Row { keys: "E", what: "change the caches", chords: &[(char('e'), Action::Caches)] },
    Row {
        keys: "A  U",
        what: "compare with the caches before; show those in this pane, and back",
        chords: &[(char('a'), Action::Compare), (char('u'), Action::Machine)],
    },
    Row { keys: "Q", what: "what would help, simulated", chords: &[(char('q'), Action::Advice)] },
    Row { keys: "Y", what: "copy the numbers of the pane as CSV", chords: &[(char('y'), Action::CopyNumbers)] },
    Row {
        keys: "Ctrl + Z, Y",
        what: "undo, redo a change of the caches",
        chords: &[(ctrl(Key::Char('z')), Action::Undo(false)), (ctrl(Key::Char('y')), Action::Undo(true))],
    },
    Row { keys: "H", what: "hide or show the tables beside the rings", chords: &[(char('h'), Action::Panels)] },
    Row {
        keys: "F11, Alt + Enter",
        what: "full screen",
        chords: &[(key(Key::F11), Action::FullScreen), (alt(Key::Enter), Action::FullScreen)],
    },
    Row {
        keys: "Ctrl + P, K",
        what: "find a command, a mark, a source line, a reference",
        chords: &[(ctrl(Key::Char('p')), Action::Finder), (ctrl(Key::Char('k')), Action::Finder)],
    },
    Row {
        keys: "Ctrl + C",
        what: "copy the command that shows this",
        chords: &[(ctrl(Key::Char('c')), Action::CopyCommand)],
    },
    Row {
        keys: "Ctrl + L",
        what: "what the strip tells: servers, levels, classes, heat",
        chords: &[(ctrl(Key::Char('l')), Action::Strip)],
    },
    Row {
        keys: "Ctrl + B, D",
        what: "what is pinned: its region before, behind its neighbour",
        chords: &[(ctrl(Key::Char('b')), Action::Region(true)), (ctrl(Key::Char('d')), Action::Region(false))],
    },
    Row {
        keys: "Ctrl + G",
        what: "rings: as thick as they fit, area as capacity",
        chords: &[(ctrl(Key::Char('g')), Action::Radii)],
    },
    Row { keys: "Ctrl + T", what: "theme: dark, light, print", chords: &[(ctrl(Key::Char('t')), Action::Theme)] },
    Row {
        keys: "Ctrl + R",
        what: "record this pane as a video and a storyboard; end that",
        chords: &[(ctrl(Key::Char('r')), Action::Clip)],
    },
    Row { keys: "F12", what: "save the picture as PNG", chords: &[(key(Key::F12), Action::Still)] },
    Row {
        keys: "Ctrl + O, V",
        what: "open another trace; one whose path or text was copied",
        chords: &[(ctrl(Key::Char('o')), Action::Open), (ctrl(Key::Char('v')), Action::Paste)],
    },
    Row {
        keys: "F5",
        what: "record the program once more; A compares with before",
        chords: &[(key(Key::F5), Action::RecordAgain)],
    },
    Row { keys: "G", what: "what the recorded program prints", chords: &[(char('g'), Action::Output)] },
    Row { keys: "F1", what: "what the words mean", chords: &[(key(Key::F1), Action::Words)] },
    Row { keys: "?", what: "this list", chords: &[(char('?'), Action::Sheet)] },
    Row {
        keys: "Esc",
        what: "close what is open, let go what is pinned; twice: quit",
        chords: &[(key(Key::Escape), Action::Escape)],
    },
    Row { keys: "Ctrl + Q", what: "quit", chords: &[(ctrl(Key::Char('q')), Action::Quit)] },
];

/// What the mouse does; shown below the keys.
pub const MOUSE: [(&str, &str); 11] = [
    ("Strip", "click or drag to go there; hover to read"),
    ("", "wheel for a part of the trace, double click for all of it"),
    ("Picture", "hover a dot, a ring or an arc to see what it is"),
    ("", "click a dot to pin it: all panes show where it is"),
    ("", "wheel to look closer, drag to move, double click for all of it"),
    ("Charts", "click or drag to go there, Shift + drag for what is played"),
    ("Panes", "drag borders and tabs; keys go where the pointer is"),
    ("Regions", "click to dim, hide and show one, Shift + click to see it alone"),
    ("", "click its patch for another colour, Shift + click for its first"),
    ("Number", "click to type a reference"),
    ("File", "drop a trace on the window to open it"),
];

/// What a chord does, if anything.
#[must_use]
pub fn action(pressed: Chord) -> Option<Action> {
    let typed = matches!(pressed.key, Key::Char(_));
    let same = |c: &Chord| {
        c.key == pressed.key && c.ctrl == pressed.ctrl && c.alt == pressed.alt && (typed || c.shift == pressed.shift)
    };
    TABLE.iter().flat_map(|row| row.chords).find(|(chord, _)| same(chord)).map(|&(_, action)| action)
}

/// The keys of an action as people write them; empty where it has none.
#[must_use]
pub fn keys_of(action: Action) -> &'static str {
    TABLE.iter().find(|row| row.chords.iter().any(|&(_, a)| a == action)).map_or("", |row| row.keys)
}

impl Chord {
    /// As people write it: `Ctrl + Right`.
    #[must_use]
    pub fn words(self) -> String {
        let held = [(self.ctrl, "Ctrl + "), (self.alt, "Alt + "), (self.shift, "Shift + ")];
        let held: String = held.iter().filter(|(held, _)| *held).map(|(_, name)| *name).collect();
        match self.key {
            Key::Char(c) => format!("{held}{}", c.to_ascii_uppercase()),
            Key::Escape => format!("{held}Esc"),
            key => format!("{held}{key:?}"),
        }
    }
}

/// The exhibits and the table as text, for `orrery view --help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from("Exhibits:\n");
    for row in EXHIBITS {
        text.push_str(&format!("  {:<21}{}\n", row.name, row.what));
    }
    text.push_str("\nKeys in the window:\n");
    let mouse = MOUSE.iter().map(|&(place, what)| (place, what));
    for (keys, what) in TABLE.iter().map(|row| (row.keys, row.what)).chain([("", "")]).chain(mouse) {
        text.push_str(format!("  {keys:<21}{what}").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::transport::PRESETS;
    use crate::units::grouped;

    #[test]
    fn no_chord_means_two_things() {
        let all: Vec<Chord> = TABLE.iter().flat_map(|r| r.chords).map(|&(c, _)| c).collect();
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{a:?} is there twice");
        }
    }

    #[test]
    fn each_row_names_its_keys() {
        for row in &TABLE {
            let keys: Vec<&str> = row.keys.split([' ', ',', '+']).filter(|k| !k.is_empty()).collect();
            for (chord, _) in row.chords {
                // Unshifted plus, and the digits between 1 and 9.
                if matches!(chord.key, Key::Char('=' | '2'..='8')) {
                    continue;
                }
                let name = key(chord.key).words();
                assert!(keys.contains(&name.as_str()) || row.keys.contains(&name), "{name} is not in {:?}", row.keys);
                assert_eq!(row.keys.contains("Ctrl"), chord.ctrl, "{:?}", row.keys);
                assert_eq!(row.keys.contains("Shift"), chord.shift, "{:?}", row.keys);
                assert!(row.keys.contains("Alt") || !chord.alt, "{:?}", row.keys);
            }
        }
    }

    #[test]
    fn the_digits_set_the_speeds_that_the_sheet_lists() {
        let row = TABLE.iter().find(|r| r.keys == "1 to 9").expect("there");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
        let list: Vec<String> = PRESETS.iter().map(|&p| grouped(p as u64)).collect();
        assert_eq!(row.what, format!("{} references/s", list.join(", ")));
        for (digit, n) in ('1'..='9').zip(0..) {
            assert_eq!(action(char(digit)), Some(Action::Speed(n)));
        }
    }

    #[test]
    fn held_keys_decide() {
        assert_eq!(action(key(Key::Right)), Some(Action::Step(1)));
        assert_eq!(action(shift(Key::Left)), Some(Action::Step(-10)));
        assert_eq!(action(ctrl(Key::Right)), Some(Action::Miss(true)));
        assert_eq!(action(Chord { ctrl: true, ..shift(Key::Right) }), None);
        assert_eq!(action(shift(Key::Char('?'))), Some(Action::Sheet));
        assert_eq!(action(shift(Key::Char('+'))), Some(Action::Faster));
        assert_eq!(action(ctrl(Key::Char('h'))), None, "left to the system");
        assert_eq!(action(key(Key::Enter)), None);
        assert_eq!(action(alt(Key::Enter)), Some(Action::FullScreen));
    }

    /// The page of the manual, made of the table.
    fn manual() -> String {
        let mut page = String::from(
            "# Keys and mouse of the window\n\n`?` shows this list in the window.\n\n| Key | Does |\n|---|---|\n",
        );
        let cell = |words: &str| words.replace('|', "\\|");
        for row in &TABLE {
            page.push_str(&format!("| `{}` | {} |\n", cell(row.keys), cell(row.what)));
        }
        page.push_str("\n| Mouse | Does |\n|---|---|\n");
        let mut last = "";
        for (place, what) in MOUSE {
            last = if place.is_empty() { last } else { place };
            page.push_str(&format!("| {last} | {} |\n", cell(what)));
        }
        page
    }

    #[test]
    fn the_manual_lists_every_row_and_no_other() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md");
        if std::env::var_os("GOLDEN_UPDATE").is_some() {
            std::fs::write(&file, manual()).expect("written");
        }
        let written = std::fs::read_to_string(&file).expect("docs/keys.md; GOLDEN_UPDATE=1 writes it");
        assert_eq!(written, manual(), "docs/keys.md; GOLDEN_UPDATE=1 writes it anew");
    }

    #[test]
    fn the_help_of_view_lists_every_row() {
        let mut grammar = crate::commands::grammar();
        let view = grammar.find_subcommand_mut("view").expect("there");
        let help = view.render_long_help().to_string();
        for row in &TABLE {
            let line = help.lines().find(|l| l.trim_start().starts_with(row.keys) && l.contains(row.what));
            assert!(line.is_some(), "{:?} is not in the help:\n{help}", row.keys);
        }
        for row in EXHIBITS {
            assert!(help.lines().any(|l| l.contains(row.name) && l.contains(row.what)), "{} in {help}", row.name);
        }
    }
}
