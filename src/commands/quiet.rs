//! Keeps drivers from talking on standard error.
//!
//! Mesa's layer that picks a device asks the Wayland library, which says `error: XDG_RUNTIME_DIR is invalid or not set` on
//! machines without a session (servers, containers), twice a run, as if the command had failed. While an adapter is looked
//! for there, what is written on standard error goes through a pipe, and all but these words is passed on.

#[cfg(all(feature = "gpu", target_os = "linux"))]
pub(super) use filter::{quietly, standard_error};

/// Standard error for another program: where nothing is drawn, none stands in for it.
#[cfg(all(not(feature = "gpu"), target_os = "linux"))]
pub(super) fn standard_error() -> std::process::Stdio {
    std::process::Stdio::inherit()
}

/// Runs `work`; elsewhere drivers are quiet.
#[cfg(all(feature = "gpu", not(target_os = "linux")))]
pub(super) fn quietly(work: &mut dyn FnMut()) {
    work();
}

#[cfg(all(feature = "gpu", target_os = "linux"))]
mod filter {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::process::Stdio;
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    /// How the lines begin that nobody should see, in all versions of the Wayland library.
    const WORDS: &[u8] = b"error: XDG_RUNTIME_DIR ";

    /// What the rest of a pipe may take to be passed on. Only a process that got its other end would hold it open.
    const PATIENCE: Duration = Duration::from_secs(1);

    /// Standard error itself, while a pipe stands in for it.
    static REAL: Mutex<Option<OwnedFd>> = Mutex::new(None);

    /// Runs `work`, in which drivers speak, and passes on all that is said but [`WORDS`].
    pub(in super::super) fn quietly(work: &mut dyn FnMut()) {
        use std::os::unix::ffi::OsStrExt;
        // Where it is set, the Wayland library has nothing to say of it.
        let session = std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|v| v.as_bytes().starts_with(b"/"));
        let filter = if session { None } else { Filter::begin() };
        work();
        drop(filter);
    }

    /// Standard error for another program: the real one.
    pub(in super::super) fn standard_error() -> Stdio {
        let real = REAL.lock().unwrap_or_else(PoisonError::into_inner);
        let own = real.as_ref().and_then(|real| real.try_clone().ok());
        own.map_or_else(Stdio::inherit, Stdio::from)
    }

    /// Standard error through a pipe, until it is dropped.
    struct Filter {
        passed_on: Receiver<()>,
    }

    impl Filter {
        /// `None` where the system refuses, or another one is at work already.
        fn begin() -> Option<Self> {
            let mut held = REAL.lock().unwrap_or_else(PoisonError::into_inner);
            if held.is_some() {
                return None;
            }
            let real = rustix::stdio::stderr().try_clone_to_owned().ok()?;
            let to = File::from(real.try_clone().ok()?);
            let (from, pipe) = std::io::pipe().ok()?;
            let (done, passed_on) = channel();
            let pass = move || {
                pass_on(from, to);
                // Whoever waited may have given up.
                let _ = done.send(());
            };
            std::thread::Builder::new().name("standard error".into()).spawn(pass).ok()?;
            rustix::stdio::dup2_stderr(pipe).ok()?;
            *held = Some(real);
            Some(Self { passed_on })
        }
    }

    impl Drop for Filter {
        fn drop(&mut self) {
            let mut held = REAL.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(real) = held.take() {
                // This closes the pipe's last end.
                let _ = rustix::stdio::dup2_stderr(&real);
            }
            drop(held);
            let _ = self.passed_on.recv_timeout(PATIENCE);
        }
    }

    /// Passes on what comes, at once, but lines that begin with [`WORDS`]: of a line that may be one, its beginning waits.
    fn pass_on(mut from: impl Read, mut to: impl Write) {
        let (mut bytes, mut sieve) = ([0; 4096], Sieve::default());
        loop {
            match from.read(&mut bytes) {
                Ok(0) => break,
                Ok(n) => {
                    // Standard error may be closed or full: then nobody reads it.
                    let _ = to.write_all(&sieve.take(&bytes[..n]));
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = to.write_all(&sieve.begun);
    }

    /// Tells lines apart.
    #[derive(Default)]
    struct Sieve {
        /// The beginning of a line that may be [`WORDS`].
        begun: Vec<u8>,
        line: Line,
    }

    #[derive(Default, PartialEq)]
    enum Line {
        #[default]
        Unknown,
        Passed,
        Dropped,
    }

    impl Sieve {
        /// What of `bytes`, and of what waited, is to be passed on now.
        fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
            let mut out = Vec::with_capacity(bytes.len());
            for &byte in bytes {
                match self.line {
                    Line::Passed => out.push(byte),
                    Line::Dropped => {}
                    Line::Unknown => {
                        self.begun.push(byte);
                        if self.begun == WORDS {
                            self.begun.clear();
                            self.line = Line::Dropped;
                        } else if !WORDS.starts_with(&self.begun) {
                            out.append(&mut self.begun);
                            self.line = Line::Passed;
                        }
                    }
                }
                if byte == b'\n' {
                    self.line = Line::Unknown;
                }
            }
            out
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_the_librarys_words_are_held_back() {
            let said = b"warning: a\nerror: XDG_RUNTIME_DIR is invalid or not set in the environment.\n\
                         error: XDG_RUN\n\rerror: XDG_RUNTIME_DIR x\n\nerror: XDG_RUNTIME_DIR not set.\nerror: XDG_RUNTIME";
            let meant = b"warning: a\nerror: XDG_RUN\n\rerror: XDG_RUNTIME_DIR x\n\nerror: XDG_RUNTIME";
            // However it is cut into pieces.
            for piece in [1, 2, 7, 30, 4096] {
                let (mut sieve, mut out) = (Sieve::default(), Vec::new());
                said.chunks(piece).for_each(|bytes| out.extend(sieve.take(bytes)));
                out.extend(sieve.begun);
                assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(meant), "by {piece}");
            }
        }

        #[test]
        fn what_is_no_such_line_is_passed_on_at_once() {
            let mut sieve = Sieve::default();
            assert_eq!(sieve.take(b"37 %"), b"37 %");
            assert_eq!(sieve.take(b"\r38 %\nerr"), b"\r38 %\n");
            assert_eq!(sieve.take(b"or: other"), b"error: other");
        }
    }
}
