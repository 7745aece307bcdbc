//! Values for parameters and symbols: `N=16`.

use std::collections::BTreeMap;

/// Values by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, i64>);

impl Settings {
    /// Of pairs; the last of a name counts.
    #[must_use]
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, i64)>) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// Sets a value.
    pub fn set(&mut self, name: &str, value: i64) {
        self.0.insert(name.to_owned(), value);
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads `N=16`, with or without signs between thousands.
    ///
    /// # Errors
    /// Says what is expected where the text is no such pair.
    pub fn pair(text: &str) -> Result<(String, i64), String> {
        let expected = || format!("found `{text}`; expected a name and a whole number, as in N=16");
        let (name, value) = text.split_once('=').ok_or_else(expected)?;
        let name = name.trim();
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name.chars().next().is_some_and(|c| !c.is_numeric());
        let value = value.trim().replace([',', '_'], "").parse().map_err(|_| expected())?;
        if is_name { Ok((name.to_owned(), value)) } else { Err(expected()) }
    }
}
