//! Checks of a kernel in the window: its panes, what the pointer lights in all of them, a click on an event, another group.

// Below a module of tests the flow of imports does not bind.
#[cfg(test)]
mod tests {
    use crate::app::desk::Desk;
    use crate::app::keys::Action;
    use crate::app::panel::tests::{context, frame, press};
    use crate::axis::Position;
    use crate::kernel::bundled::find;
    use crate::kernel::{Bound, Extent, KEPT, KernelBook, Launch, Program, bound};
    use crate::opening::kernel_tasks;
    use crate::overlay::exhibits::{Picture, named};
    use crate::overlay::{Parts, Studio};
    use crate::scene::View;
    use crate::tasks::Spot;
    use egui::{Context, Event, Pos2, pos2, vec2};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    const SIZE: [u32; 2] = [1280, 720];

    /// The strided reduction, of which four groups are kept.
    fn desk() -> Desk {
        let studio = studio(find("reduce-strided").expect("bundled").text);
        Desk::new(studio, View::default(), Parts::default(), &[], Position::START, 9.0)
    }

    fn studio(text: &str) -> Studio {
        let program = Program::new("reduce-strided", text, None, &BTreeMap::new()).expect("read");
        let mut launch = Launch::of(Extent::Items([1024, 1, 1]));
        for (name, words) in [("g_idata", "iota"), ("n", "1024")] {
            let Ok(Bound::Content(content, length)) = bound(words) else { panic!("{words}") };
            launch.bound.insert(name.to_owned(), (content, length));
        }
        let book = KernelBook::play(&program, &launch, 0..4, KEPT).expect("runs");
        let tasks = kernel_tasks(&book, "k");
        Studio::of_kernel(Arc::new(book), tasks).expect("an empty trace")
    }

    fn frames(context: &Context, desk: &mut Desk, all: Vec<Event>) {
        for event in all {
            frame(context, desk, SIZE, vec![event]);
        }
        frame(context, desk, SIZE, vec![]);
    }

    /// A place in the pane of this exhibit where this is found.
    fn find_spot(desk: &Desk, name: &str, wanted: impl Fn(Spot) -> bool) -> Option<Pos2> {
        let (_, pane) = desk.panes.seen().find(|(_, pane)| pane.row().name == name)?;
        let area = pane.taken()?.layout.area;
        let places = (0..).map(|n| pos2(area.left() + (n % 640) as f32 * 2.0, area.top() + (n / 640) as f32 * 2.0));
        places
            .take(640 * 360)
            .filter(|at| area.contains(*at))
            .find(|at| pane.spot(desk.studio(), *at).is_some_and(&wanted))
    }

