//! In the assembler's place: reads what the compiler wrote, puts the calls in, and has the assembler assemble that.
//!
//! A build never fails because of this: what the assembler does not take with the calls in it is assembled without, and said.

use super::intel::Syntax;
use super::slots::Slots;
use super::weave::{self, Plan};
use super::{CaptureError, Notice, io_error};
use crate::files::Scratch;
use iced_x86::InstructionInfoFactory;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The assembler itself, where it is not the first `as` of the path.
pub(super) const ASSEMBLER: &str = "ORRERY_AS";

/// Options of GNU as whose value is the next argument.
const WITH_VALUE: [&str; 6] = ["-o", "-I", "--defsym", "--MD", "-t", "--hash-size"];

/// What the arguments of an assembler say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments {
    inputs: Vec<OsString>,
    /// Without inputs and `-o FILE`.
    options: Vec<OsString>,
    output: Option<OsString>,
    /// Asked for something that is no 64-bit assembling of one text, and what that is where it makes code: passed on as it is.
    foreign: Option<&'static str>,
    /// The syntax that the text begins in.
    syntax: Syntax,
}

/// An assembler that says something of itself makes no code.
const NO_CODE: &str = "";

impl Arguments {
    fn read(arguments: &[OsString]) -> Self {
        let mut out = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_str().unwrap_or_default();
            match text {
                "-o" => out.output = rest.next().cloned(),
                "--version" | "-version" | "--help" | "--target-help" => out.foreign = Some(NO_CODE),
                "--32" | "--x32" => out.foreign = Some("its code is none for 64 bits"),
                _ if text.starts_with('@') => out.foreign = Some("the assembler's arguments are in a file"),
                "-msyntax=intel" | "-mnaked-reg" => {
                    out.syntax.intel |= text == "-msyntax=intel";
                    out.syntax.prefix &= text != "-mnaked-reg";
                    out.options.push(argument.clone());
                }
                _ if WITH_VALUE.contains(&text) => {
                    out.options.extend([Some(argument.clone()), rest.next().cloned()].into_iter().flatten())
                }
                "-" | "--" => out.inputs.push("-".into()),
                _ if text.starts_with('-') => out.options.push(argument.clone()),
                _ => out.inputs.push(argument.clone()),
            }
        }
        if out.inputs.len() > 1 {
            out.foreign = out.foreign.or(Some("the assembler got several files at once"));
        }
        out
    }

    /// Options for finding out how long instructions are: no listings, dependencies or debug information.
    fn plain(&self) -> Vec<OsString> {
        let mut out = Vec::new();
        let mut rest = self.options.iter();
        while let Some(option) = rest.next() {
            let text = option.to_str().unwrap_or_default();
            if text == "--MD" {
                rest.next();
            } else if !text.starts_with("-a")
                && !text.starts_with("-g")
                && !text.starts_with("--gdwarf")
                && !text.starts_with("--gen-debug")
            {
                out.push(option.clone());
            }
        }
        out
    }
}

