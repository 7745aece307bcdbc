//! What somebody who starts a program asks of the collector of its references, which the program itself starts.
//!
//! The program stands between the two. So what is asked for is in a file that its environment names, and the answer goes into one
//! beside that. Programs that the program starts have that environment too: only the recording of that name answers.

use super::CaptureError;
use super::io_error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The variable that names the file.
pub const ASKED: &str = "ORRERY_COUNT";

#[derive(Serialize, Deserialize)]
struct Asked<T> {
    /// The recording.
    output: PathBuf,
    what: T,
}

/// Something that is asked for.
#[derive(Debug)]
pub struct Request {
    path: PathBuf,
}

impl Request {
    /// Asks for `what` of the recording `output`, by a file in `folder`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new<T: Serialize>(folder: &Path, output: &Path, what: T) -> Result<Self, CaptureError> {
        let path = folder.join("count");
        let json = serde_json::to_vec(&Asked { output: output.to_owned(), what }).map_err(io::Error::from);
        json.and_then(|json| fs::write(&path, json))
            .map_err(io_error(path.display().to_string(), "cannot be written"))?;
        Ok(Self { path })
    }

    /// What [`ASKED`] is to be in the environment of the program.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The answer; `None` where nobody gave one.
    #[must_use]
    pub fn answer(&self) -> Option<Vec<u8>> {
        fs::read(answer_beside(&self.path)).ok()
    }
}

/// What is asked of us.
#[derive(Debug)]
pub struct Question<T> {
    /// What for.
    pub what: T,
    path: PathBuf,
}

impl<T: DeserializeOwned> Question<T> {
    /// About the recording `output`, where our environment says that there is one.
    #[must_use]
    pub fn about(output: &Path) -> Option<Self> {
        let path = PathBuf::from(std::env::var_os(ASKED)?);
        let Asked { output: wanted, what } = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        (wanted == output).then_some(Self { what, path })
    }
}

impl<T> Question<T> {
    /// Gives the answer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn answer(&self, bytes: &[u8]) -> io::Result<()> {
        // Whole, or not there.
        let answer = answer_beside(&self.path);
        let part = answer.with_added_extension("part");
        fs::write(&part, bytes)?;
        fs::rename(part, answer)
    }
}

fn answer_beside(asked: &Path) -> PathBuf {
    asked.with_added_extension("numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_by_who_asked_and_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let request = Request::new(folder.path(), Path::new("mm.orrery"), 7).unwrap();
        assert_eq!(request.answer(), None);
        let read = |path: &Path| serde_json::from_slice::<Asked<u32>>(&fs::read(path).unwrap()).unwrap();
        let Asked { output, what } = read(request.path());
        assert_eq!((output.as_path(), what), (Path::new("mm.orrery"), 7));
        Question { what, path: request.path().to_owned() }.answer(b"42").unwrap();
        assert_eq!(request.answer(), Some(b"42".to_vec()));
        assert!(Request::new(&folder.path().join("gone"), Path::new("mm.orrery"), 7).is_err());
    }
}
