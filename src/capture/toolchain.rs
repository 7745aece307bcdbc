//! What the compiler is told, and the recording library, which it compiles itself on first use.
//!
//! The library travels as source (`capture/`): nothing in this program is bound to a machine. What was compiled lies in the
//! user's cache folder under a name made of the sources, the compiler's version and our own path; it is made in a folder
//! beside and renamed, so two builds at once, or one that was interrupted, leave it whole or not there.

use super::assemble::ASSEMBLER;
use super::{CaptureError, Notice, io_error};
use crate::files::{Scratch, cache_folder, is_own_file, own_folder};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// A language whose compiler can be wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `orrery cc`
    C,
    /// `orrery c++`
    Cpp,
    /// `orrery fortran`
    Fortran,
}

impl Language {
    /// Where the compiler's name is looked for, in order, and what it is otherwise.
    fn names(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::C => (&["ORRERY_CC", "CC"], &["gcc", "cc", "clang"]),
            Self::Cpp => (&["ORRERY_CXX", "CXX"], &["g++", "c++", "clang++"]),
            Self::Fortran => (&["ORRERY_FC", "FC"], &["gfortran"]),
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::C => "install gcc (Debian and Ubuntu: apt install gcc), or name a compiler with ORRERY_CC",
            Self::Cpp => "install g++ (Debian and Ubuntu: apt install g++), or name a compiler with ORRERY_CXX",
            Self::Fortran => "install gfortran (Debian and Ubuntu: apt install gfortran), or name one with ORRERY_FC",
        }
    }

    /// The language of a source file, by the end of its name.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" | "s" | "S" => Some(Self::C),
            "cc" | "cpp" | "cxx" | "c++" | "C" => Some(Self::Cpp),
            "f" | "for" | "f77" | "f90" | "f95" | "f03" | "f08" | "F" | "F90" => Some(Self::Fortran),
            _ => None,
        }
    }
}

/// Sources of the library: name, text, whether it is a unit of its own.
const SOURCES: [(&str, &str, bool); 13] = [
    ("spool.h", include_str!("../../capture/spool.h"), false),
    ("runtime.h", include_str!("../../capture/runtime.h"), false),
    ("orrery.h", include_str!("../../capture/orrery.h"), false),
    ("runtime.c", include_str!("../../capture/runtime.c"), true),
    ("windows.c", include_str!("../../capture/windows.c"), true),
    ("open.c", include_str!("../../capture/open.c"), true),
    ("alloc.c", include_str!("../../capture/alloc.c"), true),
    ("ranges.c", include_str!("../../capture/ranges.c"), true),
    ("hooks.S", include_str!("../../capture/hooks.S"), true),
    ("processes.S", include_str!("../../capture/processes.S"), true),
    ("modules.c", include_str!("../../capture/modules.c"), true),
    ("doors.S", include_str!("../../capture/doors.S"), true),
    ("library.c", include_str!("../../capture/library.c"), false),
];

/// The two objects of the library: for programs, made of all units, and for shared libraries, of these alone.
const OF_PROGRAMS: &str = "orrery.o";
const OF_LIBRARIES: &str = "orrery-library.o";
const LIBRARY_UNITS: [&str; 2] = ["library.c", "doors.S"];

/// Position-independent for programs that are; no vector registers, since hooks must not change them; no calls that the
/// source does not have.
const FLAGS: [&str; 10] = [
    "-D_GNU_SOURCE",
    "-O2",
    "-fPIE",
    "-fno-stack-protector",
    "-fexceptions",
    "-fno-builtin",
    "-mgeneral-regs-only",
    "-fno-lto",
    "-Wall",
    "-Wextra",
];

/// gcc makes calls of loops even with `-fno-builtin`; clang does not, and does not know the flag.
const GCC_FLAGS: [&str; 1] = ["-fno-tree-loop-distribute-patterns"];

/// A part of gcc's specs that links the library into programs, and into shared libraries what finds it in the program, before
/// the C library. Programs for 32 bits are not recorded, and have none.
const SPECS: &str = "\
%rename lib orrery_lib

*lib:
%{!r:%{!m32:%{!mx32:%{shared:orrery-library.o%s;:orrery.o%s}}}} %(orrery_lib)

