//! Arrays that write down who touches them: traces of a Rust program's own loops, for lessons.
//!
//! A [`Recorder`] hands out arrays, [`Traced`], that behave like slices and matrices but are read by [`get`](Traced::get) and
//! written by [`set`](Traced::set), because Rust's `a[i]` does not say which it is. Every touch becomes a reference, with the
//! line of source that did it; [`Recorder::write`] makes a native file that `orrery` opens.
//!
//! ```
//! use orrery::traced::Recorder;
//!
//! let recorder = Recorder::new("insertion sort");
//! let mut a = recorder.array("a", vec![5, 2, 4, 1, 3]);
//! for i in 1..a.len() {
//!     let mut j = i;
//!     while j > 0 && a.get(j - 1) > a.get(j) {
//!         a.swap(j - 1, j);
//!         j -= 1;
//!     }
//! }
//! assert_eq!(a.values(), [1, 2, 3, 4, 5]);
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("insertion.orrery");
//! assert_eq!(recorder.write(&path)?, recorder.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Addresses are laid out, not real**: the first array begins at 0x10000000, each begins at a multiple of 64 bytes after the
//! one before it, and no place is used twice. So the same program gives the same file, on any machine. An instruction's
//! address stands for a place in the source: 0x400000 for the first that touches an array, 4 more for each that follows.
//!
//! All touches are of core 0; a recorder stays in its thread. It holds 24 bytes a reference until it is dropped.

use crate::reference::{ArrayLayout, Kind, Mark, MemoryTrace, NO_LANE, Reference, Region, SourceLocation, Tables};
use crate::trace::native::FileWriter;
use crate::trace::{Fault, Place, TraceError};
use std::any::type_name;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::rc::Rc;

mod array;
pub use array::{At, Iter, Traced};

/// Where the first array begins.
const FIRST: u64 = 0x1000_0000;

/// What every array's first byte is a multiple of: a line of nearly every cache.
const ALIGNMENT: u64 = 64;

/// The pc of the first place in the source that touches an array, and how far apart they are.
const CODE: u64 = 0x40_0000;
const INSTRUCTION: u64 = 4;

/// Hands out arrays and keeps what is done to them, in order. Clones are the same recorder.
///
/// ```
/// use orrery::traced::Recorder;
///
/// let recorder = Recorder::new("sum").with_subtitle("front to back");
/// let a = recorder.array("a", [1.0, 2.0, 3.0]);
/// recorder.mark("add up");
/// let sum: f64 = a.iter().sum();
/// assert_eq!((sum, recorder.len()), (6.0, 3));
/// ```
#[derive(Clone, Debug)]
pub struct Recorder(Rc<RefCell<State>>);

/// What a recorder knows so far.
#[derive(Debug, Default)]
struct State {
    title: String,
    subtitle: String,
    references: Vec<Reference>,
    regions: Vec<Region>,
    marks: Vec<Mark>,
    /// The pc of each place in the source.
    places: BTreeMap<&'static Location<'static>, u64>,
    /// First byte that no array has.
    free: u64,
    is_paused: bool,
}

