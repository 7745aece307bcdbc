//! Every format that can be read, in a table: its name, what it looks like, its reader.
//!
//! A format is one file here and one row of [`Format::ALL`]; nothing else names it. A reader makes [`Reference`]s once, in
//! order, in bounded memory.

use super::error::TraceError;
use super::input::Input;
use super::native::NativeTrace;
use super::nests;
use super::stamp::Stamp;
use crate::nest;
use crate::reference::{Reference, ReferenceSource, Tables};
use std::fmt;

mod accelsim;
mod binary;
pub mod capture;
mod champsim;
mod columns;
mod cores;
#[cfg(test)]
mod crossed;
mod csv;
mod din;
mod dinero;
mod drmemtrace;
mod drmemtrace_view;
mod gem5;
mod gem5_text;
pub mod lackey;
pub mod launches;
mod number;
mod nvbit;
mod perf;
mod pin;
mod text;
mod xdin;
mod zip;

/// References of a foreign format, once, in order, in bounded memory.
pub(super) trait Reader: Send {
    /// Replaces `out` by the next references: at least one and about `limit` at most, or none at the end.
    ///
    /// # Errors
    /// Where the trace is broken or cannot be read, and at the end of one that held no references at all.
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError>;

    /// Sentences for the user about what was skipped or lost; complete once the end is reached.
    fn notices(&self) -> Vec<String>;

    /// What the format itself says of regions, source locations and marks; complete once the end is reached.
    fn tables(&self) -> Tables {
        Tables::default()
    }

    /// Whether regions and source locations are complete at the end only.
    fn names_come_late(&self) -> bool {
        false
    }

    /// The files that it looked for beside the one it was opened with, as they were then; `None` where they are too many to
    /// look after. Complete once the end is reached.
    fn beside(&self) -> Option<&[Stamp]> {
        Some(&[])
    }
}

/// An opened trace.
pub(super) enum Opened {
    /// Any part of it can be read.
    Native(Box<NativeTrace>),
    /// It is read once, in order.
    Once(Box<dyn Reader>),
    /// Any part of it is computed.
    Computed(Box<dyn ReferenceSource>),
}

