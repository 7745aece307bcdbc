//! An array whose reads and writes are recorded.

use super::Recorder;
use crate::reference::{ArrayLayout, Kind};
use std::fmt;
use std::panic::Location;

/// Which element: `i`, or `(row, column)` of a matrix.
pub trait At: Copy + fmt::Debug {
    /// The element's number, row by row; `None` where there is none.
    fn element(self, len: usize, columns: Option<usize>) -> Option<usize>;
}

impl At for usize {
    fn element(self, len: usize, _: Option<usize>) -> Option<usize> {
        (self < len).then_some(self)
    }
}

impl At for (usize, usize) {
    fn element(self, len: usize, columns: Option<usize>) -> Option<usize> {
        let (row, column) = self;
        let columns = columns.filter(|columns| column < *columns)?;
        row.checked_mul(columns)?.checked_add(column).filter(|element| *element < len)
    }
}

/// An array or a matrix of a [`Recorder`]. Elements are told by `i`, in a matrix also by `(row, column)`.
///
/// ```
/// use orrery::traced::Recorder;
///
/// let recorder = Recorder::new("three touches");
/// let mut a = recorder.array("a", vec![10, 20, 30]);
/// let first = a.get(0);
/// a.set(1, first);
/// a.update(2, |value| value + 1);
/// assert_eq!((a.values(), recorder.len()), (&[10, 10, 31][..], 3));
/// ```
pub struct Traced<T> {
    recorder: Recorder,
    /// Its place among the recorder's regions.
    region: usize,
    layout: ArrayLayout,
    columns: Option<usize>,
    values: Vec<T>,
}

impl<T> Traced<T> {
    /// Bytes of an element. One of none has no place in memory: that does not compile.
    #[expect(clippy::cast_possible_truncation, reason = "checked, when the program is compiled")]
    pub(super) const ELEMENT: u32 = {
        assert!(size_of::<T>() > 0, "elements of 0 bytes have no place in memory");
        assert!(size_of::<T>() <= 1 << 20, "elements of more than 1 MiB cannot be stored in a trace");
        size_of::<T>() as u32
    };
}

impl<T: Copy> Traced<T> {
    pub(super) fn new(
        recorder: Recorder,
        region: usize,
        layout: ArrayLayout,
        columns: Option<u64>,
        values: Vec<T>,
    ) -> Self {
        let columns = columns.and_then(|columns| usize::try_from(columns).ok());
        Self { recorder, region, layout, columns, values }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Reads an element.
    ///
    /// # Panics
    /// Where there is no such element, as a slice does; so do the others.
    #[must_use]
    #[track_caller]
    pub fn get(&self, at: impl At) -> T {
        let element = self.element(at);
        self.touch(Kind::Read, element, Location::caller());
        self.values[element]
    }

    /// Writes an element.
    ///
    /// # Panics
    /// Where there is no such element.
    #[track_caller]
    pub fn set(&mut self, at: impl At, value: T) {
        let element = self.element(at);
        self.touch(Kind::Write, element, Location::caller());
        self.values[element] = value;
    }

    /// Reads an element and writes what `change` makes of it: one reference that counts as a read and a write. What `change`
    /// itself touches comes before it.
    ///
    /// # Panics
    /// Where there is no such element.
    #[track_caller]
    pub fn update(&mut self, at: impl At, change: impl FnOnce(T) -> T) {
        let element = self.element(at);
        let value = change(self.values[element]);
        self.touch(Kind::Modify, element, Location::caller());
        self.values[element] = value;
    }

    /// Exchanges two elements: two reads, then two writes.
    ///
    /// # Panics
    /// Where there is no such element.
    #[track_caller]
    pub fn swap(&mut self, a: impl At, b: impl At) {
        let (a, b) = (self.element(a), self.element(b));
        for (kind, element) in [(Kind::Read, a), (Kind::Read, b), (Kind::Write, a), (Kind::Write, b)] {
            self.touch(kind, element, Location::caller());
        }
        self.values.swap(a, b);
    }

    /// Writes all elements, first to last.
    #[track_caller]
    pub fn fill(&mut self, value: T) {
        for element in 0..self.values.len() {
            self.touch(Kind::Write, element, Location::caller());
        }
        self.values.fill(value);
    }

    /// Reads elements first to last, each when it is asked for.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { array: self, next: 0, at: Location::caller() }
    }

    /// All elements as they are. That is not recorded: it is for checks and for printing.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    #[track_caller]
    fn element(&self, at: impl At) -> usize {
        let element = at.element(self.values.len(), self.columns);
        element.unwrap_or_else(|| match self.columns.filter(|columns| *columns > 0) {
            None => panic!("element {at:?} of an array of {}", self.values.len()),
            Some(columns) => panic!("element {at:?} of a matrix of {} by {columns}", self.values.len() / columns),
        })
    }

    fn touch(&self, kind: Kind, element: usize, at: &'static Location<'static>) {
        // Past the end of the address space, where gaps have led, all share its last byte.
        let addr = self.layout.address_of_number(element as u64).unwrap_or(u64::MAX);
        self.recorder.touch(kind, addr, Self::ELEMENT, at);
    }
}

impl<T> Drop for Traced<T> {
    fn drop(&mut self) {
        self.recorder.drop_array(self.region);
    }
}

impl<T: fmt::Debug> fmt::Debug for Traced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

impl<'a, T: Copy> IntoIterator for &'a Traced<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// Elements of a [`Traced`] array, read one by one.
#[derive(Debug)]
pub struct Iter<'a, T> {
    array: &'a Traced<T>,
    next: usize,
    at: &'static Location<'static>,
}

impl<T: Copy> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let value = *self.array.values.get(self.next)?;
        self.array.touch(Kind::Read, self.next, self.at);
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.array.values.len() - self.next;
        (left, Some(left))
    }
}

impl<T: Copy> ExactSizeIterator for Iter<'_, T> {}
