//! In the assembler's place: reads what the compiler wrote, puts the calls in, and has the assembler assemble that.
//!
//! A build never fails because of this: what the assembler does not take with the calls in it is assembled without, and said.

use super::slots::Slots;
use super::weave::{self, Plan};
use super::{CaptureError, io_error};
use crate::files::Scratch;
use crate::shown::{say, say_lines};
use iced_x86::InstructionInfoFactory;
use object::{Object, ObjectSection, ObjectSymbol};
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
    /// Asked for something that is no 64-bit assembling of one text: passed on as it is.
    foreign: bool,
}

impl Arguments {
    fn read(arguments: &[OsString]) -> Self {
        let mut out = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_str().unwrap_or_default();
            match text {
                "-o" => out.output = rest.next().cloned(),
                "--32" | "--x32" | "--version" | "-version" | "--help" | "--target-help" => out.foreign = true,
                _ if text.starts_with('@') => out.foreign = true,
                _ if WITH_VALUE.contains(&text) => {
                    out.options.extend([Some(argument.clone()), rest.next().cloned()].into_iter().flatten())
                }
                "-" | "--" => out.inputs.push("-".into()),
                _ if text.starts_with('-') => out.options.push(argument.clone()),
                _ => out.inputs.push(argument.clone()),
            }
        }
        out.foreign |= out.inputs.len() > 1;
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

/// Does what `as ARGUMENTS` does, with the calls put in; gives its exit code.
///
/// # Errors
/// When the assembler cannot be started, or files cannot be read or written.
pub fn assemble(arguments: &[OsString]) -> Result<i32, CaptureError> {
    let read = Arguments::read(arguments);
    if read.foreign {
        return run(arguments, None).map(code);
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
        say!("orrery: {name}: not UTF-8; its instructions are not recorded");
        return run(arguments, Some(&source)).map(code);
    };
    let scratch = Scratch::new().map_err(io_error("temporary folder", "cannot be written"))?;
    let Some(text) = woven(&read, text, &name, scratch.path())? else {
        return run(arguments, Some(&source)).map(code);
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
            say_lines(said.trim_end());
        }
        return Ok(0);
    }
    let status = run(arguments, Some(&source))?;
    if status.success() {
        let first = String::from_utf8_lossy(&done.stderr).lines().nth(1).unwrap_or_default().to_owned();
        say!("orrery: {name}: cannot be assembled with recording in it ({first}); its instructions are not recorded");
    }
    Ok(code(status))
}

/// The text with the calls in it; `None` where the assembler does not take it even without.
fn woven(arguments: &Arguments, text: &str, name: &str, folder: &Path) -> Result<Option<String>, CaptureError> {
    let (labelled, count) = weave::labelled(text);
    let file = temporary(folder, "labelled.s", &labelled)?;
    let object = folder.join("labelled.o");
    let mut command = assembler();
    command.args(arguments.plain()).arg("-o").arg(&object).arg(&file);
    let done = command.stdin(Stdio::null()).output().map_err(|e| missing(&command, e))?;
    if !done.status.success() {
        return Ok(None);
    }
    let bytes = std::fs::read(&object).map_err(io_error(name, "its object file cannot be read"))?;
    let Ok(parsed) = object::File::parse(&*bytes) else { return Ok(None) };
    let mut plan = Plan::new(count);
    let mut factory = InstructionInfoFactory::new();
    for symbol in parsed.symbols() {
        let number = symbol.name().ok().and_then(|n| n.strip_prefix(weave::SITE)).and_then(|n| n.parse().ok());
        let section = symbol.section_index().and_then(|n| parsed.section_by_index(n).ok());
        let (Some(number), Some(section)) = (number, section) else { continue };
        let Ok(data) = section.data() else { continue };
        let at = usize::try_from(symbol.address()).unwrap_or(usize::MAX);
        plan.learn(number, data.get(at..).unwrap_or_default(), &mut factory);
    }
    if plan.left_out > 0 {
        say!("orrery: {name}: {} instructions (gathers, saved processor states) are not recorded", plan.left_out);
    }
    // Lines keep their numbers; what has no name of its own is called as before.
    Ok(Some(format!(
        "# 1 \"{}\"\n{}",
        name.replace(['"', '\\'], "_"),
        weave::woven(text, &plan, &mut Slots::new(&object))
    )))
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
    fn arguments_are_told_apart() {
        let read = Arguments::read(&strings(&["--64", "-I", "x", "-o", "a.o", "--MD", "d", "-al=l", "a.s"]));
        assert_eq!(read.inputs, strings(&["a.s"]));
        assert_eq!(read.output, Some("a.o".into()));
        assert_eq!(read.options, strings(&["--64", "-I", "x", "--MD", "d", "-al=l"]));
        assert_eq!(read.plain(), strings(&["--64", "-I", "x"]));
        assert!(!read.foreign && Arguments::read(&strings(&["--32", "a.s"])).foreign);
        assert!(Arguments::read(&strings(&["a.s", "b.s"])).foreign);
    }
}
