//! Checks of the module above.

use super::*;

fn strings(args: &[&str]) -> Vec<String> {
    let args = args.iter().map(OsString::from);
    let exists = |path: &Path| path == Path::new("trace") || path == Path::new("stat");
    canonical(args, exists).into_iter().map(|a| a.into_string().expect("ascii")).collect()
}

#[test]
fn clap_accepts_its_own_table() {
    Cli::command().debug_assert();
}

#[test]
fn every_subcommand_is_known_to_the_shorthand() {
    for c in Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).chain(["help".into()]) {
        assert_eq!(strings(&["orrery", &c])[..2], ["orrery", &c], "{c} would be taken for a trace");
    }
}

#[test]
fn size_and_trace_shorthands() {
    assert_eq!(strings(&["orrery", "t.orrery"]), ["orrery", "view", "t.orrery"]);
    assert_eq!(strings(&["orrery", "-"]), ["orrery", "view", "-"]);
    assert_eq!(strings(&["orrery", "gone/t"]), ["orrery", "view", "gone/t"]);
    assert_eq!(strings(&["orrery", "trace", "--play"]), ["orrery", "view", "trace", "--play"]);
    // Of a word that is neither, clap says which command is nearest.
    assert_eq!(strings(&["orrery", "sats", "t"]), ["orrery", "sats", "t"]);
    assert_eq!(strings(&["orrery", "stat", "t"]), ["orrery", "view", "stat", "t"], "a file of that name is there");
    assert_eq!(strings(&["orrery", "record", "-640x360", "t"]), ["orrery", "record", "--size", "640x360", "t"]);
    assert_eq!(strings(&["orrery", "--help"]), ["orrery", "--help"]);
    assert_eq!(strings(&["orrery", "stats", "-x5"]), ["orrery", "stats", "-x5"]);
    let program = ["orrery", "capture", "--", "./prog", "-640x360"];
    assert_eq!(strings(&program), program);
}

/// What `orrery run` makes of these words: the flags of the compiler, ours, the source, what the program is given.
fn run(words: &[&str]) -> (Vec<String>, RunArgs) {
    let words = [&["orrery", "run"], words].concat();
    let Command::Run(args) = Cli::try_parse_from(strings(&words)).expect("good").command else { panic!("run") };
    let flags = args.flag.iter().map(|flag| flag.to_string_lossy().into_owned()).collect();
    (flags, args)
}

#[test]
fn flags_before_the_file_are_ours_or_the_compilers_and_words_after_it_the_programs() {
    let (flags, args) =
        run(&["--cache", "zen4", "-DN=64", "-I", "inc", "-lm", "-O3", "-march=native", "p.c", "-x", "y"]);
    assert_eq!(flags, ["-DN=64", "-I", "inc", "-lm", "-march=native"]);
    assert_eq!((args.cache.cache.as_deref(), args.optimize.as_deref()), (Some("zen4"), Some("3")));
    assert_eq!((args.source.to_str(), args.given()), (Some("p.c"), &["-x".into(), "y".into()][..]));
    assert!(misplaced(&args).is_empty());

    let (flags, args) =
        run(&["--l1=1KiB,2,32", "--cores", "2", "--stats", "-o", "o.orrery", "-O", "p.c", "--cache", "zen4"]);
    assert!(flags.is_empty() && args.stats);
    assert_eq!((args.cache.l1.as_deref(), args.cache.cores), (Some("1KiB,2,32"), Some(2)));
    assert_eq!((args.output.as_deref(), args.optimize.as_deref()), (Some(Path::new("o.orrery")), Some("1")));
    assert_eq!(args.given(), ["--cache", "zen4"]);
    assert_eq!(misplaced(&args), ["--cache"]);

    // After -- all is as it is meant, and a second one is the program's.
    let (_, args) = run(&["p.c", "--", "--cache=zen4", "--", "-O3"]);
    assert_eq!(args.given(), ["--cache=zen4", "--", "-O3"]);
    assert!(misplaced(&args).is_empty() && args.cache.cache.is_none());
    let (flags, args) = run(&["-g", "--", "-p.c", "--stats"]);
    assert_eq!((flags, args.source.to_str()), (vec!["-g".to_owned()], Some("-p.c")));
    assert_eq!((args.given(), args.stats), (&["--stats".into()][..], false));
    assert!(misplaced(&args).is_empty());

    // As it was before: a flag of the compiler by name.
    assert_eq!(run(&["--flag", "-fopenmp", "--flag=--param", "p.c"]).0, ["-fopenmp", "--param"]);
    let wrong = Cli::try_parse_from(strings(&["orrery", "run", "--cahce", "zen4", "p.c"])).expect_err("no such flag");
    assert!(wrong.to_string().contains("--cache"), "{wrong}");
    assert!(Cli::try_parse_from(strings(&["orrery", "run", "--stats"])).is_err(), "no source");
}
