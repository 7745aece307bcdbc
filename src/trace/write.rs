//! Traces in other tools' formats. The native file keeps all; a text format keeps what it has a place for, and what it has
//! none for is counted and told.
//!
//! ```text
//! lackey                     din              csv
//! I  00401000,3              2 401000         address,size,kind,pc,core,lane
//!  L 1ffefffe80,8            0 1ffefffe80     0x1ffefffe80,8,read,0x401000,0,
//!  M 0421c7cc,4              0 421c7cc        0x421c7cc,4,modify,0x401003,0,
//!                            1 421c7cc
//! ```

use super::error::TraceError;
use super::native::FileWriter;
use super::target::{Target, write_error};
use crate::reference::{Kind, NO_LANE, Reference, Tables};
use std::io::Write;
use std::path::Path;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFormat {
    /// The native file, which is Parquet.
    Native,
    /// Text as `valgrind --tool=lackey --trace-mem=yes` writes it.
    Lackey,
    /// Dinero's `din`.
    Din,
    /// Columns separated by commas, with their names in the first line.
    Csv,
}

impl WriteFormat {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Native, Self::Lackey, Self::Din, Self::Csv];

    /// Its name: those of readers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "orrery",
            Self::Lackey => "lackey",
            Self::Din => "din",
            Self::Csv => "csv",
        }
    }

    /// The format that a file's name asks for, a compression's ending passed over; native for a name without an ending.
    /// `None` for endings that say nothing here: a `.txt` or `.xdin` should not come out as something else.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let packed = Packing::of(path) != Packing::None;
        let end = if packed { ending(Path::new(path.file_stem()?)) } else { ending(path) };
        match end.as_deref() {
            Some("lackey" | "lk" | "log") => Some(Self::Lackey),
            Some("din") => Some(Self::Din),
            Some("csv") => Some(Self::Csv),
            None | Some("orrery" | "parquet") if !packed => Some(Self::Native),
            _ => None,
        }
    }

    /// Whether it can be written under this name: the native file packs its columns itself, and is no `.gz`.
    #[must_use]
    pub fn suits(self, path: &Path) -> bool {
        self != Self::Native || Packing::of(path) == Packing::None
    }
}

/// How a text is packed, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

impl Packing {
    fn of(path: &Path) -> Self {
        match path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default().as_str() {
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            "xz" => Self::Xz,
            "bz2" => Self::Bzip2,
            _ => Self::None,
        }
    }

    fn wrap(self, sink: Box<dyn Write + Send>) -> std::io::Result<Packer> {
        Ok(match self {
            Self::None => Packer::None(sink),
            Self::Gzip => Packer::Gzip(flate2::write::GzEncoder::new(sink, flate2::Compression::default())),
            Self::Zstd => Packer::Zstd(zstd::Encoder::new(sink, 0)?),
            Self::Xz => Packer::Xz(liblzma::write::XzEncoder::new(sink, 6)),
            Self::Bzip2 => Packer::Bzip2(bzip2::write::BzEncoder::new(sink, bzip2::Compression::default())),
        })
    }
}

type Sink = Box<dyn Write + Send>;

enum Packer {
    None(Sink),
    Gzip(flate2::write::GzEncoder<Sink>),
    Zstd(zstd::Encoder<'static, Sink>),
    Xz(liblzma::write::XzEncoder<Sink>),
    Bzip2(bzip2::write::BzEncoder<Sink>),
}

impl Packer {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::None(sink) => sink.write_all(bytes),
            Self::Gzip(sink) => sink.write_all(bytes),
            Self::Zstd(sink) => sink.write_all(bytes),
            Self::Xz(sink) => sink.write_all(bytes),
            Self::Bzip2(sink) => sink.write_all(bytes),
        }
    }

    fn finish(self) -> std::io::Result<()> {
        let mut sink = match self {
            Self::None(sink) => sink,
            Self::Gzip(sink) => sink.finish()?,
            Self::Zstd(sink) => sink.finish()?,
            Self::Xz(sink) => sink.finish()?,
            Self::Bzip2(sink) => sink.finish()?,
        };
        sink.flush()
    }
}

