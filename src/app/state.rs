//! What a window shows, as a value and as the command that shows it again: `orrery view t.orrery --cache paper --tick 2613`.
//!
//! Equal states have equal words, and what is as it is without any flag has none. The command line makes the same state of the words
//! (`commands::view_state`), so that one may copy the command, keep it and go back to it.

use super::layouts::NamedLayout;
use super::transport::PlayRange;
use crate::axis::Position;
use crate::overlay::StripKind;
use crate::scene::Camera;
use crate::scene::layout::Radii;
use crate::scene::palette::own::hex;
use crate::scene::palette::{Rgba, Theme};
use crate::scene::solids::SolidLook;
use crate::shown::quoted;
use crate::timeline::{ClockKind, StepBy};

/// A flag of the command line and its value; `None` = it has none.
pub type Flag = (String, Option<String>);

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewState {
    /// The trace, as it was named.
    pub trace: String,
    /// What says how the trace is read.
    pub reading: Vec<Flag>,
    /// What says under which caches.
    pub caches: Vec<Flag>,
    /// The layout; panes have no words then.
    pub layout: Option<NamedLayout>,
    /// The columns of panes, from left to right, as `app::arrangement` has them; none = those of the layout, or what suits the trace.
    pub panes: Vec<String>,
    /// How the panes that can be sorted are, from left to right and from above: `misses`, `misses:back`; empty = as is usual. The last one
    /// is not empty.
    pub sorts: Vec<String>,
    /// How many times as large as usual type is.
    pub text_scale: f32,
    /// Nothing flies.
    pub calm: bool,
    /// Where the first pane looks.
    pub camera: Camera,
    /// Where the playhead is.
    pub position: Position,
    /// In and out points.
    pub range: PlayRange,
    /// What is pinned, by its addresses or as it was named.
    pub pin: Option<String>,
    /// Played over and over.
    pub loops: bool,
    /// What time stands for.
    pub clock: ClockKind,
    /// What the clock counts, a second; `None` = by the trace's length.
    pub speed: Option<f64>,
    /// References of trail.
    pub tail: u64,
    /// References of temperature.
    pub window: u64,
    /// Regions that are seen in full; none = all.
    pub show: Vec<String>,
    /// Regions that are dimmed.
    pub dim: Vec<String>,
    /// What `show` leaves out is dimmed, and not hidden.
    pub dim_rest: bool,
    /// Colours that regions were given.
    pub colors: Vec<(String, Rgba)>,
    /// Regions that stand first.
    pub order: Vec<String>,
    /// What the thickness of rings follows.
    pub radii: Radii,
    /// What it is compared with, as it was named, and what two traces go in step by, where that is not as is usual.
    pub against: Option<String>,
    /// See there.
    pub in_step: Option<StepBy>,
    /// How the window is coloured.
    pub theme: Theme,
    /// What the strip tells.
    pub strip: StripKind,
    /// What of arrays is looked at as solids.
    pub solids: SolidLook,
    /// Everything else that was asked for: parts left out, title, size.
    pub others: Vec<Flag>,
}

/// Trail and window where none are asked for.
pub const TAIL: u64 = 64;
/// See [`TAIL`].
pub const WINDOW: u64 = 256;

impl Default for ViewState {
    fn default() -> Self {
        Self {
            trace: String::new(),
            reading: Vec::new(),
            caches: Vec::new(),
            layout: None,
            panes: Vec::new(),
            sorts: Vec::new(),
            text_scale: 1.0,
            calm: false,
            camera: Camera::default(),
            position: Position::START,
            range: PlayRange::default(),
            pin: None,
            loops: false,
            clock: ClockKind::default(),
            speed: None,
            tail: TAIL,
            window: WINDOW,
            show: Vec::new(),
            dim: Vec::new(),
            dim_rest: false,
            colors: Vec::new(),
            order: Vec::new(),
            radii: Radii::default(),
            against: None,
            in_step: None,
            theme: Theme::default(),
            strip: StripKind::default(),
            solids: SolidLook::default(),
            others: Vec::new(),
        }
    }
}

