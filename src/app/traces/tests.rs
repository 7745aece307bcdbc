//! Checks of the module above.

use super::super::desk::Effect;
use super::super::keys::Action;
use super::*;
use crate::overlay::tests::studio;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A trace whose thread reports what it is sent, until nobody sends any more.
fn trace(name: &str) -> (Trace, Sender<anyhow::Result<Report>>, Receiver<bool>) {
    let (say, said) = channel::<anyhow::Result<Report>>();
    let (answers, answered) = channel();
    let load: Load = Box::new(move |report| {
        for said in said {
            let _ = answers.send(report(said?));
        }
        Ok(())
    });
    let first = First {
        pin: None,
        against: None,
        theme: Theme::default(),
        strip: StripKind::default(),
        beside: Beside::default(),
        asked: Asked::default(),
        view: View::default(),
        choice: Choice::default(),
        parts: Parts::default(),
        panes: Default::default(),
        layout: None,
        text_scale: 1.0,
        tick: Position::of(7.0),
        speed: None,
        clock: ClockKind::References,
        play: false,
        follow: false,
    };
    let trace = Trace {
        name: name.into(),
        load,
        save: Box::new(|_, _, _| Ok(PathBuf::new())),
        simulate: Arc::new(|_, _, report| {
            report(Report::Words("simulated".into()));
            Ok(())
        }),
        save_caches: Box::new(|_| Ok(PathBuf::new())),
        stops: None,
        first,
    };
    (trace, say, answered)
}

fn named(name: &str) -> Report {
    let mut studio = studio();
    studio.set_title(name.to_owned());
    Report::Ready(studio)
}

/// A window's traces with the messages of their threads.
fn window() -> (Traces, Sender<Message>, Receiver<Message>) {
    let (post, messages) = channel();
    (Traces::default(), post, messages)
}

fn title(traces: &mut Traces) -> Option<String> {
    traces.desk().map(|desk| desk.title())
}