*link:
+ %{!shared:%{!r:%{!static:%{!m32:%{!mx32:--export-dynamic-symbol=__orrery_*}}}}}
";

/// The same specs, which also call the assembler by a name that nobody else has. They are for compilers that name a folder with
/// another `as` before all that we can say. `dumped` is what such a compiler says of its own specs (`-dumpspecs`).
fn specs_by_name(dumped: &str) -> String {
    let invoked = dumped.split("\n\n").find(|spec| spec.trim_start().starts_with("*invoke_as:"));
    let renamed = invoked.map(|spec| spec.trim().replace("\n as ", &format!("\n {AS_BY_NAME} ")));
    format!("{SPECS}\n{}\n\n", renamed.unwrap_or_default())
}

/// The assembler's other name.
const AS_BY_NAME: &str = "orrery-as";

/// A compiler and what makes it record.
#[derive(Debug)]
pub struct Toolchain {
    /// Name and own arguments of the compiler.
    compiler: Vec<OsString>,
    language: Language,
    clang: bool,
    /// Holds what is [`TAKEN`].
    folder: PathBuf,
    assembler: OsString,
    /// The compiler is a script, say, that names a folder with another `as` before all that we can say.
    names_another: bool,
}

impl Toolchain {
    /// Finds the compiler and compiles the library where that was not done before.
    ///
    /// # Errors
    /// When there is no compiler, it is none for x86-64 Linux, or the library cannot be compiled or kept.
    pub fn find(language: Language) -> Result<Self, CaptureError> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(CaptureError::Unsupported(
                "programs are recorded by their compiler on x86-64 Linux only; record with valgrind --tool=lackey here"
                    .into(),
            ));
        }
        let (compiler, version) = compiler(language)?;
        let target = output(&compiler, &["-dumpmachine"])?;
        if !target.starts_with("x86_64") || !target.contains("linux") {
            return Err(CaptureError::Unsupported(format!(
                "{} compiles for {}; expected x86_64 and linux",
                words(&compiler),
                target.trim()
            )));
        }
        let clang = version.contains("clang");
        let assembler: OsString = output(&compiler, &["-print-prog-name=as"])?.trim().to_owned().into();
        let own = std::env::current_exe().map_err(io_error("orrery", "does not know where it is itself"))?;
        let folder = library(&compiler, &version, &own)?;
        let mut asked = OsString::from("-B");
        asked.push(&folder);
        asked.push("/");
        let called = output(&compiler, &[&asked, OsStr::new("-print-prog-name=as")])?;
        let names_another = !clang && Path::new(called.trim()) != folder.join("as");
        Ok(Self { compiler, language, clang, folder, assembler, names_another })
    }

    /// Runs the compiler with `arguments`, and its answer is the compiler's own. `hear` is told which arguments leave something out.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, arguments: &[OsString], hear: &dyn Fn(Notice)) -> Result<ExitStatus, CaptureError> {
        let mut command = self.command(arguments, hear);
        command.status().map_err(|e| missing(&self.compiler, self.language, e))
    }

    /// As [`Toolchain::run`]; what the compiler says comes back with its answer.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn build(&self, arguments: &[OsString], hear: &dyn Fn(Notice)) -> Result<(ExitStatus, String), CaptureError> {
        let done = self.command(arguments, hear).output().map_err(|e| missing(&self.compiler, self.language, e))?;
        let said = [done.stdout, done.stderr].concat();
        Ok((done.status, String::from_utf8_lossy(&said).into_owned()))
    }

    fn command(&self, arguments: &[OsString], hear: &dyn Fn(Notice)) -> Command {
        let warn = |words: &str| hear(Notice::Warning(words.into()));
        let joined = |flag: &str, tail: &str| {
            let mut out = OsString::from(flag);
            out.push(&self.folder);
            out.push(tail);
            out
        };
        let mut command = start(&self.compiler);
        command.arg("-g").arg(joined("-B", "/"));
        if self.language != Language::Fortran {
            // After the program's own folders: a copy of orrery.h in the project comes first.
            command.arg("-idirafter").arg(&self.folder);
        }
        if self.names_another {
            // The specs have its own name for what is compiled; what is assembler from the beginning is found by the wrapper.
            command.arg(joined("-specs=", "/orrery-as.specs")).arg("-wrapper").arg(self.folder.join("wrapper"));
        } else if !self.clang {
            command.arg(joined("-specs=", "/orrery.specs"));
        }
        command.args(arguments);
        if self.clang {
            // The last word counts.
            command.arg("-fno-integrated-as");
            if optimised_when_linked(arguments) {
                warn("-flto: left out, for what clang makes of code when it links goes past the assembler");
                command.arg("-fno-lto");
            }
            if arguments.iter().any(|a| a == "-emit-llvm") {
                warn("-emit-llvm: the assembler has no part in it; its instructions are not recorded");
            }
            if links(arguments) && arguments.iter().any(|a| a == "-shared") {
                command.arg(self.folder.join(OF_LIBRARIES));
            } else if links(arguments) {
                command.arg(self.folder.join(OF_PROGRAMS)).arg("-Wl,--export-dynamic-symbol=__orrery_*");
            }
        }
        command.env(ASSEMBLER, &self.assembler);
        command
    }
}

