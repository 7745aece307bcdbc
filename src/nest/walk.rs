//! A nest as a source of references.

use super::count::{Cache, Counter, prepare};
use super::emit::{Emitter, FIRST_PC, PC_STEP};
use super::fault::NestError;
use super::first::first_of;
use super::loops;
#[cfg(feature = "native")]
use super::sdfg;
use super::settings::Settings;
use super::symbolic::Volumes;
use super::tree::{Block, Nest, Node, Statement};
use crate::reference::{LoopsAt, Reference, ReferenceSource, SourceError, SourceLocation, Tables};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// References of a chunk.
const CHUNK: u64 = 1 << 16;
/// Where the first container is put: no program has anything at 0.
const FIRST_ADDRESS: u64 = 0x10000;
/// Lines on which containers begin are at least so long.
const LEAST_LINE: u64 = 64;

/// A nest as a [`ReferenceSource`]: chunk *k* is computed from the numbers of iterations, nothing is stored. An update such as `+=` is one
/// reference, a modify.
#[derive(Debug)]
pub struct Walk {
    nest: Nest,
    bases: Vec<u64>,
    cache: Cache,
    len: u64,
    tables: Tables,
    notices: Vec<String>,
    text: Option<NestText>,
    volumes: OnceLock<Result<Arc<Volumes>, NestError>>,
}

/// What a nest was made of: volumes are expressions in the parameters, which a [`Nest`] knows as numbers.
#[derive(Clone, Debug)]
pub struct NestText {
    /// As messages name it.
    pub name: String,
    /// A file of loops, or a graph.
    pub text: Arc<str>,
    /// Values of parameters.
    pub settings: Settings,
    /// Whether it is a graph of DaCe.
    pub is_graph: bool,
}

impl NestText {
    /// The nest.
    ///
    /// # Errors
    /// Where the text is none, or its parameters have no values.
    pub fn nest(&self) -> Result<Nest, NestError> {
        #[cfg(feature = "native")]
        if self.is_graph {
            return sdfg::Graph::parse(&self.name, &self.text)?.bind(&self.settings);
        }
        loops::Source::parse(&self.name, &self.text)?.bind(&self.settings)
    }

    /// What its parts move and compute.
    ///
    /// # Errors
    /// As [`NestText::nest`], and where accesses cannot be counted.
    pub fn volumes(&self) -> Result<Volumes, NestError> {
        #[cfg(feature = "native")]
        if self.is_graph {
            return sdfg::Graph::parse(&self.name, &self.text)?.volumes(&self.settings);
        }
        loops::Source::parse(&self.name, &self.text)?.volumes(&self.settings)
    }
}

/// Where in its loops a nest is at an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Names and values of loop indices, the outermost first.
    pub indices: Vec<(String, i64)>,
    /// The statement, as messages name it.
    pub statement: String,
}

impl fmt::Display for Iteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&indices_in_words(&self.indices))
    }
}

pub(super) fn indices_in_words(indices: &[(String, i64)]) -> String {
    if indices.is_empty() {
        return "no loop".into();
    }
    indices.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

/// Words that are the same for the same text and values.
pub(super) fn fingerprint(kind: &str, text: &str, settings: &Settings) -> String {
    // FNV-1a of 128 bits.
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let values = settings.iter().map(|(name, value)| format!("\n{name}={value}")).collect::<String>();
    for byte in text.bytes().chain(values.bytes()) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    }
    format!("{kind} 1 {hash:032x} {}", text.len())
}

impl Walk {
    /// Puts each container on a line of its own and counts accesses; `line_bytes` is a power of two.
    ///
    /// # Errors
    /// When accesses cannot be counted, or are more than 2^64.
    pub fn new(mut nest: Nest, line_bytes: u64) -> Result<Self, NestError> {
        prepare(&mut nest);
        let bases = placed(&mut nest, line_bytes.max(LEAST_LINE))?;
        let cache = Cache::default();
        let mut values = nest.initial.clone();
        let len = Counter::new(&nest, &cache).block(&nest.root, &mut values)?;
        let tables = tables(&nest);
        let gaps = nest.gaps.iter().map(|gap| format!("{gap}; it makes no accesses here"));
        let notices = nest.notices.iter().cloned().chain(gaps).collect();
        Ok(Self { nest, bases, cache, len, tables, notices, text: None, volumes: OnceLock::new() })
    }