/// Writes a trace in any of these formats, under its final name only once it is whole.
pub struct TraceWriter(Inner);

enum Inner {
    Native(FileWriter),
    Text(Text),
}

impl TraceWriter {
    /// Starts a file; `-` is standard output. A text whose name ends in `.gz`, `.zst`, `.xz` or `.bz2` is packed.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be written to.
    pub fn create(path: &Path, format: WriteFormat) -> Result<Self, TraceError> {
        if format == WriteFormat::Native {
            return FileWriter::create(path).map(|writer| Self(Inner::Native(writer)));
        }
        let (name, target, sink) = Target::create(path)?;
        let sink = Packing::of(path).wrap(sink).map_err(|e| write_error(&name, e))?;
        let mut buffer = Vec::with_capacity(FULL + LINE);
        if format == WriteFormat::Csv {
            buffer.extend_from_slice(b"address,size,kind,pc,core,lane\n");
        }
        Ok(Self(Inner::Text(Text {
            format,
            name,
            target,
            sink,
            buffer,
            written: 0,
            fetch: None,
            lost: Lost::default(),
        })))
    }

    /// References taken so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Inner::Native(writer) => writer.len(),
            Inner::Text(text) => text.written,
        }
    }

    /// Whether no reference was taken yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends references.
    ///
    /// # Errors
    /// When the disk is full, and of the native file for references that no trace can hold.
    pub fn write(&mut self, references: &[Reference]) -> Result<(), TraceError> {
        match &mut self.0 {
            Inner::Native(writer) => writer.write(references),
            Inner::Text(text) => text.write(references),
        }
    }

    /// Ends the file and gives it its name. Sentences for the user about what the format has no place for.
    ///
    /// # Errors
    /// When the disk is full; when the native file cannot hold the tables.
    pub fn finish(self, tables: &Tables) -> Result<Vec<String>, TraceError> {
        match self.0 {
            Inner::Native(writer) => writer.finish(tables).map(|()| Vec::new()),
            Inner::Text(text) => text.finish(tables),
        }
    }
}

/// References of which a text format has no place for something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lost {
    words: u64,
    modifies: u64,
    pcs: u64,
    cores: u64,
    lanes: u64,
}

/// Bytes of text gathered before they are written.
const FULL: usize = 1 << 18;

/// More than a line takes.
const LINE: usize = 128;

struct Text {
    format: WriteFormat,
    name: String,
    target: Target,
    sink: Packer,
    buffer: Vec<u8>,
    written: u64,
    /// The newest fetch: what a reader of lackey takes for the pc.
    fetch: Option<u64>,
    lost: Lost,
}

impl Text {
    fn write(&mut self, references: &[Reference]) -> Result<(), TraceError> {
        for r in references {
            match self.format {
                WriteFormat::Lackey => self.lackey(r),
                WriteFormat::Din => self.din(r),
                WriteFormat::Native | WriteFormat::Csv => self.csv(r),
            }
            if self.buffer.len() >= FULL {
                self.sink.write_all(&self.buffer).map_err(|e| write_error(&self.name, e))?;
                self.buffer.clear();
            }
        }
        self.written += references.len() as u64;
        Ok(())
    }

    fn lackey(&mut self, r: &Reference) {
        let letter: &[u8] = match r.kind {
            Kind::Fetch => b"I  ",
            Kind::Read => b" L ",
            Kind::Write => b" S ",
            Kind::Modify => b" M ",
        };
        if r.kind == Kind::Fetch {
            self.fetch = Some(r.addr);
        } else {
            self.lost.pcs += u64::from(r.pc != self.fetch.unwrap_or(0));
        }
        self.lost.cores += u64::from(r.core != 0);
        self.lost.lanes += u64::from(r.lane != NO_LANE);
        self.buffer.extend_from_slice(letter);
        hex(&mut self.buffer, r.addr, 8);
        self.buffer.push(b',');
        decimal(&mut self.buffer, u64::from(r.size));
        self.buffer.push(b'\n');
    }

