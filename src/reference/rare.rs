//! Values that few regions have: there may be a million regions, and each pays for a field whether it has the value or not.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A list or a text that is mostly empty: a pointer then, where an empty [`Vec`] takes three. It is used as what it holds.
#[derive(Clone)]
pub struct Rare<T>(Option<Box<T>>);

/// What there is to see where nothing was put.
pub trait Empty: Default + 'static {
    /// Nothing, for as long as anybody looks.
    fn empty() -> &'static Self;

    /// Whether it is nothing.
    fn holds_nothing(&self) -> bool;
}

impl Empty for String {
    fn empty() -> &'static Self {
        const { &Self::new() }
    }

    fn holds_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T: 'static> Empty for Vec<T> {
    fn empty() -> &'static Self {
        const { &Self::new() }
    }

    fn holds_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Rare<T> {
    /// Empty.
    pub const NONE: Self = Self(None);
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: Empty> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::empty())
    }
}

impl<T: Empty> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Empty> From<T> for Rare<T> {
    fn from(value: T) -> Self {
        Self((!value.holds_nothing()).then(|| Box::new(value)))
    }
}

impl From<&str> for Rare<String> {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl<T: Copy + 'static> From<&[T]> for Rare<Vec<T>> {
    fn from(list: &[T]) -> Self {
        list.to_vec().into()
    }
}

impl<T: Copy + 'static, const N: usize> From<[T; N]> for Rare<Vec<T>> {
    fn from(list: [T; N]) -> Self {
        list.to_vec().into()
    }
}

impl<T: Empty + PartialEq> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Empty + Eq> Eq for Rare<T> {}

impl<T: Empty + fmt::Debug> fmt::Debug for Rare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Empty + fmt::Display> fmt::Display for Rare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Empty + Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Empty + Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Region;

    #[test]
    fn a_region_that_has_a_name_and_a_place_takes_a_hundred_bytes() {
        // A trace may have a million, and some commands read two traces.
        assert!(size_of::<Region>() <= 104, "{} bytes", size_of::<Region>());
    }

    #[test]
    fn what_is_empty_takes_a_pointer_however_it_came_about() {
        assert_eq!(size_of::<Rare<Vec<u64>>>(), size_of::<usize>());
        let mut cleared = Rare::from(vec![1, 2]);
        cleared.clear();
        for empty in [Rare::NONE, Rare::from(Vec::new()), Rare::from(&[][..]), cleared] {
            assert_eq!(empty, Rare::<Vec<i64>>::default());
            assert_eq!(serde_json::to_string(&empty).unwrap(), "[]");
        }
        let read: Rare<String> = serde_json::from_str("\"\"").unwrap();
        assert!(read.0.is_none() && read.is_empty());
    }

    #[test]
    fn what_is_there_is_used_as_if_it_were_not_rare() {
        let mut list: Rare<Vec<u64>> = serde_json::from_str("[3,4]").unwrap();
        list.push(5);
        assert_eq!((list.len(), list[2], format!("{list:?}")), (3, 5, "[3, 4, 5]".to_owned()));
        assert_ne!(list, Rare::NONE);
        assert_eq!(&**Rare::<String>::from("double"), "double");
    }
}