    /// The nest that is walked; its containers have their places.
    #[must_use]
    pub fn nest(&self) -> &Nest {
        &self.nest
    }

    /// Where in its loops the nest is at this access; `None` past the end, and where an index is outside of its shape.
    #[must_use]
    pub fn iteration(&self, tick: u64) -> Option<Iteration> {
        let (emitter, statement) = self.stopped(tick)?;
        let statement = self.nest.statements.get(statement)?.name.clone();
        Some(Iteration { indices: emitter.indices(), statement })
    }

    /// Statements, by number.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.nest.statements
    }

    /// The first access of a statement, by number; `None` where it makes none, or none in the first 65,536 iterations of its loops.
    #[must_use]
    pub fn first_of(&self, statement: usize) -> Option<u64> {
        first_of(&self.nest, &self.cache, statement).ok().flatten()
    }

    /// What parts of the nest move and compute, as expressions in the parameters of its file, found once; `None` of a nest that was made
    /// of no file.
    ///
    /// # Errors
    /// Where accesses cannot be counted.
    pub fn volumes(&self) -> Option<Result<Arc<Volumes>, NestError>> {
        let text = self.text.as_ref()?;
        Some(self.volumes.get_or_init(|| text.volumes().map(Arc::new)).clone())
    }

    /// As [`Walk::volumes`], where somebody found that before.
    #[must_use]
    pub fn volumes_so_far(&self) -> Option<Arc<Volumes>> {
        self.volumes.get()?.as_ref().ok().cloned()
    }

    /// As [`Walk::volumes`], under other values of some parameters, found anew each time.
    ///
    /// # Errors
    /// Where a value is out of its range, or accesses cannot be counted.
    pub fn volumes_under(&self, values: &Settings) -> Option<Result<Volumes, NestError>> {
        let mut text = self.text.clone()?;
        values.iter().for_each(|(name, value)| text.settings.set(name, value));
        Some(text.volumes())
    }

    /// Least and most of the parameters whose file says so, by name.
    #[must_use]
    pub fn ranges(&self) -> BTreeMap<String, (i64, i64)> {
        let loops = self.text.as_ref().filter(|text| !text.is_graph);
        let found = loops.and_then(|text| {
            loops::Source::parse(&text.name, &text.text).and_then(|source| source.parameters(&text.settings)).ok()
        });
        found.into_iter().flatten().filter_map(|parameter| Some((parameter.name, parameter.range?))).collect()
    }

    /// The same walk, which knows the text that its nest was made of.
    #[must_use]
    pub fn of_text(self, text: NestText) -> Self {
        Self { text: Some(text), ..self }
    }

    /// An emitter that stands at an access, and the number of the statement that makes it.
    fn stopped(&self, tick: u64) -> Option<(Emitter<'_>, usize)> {
        if tick >= self.len {
            return None;
        }
        let mut emitter = Emitter::new(&self.nest, &self.bases, &self.cache, 1, true);
        let mut out = Vec::new();
        emitter.emit(tick, &mut out).ok()?;
        let statement = out.first()?.pc.checked_sub(FIRST_PC)? / PC_STEP;
        Some((emitter, usize::try_from(statement).ok()?))
    }

    /// Replaces `out` by up to `most` accesses from number `from` on.
    ///
    /// # Errors
    /// Where an index is outside of its shape: names the statement and the iteration.
    pub fn read(&self, from: u64, most: usize, out: &mut Vec<Reference>) -> Result<(), NestError> {
        out.clear();
        if from < self.len {
            let left = usize::try_from(self.len - from).unwrap_or(usize::MAX);
            Emitter::new(&self.nest, &self.bases, &self.cache, most.min(left), false).emit(from, out)?;
        }
        Ok(())
    }
}