impl ViewState {
    /// The words of the command.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = vec!["orrery".to_owned(), "view".to_owned(), named(&self.trace)];
        let mut say = |flag: &str, value: Option<&str>| match value {
            // What begins like a flag is joined to it.
            Some(value) if value.starts_with('-') => words.push(format!("{flag}={value}")),
            value => {
                words.push(flag.to_owned());
                words.extend(value.map(str::to_owned));
            }
        };
        let other = Self::default();
        self.reading.iter().chain(&self.caches).for_each(|(flag, value)| say(flag, value.as_deref()));
        if let Some(layout) = self.layout {
            say("--layout", Some(layout.name()));
        }
        if !self.panes.is_empty() {
            say("--panes", Some(&self.panes.join(",")));
        }
        if !self.sorts.is_empty() {
            say("--sort", Some(&self.sorts.join(",")));
        }
        if self.text_scale != other.text_scale {
            say("--text-scale", Some(&self.text_scale.to_string()));
        }
        if self.calm {
            say("--reduced-motion", None);
        }
        if self.camera != other.camera {
            let Camera { at: [x, y], zoom } = self.camera;
            say("--camera", Some(&format!("{x},{y},{zoom}")));
        }
        let positions = [
            ("--tick", Some(self.position).filter(|at| *at != other.position)),
            ("--in", self.range.from),
            ("--out", self.range.to),
        ];
        for (flag, at) in positions {
            at.into_iter().for_each(|at| say(flag, Some(&at.to_string())));
        }
        if let Some(pin) = &self.pin {
            say("--pin", Some(pin));
        }
        if self.loops {
            say("--loop", None);
        }
        if self.clock != other.clock {
            say("--clock", Some(self.clock.name()));
        }
        self.speed.into_iter().for_each(|speed| say("--speed", Some(&speed.to_string())));
        for (flag, references, usual) in [("--tail", self.tail, other.tail), ("--window", self.window, other.window)] {
            if references != usual {
                say(flag, Some(&references.to_string()));
            }
        }
        if !self.show.is_empty() {
            say("--show", Some(&self.show.join(",")));
        }
        match (self.dim.is_empty(), self.dim_rest) {
            (false, _) => say(&format!("--dim={}", self.dim.join(",")), None),
            (true, true) => say("--dim", None),
            (true, false) => {}
        }
        if !self.colors.is_empty() {
            let of = |(name, color): &(String, Rgba)| format!("{name}={}", hex(*color));
            say("--color", Some(&self.colors.iter().map(of).collect::<Vec<_>>().join(",")));
        }
        if !self.order.is_empty() {
            say("--order", Some(&self.order.join(",")));
        }
        if let Some(against) = &self.against {
            say("--against", Some(against));
            if let Some(by) = &self.in_step {
                say("--in-step", Some(&by.to_string()));
            }
        }
        if self.radii != other.radii {
            say("--radii", Some(self.radii.name()));
        }
        if self.strip != other.strip {
            say("--strip", Some(&self.strip.to_string()));
        }
        if self.theme != other.theme {
            say("--theme", Some(self.theme.name()));
        }
        self.solids.flags().iter().for_each(|(flag, value)| say(flag, Some(value)));
        self.others.iter().for_each(|(flag, value)| say(flag, value.as_deref()));
        words
    }

    /// The command, as a shell takes it.
    #[must_use]
    pub fn command(&self) -> String {
        self.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// This state where it was asked for, and `left` in all that was not.
    #[must_use]
    pub fn over(self, left: Self) -> Self {
        let none = Self::default();
        fn either<T: PartialEq>(own: T, none: &T, left: T) -> T {
            if own == *none { left } else { own }
        }
        let regions = |state: &Self| (state.show.clone(), state.dim.clone(), state.dim_rest);
        let (show, dim, dim_rest) = either(regions(&self), &regions(&none), regions(&left));
        let divided = self.layout.is_some() || !self.panes.is_empty();
        Self {
            trace: self.trace,
            reading: either(self.reading, &none.reading, left.reading),
            caches: either(self.caches, &none.caches, left.caches),
            // A camera is that of a pane.
            camera: if divided { self.camera } else { either(self.camera, &none.camera, left.camera) },
            // A layout has panes of its own.
            layout: if divided { self.layout } else { left.layout },
            panes: if divided { self.panes } else { left.panes },
            // How rows are sorted is that of a pane.
            sorts: if divided { self.sorts } else { either(self.sorts, &none.sorts, left.sorts) },
            text_scale: either(self.text_scale, &none.text_scale, left.text_scale),
            calm: self.calm || left.calm,
            position: either(self.position, &none.position, left.position),
            range: either(self.range, &none.range, left.range),
            pin: either(self.pin, &none.pin, left.pin),
            loops: self.loops || left.loops,
            // A speed is that of a clock.
            speed: match self.speed {
                None if self.clock == none.clock => left.speed,
                own => own,
            },
            clock: either(self.clock, &none.clock, left.clock),
            tail: either(self.tail, &none.tail, left.tail),
            window: either(self.window, &none.window, left.window),
            show,
            dim,
            dim_rest,
            colors: either(self.colors, &none.colors, left.colors),
            order: either(self.order, &none.order, left.order),
            radii: either(self.radii, &none.radii, left.radii),
            // What goes in step is that with which it is compared.
            in_step: if self.against.is_none() { left.in_step } else { self.in_step },
            against: self.against.or(left.against),
            theme: either(self.theme, &none.theme, left.theme),
            strip: either(self.strip, &none.strip, left.strip),
            solids: either(self.solids, &none.solids, left.solids),
            others: either(self.others, &none.others, left.others),
        }
    }
}

/// A path that is no flag.
fn named(trace: &str) -> String {
    if trace.starts_with('-') && trace != "-" { format!("./{trace}") } else { trace.to_owned() }
}

