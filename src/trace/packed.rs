//! Compression seen through: gzip, xz, zstd and bzip2 are told from their first bytes and unpacked on a thread of their own.
//!
//! Whatever a decoder says when a stream stops in the middle or is damaged, readers meet one error for it: a
//! [`PackedError`] inside an [`io::Error`] of kind `UnexpectedEof` or `InvalidData`. All bytes before it are given first.

use super::error::{Fault, Place, TraceError};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Memory that a stream may ask of its decoder, in bytes. `xz -9` asks for 65 MiB; headers are not to be trusted further.
const MEMORY: u64 = 256 << 20;

/// Bytes handed from thread to thread at a time.
const BLOCK: usize = 256 << 10;

/// Blocks that wait for the reader.
const AHEAD: usize = 4;

/// A way of compressing that is seen through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// RFC 1952, also several members in a row.
    Gzip,
    /// The .xz format 1.1.0, also several streams in a row.
    Xz,
    /// RFC 8878, also several frames in a row.
    Zstd,
    /// bzip2, also several streams in a row.
    Bzip2,
}

impl Packing {
    /// Tells it from the first bytes; `None` where it is none of these.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let bzip2 = |head: &[u8]| {
            // `BZh`, the block size, and the magic number of a block or of the end.
            head.starts_with(b"BZh")
                && head.get(3).is_none_or(|b| (b'1'..=b'9').contains(b))
                && head.get(4).is_none_or(|b| matches!(b, 0x31 | 0x17))
        };
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ if bzip2(head) => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// Unpacks what `bytes` gives, on a thread of its own where there can be one.
    pub(super) fn unpack(self, bytes: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let decoder: Result<Box<dyn Read + Send>, io::Error> = match self {
            Self::Gzip => Ok(Box::new(MultiGzDecoder::new(bytes))),
            Self::Xz => Stream::new_stream_decoder(MEMORY, CONCATENATED)
                .map(|stream| Box::new(XzDecoder::new_stream(bytes, stream)) as Box<dyn Read + Send>)
                .map_err(io::Error::from),
            Self::Zstd => zstd::Decoder::new(bytes).map(|d| Box::new(d) as Box<dyn Read + Send>),
            Self::Bzip2 => Ok(Box::new(MultiBzDecoder::new(bytes))),
        };
        let decoder = decoder.unwrap_or_else(|error| Box::new(Failing(Some(error))));
        ahead(Unpacked { packing: self, decoder })
    }

    /// The command that tests such a file.
    fn tester(self) -> &'static str {
        match self {
            Self::Gzip => "gzip -t",
            Self::Xz => "xz -t",
            Self::Zstd => "zstd -t",
            Self::Bzip2 => "bzip2 -t",
        }
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        })
    }
}

/// What is wrong with a compressed stream.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackedError {
    /// It stops in the middle; what came before is whole.
    #[error("the {0} stream is cut short")]
    Cut(Packing),
    /// It cannot be unpacked from here on, in the decoder's words.
    #[error("damaged {0} data ({1})")]
    Damaged(Packing, String),
}

impl PackedError {
    /// The one inside an error of reading; `None` where that is something else.
    pub(super) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// Words it for people.
    pub(super) fn fault(&self, place: Place) -> TraceError {
        let (Self::Cut(packing) | Self::Damaged(packing, _)) = self;
        TraceError::Damaged(Fault::new(
            place,
            self.to_string(),
            format!("whole {packing} data"),
            format!("test it with {}, and copy or record it again", packing.tester()),
        ))
    }
}

/// A decoder that could not be made.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A decoder whose errors are told apart: ours from the operating system's.
struct Unpacked {
    packing: Packing,
    decoder: Box<dyn Read + Send>,
}

impl Read for Unpacked {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buf).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => io::Error::new(ErrorKind::UnexpectedEof, PackedError::Cut(self.packing)),
            ErrorKind::Interrupted => e,
            _ if e.raw_os_error().is_some() => e,
            _ => io::Error::new(ErrorKind::InvalidData, PackedError::Damaged(self.packing, e.to_string())),
        })
    }
}

/// Reads `source` a few blocks ahead on another thread; where none can be started, as it is asked.
fn ahead(source: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    let (to_reader, blocks) = sync_channel(AHEAD);
    let (used, to_fill) = channel();
    let (hand_over, taken) = channel();
    let thread = thread::Builder::new().name("unpack".into());
    // The source is handed over once the thread runs, so that it is not lost where none does.
    if thread.spawn(move || taken.recv().map(|source| fill(source, &to_reader, &to_fill))).is_err() {
        return Box::new(source);
    }
    match hand_over.send(source) {
        Ok(()) => Box::new(Ahead { blocks, used, block: Block::default(), at: 0 }),
        Err(back) => Box::new(back.0),
    }
}

/// Bytes on their way: the first `filled` of `bytes`.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    filled: usize,
}

/// Sends block after block until the end, an error, or the reader's leaving.
fn fill(mut source: impl Read, to_reader: &SyncSender<io::Result<Block>>, to_fill: &Receiver<Vec<u8>>) {
    loop {
        let mut bytes = to_fill.try_recv().unwrap_or_default();
        bytes.resize(BLOCK, 0);
        let (mut filled, mut end) = (0, None);
        while filled < BLOCK && end.is_none() {
            match source.read(&mut bytes[filled..]) {
                Ok(0) => end = Some(Ok(Block::default())),
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => end = Some(Err(e)),
            }
        }
        let gone = filled > 0 && to_reader.send(Ok(Block { bytes, filled })).is_err();
        if let Some(end) = end {
            // The reader may have gone: then nobody asks.
            let _ = to_reader.send(end);
            return;
        }
        if gone {
            return;
        }
    }
}

/// The reader's side of [`ahead`].
struct Ahead {
    blocks: Receiver<io::Result<Block>>,
    used: Sender<Vec<u8>>,
    block: Block,
    at: usize,
}

impl Read for Ahead {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.filled {
            let next = match self.blocks.recv() {
                Ok(block) => block?,
                // The end was given before.
                Err(_) => Block::default(),
            };
            let old = std::mem::replace(&mut self.block, next);
            self.at = 0;
            if !old.bytes.is_empty() {
                // At the end nobody fills it.
                let _ = self.used.send(old.bytes);
            }
        }
        let rest = &self.block.bytes[self.at..self.block.filled];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}