impl Walk {
    /// As [`Walk::read`], but the program counter of each access is the number of its container among those of the nest.
    ///
    /// # Errors
    /// As there.
    pub fn read_by_container(&self, from: u64, most: usize, out: &mut Vec<Reference>) -> Result<(), NestError> {
        out.clear();
        if from < self.len {
            let left = usize::try_from(self.len - from).unwrap_or(usize::MAX);
            let emitter = Emitter::new(&self.nest, &self.bases, &self.cache, most.min(left), false);
            emitter.by_container().emit(from, out)?;
        }
        Ok(())
    }
}

/// Gives each container its first byte.
fn placed(nest: &mut Nest, line: u64) -> Result<Vec<u64>, NestError> {
    let mut next = FIRST_ADDRESS;
    let full = |name: &str| {
        NestError::new(name, "containers of more than 2^63 bytes", "fewer", "set smaller values of parameters")
    };
    // Those that ask for a place have it; the others come behind.
    for container in &nest.containers {
        if let Some(base) = container.base {
            let end = base.checked_add(container.bytes()).filter(|end| *end < 1 << 63);
            next = next.max(end.ok_or_else(|| full(&nest.name))?);
        }
    }
    let mut bases = Vec::with_capacity(nest.containers.len());
    for container in &mut nest.containers {
        let base = match container.base {
            Some(base) => base,
            None => {
                let base = next.next_multiple_of(line.max(container.align).max(1).next_power_of_two());
                next =
                    base.checked_add(container.bytes()).filter(|end| *end < 1 << 63).ok_or_else(|| full(&nest.name))?;
                base
            }
        };
        container.base = Some(base);
        bases.push(base);
    }
    Ok(bases)
}

fn tables(nest: &Nest) -> Tables {
    let locations = nest.statements.iter().zip(0u64..).filter(|(statement, _)| statement.line > 0);
    let locations = locations.map(|(statement, number)| SourceLocation {
        path: String::new(),
        pc: FIRST_PC + PC_STEP * number,
        file: statement.file.clone(),
        line: statement.line,
        function: String::new(),
        text: statement.text.clone(),
    });
    let mut tables = Tables {
        title: if nest.title.is_empty() { nest.name.clone() } else { nest.title.clone() },
        subtitle: nest.subtitle.clone(),
        regions: nest.containers.iter().map(|container| container.region(FIRST_ADDRESS)).collect(),
        locations: locations.collect(),
        marks: Vec::new(),
        made_by: format!("loops of {}", nest.name),
    };
    tables.sort();
    tables
}

/// Cores that parallel loops of a block run on.
fn cores(block: &Block) -> u16 {
    let of = |node: &Node| match node {
        Node::Access(_) | Node::Set { .. } => 1,
        Node::Loop(l) => cores(&l.body).max(l.cores.as_ref().map_or(1, super::tree::Cores::count)),
        Node::If(branch) => cores(&branch.yes).max(cores(&branch.no)),
        Node::Machine(machine) => machine.blocks.iter().map(cores).max().unwrap_or(1),
    };
    block.nodes.iter().map(of).max().unwrap_or(1)
}

impl ReferenceSource for Walk {
    fn len(&self) -> u64 {
        self.len
    }

    fn chunk_len(&self) -> u64 {
        CHUNK
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let mut out = Vec::new();
        self.read(index.saturating_mul(CHUNK), 1 << 16, &mut out)?;
        Ok(out.into())
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        Ok(self.read(from, 1 << 16, out)?)
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn cores(&self) -> Result<u32, SourceError> {
        Ok(u32::from(cores(&self.nest.root)))
    }

    fn notices(&self) -> &[String] {
        &self.notices
    }

    fn identity(&self) -> Option<String> {
        Some(format!("{} {}", self.nest.identity, self.bases.first().copied().unwrap_or(0)))
    }

    fn loops_at(&self, tick: u64) -> Option<LoopsAt> {
        let (mut emitter, number) = self.stopped(tick)?;
        let statement = self.nest.statements.get(number)?.name.clone();
        Some(LoopsAt { loops: emitter.loops(tick), statement, number })
    }

    fn computed_by(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
