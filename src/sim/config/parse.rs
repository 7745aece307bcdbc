//! TOML to [`HierarchyConfig`], with the line of each fault.

use super::{
    Allocate, ConfigError, HierarchyConfig, Holds, Inclusion, LevelConfig, MemoryConfig, Place, Prefetch, Ways,
    WritePolicy, parse_size,
};
use crate::sim::Policy;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value that is written as a word.
pub(super) trait Word: Sized + Copy + PartialEq + 'static {
    /// Key in the file.
    const KEY: &'static str;
    /// Words this build simulates.
    const NOW: &'static [(&'static str, Self)];
    /// Words of the contract that a later build will.
    const LATER: &'static [&'static str];
}

impl Word for Policy {
    const KEY: &'static str = "policy";
    const NOW: &'static [(&'static str, Self)] = &[("lru", Self::Lru), ("fifo", Self::Fifo)];
    const LATER: &'static [&'static str] =
        &["random", "tree-plru", "bit-plru", "srrip", "brrip", "drrip", "lfu", "mru", "opt"];
}

impl Word for WritePolicy {
    const KEY: &'static str = "write";
    const NOW: &'static [(&'static str, Self)] = &[("back", Self::Back)];
    const LATER: &'static [&'static str] = &["through"];
}

impl Word for Allocate {
    const KEY: &'static str = "allocate";
    const NOW: &'static [(&'static str, Self)] = &[("write", Self::Write)];
    const LATER: &'static [&'static str] = &["none"];
}

impl Word for Inclusion {
    const KEY: &'static str = "inclusion";
    const NOW: &'static [(&'static str, Self)] = &[("nine", Self::Nine)];
    const LATER: &'static [&'static str] = &["inclusive", "exclusive"];
}

impl Word for Holds {
    const KEY: &'static str = "holds";
    const NOW: &'static [(&'static str, Self)] = &[("unified", Self::Unified)];
    const LATER: &'static [&'static str] = &["data", "instructions"];
}

impl Word for Prefetch {
    const KEY: &'static str = "prefetch";
    const NOW: &'static [(&'static str, Self)] = &[("none", Self::None)];
    const LATER: &'static [&'static str] = &["next-line", "stride", "stream"];
}

/// The word for a value.
pub(super) fn word<W: Word>(value: &W) -> &'static str {
    W::NOW.iter().find(|(_, v)| v == value).map_or("", |(word, _)| word)
}

/// The value of a word.
pub(super) fn from_word<W: Word>(text: &str, place: Box<Place>) -> Result<W, ConfigError> {
    if let Some((_, value)) = W::NOW.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let now: Vec<&str> = W::NOW.iter().map(|(word, _)| *word).collect();
    let allowed = now.join(", ");
    if W::LATER.contains(&text) {
        return Err(ConfigError::NotYet { place, key: W::KEY, value: format!("\"{text}\""), allowed });
    }
    Err(ConfigError::UnknownValue { place, key: W::KEY, value: text.into(), nearest: nearest(text, &now), allowed })
}

/// The candidate a slip of the finger away, for "did you mean": at most about a third of the letters differ.
#[must_use]
pub fn nearest(text: &str, candidates: &[&str]) -> Option<String> {
    let (distance, best) = candidates.iter().map(|c| (edit_distance(text, c), *c)).min()?;
    (distance <= text.chars().count().max(3) / 3 + 1 && distance < best.chars().count()).then(|| best.to_owned())
}

/// Insertions, deletions and replacements between two words (Levenshtein 1966).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

const TOP_KEYS: &[&str] = &["name", "data_only", "level", "memory", "hierarchy"];
const LEVEL_KEYS: &[&str] = &[
    "name",
    "size",
    "line",
    "ways",
    "policy",
    "write",
    "allocate",
    "inclusion",
    "latency",
    "holds",
    "shared",
    "prefetch",
];
const MEMORY_KEYS: &[&str] = &["latency"];
const ORDER_KEYS: &[&str] = &["writeback_first", "fetch_on_full_line_write"];