/// The words of a command as a shell would take them apart: plain ones, `'…'`, `"…"` without `$`, `$'…'`, and `\` before a sign. `None` where
/// a quote is open or a shell would do more than that.
#[must_use]
pub fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // Bytes, since `$'\xc3\xa9'` says one sign by two.
    let mut word: Option<Vec<u8>> = None;
    let mut signs = command.chars().peekable();
    let put = |word: &mut Option<Vec<u8>>, c: char| {
        word.get_or_insert_default().extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    };
    while let Some(c) = signs.next() {
        match c {
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            '\'' => {
                word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '\'' => break,
                        c => put(&mut word, c),
                    }
                }
            }
            '"' => {
                word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' => {
                            let next = signs.next()?;
                            if !matches!(next, '"' | '\\' | '$' | '`') {
                                put(&mut word, '\\');
                            }
                            put(&mut word, next);
                        }
                        c => put(&mut word, c),
                    }
                }
            }
            '$' if signs.next_if_eq(&'\'').is_some() => {
                word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '\'' => break,
                        '\\' => match signs.next()? {
                            'x' => {
                                let digits: String = [signs.next()?, signs.next()?].into_iter().collect();
                                word.get_or_insert_default().push(u8::from_str_radix(&digits, 16).ok()?);
                            }
                            'n' => put(&mut word, '\n'),
                            't' => put(&mut word, '\t'),
                            c @ ('\'' | '\\' | '"') => put(&mut word, c),
                            _ => return None,
                        },
                        c => put(&mut word, c),
                    }
                }
            }
            '\\' => put(&mut word, signs.next()?),
            '$' | '`' | '|' | '&' | ';' | '<' | '>' | '(' | ')' => return None,
            c => put(&mut word, c),
        }
    }
    words.extend(word);
    words.into_iter().map(|word| String::from_utf8(word).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_usual_has_no_words() {
        let plain = ViewState { trace: "t.orrery".into(), ..ViewState::default() };
        assert_eq!(plain.command(), "orrery view t.orrery");
        let state = ViewState {
            caches: vec![("--cache".into(), Some("my caches.toml".into())), ("--data-only".into(), None)],
            panes: vec!["rings".into(), "source".into()],
            sorts: vec!["miss-rate:back".into()],
            camera: Camera { at: [-0.5, 0.25], zoom: 8.0 },
            position: Position::of(2613.5),
            range: PlayRange { from: Some(Position::at(10)), to: None },
            loops: true,
            dim: vec!["B".into()],
            colors: vec![("A".into(), [255, 204, 0, 255])],
            order: vec!["B".into(), "heap*".into()],
            radii: Radii::Scale,
            ..plain.clone()
        };
        assert_eq!(
            state.command(),
            "orrery view t.orrery --cache 'my caches.toml' --data-only --panes rings,source --sort miss-rate:back --camera=-0.5,0.25,8 \
             --tick 2613.5 --in 10 --loop --dim=B --color 'A=#ffcc00' --order 'B,heap*' --radii scale"
        );
        let odd = ViewState { trace: "-x y".into(), ..plain };
        assert_eq!(odd.command(), "orrery view './-x y'");
    }

    #[test]
    fn what_was_asked_for_goes_before_how_the_window_was_left() {
        let left = ViewState {
            trace: "old".into(),
            caches: vec![("--cache".into(), Some("zen4".into()))],
            position: Position::at(7),
            tail: 9,
            speed: Some(3.0),
            clock: ClockKind::Misses,
            ..ViewState::default()
        };
        let asked = ViewState { trace: "t".into(), tail: 5, ..ViewState::default() };
        let both = asked.over(left.clone());
        assert_eq!((both.trace.as_str(), both.tail, both.position, both.speed), ("t", 5, Position::at(7), Some(3.0)));
        assert_eq!(both.caches, left.caches);
        let other = ViewState { clock: ClockKind::Cycles, ..ViewState::default() }.over(left);
        assert_eq!((other.clock, other.speed), (ClockKind::Cycles, None), "a speed is that of its clock");
    }

    #[test]
    fn words_are_taken_apart_as_a_shell_does() {
        for (text, words) in [
            ("a  b\tc\n", vec!["a", "b", "c"]),
            ("'' \"\" x''y", vec!["", "", "xy"]),
            ("a\\ b \"c \\\"d\\\" \\n\"", vec!["a b", "c \"d\" \\n"]),
            ("$'a\\x0ab\\'\\\\\\xc2\\x9b'", vec!["a\nb'\\\u{9b}"]),
        ] {
            assert_eq!(split(text).as_deref(), Some(&words.into_iter().map(str::to_owned).collect::<Vec<_>>()[..]));
        }
        for wrong in ["'a", "\"a", "$'a", "a\\", "$HOME", "a; rm", "\"`x`\"", "$'\\xff'", "$'\\q'"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_come_apart_as_they_were(words in proptest::collection::vec(any::<String>(), 0..6)) {
            let text: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            prop_assert_eq!(split(&text.join(" ")), Some(words));
        }

        #[test]
        fn any_text_is_answered(text in any::<String>()) {
            let _ = split(&text);
        }
    }
}
