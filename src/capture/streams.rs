//! Where a program that is started prints to.

use std::io::{self, ErrorKind, PipeReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};

/// Pieces of what was printed that may wait, of 4 KiB at most; then the program waits, as it does for a terminal.
const PIECES: usize = 64;

/// Standard input, output and error of a program.
#[derive(Debug)]
pub struct Streams {
    input: Stdio,
    output: Stdio,
    error: Stdio,
    /// What it prints goes to a window, which is also who asks it to end.
    heard: bool,
}

impl Streams {
    /// Our own, and `error`.
    #[must_use]
    pub fn own(error: Stdio) -> Self {
        Self { input: Stdio::inherit(), output: Stdio::inherit(), error, heard: false }
    }

    /// Nothing to read; what it prints is for nobody, and errors go where ours go.
    #[must_use]
    pub fn silent() -> Self {
        Self { input: Stdio::null(), output: Stdio::null(), error: Stdio::inherit(), heard: false }
    }

    /// Nothing to read. What it prints, on standard output and standard error in the order in which it does, goes to whoever takes it
    /// from here; it is over when the program, and all that it started, has closed both.
    ///
    /// # Errors
    /// When the system has no pipe or no thread.
    pub fn heard() -> io::Result<(Self, Receiver<Vec<u8>>)> {
        let (reader, writer) = io::pipe()?;
        let error = writer.try_clone()?;
        let (sender, printed) = sync_channel(PIECES);
        let pump = move || pump(reader, &|piece| sender.send(piece).is_ok());
        std::thread::Builder::new().name("prints".into()).spawn(pump)?;
        Ok((Self { input: Stdio::null(), output: writer.into(), error: error.into(), heard: true }, printed))
    }

    /// Whether what it prints goes to a window.
    pub(super) fn are_heard(&self) -> bool {
        self.heard
    }

    /// Gives them to a program that is to be started.
    pub(super) fn give(self, command: &mut Command) {
        command.stdin(self.input).stdout(self.output).stderr(self.error);
    }
}

/// Passes on what comes, until nobody takes it.
fn pump(mut reader: PipeReader, take: &dyn Fn(Vec<u8>) -> bool) {
    let mut bytes = [0; 4096];
    loop {
        match reader.read(&mut bytes) {
            Ok(0) => return,
            Ok(n) if take(bytes[..n].to_vec()) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_heard_in_order_and_nothing_is_to_be_read() {
        let (streams, printed) = Streams::heard().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; cat; echo three"]);
        streams.give(&mut command);
        let mut child = command.spawn().unwrap();
        drop(command);
        let said: Vec<u8> = printed.iter().flatten().collect();
        assert_eq!(String::from_utf8_lossy(&said), "one\ntwo\nthree\n");
        assert!(child.wait().unwrap().success());
    }
}