#[test]
fn what_is_shown_stays_until_the_next_trace_can_be_shown_and_then_nothing_of_it_is_taken() {
    let (mut traces, post, messages) = window();
    let begin = |traces: &mut Traces, trace| {
        let post = post.clone();
        traces.begin(trace, move |m| post.send(m).is_ok()).expect("a thread");
    };
    let (first, say_first, answers_first) = trace("first");
    begin(&mut traces, first);
    assert!(title(&mut traces).is_none());
    say_first.send(Ok(named("first"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    assert_eq!(title(&mut traces).as_deref(), Some("orrery - 7 of 1,000 - first"));
    let (second, say_second, _answers) = trace("second");
    begin(&mut traces, second);
    // The first is still shown and goes on.
    say_first.send(Ok(Report::Words("more".into()))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Changed));
    assert_eq!(traces.desk().and_then(|desk| desk.toast(0.0).map(|toast| toast.0.to_owned())).as_deref(), Some("more"));
    // One report of the first is on its way when the second comes.
    say_first.send(Ok(named("late"))).expect("it listens");
    let late = messages.recv().expect("told");
    say_second.send(Ok(named("second"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    assert!(matches!(traces.take(late, 0.0), Taken::Nothing));
    assert_eq!(title(&mut traces).as_deref(), Some("orrery - 7 of 1,000 - second"));
    say_first.send(Ok(named("later"))).expect("it listens");
    assert_eq!(answers_first.iter().take(4).collect::<Vec<_>>(), [true, true, true, false], "it is told to stop");
    assert!(messages.try_recv().is_err());
}

#[test]
fn a_trace_that_cannot_be_opened_leaves_the_one_that_is_shown() {
    let (mut traces, post, messages) = window();
    let begin = |traces: &mut Traces, trace| {
        let post = post.clone();
        traces.begin(trace, move |m| post.send(m).is_ok()).expect("a thread");
    };
    let (first, say_first, _first) = trace("first");
    begin(&mut traces, first);
    say_first.send(Ok(named("first"))).expect("it listens");
    traces.take(messages.recv().expect("told"), 0.0);
    let (broken, say, _broken) = trace("broken");
    begin(&mut traces, broken);
    say.send(Err(anyhow::anyhow!("broken: found no trace"))).expect("it listens");
    let Taken::Failed(error) = traces.take(messages.recv().expect("told"), 0.0) else { panic!("it failed") };
    assert_eq!(error.to_string(), "broken: found no trace");
    assert!(traces.coming.is_none());
    assert_eq!(title(&mut traces).as_deref(), Some("orrery - 7 of 1,000 - first"));
    say_first.send(Ok(named("first, longer"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Changed), "it goes on");
    assert_eq!(title(&mut traces).as_deref(), Some("orrery - 7 of 1,000 - first, longer"));
}

#[test]
fn what_is_wrong_with_a_file_is_told_until_it_is_mended_and_what_is_shown_stays() {
    let (mut traces, post, messages) = window();
    let (first, say, _answers) = trace("first");
    traces.begin(first, move |m| post.send(m).is_ok()).expect("a thread");
    let told = |traces: &mut Traces, report: Report| {
        say.send(Ok(report)).expect("it listens");
        traces.take(messages.recv().expect("told"), 0.0)
    };
    told(&mut traces, named("first"));
    traces.desk().expect("shown").transport.jump(Position::at(30));
    let fault = || Report::Fault("k.wgsl has changed".into(), "k.wgsl:25:12".into());
    assert!(matches!(told(&mut traces, fault()), Taken::Changed));
    // Whatever else is said: it stays.
    told(&mut traces, Report::Words("something".into()));
    let desk = traces.desk().expect("shown");
    assert_eq!(desk.fault, Some(Fault::new("k.wgsl has changed".into(), "k.wgsl:25:12")));
    assert_eq!(desk.title(), "orrery - 30 of 1,000 - first");
    told(&mut traces, named("mended"));
    let desk = traces.desk().expect("shown");
    assert_eq!((desk.fault.clone(), desk.title().as_str()), (None, "orrery - 30 of 1,000 - mended"));
}

#[test]
fn of_simulations_only_the_newest_counts() {
    let (mut traces, post, messages) = window();
    let (first, say, _answers) = trace("first");
    let of_trace = post.clone();
    traces.begin(first, move |m| of_trace.send(m).is_ok()).expect("a thread");
    say.send(Ok(named("first"))).expect("it listens");
    traces.take(messages.recv().expect("told"), 0.0);
    let shown = traces.shown.as_mut().expect("opened");
    let config = shown.desk.studio().timeline().config().clone();
    let mut told = Vec::new();
    for _ in 0..2 {
        let post = post.clone();
        shown.simulate(config.clone(), move |m| post.send(m).is_ok(), 0.0);
        told.push(messages.recv().expect("told"));
    }
    let taken: Vec<bool> =
        told.into_iter().map(|message| matches!(traces.take(message, 0.0), Taken::Changed)).collect();
    assert_eq!(taken, [false, true]);
}

#[test]
fn what_a_program_prints_is_kept_from_before_its_trace_can_be_shown_to_its_end() {
    let (mut traces, post, messages) = window();
    let (program, say, _answers) = trace("program");
    traces.begin(program, move |m| post.send(m).is_ok()).expect("a thread");
    let reports = [
        Report::Printed(b"one\ntw".into()),
        named("program"),
        Report::Printed(b"o".into()),
        Report::Ended("so".into()),
    ];
    for report in reports {
        say.send(Ok(report)).expect("it listens");
        assert!(!matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Nothing));
    }
    let output = traces.shown.as_ref().and_then(|shown| shown.output.as_ref()).expect("it printed");
    assert_eq!((output.lines(), output.ended()), (vec!["one".to_owned(), "two".to_owned()], Some("so")));
    assert_eq!(
        traces.desk().and_then(|desk| desk.toast(0.0).map(|toast| toast.0.to_owned())).as_deref(),
        Some("so; Space plays it from the start, G shows what it printed, Q tells what would help")
    );
}

#[test]
fn another_trace_is_opened_once_this_one_is_whole_and_follows_its_caches() {
    use crate::app::against::Against;
    use crate::overlay::tests::studio_under;
    use crate::sim::config::preset;
    let (mut traces, post, messages) = window();
    let (mut first, say, _answers) = trace("first");
    // Another one of the same content is another trace.
    let open: Simulate = Arc::new(|_, config, report| {
        report(Report::Ready(studio_under(&config)));
        Ok(())
    });
    first.first.against = Some(Against { name: Some("other.orrery".into()), by: None, follows: true, open });
    let sender = post.clone();
    traces.begin(first, move |m| sender.send(m).is_ok()).expect("a thread");
    say.send(Ok(named("first"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    let open = |traces: &mut Traces| {
        let sender = post.clone();
        let shown = traces.shown.as_mut().expect("shown");
        shown.open_against(move |m| sender.send(m).is_ok(), 0.0);
    };
    open(&mut traces);
    assert!(matches!(traces.take(messages.recv().expect("opened"), 0.0), Taken::Changed));
    let desk = traces.desk().expect("shown");
    assert!(desk.studio().baseline().is_some_and(crate::overlay::Baseline::is_trace));
    assert_eq!(desk.panes.len(), 3, "A, B and their numbers");
    open(&mut traces);
    assert!(messages.try_recv().is_err(), "it is there");
    // Other caches are those of both.
    let mut config = preset("paper").expect("there");
    config.levels[0].size *= 2;
    let desk = traces.desk().expect("shown");
    desk.recache(studio_under(&config), 0.0);
    assert!(desk.studio().baseline().is_some(), "it stays until it is simulated");
    open(&mut traces);
    assert!(matches!(traces.take(messages.recv().expect("simulated"), 0.0), Taken::Changed));
    let desk = traces.desk().expect("shown");
    assert_eq!(desk.state_to_leave().against.as_deref(), Some("other.orrery"));
    let beside = desk.studio().baseline().expect("compared");
    assert_eq!(beside.studio().timeline().config(), &config);
}

#[test]
fn a_program_that_is_recorded_again_is_compared_with_its_recording_before() {
    use crate::overlay::tests::studio_under;
    let (mut traces, post, messages) = window();
    let record = |name: &str, traces: &mut Traces, before: Option<Arc<dyn ReferenceSource>>| {
        let (recorded, say, _answers) = trace(name);
        // What is simulated is the recording before, under the caches of now.
        let simulate: Simulate = Arc::new(move |earlier, config, report| {
            assert!(before.as_ref().is_some_and(|before| Arc::ptr_eq(before, &earlier)));
            report(Report::Ready(studio_under(&config)));
            Ok(())
        });
        let sender = post.clone();
        let recorded = Trace { simulate, stops: Some(Arc::default()), ..recorded };
        traces.begin(recorded, move |m| sender.send(m).is_ok()).expect("a thread");
        say
    };
    let say = record("slow", &mut traces, None);
    say.send(Ok(named("once"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    let desk = traces.desk().expect("shown");
    assert!(!desk.has_earlier && desk.apply(Action::Compare, 0.0).is_none(), "there was none before");
    let before = Arc::clone(desk.studio().timeline().source());
    let _stays = say;
    let say = record("slow", &mut traces, Some(before));
    say.send(Ok(named("again"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    assert!(matches!(traces.desk().expect("shown").apply(Action::Compare, 0.0), Some(Effect::Earlier)));
    let sender = post.clone();
    let shown = traces.shown.as_mut().expect("shown");
    shown.compare_with_earlier();
    shown.open_against(move |m| sender.send(m).is_ok(), 0.0);
    assert!(matches!(traces.take(messages.recv().expect("opened"), 0.0), Taken::Changed));
    let desk = traces.desk().expect("shown");
    let before = desk.studio().baseline().expect("compared").studio();
    assert!(before.tables().title.ends_with(", recorded before"), "not both called so: {}", before.tables().title);
    assert_eq!(desk.state_to_leave().against, None, "no command names it");
    assert!(desk.apply(Action::Compare, 0.0).is_none(), "it is compared already");
    // Another program may be another version of it.
    let _stays = say;
    let before = Arc::clone(traces.desk().expect("shown").studio().timeline().source());
    let say = record("fast", &mut traces, Some(before));
    say.send(Ok(named("other"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    assert!(traces.desk().expect("shown").has_earlier);
    // What was not recorded here is nobody's version.
    let (other, say, _answers) = trace("a trace");
    let sender = post.clone();
    traces.begin(other, move |m| sender.send(m).is_ok()).expect("a thread");
    say.send(Ok(named("read"))).expect("it listens");
    assert!(matches!(traces.take(messages.recv().expect("told"), 0.0), Taken::Opened));
    assert!(!traces.desk().expect("shown").has_earlier);
}

#[test]
fn a_short_trace_takes_a_minute_and_a_long_one_two() {
    assert_eq!([100, 8_448, 18_000, 36_000, 1_200_000].map(default_speed), [4.0, 141.0, 300.0, 300.0, 10_000.0]);
}