/// Does what `as ARGUMENTS` does, with the calls put in; gives its exit code. `hear` is told what is not recorded.
///
/// # Errors
/// When the assembler cannot be started, or files cannot be read or written.
pub fn assemble(arguments: &[OsString], hear: &dyn Fn(Notice)) -> Result<i32, CaptureError> {
    let warn = |words| hear(Notice::Warning(words));
    let read = Arguments::read(arguments);
    if let Some(why) = read.foreign {
        let status = run(arguments, None)?;
        if status.success() && why != NO_CODE {
            let name = read.inputs.first().map_or("{standard input}".into(), |name| name.to_string_lossy());
            // Read again for a name only; of standard input nothing is left.
            let text = read.inputs.first().and_then(|name| std::fs::read_to_string(name).ok());
            let name = called(text.as_deref().unwrap_or_default(), &name);
            warn(format!("{name}: {why}; its instructions are not recorded"));
        }
        return Ok(code(status));
    }
    let input = read.inputs.first().map_or(OsStr::new("-"), OsString::as_os_str);
    let mut source = Vec::new();
    let name = if input == "-" {
        std::io::stdin().read_to_end(&mut source).map_err(io_error("standard input", "cannot be read"))?;
        "{standard input}".to_owned()
    } else {
        let name = input.to_string_lossy().into_owned();
        source = std::fs::read(input).map_err(io_error(&name, "cannot be read"))?;
        name
    };
    // Text in another encoding has its bytes in strings and comments, which must stay as they are: it is left alone.
    let Ok(text) = std::str::from_utf8(&source) else {
        warn(format!("{name}: not UTF-8; its instructions are not recorded"));
        return run(arguments, Some(&source)).map(code);
    };
    let scratch = Scratch::new().map_err(io_error("temporary folder", "cannot be written"))?;
    let text = match woven(&read, text, (&name, scratch.path()), hear)? {
        Ok(text) => text,
        Err(why) => {
            let status = run(arguments, Some(&source))?;
            if status.success() {
                let name = called(text, &name);
                warn(format!("{name}: cannot be read ({why}); its instructions are not recorded"));
            }
            return Ok(code(status));
        }
    };
    let file = temporary(scratch.path(), "woven.s", &text)?;
    let mut again = read.options.clone();
    if let Some(output) = &read.output {
        again.extend(["-o".into(), output.clone()]);
    }
    again.push(file.as_os_str().to_owned());
    let mut command = assembler();
    let done =
        command.args(&again).stdin(Stdio::null()).stderr(Stdio::piped()).output().map_err(|e| missing(&command, e))?;
    if done.status.success() {
        // Warnings are the user's to see, under the name that the user knows.
        let said = String::from_utf8_lossy(&done.stderr).replace(&*file.to_string_lossy(), &name);
        if !said.is_empty() {
            hear(Notice::Said(said.trim_end().to_owned()));
        }
        return Ok(0);
    }
    let status = run(arguments, Some(&source))?;
    if status.success() {
        let first = first_error(&done.stderr);
        let name = called(std::str::from_utf8(&source).unwrap_or_default(), &name);
        let why = format!("cannot be assembled with recording in it ({first})");
        warn(format!("{name}: {why}; its instructions are not recorded"));
    }
    Ok(code(status))
}

/// The text with the calls in it; why not, where the assembler does not take it even without.
fn woven(
    arguments: &Arguments,
    text: &str,
    (name, folder): (&str, &Path),
    hear: &dyn Fn(Notice),
) -> Result<Result<String, String>, CaptureError> {
    let labelled = weave::labelled(text, arguments.syntax);
    let file = temporary(folder, "labelled.s", &labelled.text)?;
    let object = folder.join("labelled.o");
    let mut command = assembler();
    command.args(arguments.plain()).arg("-o").arg(&object).arg(&file);
    let done = command.stdin(Stdio::null()).output().map_err(|e| missing(&command, e))?;
    if !done.status.success() {
        return Ok(Err(first_error(&done.stderr)));
    }
    let bytes = std::fs::read(&object).map_err(io_error(name, "its object file cannot be read"))?;
    let parsed = match object::File::parse(&*bytes) {
        Ok(parsed) => parsed,
        Err(why) => return Ok(Err(why.to_string())),
    };
    let mut plan = Plan::new(labelled.count);
    let mut factory = InstructionInfoFactory::new();
    // Stretches of code that have labels, by section.
    let mut known: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for symbol in parsed.symbols() {
        let number = symbol.name().ok().and_then(|n| n.strip_prefix(weave::SITE)).and_then(|n| n.parse().ok());
        let section = symbol.section_index().and_then(|n| parsed.section_by_index(n).ok());
        let (Some(number), Some(section)) = (number, section) else { continue };
        let Ok(data) = section.data() else { continue };
        let at = usize::try_from(symbol.address()).unwrap_or(usize::MAX);
        let bytes = plan.learn(number, data.get(at..).unwrap_or_default(), &mut factory);
        known.entry(section.index().0).or_default().push((at, at.saturating_add(bytes)));
    }
    if labelled.written_out {
        for section in parsed.sections().filter(|s| s.kind() == SectionKind::Text) {
            let data = section.data().unwrap_or_default();
            let mut known = known.remove(&section.index().0).unwrap_or_default();
            known.push((data.len(), data.len()));
            known.sort_unstable();
            let mut at = 0;
            for (from, to) in known {
                plan.pass_over(data.get(at..from).unwrap_or_default(), &mut factory);
                at = at.max(to);
            }
        }
    }
    let woven = weave::woven(text, arguments.syntax, &mut plan, &mut Slots::new(&object));
    if plan.left_out > 0 {
        let name = called(text, name);
        hear(Notice::Warning(format!(
            "{name}: {} instructions (gathers, saved processor states, those of macros) are not recorded",
            plan.left_out
        )));
    }
    // Lines keep their numbers; what has no name of its own is called as before.
    Ok(Ok(format!("# 1 \"{}\"\n{woven}", name.replace(['"', '\\'], "_"))))
}