/// Whether arguments of a compiler make a program or a shared library: for clang, which has no specs.
fn links(arguments: &[OsString]) -> bool {
    const NOT: [&str; 8] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "--version"];
    let stops = |a: &OsString| {
        a.to_str().is_some_and(|a| NOT.contains(&a) || a.starts_with("-print-") || a.starts_with("-dump"))
    };
    !arguments.iter().any(stops) && arguments.iter().any(|a| !a.to_string_lossy().starts_with('-'))
}

/// Whether clang is told to optimise when it links.
fn optimised_when_linked(arguments: &[OsString]) -> bool {
    let last = arguments.iter().rev().filter_map(|a| a.to_str()).find(|a| a.starts_with("-flto") || *a == "-fno-lto");
    last.is_some_and(|a| a != "-fno-lto")
}

/// What a compiler has in its environment that we call: it does not call us.
const CALLED: &str = "ORRERY_CALLED_COMPILER";

/// A compiler's command, without arguments.
fn start(compiler: &[OsString]) -> Command {
    let mut command = Command::new(compiler.first().map_or(OsStr::new("cc"), OsString::as_os_str));
    command.args(compiler.get(1..).unwrap_or_default()).env(CALLED, "1");
    command
}

/// The first compiler that answers, and its version.
fn compiler(language: Language) -> Result<(Vec<OsString>, String), CaptureError> {
    let (variables, names) = language.names();
    // By a script, say, that calls us: each of us would start the next.
    if std::env::var_os(CALLED).is_some() {
        let named = variables.iter().find_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
        return Err(CaptureError::Recursion(named.unwrap_or_else(|| names[0].to_owned())));
    }
    for variable in variables {
        let value = std::env::var(variable).unwrap_or_default();
        let command: Vec<OsString> = value.split_whitespace().map(OsString::from).collect();
        // Through others too, as CC="ccache orrery cc".
        let mut programs = command.iter().take_while(|word| !word.to_string_lossy().starts_with('-'));
        if command.is_empty() || programs.any(|word| is_ours(Path::new(word))) {
            continue;
        }
        let version = start(&command).arg("--version").output();
        let version = version.map_err(|e| missing(&command, language, e))?;
        if !version.status.success() {
            let said = String::from_utf8_lossy(&version.stderr).trim().to_owned();
            return Err(CaptureError::NoVersion { variable, compiler: words(&command), said });
        }
        return Ok((command, String::from_utf8_lossy(&version.stdout).into_owned()));
    }
    let mut error = None;
    for name in names {
        match start(&[name.into()]).arg("--version").output() {
            Ok(version) => return Ok((vec![name.into()], String::from_utf8_lossy(&version.stdout).into_owned())),
            Err(e) => error = error.or(Some(e)),
        }
    }
    let error = error.unwrap_or_else(|| std::io::ErrorKind::NotFound.into());
    Err(missing(&[names[0].into()], language, error))
}

/// CC="orrery cc" is how builds are told of us: it is not what we call ourselves, by whatever name.
fn is_ours(program: &Path) -> bool {
    let own = std::env::current_exe().ok();
    let name = program.file_name();
    name == Some(OsStr::new("orrery")) || name.is_some() && name == own.as_deref().and_then(Path::file_name)
}