    fn din(&mut self, r: &Reference) {
        let labels: &[u8] = match r.kind {
            Kind::Read => b"0",
            Kind::Write => b"1",
            Kind::Modify => b"01",
            Kind::Fetch => b"2",
        };
        self.lost.words += u64::from(r.size != DIN_BYTES || !r.addr.is_multiple_of(u64::from(DIN_BYTES)));
        self.lost.modifies += u64::from(r.kind == Kind::Modify);
        self.lost.pcs += u64::from(r.pc != 0 && r.kind != Kind::Fetch);
        self.lost.cores += u64::from(r.core != 0);
        self.lost.lanes += u64::from(r.lane != NO_LANE);
        for label in labels {
            self.buffer.extend_from_slice(&[*label, b' ']);
            hex(&mut self.buffer, r.addr, 1);
            self.buffer.push(b'\n');
        }
    }

    fn csv(&mut self, r: &Reference) {
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(b"0x");
        hex(buffer, r.addr, 1);
        buffer.push(b',');
        decimal(buffer, u64::from(r.size));
        buffer.push(b',');
        buffer.extend_from_slice(r.kind.verb().as_bytes());
        buffer.extend_from_slice(b",0x");
        hex(buffer, r.pc, 1);
        buffer.push(b',');
        decimal(buffer, u64::from(r.core));
        buffer.push(b',');
        if r.lane != NO_LANE {
            decimal(buffer, u64::from(r.lane));
        }
        buffer.push(b'\n');
    }

    fn finish(mut self, tables: &Tables) -> Result<Vec<String>, TraceError> {
        let ended = self.sink.write_all(&self.buffer).and_then(|()| self.sink.finish());
        ended.map_err(|e| write_error(&self.name, e))?;
        self.target.finish()?;
        let format = self.format.name();
        let mut notices = Vec::new();
        for (what, n) in [
            ("sizes: its readers take the 4-byte word at an address, which is not what is touched by", self.lost.words),
            ("modify: a read and a write stand for each of", self.lost.modifies),
        ] {
            if n > 0 {
                notices.push(format!("{}: {format} knows no {what} {n} references", self.name));
            }
        }
        for (what, n) in
            [("instructions", self.lost.pcs), ("core numbers", self.lost.cores), ("lanes", self.lost.lanes)]
        {
            if n > 0 {
                notices.push(format!("{}: {format} has no place for the {what} of {n} references", self.name));
            }
        }
        if !tables.regions.is_empty() || !tables.locations.is_empty() || !tables.marks.is_empty() {
            notices.push(format!("{}: {format} has no place for regions, source lines and marks", self.name));
        }
        Ok(notices)
    }
}

/// What readers take for the size of a reference in `din`: the aligned word that its address lies in.
const DIN_BYTES: u32 = 4;

/// Hexadecimal digits, `least` or more.
#[expect(clippy::cast_possible_truncation, reason = "a digit")]
fn hex(out: &mut Vec<u8>, n: u64, least: u32) {
    let digits = n.checked_ilog2().map_or(1, |bits| bits / 4 + 1).max(least);
    out.extend((0..digits).rev().map(|digit| b"0123456789abcdef"[usize::from((n >> (4 * digit)) as u8 % 16)]));
}

fn decimal(out: &mut Vec<u8>, n: u64) {
    let digits = n.checked_ilog10().unwrap_or(0);
    out.extend((0..=digits).rev().map(|digit| b'0' + (n / 10u64.pow(digit) % 10) as u8));
}