/// What the user knows a text by: compilers say what they made it from (`.file "x.c"`, `# 1 "x.S"`), and the file itself lies
/// among temporary ones. `name` where the text does not say.
fn called<'a>(text: &'a str, name: &'a str) -> &'a str {
    let quoted = |line: &'a str| {
        let line = line.trim_start();
        let says =
            line.starts_with(".file") || line.strip_prefix("# ").is_some_and(|n| n.starts_with(char::is_numeric));
        line.split('"').nth(1).filter(|file| says && !file.is_empty() && !file.starts_with('<'))
    };
    text.lines().take(16).find_map(quoted).unwrap_or(name)
}

/// The first line of what the assembler says that is no heading.
fn first_error(said: &[u8]) -> String {
    String::from_utf8_lossy(said).lines().nth(1).unwrap_or_default().to_owned()
}

fn temporary(folder: &Path, name: &str, text: &str) -> Result<PathBuf, CaptureError> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(io_error("temporary folder", "cannot be written"))?;
    Ok(path)
}

fn assembler() -> Command {
    let named = std::env::var_os(ASSEMBLER).filter(|a| !a.is_empty());
    Command::new(named.map_or_else(|| PathBuf::from("as"), PathBuf::from))
}

fn missing(command: &Command, source: std::io::Error) -> CaptureError {
    let program = command.get_program().to_string_lossy().into_owned();
    CaptureError::Missing { program, remedy: "install binutils".into(), source }
}

/// The assembler as it was called, with what was read from standard input already.
fn run(arguments: &[OsString], input: Option<&[u8]>) -> Result<ExitStatus, CaptureError> {
    let mut command = assembler();
    let from_stdin = input.is_some() && !Arguments::read(arguments).inputs.iter().any(|i| i != "-");
    command.args(arguments).stdin(if from_stdin { Stdio::piped() } else { Stdio::inherit() });
    let mut child = command.spawn().map_err(|e| missing(&command, e))?;
    if let (Some(bytes), Some(mut pipe)) = (input, child.stdin.take()) {
        // An assembler that stops reading says why itself.
        let _ = pipe.write_all(bytes);
    }
    child.wait().map_err(io_error("as", "cannot be waited for"))
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_text_is_called_by_what_it_was_made_from() {
        assert_eq!(called("\t.file\t\"a b.c\"\n", "/tmp/x.s"), "a b.c");
        assert_eq!(called("# 0 \"<built-in>\"\n# 1 \"m.S\"\n", "/tmp/x.s"), "m.S");
        assert_eq!(called("\t.text\n# 1 comment\n", "x.s"), "x.s");
    }

    #[test]
    fn arguments_are_told_apart() {
        let read = Arguments::read(&strings(&["--64", "-I", "x", "-o", "a.o", "--MD", "d", "-al=l", "a.s"]));
        assert_eq!(read.inputs, strings(&["a.s"]));
        assert_eq!(read.output, Some("a.o".into()));
        assert_eq!(read.options, strings(&["--64", "-I", "x", "--MD", "d", "-al=l"]));
        assert_eq!(read.plain(), strings(&["--64", "-I", "x"]));
        assert!(read.foreign.is_none() && Arguments::read(&strings(&["--32", "a.s"])).foreign.is_some());
        assert!(Arguments::read(&strings(&["a.s", "b.s"])).foreign.is_some());
    }
}
