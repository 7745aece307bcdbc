//! What bytes of a recording go into: a file that appears when it is whole, or a stream such as standard output.

use super::RecordError;
use super::output::Partial;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file to be, or a stream.
pub(crate) enum Destination {
    /// A file, with its name for messages.
    File(Partial, PathBuf),
    /// A stream, and the bytes it took.
    Stream(BufWriter<Box<dyn Write + Send>>, u64),
}

impl Destination {
    /// The file that will be `path`, or standard output.
    ///
    /// # Errors
    /// Where the file cannot be created.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, RecordError> {
        match path {
            Some(path) => Ok(Self::File(Partial::create(path)?, path.to_owned())),
            None => Ok(Self::to_stream(Box::new(crate::shown::raw()))),
        }
    }

    /// Into any writer.
    pub(crate) fn to_stream(writer: Box<dyn Write + Send>) -> Self {
        Self::Stream(BufWriter::with_capacity(1 << 16, writer), 0)
    }

    /// For messages.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(_, path) => path,
            Self::Stream(..) => Path::new("standard output"),
        }
    }

    /// Bytes written.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::File(file, _) => file.written(),
            Self::Stream(_, bytes) => *bytes,
        }
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// Where the system does not take it.
    pub(crate) fn put(&mut self, data: &[u8]) -> Result<(), RecordError> {
        self.write_all(data).map_err(|e| RecordError::io(self.path(), "written", e))
    }

    /// Gives a file its name; answers its size.
    ///
    /// # Errors
    /// Where the last bytes cannot be written.
    pub(crate) fn commit(mut self) -> Result<u64, RecordError> {
        let bytes = self.bytes();
        self.flush().map_err(|e| RecordError::io(self.path(), "written", e))?;
        match self {
            Self::File(file, _) => file.commit(true)?,
            Self::Stream(..) => {}
        }
        Ok(bytes)
    }
}

impl Write for Destination {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file, _) => file.write(data),
            Self::Stream(out, bytes) => {
                let n = out.write(data)?;
                *bytes += n as u64;
                Ok(n)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file, _) => file.flush(),
            Self::Stream(out, _) => out.flush(),
        }
    }
}
