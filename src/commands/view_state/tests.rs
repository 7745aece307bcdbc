//! Checks of the module above.

use super::*;
use crate::app::arrangement::Arrangement;
use crate::app::caches::{CacheEdit, Change};
use crate::app::layouts::NamedLayout;
use crate::axis::Position;
use crate::overlay::StripKind;
use crate::overlay::exhibits::{EXHIBITS, ExhibitEntry};
use crate::scene::Camera;
use crate::scene::layout::Radii;
use crate::scene::palette::Theme;
use crate::scene::solids::{Form, Glyphs, Measure, Projection, SolidLook};
use crate::sim::Policy;
use crate::sim::config::preset;
use crate::timeline::grid::{Indices, MOST_SLICES};
use crate::timeline::{Aggregate, ClockKind, Distribution, GridKind, GridPart, StepBy};
use proptest::prelude::*;

pub(super) fn args(words: &[&str]) -> ViewArgs {
    let words = ["orrery", "view", "t.orrery"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    match parse(words) {
        Ok(Command::View(args)) => args,
        other => panic!("`view`: {other:?}"),
    }
}

#[test]
fn without_flags_nothing_is_asked_for() {
    let state = state(&args(&[])).expect("sound");
    assert_eq!(state, ViewState { trace: "t.orrery".into(), ..ViewState::default() });
    assert_eq!(state.command(), "orrery view t.orrery");
    let view = crate::commands::picture::view(&args(&[]).picture, 1.0, 1.0).expect("sound");
    assert_eq!((view.tail, view.window), (state.tail, state.window), "as pictures are drawn");
}

#[test]
fn points_are_in_order_and_places_are_numbers() {
    let saved = Saved::default();
    assert!(asked(&args(&["--in", "5", "--out", "5.5"]), &saved).is_ok());
    let wrong = asked(&args(&["--in", "5", "--out", "5"]), &saved).err().expect("nothing is between them");
    assert_eq!(wrong.0, "--out 5: expected a moment after --in 5");
    for text in ["-3", "x", "1e3"] {
        let words = ["orrery", "view", "t.orrery", "--tick", text].map(str::to_owned).to_vec();
        let wrong = parse(words).expect_err("no place").to_string();
        assert!(wrong.contains("--tick") && wrong.contains("expected a reference number"), "{wrong}");
    }
}

#[test]
fn what_is_kept_is_a_command_of_view_and_nothing_else() {
    let kept = read("orrery view 'my trace' --tick 2613.5 --view large").expect("a command");
    assert_eq!((kept.position, kept.panes), (Position::of(2613.5), vec!["large".to_owned()]));
    for wrong in ["", "orrery", "orrery stats t", "orrery view", "orrery view t --tick x", "orrery view t; rm t", "'"] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn caches_that_were_changed_are_said_by_flags_that_make_them() {
    let words = |own: &CacheArgs, changes: &[Change]| {
        let mut edit = CacheEdit::new(hierarchy(own, "paper").expect("sound"));
        for change in changes {
            assert!(edit.change(change), "{change:?}: {:?}", edit.refused());
        }
        let said = express(own, &[], edit.now())?;
        let made = hierarchy(&said, "paper").expect("sound");
        assert_eq!(HierarchyConfig { name: edit.now().name.clone(), ..made }, *edit.now());
        Some(
            flags(&said)
                .into_iter()
                .map(|(flag, value)| format!("{flag} {}", value.unwrap_or_default()))
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    let none = CacheArgs::default();
    let named = CacheArgs { cache: Some("zen4".into()), ..none.clone() };
    let sized = Change::Size(0, "1KiB".into());
    let fifo = Policy::ALL.iter().copied().find(|policy| policy.to_string() == "fifo").expect("there");
    for (own, changes, expect) in [
        (&none, vec![sized.clone()], Some("--cache paper --l1 1KiB,8,32,lru")),
        (&none, vec![Change::Preset("zen4".into())], Some("--cache zen4")),
        (&named, vec![Change::Policy(2, fifo)], Some("--cache zen4 --l2 1MiB,8,64,fifo")),
        (&named, vec![Change::Preset("paper".into()), sized.clone()], Some("--cache paper --l1 1KiB,8,32,lru")),
        (&named, vec![Change::Policy(1, fifo)], None),
        (&none, vec![Change::Prefetch(0, crate::sim::config::Prefetch::NextLine)], None),
    ] {
        assert_eq!(words(own, &changes).as_deref(), expect, "{changes:?}");
    }
    // Once saved, the file says them.
    let mut edit = CacheEdit::new(preset("paper").expect("shipped"));
    assert!(edit.change(&Change::Prefetch(0, crate::sim::config::Prefetch::NextLine)));
    let saved = [(edit.now().clone(), PathBuf::from("my caches.toml"))];
    let said = express(&none, &saved, edit.now()).and_then(|said| said.cache);
    assert_eq!(said.as_deref(), Some("my caches.toml"));
}

fn position() -> impl Strategy<Value = Position> {
    (any::<u64>(), 0u32..1 << 20, any::<bool>()).prop_map(|(tick, part, whole)| {
        let at = Position::at(tick >> 1);
        if whole { at } else { at.plus(f64::from(part) / f64::from(1 << 20)) }
    })
}

fn flag(name: &'static str, values: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = Option<Flag>> {
    proptest::option::of(values.prop_map(move |value| (name.to_owned(), Some(value))))
}

/// A name as regions have them, without the comma that parts lists.
fn name() -> impl Strategy<Value = String> {
    "[ -+.-~é長🦀\u{1b}\u{202e}]{1,9}"
}

fn any_solids() -> impl Strategy<Value = SolidLook> {
    let measure = || (0..Measure::ALL.len()).prop_map(|n| Measure::ALL[n].0);
    let part =
        proptest::option::of((0u64..9, 1u64..9).prop_map(|(from, more)| {
            GridPart(vec![Indices::One(from), Indices::All, Indices::Some(from, from + more)])
        }));
    let what = (proptest::option::of(name()), part, measure(), proptest::option::of(measure()), 0..4usize);
    let of = (proptest::option::of(0u16..9), proptest::option::of(0..2usize), proptest::option::of(any::<u64>()));
    let slices = (1u32..MOST_SLICES, proptest::option::of((0u32..9, 1u32..9)));
    let drawn = (0..Form::ALL.len(), 0..Glyphs::ALL.len(), 0..Projection::ALL.len(), any::<bool>());
    (what, of, slices, drawn).prop_map(
        |(
            (array, part, measure, color, how),
            (core, kind, threshold),
            (slices, window),
            (form, glyphs, seen, many),
        )| {
            let words = if many { "even(7)" } else { "-3,10.5" };
            SolidLook {
                array: array.map(Into::into),
                part: part.unwrap_or_default(),
                measure,
                color,
                aggregate: Aggregate::ALL[how].0,
                owner: if many { "cyclic(4),*".parse().expect("one") } else { Distribution::default() },
                core,
                kind: kind.map(|n| GridKind::ALL[n].0),
                threshold,
                slices,
                window: window.map(|(from, more)| (from, from + more)),
                form: Form::ALL[form].0,
                isovalues: words.parse().expect("values"),
                glyphs: Glyphs::ALL[glyphs].0,
                projection: Projection::ALL[seen].0,
            }
        },
    )
}

fn any_state() -> impl Strategy<Value = ViewState> {
    let unit = -1.0f32..1.0;
    let camera = prop_oneof![
        Just(Camera::default()),
        (unit.clone(), unit, 1.0f32..1000.0).prop_map(|(x, y, zoom)| Camera { at: [x, y], zoom }),
    ];
    let trace = prop_oneof![name(), Just("-".to_owned()), Just("./-x".to_owned())]
        .prop_filter("a path that begins like a flag is said otherwise", |name| !name.starts_with('-') || name == "-");
    let caches = (
        flag("--cache", name()),
        flag("--l1", Just("32KiB,8,64".to_owned())),
        flag("--cores", (1u16..513).prop_map(|n| n.to_string())),
        flag("--seed", any::<u64>().prop_map(|n| n.to_string())),
        any::<bool>(),
    );
    let caches = caches.prop_map(|(cache, l1, cores, seed, data)| {
        let data = data.then(|| ("--data-only".to_owned(), None));
        [cache, l1, cores, seed, data].into_iter().flatten().collect::<Vec<Flag>>()
    });
    let cell = (0..EXHIBITS.len(), 1u8..101, any::<bool>()).prop_map(|(n, height, beside)| {
        let side = if beside { "A." } else { "" };
        format!("{side}{}:{height}", EXHIBITS[n].name)
    });
    let column = (1u8..101, proptest::collection::vec(cell, 1..3));
    let panes = proptest::collection::vec(column, 0..4).prop_map(|columns| {
        let text = |(width, cells): (u8, Vec<String>)| format!("{width}:{}", cells.join("/"));
        let texts: Vec<String> = columns.into_iter().map(text).collect();
        Arrangement::parse(&texts).expect("as it is said").texts()
    });
    let layouts = proptest::option::of((0..NamedLayout::ALL.len()).prop_map(|n| NamedLayout::ALL[n]));
    let panes = (panes, layouts, prop_oneof![Just(1.0f32), 0.75f32..3.0], any::<bool>());
    let range = (proptest::option::of(position()), proptest::option::of(position()));
    let range = range.prop_map(|(from, to)| PlayRange { from, to });
    let clock = (0..ClockKind::ALL.len()).prop_map(|n| ClockKind::ALL[n]);
    let names = || proptest::collection::vec(name(), 0..3);
    let others = (
        flag("--title", ".{0,9}".boxed()),
        flag("--size", Just("640x480".to_owned())),
        flag("--memory", Just("32MiB".to_owned())),
    );
    let others = others.prop_map(|(title, size, memory)| [title, size, memory].into_iter().flatten().collect());
    let reading = flag("--format", Just("lackey".to_owned())).prop_map(|format| format.into_iter().collect());
    let step = prop_oneof![
        Just(StepBy::References),
        Just(StepBy::Marks),
        Just(StepBy::Line("a b.c:7".into(), None)),
        Just(StepBy::Line("a.c:7".into(), Some("-b.c:9".into()))),
    ];
    let against = proptest::option::of((name(), proptest::option::of(step)));
    let strip = prop_oneof![
        Just(StripKind::Served),
        (1u8..=8).prop_map(StripKind::Level),
        Just(StripKind::Classes),
        Just(StripKind::Temperature),
    ];
    let color = (name(), 0..36usize).prop_map(|(name, n)| (name, crate::scene::palette::region(n)));
    let colors = proptest::collection::vec(color, 0..3);
    let speed = proptest::option::of(1e-3f64..1e12);
    let pin = proptest::option::of(prop_oneof![Just("A[3][4]".to_owned()), Just("0x1000-0x103f".to_owned()), name()]);
    (
        (trace, reading, caches, panes, camera, position(), range, (pin, any::<bool>())),
        (clock, speed, any::<u64>(), any::<u64>(), names(), names(), any::<bool>(), (others, colors, names())),
        (
            against,
            0..Theme::ALL.len(),
            strip,
            proptest::collection::vec((0usize..9, any::<bool>()), 0..5),
            any::<bool>(),
            any_solids(),
        ),
    )
        .prop_map(
            |(
                (trace, reading, caches, (panes, layout, text_scale, calm), camera, position, range, (pin, loops)),
                rest,
                (against, theme, strip, sorts, scale, solids),
            )| {
                let (against, in_step) = against.map_or((None, None), |(name, step)| (Some(name), step));
                let panes = if layout.is_some() { Vec::new() } else { panes };
                let sorts = sorts_of(&panes, &sorts);
                // Sheets count from their corner, to wherever they are scrolled.
                let first =
                    Arrangement::parse(&panes).expect("sound").columns.first().map(|column| column.cells[0].row);
                let is_sheet = first.is_some_and(ExhibitEntry::is_sheet);
                let at = camera.at.map(|v| if is_sheet { 300.0 * v.abs() } else { v });
                let camera = Camera { at, ..camera };
                let (clock, speed, tail, window, show, dim, dim_rest, (others, colors, order)) = rest;
                let dim_rest = dim_rest && dim.is_empty();
                ViewState {
                    trace,
                    reading,
                    caches,
                    layout,
                    panes,
                    sorts,
                    text_scale,
                    calm,
                    camera,
                    position,
                    range,
                    pin,
                    loops,
                    clock,
                    speed,
                    tail,
                    window,
                    show,
                    dim,
                    dim_rest,
                    colors,
                    order,
                    radii: if scale { Radii::Scale } else { Radii::Fit },
                    against,
                    in_step,
                    theme: Theme::ALL[theme].0,
                    strip,
                    solids,
                    others,
                }
            },
        )
}

/// Sorts that panes can have: of each that can be sorted by a column, or as usual (0).
fn sorts_of(panes: &[String], chosen: &[(usize, bool)]) -> Vec<String> {
    let all = Arrangement::parse(panes).expect("as it is said");
    let cells = all.columns.iter().flat_map(|column| &column.cells).filter(|cell| !cell.row.columns.is_empty());
    let words = |columns: &[crate::overlay::exhibits::Column], n: usize, back: bool| match n % (columns.len() + 1) {
        0 => String::new(),
        n => format!("{}{}", columns[n - 1].word(), if back { ":back" } else { "" }),
    };
    let mut sorts: Vec<String> = cells.zip(chosen).map(|(cell, &(n, back))| words(cell.row.columns, n, back)).collect();
    sorts.truncate(sorts.iter().rposition(|words| !words.is_empty()).map_or(0, |last| last + 1));
    sorts
}

proptest! {
    #[test]
    fn the_words_of_a_state_are_read_as_that_state(one in any_state()) {
        let command = one.command();
        let words = split(&command);
        prop_assert_eq!(words.as_ref(), Some(&one.words()), "{}", command);
        match parse(words.unwrap_or_default()) {
            Ok(Command::View(args)) => prop_assert_eq!(state(&args).ok(), Some(one), "{}", command),
            other => prop_assert!(false, "{}: {:?}", command, other),
        }
    }
}