fn output(compiler: &[OsString], arguments: &[impl AsRef<OsStr>]) -> Result<String, CaptureError> {
    let done = start(compiler).args(arguments).output();
    let done = done.map_err(io_error(words(compiler), "cannot be started"))?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn words(command: &[OsString]) -> String {
    command.iter().map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn missing(compiler: &[OsString], language: Language, source: std::io::Error) -> CaptureError {
    CaptureError::Missing { program: words(compiler), remedy: language.remedy().into(), source }
}

/// What of the library is taken: run, linked or read by a compiler.
const TAKEN: [&str; 8] =
    [OF_PROGRAMS, OF_LIBRARIES, "as", AS_BY_NAME, "wrapper", "orrery.specs", "orrery-as.specs", "orrery.h"];

/// Whether a folder has the whole library, and nobody but the user can have written any of it.
fn is_library(folder: &Path) -> bool {
    folder.is_dir() && own_folder(folder).is_ok() && TAKEN.iter().all(|name| is_own_file(&folder.join(name)))
}

/// FNV-1a (Fowler, Noll, Vo 1991), for a name.
fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let bytes = parts.into_iter().flat_map(|p| p.iter().chain(&[0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// The folder of the library for this compiler, made where it is not there.
fn library(compiler: &[OsString], version: &str, own: &Path) -> Result<PathBuf, CaptureError> {
    let called = words(compiler);
    let flags = FLAGS.iter().chain(if version.contains("clang") { &[][..] } else { &GCC_FLAGS });
    let sources = SOURCES.iter().map(|(_, text, _)| text.as_bytes());
    let shim = format!("#!/bin/sh\nexec {} assemble \"$@\"\n", quoted(own));
    // gcc has this script run each program that it calls. Ours takes the place of an assembler, wherever that lies.
    let assembles = format!("shift && exec {} assemble \"$@\"", quoted(own));
    let wrapper = format!("#!/bin/sh\ncase ${{1##*/}} in\nas | *-as) {assembles} ;;\n*) exec \"$@\" ;;\nesac\n");
    let rest = [
        shim.as_bytes(),
        wrapper.as_bytes(),
        called.as_bytes(),
        version.as_bytes(),
        own.as_os_str().as_encoded_bytes(),
        SPECS.as_bytes(),
    ];
    let key = digest(sources.chain(rest).chain(flags.clone().map(|f| f.as_bytes())));
    let cache = cache_folder().map_err(io_error("the cache folder", "cannot be had"))?;
    let folder = cache.join(format!("capture-{key:016x}"));
    if is_library(&folder) {
        return Ok(folder);
    }
    let shown = cache.display().to_string();
    let failed = "cannot be written; set XDG_CACHE_HOME to a folder of yours";
    let made = Scratch::within(&cache).map_err(io_error(&shown, failed))?;
    let write = |name: &str, text: &str| {
        let path = made.path().join(name);
        fs::write(&path, text).and_then(|()| set_mode(&path, 0o600)).map_err(io_error(&shown, failed))
    };
    for (name, text, _) in SOURCES {
        write(name, text)?;
    }
    let units = SOURCES.iter().filter(|(_, _, unit)| *unit).map(|(name, _, _)| *name).collect::<Vec<_>>();
    for (object, units, own_flags) in
        [(OF_PROGRAMS, units.as_slice(), &["-DORRERY_PROGRAM"][..]), (OF_LIBRARIES, &LIBRARY_UNITS, &["-fPIC"])]
    {
        let mut objects = Vec::new();
        for name in units {
            let unit = made.path().join(format!("{object}-{name}.o"));
            let mut command = start(compiler);
            command.args(flags.clone()).args(own_flags).arg(binary_macro(own));
            command.args(["-x", if name.ends_with(".S") { "assembler-with-cpp" } else { "c" }, "-c", name, "-o"]);
            succeed(&called, command.arg(&unit).current_dir(made.path()))?;
            objects.push(unit);
        }
        let mut command = start(compiler);
        command.args(["-nostdlib", "-r", "-no-pie", "-o"]).arg(made.path().join(object));
        succeed(&called, command.args(&objects))?;
    }
    write("orrery.specs", SPECS)?;
    write("orrery-as.specs", &specs_by_name(&output(compiler, &["-dumpspecs"])?))?;
    write("as", &shim)?;
    write(AS_BY_NAME, &shim)?;
    write("wrapper", &wrapper)?;
    // Whatever the umask leaves to others, these are the user's alone.
    for (name, mode) in
        [("as", 0o700), (AS_BY_NAME, 0o700), ("wrapper", 0o700), (OF_PROGRAMS, 0o600), (OF_LIBRARIES, 0o600)]
    {
        set_mode(&made.path().join(name), mode).map_err(io_error(&shown, failed))?;
    }
    if !is_library(&folder) {
        // What is there is no library, or another's.
        let _ = fs::remove_dir_all(&folder).or_else(|_| fs::remove_file(&folder));
    }
    match made.keep(&folder) {
        Ok(()) => Ok(folder),
        // Another build was faster; its library is as good.
        Err(_) if is_library(&folder) => Ok(folder),
        Err(e) => Err(io_error(&shown, failed)(e)),
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

fn binary_macro(own: &Path) -> String {
    let escaped = own.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("-DORRERY_BIN=\"{escaped}\"")
}

/// For the shell, in single quotes.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

fn succeed(compiler: &str, command: &mut Command) -> Result<(), CaptureError> {
    let done = command.output().map_err(io_error(compiler, "cannot be started"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(CaptureError::Library {
        compiler: compiler.to_owned(),
        output: String::from_utf8_lossy(&done.stderr).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_not_our_own_compiler() {
        let own = std::env::current_exe().unwrap_or_default();
        assert!(is_ours(Path::new("/opt/orrery")) && is_ours(&own));
        assert!(!is_ours(Path::new("gcc")) && !is_ours(Path::new("")));
    }

    #[test]
    fn libraries_have_a_door_for_all_that_recorded_code_calls() {
        let doors = include_str!("../../capture/doors.S");
        let words: Vec<&str> = doors.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        for name in super::super::weave::REPLACED {
            assert!(words.contains(name), "{name} has no door in capture/doors.S");
        }
        let hooks = include_str!("../../capture/hooks.S");
        let sizes = |text: &str, of: &str| {
            let calls = text.lines().filter_map(|l| l.trim().strip_prefix(of)).filter_map(|n| n.trim().parse().ok());
            calls.collect::<Vec<u32>>()
        };
        assert_eq!(
            (sizes(hooks, "SIZES"), sizes(hooks, "STRINGS")),
            (vec![1, 2, 4, 6, 8, 10, 16, 32, 64], vec![1, 2, 4, 8])
        );
        assert!(
            doors.contains(".irp size, 1, 2, 4, 6, 8, 10, 16, 32, 64\n") && doors.contains(".irp size, 1, 2, 4, 8\n")
        );
    }

    #[test]
    fn the_last_word_on_link_time_optimisation_counts() {
        let of = |words: &[&str]| optimised_when_linked(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(of(&["-flto", "a.c"]) && of(&["-fno-lto", "-flto=thin"]));
        assert!(!of(&["a.c"]) && !of(&["-flto", "-fno-lto"]));
    }

    #[test]
    fn specs_call_the_assembler_by_its_other_name() {
        let dumped = "*asm:\n%{m32:--32}\n\n*invoke_as:\n%{!S:-o %|.s |\n as %(asm_options) %m.s %A }\n\n*cpp:\n\n\n";
        let specs = specs_by_name(dumped);
        assert!(specs.starts_with(SPECS) && specs.ends_with("|\n orrery-as %(asm_options) %m.s %A }\n\n"), "{specs}");
        assert!(!specs.contains("*asm:") && !specs.contains("\n as "));
    }

    #[test]
    fn programs_are_told_from_parts() {
        let links = |words: &[&str]| links(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(links(&["a.c"]) && links(&["a.o", "-o", "a"]));
        assert!(
            !links(&["-c", "a.c"]) && !links(&["--version"]) && !links(&["-print-prog-name=as"]) && !links(&["-v"])
        );
    }
}