impl Recorder {
    /// Nothing recorded yet; `title` is what the window calls the trace.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self(Rc::new(RefCell::new(State { title: title.into(), free: FIRST, ..State::default() })))
    }

    /// A second line under the title.
    #[must_use]
    pub fn with_subtitle(self, subtitle: impl Into<String>) -> Self {
        self.0.borrow_mut().subtitle = subtitle.into();
        self
    }

    /// An array with these values. Putting them there is not recorded: [`Traced::fill`] and [`Traced::set`] are.
    #[must_use]
    pub fn array<T: Copy>(&self, name: impl Into<String>, values: impl Into<Vec<T>>) -> Traced<T> {
        let values = values.into();
        let elements = values.len() as u64;
        self.traced(name.into(), &[elements], Vec::new(), elements, values)
    }

    /// A matrix of `rows` by `columns`, row after row in memory, each element made by `element(row, column)`. That is not
    /// recorded.
    ///
    /// ```
    /// use orrery::traced::Recorder;
    ///
    /// let recorder = Recorder::new("identity");
    /// let a = recorder.matrix("A", 3, 3, |row, column| if row == column { 1.0 } else { 0.0 });
    /// assert_eq!((a.get((1, 1)), a.get((1, 2)), recorder.len()), (1.0, 0.0, 2));
    /// ```
    #[must_use]
    pub fn matrix<T: Copy>(
        &self,
        name: impl Into<String>,
        rows: usize,
        columns: usize,
        element: impl FnMut(usize, usize) -> T,
    ) -> Traced<T> {
        let values = matrix_values([rows, columns], element);
        let elements = values.len() as u64;
        self.traced(name.into(), &[rows as u64, columns as u64], Vec::new(), elements, values)
    }

    /// A matrix as [`Recorder::matrix`] makes it, whose elements lie apart or in another order: `strides` are the elements of memory
    /// from one row to the next, and from one column to the next. `[17, 1]` leaves one free after each row of 16; `[1, 16]` lays 16
    /// rows out column after column, as Fortran does. A single index, [`Traced::iter`] and [`Traced::values`] still go row by row.
    ///
    /// ```
    /// use orrery::traced::Recorder;
    ///
    /// let recorder = Recorder::new("down a column");
    /// let a = recorder.matrix_with_strides("A", [16, 16], [17, 1], |row, column| row * column);
    /// let sum: usize = (0..16).map(|row| a.get((row, 3))).sum();
    /// let apart = recorder.trace().references()[1].addr - recorder.trace().references()[0].addr;
    /// assert_eq!((sum, apart), (360, 17 * 8));
    /// ```
    ///
    /// # Panics
    /// Where the longer stride does not pass what the shorter one reaches, so that elements could share an address, or the matrix is
    /// larger than memory.
    #[must_use]
    pub fn matrix_with_strides<T: Copy>(
        &self,
        name: impl Into<String>,
        [rows, columns]: [usize; 2],
        strides: [usize; 2],
        element: impl FnMut(usize, usize) -> T,
    ) -> Traced<T> {
        let shape = [rows, columns];
        let told: Option<Vec<i64>> = strides.iter().map(|&stride| i64::try_from(stride).ok()).collect();
        let Some((told, elements)) = told.zip(elements_apart(shape, strides)) else {
            panic!(
                "strides {strides:?} of a matrix of {rows} by {columns}: elements would share an address, or leave memory"
            )
        };
        let values = matrix_values(shape, element);
        // Without elements there is nothing to be apart.
        let (told, elements) = if values.is_empty() { (Vec::new(), 0) } else { (told, elements) };
        self.traced(name.into(), &shape.map(|extent| extent as u64), told, elements, values)
    }

    /// Leaves at least this many bytes free before the next array: the padding that parts arrays whose lines meet in a set.
    pub fn gap(&self, bytes: u64) {
        let mut state = self.0.borrow_mut();
        state.free = state.free.saturating_add(bytes);
    }

    /// Names this moment: before the next reference.
    pub fn mark(&self, name: impl Into<String>) {
        let mut state = self.0.borrow_mut();
        let reference = state.references.len() as u64;
        state.marks.push(Mark { reference, name: name.into() });
    }

    /// Records nothing until [`Recorder::resume`]; arrays can still be used, and marks are kept.
    pub fn pause(&self) {
        self.0.borrow_mut().is_paused = true;
    }

    /// Records again.
    pub fn resume(&self) {
        self.0.borrow_mut().is_paused = false;
    }

    /// References recorded so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.borrow().references.len() as u64
    }

    /// Whether none was recorded yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was recorded so far, to be played without a file.
    #[must_use]
    pub fn trace(&self) -> MemoryTrace {
        let state = self.0.borrow();
        MemoryTrace::new(state.references.clone(), state.tables())
    }

    /// Writes what was recorded so far as a native file, and gives its number of references. The file has its name only once
    /// it is whole.
    ///
    /// # Errors
    /// When nothing was recorded, the folder does not exist, or the disk is full.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<u64, TraceError> {
        let path = path.as_ref();
        let state = self.0.borrow();
        if state.references.is_empty() {
            return Err(TraceError::Empty(Fault::new(
                Place::file(path.display().to_string()),
                "no references to write",
                "reads or writes of the recorder's arrays",
                "use get, set, update, swap or iter of an array, and resume after a pause",
            )));
        }
        let mut writer = FileWriter::create(path)?;
        writer.write(&state.references)?;
        writer.finish(&state.tables())?;
        Ok(state.references.len() as u64)
    }

    /// Makes an array that takes so many elements of memory.
    fn traced<T: Copy>(
        &self,
        name: String,
        shape: &[u64],
        strides: Vec<i64>,
        elements: u64,
        values: Vec<T>,
    ) -> Traced<T> {
        let (region, layout) = self.0.borrow_mut().place::<T>(name, shape, strides, elements);
        Traced::new(self.clone(), region, layout, shape.get(1).copied(), values)
    }

    /// Notes that an element was touched.
    fn touch(&self, kind: Kind, addr: u64, size: u32, at: &'static Location<'static>) {
        let mut state = self.0.borrow_mut();
        if state.is_paused {
            return;
        }
        let next = CODE + INSTRUCTION * state.places.len() as u64;
        let pc = *state.places.entry(at).or_insert(next);
        state.references.push(Reference { addr, pc, size, core: 0, lane: NO_LANE, kind });
    }

    /// Notes that an array is gone.
    fn drop_array(&self, region: usize) {
        let mut state = self.0.borrow_mut();
        let now = state.references.len() as u64;
        if let Some(Region { lifetime: Some((_, to)), .. }) = state.regions.get_mut(region) {
            *to = now;
        }
    }
}

