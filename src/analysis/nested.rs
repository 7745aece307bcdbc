//! Stack distances of a nest of loops, whole and by container.

use super::distance::Stack;
use super::histogram::Histogram;
use super::touch::{Touches, line_shift};
use crate::nest::{Container, NestError, Walk};
use crate::reference::{Kind, Reference, ReferenceSource};
use crate::units::grouped;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};

/// Accesses that are measured at most: an hour or so.
pub const MOST_MEASURED: u64 = 36_000_000_000;
/// Accesses that are measured in a second, as a rule.
const A_SECOND: u64 = 10_000_000;
/// Accesses that are made at a time.
const BATCH: usize = 1 << 16;

/// Why a nest was not measured.
#[derive(Debug, thiserror::Error)]
pub enum NestDistancesError {
    /// An index is outside of its shape, or accesses cannot be counted.
    #[error(transparent)]
    Nest(#[from] NestError),
    /// Bytes of a line.
    #[error("lines of {0} bytes: expected a power of two of 1 to 1048576, as in 64")]
    Line(u32),
    /// It would take too long.
    #[error(
        "{name}: found {} accesses, which would take some {} to be measured; expected {} at most; set smaller values of parameters, or \
         look at a part: orrery analyze FILE --sample 0.001",
        grouped(*accesses), duration(accesses / A_SECOND), grouped(MOST_MEASURED)
    )]
    Long {
        /// Of the nest.
        name: String,
        /// Of the whole run.
        accesses: u64,
    },
    /// A part of the file makes no accesses here.
    #[error("{gap}; numbers without it would be wrong")]
    Gap {
        /// What is not walked, and what to do about it.
        gap: String,
    },
}

/// A time in words.
fn duration(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} seconds"),
        120..=7199 => format!("{} minutes", seconds / 60),
        7200..=172_799 => format!("{} hours", seconds / 3600),
        172_800..=63_071_999 => format!("{} days", seconds / 86_400),
        _ => format!("{} years", grouped(seconds / 31_536_000)),
    }
}

/// What is counted of one container.
#[derive(Clone, Debug)]
pub struct ContainerUse {
    /// Which, with its shape.
    pub container: Container,
    /// Touches of its lines.
    pub accesses: u64,
    /// Lines that hold a byte of an element.
    pub lines: u64,
    /// First touches.
    pub cold: u64,
    /// How often each distance occurred.
    pub histogram: Histogram,
}

impl ContainerUse {
    /// First touches, and touches after so many other lines or more: misses of a fully associative LRU cache that all containers share.
    #[must_use]
    pub fn misses(&self, lines: u64) -> u64 {
        self.cold + self.histogram.at_least(lines)
    }
}

/// Stack distances of a nest, whole and by container, in the order of the file. Serializes as `{"line", "accesses", "cold",
/// "histogram": [[distance, count], ...], "containers": {"A": {...}}}`.
#[derive(Clone, Debug)]
pub struct NestDistances {
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Touches of lines.
    pub accesses: u64,
    /// First touches.
    pub cold: u64,
    /// How often each distance occurred.
    pub histogram: Histogram,
    /// By container.
    pub containers: Vec<ContainerUse>,
    /// Lines of the caches whose misses are asked for.
    pub capacities: Vec<u64>,
}

impl NestDistances {
    /// Misses of all containers in a fully associative LRU cache of so many lines.
    #[must_use]
    pub fn misses(&self, lines: u64) -> u64 {
        self.cold + self.histogram.at_least(lines)
    }
}