/// A table being read: knows where it is.
struct Table<'a> {
    entries: &'a DeTable<'a>,
    at: usize,
    reader: &'a Reader<'a>,
    level: Option<(usize, String)>,
}

struct Reader<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Reader<'_> {
    fn place(&self, offset: usize, level: Option<(usize, String)>) -> Box<Place> {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        Box::new(Place { origin: self.origin.into(), line: Some(line), level })
    }
}

pub(super) fn hierarchy(text: &str, origin: &str) -> Result<HierarchyConfig, ConfigError> {
    let reader = Reader { text, origin };
    let document = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
        place: reader.place(e.span().map_or(0, |s| s.start), None),
        message: e.message().replace('\n', " "),
    })?;
    let top = Table { entries: document.get_ref(), at: 0, reader: &reader, level: None };
    top.only(TOP_KEYS)?;
    if let Some(order) = top.table("hierarchy")? {
        order.only(ORDER_KEYS)?;
        for key in ORDER_KEYS {
            if order.flag(key)? == Some(true) {
                let place = order.place(key);
                return Err(ConfigError::NotYet { place, key, value: "true".into(), allowed: "false".into() });
            }
        }
    }
    let memory = match top.table("memory")? {
        None => MemoryConfig::default(),
        Some(table) => {
            table.only(MEMORY_KEYS)?;
            MemoryConfig { latency: table.number("latency")?.unwrap_or(MemoryConfig::default().latency) }
        }
    };
    let tables = top.levels()?;
    let levels = tables.iter().enumerate().map(|(n, table)| level(n, table)).collect::<Result<Vec<_>, _>>()?;
    let config = HierarchyConfig {
        name: top.string("name")?.unwrap_or(origin).into(),
        levels,
        memory,
        data_only: top.flag("data_only")?.unwrap_or(false),
    };
    config.check_at(|level, field| match (level, field.strip_prefix("memory.")) {
        (Some(n), _) => tables[n].place(field),
        (None, None) => top.place(field),
        (None, Some(field)) => match top.table("memory") {
            Ok(Some(memory)) => memory.place(field),
            _ => top.place("memory"),
        },
    })?;
    Ok(config)
}

fn level(index: usize, table: &Table<'_>) -> Result<LevelConfig, ConfigError> {
    table.only(LEVEL_KEYS)?;
    let missing = |key, example| ConfigError::MissingKey { place: table.here(), key, example };
    let name = table.string("name")?.map_or_else(|| format!("L{}", index + 1), str::to_owned);
    let size = table.size("size")?.ok_or_else(|| missing("size", "size = \"32KiB\""))?;
    let line = table.number("line")?.ok_or_else(|| missing("line", "line = 64"))?;
    let ways = table.ways()?.ok_or_else(|| missing("ways", "ways = 8"))?;
    let usual = LevelConfig::new(name, index, size, ways, line);
    Ok(LevelConfig {
        policy: table.word()?,
        write: table.word()?,
        allocate: table.word()?,
        inclusion: table.word()?,
        latency: table.number("latency")?.unwrap_or(usual.latency),
        holds: table.word()?,
        shared: table.flag("shared")?.unwrap_or(usual.shared),
        prefetch: table.word()?,
        ..usual
    })
}