    fn words(desk: &Desk, name: &str) -> Vec<String> {
        let pane = desk.panes.seen().find(|(_, pane)| pane.row().name == name).map(|(_, pane)| pane);
        let picture = pane.and_then(|pane| pane.taken()).map(|taken| &taken.picture);
        match picture {
            Some(Picture::Plane(plane)) => plane.words.iter().map(|words| words.text.clone()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_kernel_opens_with_its_views_and_what_is_pointed_at_is_told_in_all_of_them() {
        let (context, mut desk) = (context(), desk());
        frames(&context, &mut desk, vec![]);
        let names: Vec<&str> = desk.panes.seen().map(|(_, pane)| pane.row().name).collect();
        assert_eq!(names, ["kernel-memory", "kernel-divergence", "kernel-branches", "kernel-source"]);
        let event = |spot: Spot| matches!(spot, Spot::Event { row: 4, item: 7 });
        let at = find_spot(&desk, "kernel-memory", event).expect("in sight");
        assert!(!words(&desk, "kernel-memory").iter().any(|words| words == "sdata, byte 56"));
        frames(&context, &mut desk, vec![Event::PointerMoved(at)]);
        assert_eq!(desk.session.task_look().spot, Some(Spot::Event { row: 4, item: 7 }));
        // The first round reads sdata[14]; the source shows what item 7 decided.
        assert!(
            words(&desk, "kernel-memory").iter().any(|words| words == "sdata, byte 56"),
            "the word has its colour told"
        );
        let source = words(&desk, "kernel-source");
        assert!(!source.iter().any(|words| words == "true"), "an item's digits stand for the counts of all");
        frames(&context, &mut desk, vec![press(at, true), press(at, false)]);
        assert_eq!(desk.transport.position(), Position::at(4), "a click goes to the event");
        // A bank, then a line of the source.
        let at = find_spot(&desk, "kernel-memory", |spot| spot == Spot::Bank(0)).expect("in sight");
        frames(&context, &mut desk, vec![Event::PointerMoved(at)]);
        assert!(words(&desk, "kernel-memory").iter().any(|words| words == "bank 0"));
        let at = find_spot(&desk, "kernel-source", |spot| spot == Spot::Line(21)).expect("in sight");
        frames(&context, &mut desk, vec![Event::PointerMoved(at)]);
        assert!(words(&desk, "kernel-memory").iter().any(|words| words == "line 21"), "in the other pane");
        // Where the pointer leaves the panes, or the window, nothing is lit any more.
        for leaves in [Event::PointerMoved(pos2(640.0, 715.0)), Event::PointerGone] {
            frames(&context, &mut desk, vec![Event::PointerMoved(at), leaves]);
            assert_eq!(desk.session.task_look().spot, None);
            assert!(!words(&desk, "kernel-memory").iter().any(|words| words == "line 21"));
        }
    }

    #[test]
    fn keys_go_by_rows_and_numbers_that_are_typed_are_rows() {
        let (context, mut desk) = (context(), desk());
        frames(&context, &mut desk, vec![]);
        desk.apply(Action::Step(1), 0.0);
        while desk.transport.moving() {
            desk.advance(0.1);
        }
        assert_eq!(desk.transport.position(), Position::at(1));
        desk.go_to("12", 0.0);
        assert_eq!(
            (desk.transport.position(), desk.title().as_str()),
            (Position::at(12), "orrery - 12 of 30 rows - k")
        );
        desk.go_to("12us", 0.0);
        assert_eq!(desk.transport.position(), Position::at(12));
        assert_eq!(desk.toast(0.0).map(|toast| toast.0), Some("“12us” is no number of rows: expected 0 to 30"));
    }

    #[test]
    fn a_kernel_that_was_edited_takes_the_place_of_the_one_before_and_what_is_still_there_stays() {
        let (context, mut desk) = (context(), desk());
        frames(&context, &mut desk, vec![]);
        let tasks = Arc::clone(desk.studio().tasks().expect("a kernel has tasks"));
        let location = tasks.location_named("group[2].warp[1]").expect("kept");
        let (first, last) = (tasks.set().tasks_at(location).start, tasks.set().tasks_at(location).end - 1);
        for task in [first, last] {
            desk.choose_task(task);
        }
        desk.session.task_look_mut().location = Some(location);
        desk.transport.jump(Position::at(20));
        // What the pointer rests on may be beyond what there is then.
        desk.session.task_look_mut().spot = Some(Spot::Event { row: 29, item: 63 });
        let text = find("reduce-strided").expect("bundled").text;
        let shorter = text.replace("s < 64u", "s < 8u");
        assert_ne!(shorter, text);
        desk.replace(studio(&shorter));
        assert_eq!(desk.studio().axis().total, 18);
        assert_eq!(desk.transport.position(), Position::at(18), "the playhead is at the end");
        frame(&context, &mut desk, SIZE, vec![]);
        assert!(words(&desk, "kernel-memory").iter().any(|words| words == "Memory of group 2"));
        let names: Vec<&str> = desk.panes.seen().map(|(_, pane)| pane.row().name).collect();
        assert_eq!(names, ["kernel-memory", "kernel-divergence", "kernel-branches", "kernel-source"]);
        // The first task is there as it was, the last one no more.
        let set = desk.studio().tasks().expect("tasks").set();
        let chosen = desk.chosen_before.iter().map(|&task| (set.start(task), set.location_of(task)));
        let here = set.locations().find("group[2].warp[1]").expect("kept");
        assert_eq!(chosen.collect::<Vec<_>>(), [(0, here)]);
    }

    #[test]
    fn what_a_source_tells_has_a_pane() {
        let text = find("reduce-strided").expect("bundled").text;
        let (context, mut desk) = (context(), desk());
        frames(&context, &mut desk, vec![]);
        assert!(!desk.panes.seen().any(|(_, pane)| pane.row().name == "kernel-values"));
        // It is edited and saved.
        desk.replace(studio(&text.replace("let tid = lid.x;", "let tid = lid.x; // @emit tid * 3u")));
        frames(&context, &mut desk, vec![]);
        assert!(desk.panes.seen().any(|(_, pane)| pane.row().name == "kernel-values"));
        let said = words(&desk, "kernel-values");
        assert!(said.iter().any(|words| words == "tid * 3u") && said.iter().any(|words| words == "189"), "{said:?}");
        // What is pointed at is an item, which the other panes light.
        let at = find_spot(&desk, "kernel-values", |spot| spot == Spot::Item(5)).expect("in sight");
        frames(&context, &mut desk, vec![Event::PointerMoved(at)]);
        assert_eq!(desk.session.task_look().spot, Some(Spot::Item(5)));
    }

    #[test]
    fn a_click_in_the_map_of_the_launch_chooses_a_group() {
        let rows = ["kernel-memory", "kernel-groups"].map(|name| named(name).expect("there"));
        let studio = studio(find("reduce-strided").expect("bundled").text);
        let mut desk = Desk::new(studio, View::default(), Parts::default(), &rows, Position::START, 9.0);
        let context = context();
        frames(&context, &mut desk, vec![]);
        assert!(
            words(&desk, "kernel-groups").iter().any(|words| words == "all 15"),
            "extra transactions of each group"
        );
        let told = |desk: &Desk, title: &str| {
            let (_, pane) = desk.panes.seen().find(|(_, pane)| pane.row().name == "kernel-groups")?;
            let area = pane.taken()?.layout.area;
            let places =
                (0..200 * 100).map(|n| area.min + area.size() * vec2((n % 200) as f32, (n / 200) as f32) / 200.0);
            places.filter_map(|at| Some((at, pane.tip(desk.studio(), at, 1.0)?))).find(|(_, tip)| tip.title == title)
        };
        let (at, tip) = told(&desk, "group 2").expect("in sight");
        assert_eq!(
            tip.lines,
            ["1 warp diverges", "15 extra transactions of banks", "11 sectors of storage and textures"]
        );
        frames(&context, &mut desk, vec![press(at, true), press(at, false)]);
        assert!(words(&desk, "kernel-memory").iter().any(|words| words == "Memory of group 2"));
        // Of a group past those that are kept the costs are known, and nothing else.
        let (at, tip) = told(&desk, "group 9").expect("in sight");
        assert_eq!(tip.lines.last().map(String::as_str), Some("its events are not kept"));
        frames(&context, &mut desk, vec![press(at, true), press(at, false)]);
        assert!(words(&desk, "kernel-memory").iter().any(|words| words == "Memory of group 2"));
    }

    #[test]
    fn what_is_said_beside_headings_is_said_in_full_in_a_small_window() {
        for size in [[640, 360], [360, 640], [900, 420]] {
            let (context, mut desk) = (context(), desk());
            for _ in 0..2 {
                frame(&context, &mut desk, size, vec![]);
            }
            for name in ["kernel-memory", "kernel-divergence", "kernel-branches", "kernel-source"] {
                let said = words(&desk, name);
                let heading = said.iter().position(|words| {
                    ["Memory of group 0", "Divergence", "Branchings", "Source"].contains(&words.as_str())
                });
                let heading = heading.unwrap_or_else(|| panic!("{name} has no heading at {size:?}"));
                let beside = said.get(heading + 1).expect("more words");
                assert!(!beside.contains('…'), "{name} at {size:?}: {beside}");
            }
        }
    }

    #[test]
    fn the_group_is_that_of_the_location_that_is_chosen_and_playing_moves_the_line() {
        let (context, mut desk) = (context(), desk());
        frames(&context, &mut desk, vec![]);
        let tasks = Arc::clone(desk.studio().tasks().expect("a kernel has tasks"));
        assert_eq!(tasks.listed().len(), 8, "two warps of each of four groups");
        desk.session.task_look_mut().location = tasks.location_named("group[2].warp[1]");
        frames(&context, &mut desk, vec![]);
        assert!(words(&desk, "kernel-memory").iter().any(|words| words == "Memory of group 2"));
        let line = |desk: &Desk| {
            let (_, pane) = desk.panes.seen().next().expect("one");
            match &pane.taken().expect("drawn").picture {
                // The playhead is drawn last of all that runs across.
                Picture::Plane(plane) => plane.bars.iter().map(|bar| bar.sides).collect::<Vec<_>>(),
                _ => Vec::new(),
            }
        };
        let before = line(&desk);
        desk.transport.jump(Position::at(12));
        frames(&context, &mut desk, vec![]);
        assert_ne!(before, line(&desk));
        assert_eq!(desk.studio().axis().total, 30, "a row is a tick");
    }
}