/// A format that can be read.
#[derive(Clone, Copy)]
pub struct Format(&'static Row);

/// What [`Format::ALL`] knows of a format.
struct Row {
    name: &'static str,
    about: &'static str,
    example: &'static str,
    /// Whether content that starts so is of this format; asked in the order of [`Format::ALL`].
    looks_like: fn(&[u8]) -> bool,
    open: fn(Input) -> Result<Opened, TraceError>,
}

impl Format {
    /// The native file.
    pub const NATIVE: Self = Self(&Row {
        name: "orrery",
        about: "The native file: Parquet with Orrery's tables",
        example: "(binary: PAR1...)",
        looks_like: |head| head.starts_with(b"PAR1"),
        // Other tools' Parquet files start so too; their metadata tell, at the end of the file.
        open: columns::parquet::open_any,
    });

    /// Text of Valgrind's lackey.
    pub const LACKEY: Self = Self(&Row {
        name: "lackey",
        about: "Text of valgrind --tool=lackey --trace-mem=yes",
        example: " L 1ffefffe80,8",
        looks_like: lackey::looks_like,
        open: |input| Ok(text::open(lackey::Lackey::default(), input)),
    });

    /// Classic text of Dinero.
    pub const DIN: Self = Self(&Row {
        name: "din",
        about: "Dinero's classic text: label and address",
        example: "0 7fff12a0",
        looks_like: din::looks_like,
        open: |input| Ok(text::open(din::Din::default(), input)),
    });

    /// Extended text of Dinero IV.
    pub const XDIN: Self = Self(&Row {
        name: "xdin",
        about: "Dinero IV's extended text: letter, address, size in hex",
        example: "r 7fff12a0 8",
        looks_like: xdin::looks_like,
        open: |input| Ok(text::open(xdin::Xdin::default(), input)),
    });

    /// Text of Pin tools, by pattern.
    pub const PIN: Self = Self(&Row {
        name: "pin",
        about: "Text of Pin's pinatrace and its variants",
        example: "0x40112d: W 0x7ffe4a10",
        looks_like: pin::looks_like,
        open: |input| Ok(text::open(pin::Pin::default(), input)),
    });

    /// Text of DynamoRIO's view tool.
    pub const DRMEMTRACE_VIEW: Self = Self(&Row {
        name: "drmemtrace-view",
        about: "Text of drrun -t drmemtrace -tool view",
        example: "13  1:  4711 write  8 byte(s) @ 0x7ffd5b9a4f78 by PC 0x7f9c5aed9ba6",
        looks_like: drmemtrace_view::looks_like,
        open: |input| Ok(text::open(drmemtrace_view::View::default(), input)),
    });

    /// gem5's packet traces as text.
    pub const GEM5_TEXT: Self = Self(&Row {
        name: "gem5-text",
        about: "gem5 packets by decode_packet_trace.py, in decimal",
        example: "r,140737488347072,8,2,500",
        looks_like: gem5_text::looks_like,
        open: |input| Ok(text::open(gem5_text::Gem5::default(), input)),
    });

    /// Tables as text.
    pub const CSV: Self = Self(&Row {
        name: "csv",
        about: "Comma- or tab-separated values with named columns",
        example: "address,size,kind",
        looks_like: csv::looks_like,
        open: |input| Ok(text::open(csv::Csv::default(), input)),
    });

    /// Text of NVBit's mem_trace.
    pub const NVBIT: Self = Self(&Row {
        name: "nvbit",
        about: "Text of NVBit's mem_trace tool (GPU, lanes kept)",
        example: "MEMTRACE: CTX 0x55d0 - CTA 0,0,0 - warp 3 - LDG.E - 0x7f10 0x7f14 ...",
        looks_like: nvbit::looks_like,
        open: |input| Ok(text::open(nvbit::Nvbit::default(), input)),
    });

    /// Memory samples of Linux perf.
    pub const PERF: Self = Self(&Row {
        name: "perf",
        about: "perf script of perf mem record: samples, not a full trace",
        example: "prog 7 [003] 1.25: 30 cpu/mem-loads/P: 7ffe4a10 68100142 |OP LOAD|...",
        looks_like: perf::looks_like,
        open: |input| Ok(text::open(perf::Perf::default(), input)),
    });

    /// ChampSim's trace of instructions.
    pub const CHAMPSIM: Self = Self(&Row {
        name: "champsim",
        about: "ChampSim's input_instr, 64 bytes an instruction",
        example: "(binary: u64 ip, flags, registers, u64 written[2], u64 read[4])",
        looks_like: champsim::looks_like,
        open: champsim::open,
    });

    /// ChampSim's wider record.
    pub const CLOUDSUITE: Self = Self(&Row {
        name: "cloudsuite",
        about: "ChampSim's cloudsuite_instr, 96 bytes an instruction",
        example: "(binary: u64 ip, flags, registers, u64 written[4], u64 read[4], asid)",
        looks_like: champsim::looks_like_cloudsuite,
        open: champsim::open_cloudsuite,
    });

    /// Dinero IV's binary input.
    pub const DINERO: Self = Self(&Row {
        name: "dinero",
        about: "Dinero IV's binary input, 8 bytes a reference",
        example: "(binary: u32 address, u16 size, u8 type, u8 0)",
        looks_like: dinero::looks_like,
        open: dinero::open,
    });

    /// DynamoRIO's final trace.
    pub const DRMEMTRACE: Self = Self(&Row {
        name: "drmemtrace",
        about: "DynamoRIO's drmemtrace, the final trace: plain, gzip or zip",
        example: "(binary: u16 type, u16 size, u64 address)",
        looks_like: drmemtrace::looks_like,
        open: drmemtrace::open,
    });

    /// Parquet of other tools.
    pub const PARQUET: Self = Self(&Row {
        name: "parquet",
        about: "Parquet of any tool, with a column `address`",
        example: "address, size, kind, pc, core, lane",
        looks_like: |head| head.starts_with(b"PAR1"),
        open: columns::parquet::open,
    });

    /// Arrow IPC: files and streams.
    pub const ARROW: Self = Self(&Row {
        name: "arrow",
        about: "Arrow IPC, file (Feather) or stream, with a column `address`",
        example: "address, size, kind, pc, core, lane",
        looks_like: columns::arrow::looks_like,
        open: columns::arrow::open,
    });

    /// gem5's packet trace.
    pub const GEM5: Self = Self(&Row {
        name: "gem5",
        about: "gem5's packets (protobuf) of a CommMonitor or MemTraceProbe",
        example: "(binary: gem5, then messages)",
        looks_like: gem5::looks_like,
        open: gem5::open,
    });

    /// Accel-Sim's traces of GPU kernels.
    pub const ACCELSIM: Self = Self(&Row {
        name: "accelsim",
        about: "Accel-Sim's kernelslist.g, or one kernel's .traceg",
        example: "00a0 ffffffff 1 R4 LDG.E 1 R4 4 1 0x7fb0fc430e00 4",
        looks_like: accelsim::looks_like,
        open: accelsim::open,
    });

    /// The spool of a captured program.
    pub const CAPTURE: Self = Self(&Row {
        name: "capture",
        about: "The .orrery.part that a program built by orrery cc may leave",
        example: "(binary: ORRSPOOL...)",
        looks_like: capture::looks_like,
        open: |input| Ok(Opened::Once(Box::new(capture::Reader::open(input)?))),
    });

    /// Orrery's language of loops.
    pub const LOOPS: Self = Self(&Row {
        name: "loops",
        about: "Loop nests in Orrery's language of loops (docs/loops.md)",
        example: "for i in 0..N { A[i] = B[i] }",
        looks_like: nest::loops::Source::looks_like,
        open: |input| nests::open_loops(input).map(Opened::Computed),
    });

    /// DaCe's dataflow graphs.
    pub const SDFG: Self = Self(&Row {
        name: "sdfg",
        about: "Dataflow graphs of DaCe, .sdfg or .sdfgz (docs/loops.md)",
        example: "{\"type\": \"SDFG\", \"attributes\": {\"_arrays\": ...",
        looks_like: nest::sdfg::Graph::looks_like,
        open: |input| nests::open_graph(input).map(Opened::Computed),
    });

    /// All of them, in the order in which content is compared with them: magic numbers first, loose patterns last.
    pub const ALL: &'static [Self] = &[
        Self::NATIVE,
        Self::CAPTURE,
        Self::PARQUET,
        Self::ARROW,
        Self::GEM5,
        Self::DRMEMTRACE,
        Self::CHAMPSIM,
        Self::CLOUDSUITE,
        Self::DINERO,
        Self::ACCELSIM,
        Self::LOOPS,
        Self::SDFG,
        // Words that no other text has.
        Self::NVBIT,
        Self::DRMEMTRACE_VIEW,
        Self::PERF,
        Self::LACKEY,
        // Every line has to fit.
        Self::GEM5_TEXT,
        Self::CSV,
        Self::XDIN,
        Self::PIN,
        Self::DIN,
    ];

    /// The one called so; `None` where there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The word for `--format`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in one sentence without a full stop.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// One record of it.
    #[must_use]
    pub fn example(self) -> &'static str {
        self.0.example
    }

    /// Whether content that starts with these bytes is taken for this format where `--format` does not name one and no format
    /// before it in [`Format::ALL`] claims it.
    #[must_use]
    pub fn looks_like(self, head: &[u8]) -> bool {
        (self.0.looks_like)(head)
    }

    /// The format of (unpacked) content that starts so; `None` where it is none of these.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.looks_like(head))
    }

    pub(super) fn open(self, input: Input) -> Result<Opened, TraceError> {
        (self.0.open)(input)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}