impl<'a> Table<'a> {
    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.entries.iter().find(|(k, _)| k.get_ref() == key).map(|(_, value)| value)
    }

    /// Where a key's value stands, or the table where the key is absent.
    fn place(&self, key: &str) -> Box<Place> {
        let at = self.get(key).map_or(self.at, |value| value.span().start);
        self.reader.place(at, self.level.clone())
    }

    fn here(&self) -> Box<Place> {
        self.reader.place(self.at, self.level.clone())
    }

    /// Refuses keys that nobody reads, the first in the file first.
    fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        let unknown = self.entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        Err(ConfigError::UnknownKey {
            place: self.reader.place(key.span().start, self.level.clone()),
            key: key.get_ref().to_string(),
            nearest: nearest(key.get_ref(), known),
            known: known.join(", "),
        })
    }

    fn wrong<T>(&self, key: &str, value: &DeValue<'_>, expected: &'static str) -> Result<T, ConfigError> {
        let found = match value {
            DeValue::String(s) => format!("the string \"{s}\""),
            DeValue::Integer(n) => format!("the number {n}"),
            DeValue::Float(x) => format!("the number {x}"),
            DeValue::Boolean(b) => format!("{b}"),
            DeValue::Datetime(d) => format!("the date {d}"),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        };
        Err(ConfigError::WrongType { place: self.place(key), key: key.into(), found, expected })
    }

    fn string(&self, key: &str) -> Result<Option<&'a str>, ConfigError> {
        match self.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(s)) => Ok(Some(s)),
            Some(other) => self.wrong(key, other, "a string"),
        }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        match self.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::Boolean(b)) => Ok(Some(*b)),
            Some(other) => self.wrong(key, other, "true or false"),
        }
    }

    fn number(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        const EXPECTED: &str = "a whole number from 1 to 4294967295";
        match self.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(value @ DeValue::Integer(n)) => match u32::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => Ok(Some(n)),
                Err(_) => self.wrong(key, value, EXPECTED),
            },
            Some(other) => self.wrong(key, other, EXPECTED),
        }
    }

    fn size(&self, key: &'static str) -> Result<Option<u64>, ConfigError> {
        const EXPECTED: &str = "a size such as \"32KiB\", or a number of bytes";
        match self.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(s)) => match parse_size(s) {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(ConfigError::BadSize { place: self.place(key), key, value: s.to_string() }),
            },
            Some(value @ DeValue::Integer(n)) => match u64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => Ok(Some(n)),
                Err(_) => self.wrong(key, value, EXPECTED),
            },
            Some(other) => self.wrong(key, other, EXPECTED),
        }
    }

    fn ways(&self) -> Result<Option<Ways>, ConfigError> {
        match self.get("ways").map(Spanned::get_ref) {
            Some(DeValue::String(s)) if s == "full" => Ok(Some(Ways::Full)),
            Some(value @ DeValue::String(_)) => self.wrong("ways", value, "a whole number, or \"full\""),
            _ => Ok(self.number("ways")?.map(Ways::Count)),
        }
    }

    fn word<W: Word + Default>(&self) -> Result<W, ConfigError> {
        match self.string(W::KEY)? {
            None => Ok(W::default()),
            Some(text) => from_word(text, self.place(W::KEY)),
        }
    }

    fn table(&self, key: &str) -> Result<Option<Table<'a>>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.get_ref() {
                DeValue::Table(entries) => {
                    Ok(Some(Table { entries, at: value.span().start, reader: self.reader, level: None }))
                }
                other => self.wrong(key, other, "a table"),
            },
        }
    }

    fn levels(&self) -> Result<Vec<Table<'a>>, ConfigError> {
        const EXPECTED: &str = "tables, each under its own [[level]]";
        let items = match self.get("level").map(Spanned::get_ref) {
            None => return Ok(Vec::new()),
            Some(DeValue::Array(items)) => items,
            Some(other) => return self.wrong("level", other, EXPECTED),
        };
        let tables = items.iter().zip(1..).map(|(item, number)| match item.get_ref() {
            DeValue::Table(entries) => {
                let mut table = Table { entries, at: item.span().start, reader: self.reader, level: None };
                let name = table.string("name").ok().flatten().unwrap_or_default().to_owned();
                table.level = Some((number, name));
                Ok(table)
            }
            other => self.wrong("level", other, EXPECTED),
        });
        tables.collect()
    }
}