/// The elements of a matrix, row by row.
fn matrix_values<T>([rows, columns]: [usize; 2], mut element: impl FnMut(usize, usize) -> T) -> Vec<T> {
    let indices = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    indices.map(|(row, column)| element(row, column)).collect()
}

/// Elements of memory from a matrix's first to its last; `None` where two could share an address, or memory ends before.
fn elements_apart(shape: [usize; 2], strides: [usize; 2]) -> Option<u64> {
    let mut by_stride: Vec<(usize, usize)> = strides.into_iter().zip(shape).filter(|(_, extent)| *extent > 1).collect();
    by_stride.sort_unstable();
    let elements = by_stride.into_iter().try_fold(1usize, |taken, (stride, extent)| {
        let more = (extent - 1).checked_mul(stride).filter(|_| stride >= taken)?;
        taken.checked_add(more)
    });
    elements.map(|elements| elements as u64)
}

impl State {
    /// Finds room for an array. Its region lives from now on, until it is said to be gone.
    fn place<T>(&mut self, name: String, shape: &[u64], strides: Vec<i64>, elements: u64) -> (usize, ArrayLayout) {
        let elem_bytes = Traced::<T>::ELEMENT;
        let bytes = u64::from(elem_bytes).saturating_mul(elements);
        let base = self.free.checked_next_multiple_of(ALIGNMENT).unwrap_or(self.free);
        self.free = base.saturating_add(bytes);
        let elem_type = type_name::<T>();
        let region = Region {
            elem_bytes,
            elem_type: elem_type.rsplit("::").next().unwrap_or(elem_type).into(),
            shape: shape.into(),
            lifetime: Some((self.references.len() as u64, u64::MAX)),
            strides: strides.into(),
            ..Region::new(name, base, bytes)
        };
        let layout = region.layout().unwrap_or_else(|error| unreachable!("room was made for all elements: {error}"));
        self.regions.push(region);
        (self.regions.len() - 1, layout)
    }

    fn tables(&self) -> Tables {
        let end = self.references.len() as u64;
        let lived = |region: &Region| {
            let lifetime = match region.lifetime? {
                (0, to) if to >= end => None,
                (from, to) => Some((from, to.min(end))),
            };
            // An array without elements, or one that was gone or came when nothing was recorded, has no place.
            let is_seen = region.bytes > 0 && lifetime.is_none_or(|(from, to)| from < to);
            is_seen.then(|| Region { lifetime, ..region.clone() })
        };
        let mut sources = Sources::default();
        let locations = self.places.iter().map(|(at, &pc)| SourceLocation {
            path: String::new(),
            pc,
            file: at.file().to_owned(),
            line: at.line(),
            function: String::new(),
            text: sources.line(at.file(), at.line()),
        });
        Tables {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            locations: locations.collect(),
            regions: self.regions.iter().filter_map(lived).collect(),
            marks: self.marks.clone(),
            made_by: "a Rust program with orrery::traced".into(),
        }
    }
}

/// Source files, where they are there to be read.
#[derive(Default)]
struct Sources(BTreeMap<String, Vec<String>>);

impl Sources {
    /// A line, trimmed; empty where it is not to be had. Cargo compiles from the package's folder and tells it to what it runs.
    fn line(&mut self, file: &str, line: u32) -> String {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let package = std::env::var_os("CARGO_MANIFEST_DIR").map(|folder| PathBuf::from(folder).join(file));
            let read = |path: &Path| fs::read_to_string(path).ok();
            let text = package.and_then(|path| read(&path)).or_else(|| read(Path::new(file)));
            text.unwrap_or_default().lines().map(|line| line.trim().to_owned()).collect()
        });
        let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        at.and_then(|at| lines.get(at)).cloned().unwrap_or_default()
    }
}