/// Walks all of a nest. An update such as `+=` is one access. Transient containers are left out, as if they were registers, unless
/// `transients` says that they count too. `go` is told accesses done, and stops the work by `false`: then there is no answer.
///
/// # Errors
/// When the nest has gaps, takes too long, or has an index outside of its shape.
pub fn nest_distances(
    walk: &Walk,
    line_bytes: u32,
    capacities: &[u64],
    transients: bool,
    go: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<NestDistances>, NestDistancesError> {
    let shift = line_shift(line_bytes).ok_or(NestDistancesError::Line(line_bytes))?;
    if let Some(gap) = walk.nest().gaps().first() {
        return Err(NestDistancesError::Gap { gap: gap.clone() });
    }
    if walk.len() > MOST_MEASURED {
        return Err(NestDistancesError::Long { name: walk.nest().name().to_owned(), accesses: walk.len() });
    }
    let touches = Touches::new(shift, false);
    let mut stack = Stack::new();
    let (mut all, mut accesses, mut cold) = (Histogram::dense(), 0u64, 0u64);
    let containers = walk.nest().containers();
    let counted = |container: &Container| transients || !container.transient;
    let mut rows: Vec<Option<ContainerUse>> = containers
        .iter()
        .map(|container| {
            counted(container).then(|| ContainerUse {
                container: container.clone(),
                accesses: 0,
                lines: 0,
                cold: 0,
                histogram: Histogram::default(),
            })
        })
        .collect();
    let (mut batch, mut done) = (Vec::new(), 0u64);
    while done < walk.len() {
        walk.read_by_container(done, BATCH, &mut batch)?;
        done += batch.len() as u64;
        for reference in &batch {
            let container = usize::try_from(reference.pc).unwrap_or(usize::MAX);
            let Some(Some(row)) = rows.get_mut(container) else { continue };
            // A modify is one access here.
            touches.each(&Reference { kind: Kind::Read, ..*reference }, |line| {
                row.accesses += 1;
                accesses += 1;
                match stack.touch(line) {
                    Some(distance) => {
                        row.histogram.add(distance);
                        all.add(distance);
                    }
                    None => {
                        row.cold += 1;
                        cold += 1;
                    }
                }
            });
        }
        if !go(done) || batch.is_empty() {
            return Ok(None);
        }
    }
    let mut containers: Vec<ContainerUse> = rows.into_iter().flatten().collect();
    for row in &mut containers {
        // Where they are too many to be counted one by one, they are the lines from the first byte to the last.
        let span = row.container.bytes().div_ceil(u64::from(line_bytes));
        row.lines = row.container.lines(u64::from(line_bytes)).unwrap_or(span);
    }
    let capacities = capacities.to_vec();
    Ok(Some(NestDistances { line_bytes, accesses, cold, histogram: all, containers, capacities }))
}

impl Serialize for NestDistances {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("NestDistances", 5)?;
        out.serialize_field("line", &self.line_bytes)?;
        out.serialize_field("accesses", &self.accesses)?;
        out.serialize_field("cold", &self.cold)?;
        out.serialize_field("histogram", &self.histogram)?;
        out.serialize_field("containers", &Rows(self))?;
        out.end()
    }
}

struct Rows<'a>(&'a NestDistances);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(Some(self.0.containers.len()))?;
        for row in &self.0.containers {
            out.serialize_entry(&row.container.name, &Row(row, &self.0.capacities))?;
        }
        out.end()
    }
}

struct Row<'a>(&'a ContainerUse, &'a [u64]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row(row, capacities) = self;
        let mut out = serializer.serialize_struct("Row", 7)?;
        out.serialize_field("shape", &row.container.shape)?;
        out.serialize_field("strides", &row.container.strides)?;
        out.serialize_field("element_bytes", &row.container.elem_bytes)?;
        out.serialize_field("accesses", &row.accesses)?;
        out.serialize_field("lines", &row.lines)?;
        out.serialize_field("cold", &row.cold)?;
        out.serialize_field("misses", &Misses(row, capacities))?;
        out.end()
    }
}

struct Misses<'a>(&'a ContainerUse, &'a [u64]);

impl Serialize for Misses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(Some(self.1.len()))?;
        for lines in self.1 {
            out.serialize_entry(&lines.to_string(), &self.0.misses(*lines))?;
        }
        out.end()
    }
}
