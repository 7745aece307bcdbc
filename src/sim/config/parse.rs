//! TOML to [`HierarchyConfig`], with the line of each fault.

use super::check::Part;
use super::nearest::nearest;
use super::words::{Word, from_word};
use super::{
    ConfigError, HierarchyConfig, LevelConfig, MemoryConfig, MissScore, OrderConfig, PAGE, Place, Score, TlbConfig,
    Ways, parse_size,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const TOP_KEYS: &[&str] = &["name", "cores", "data_only", "level", "tlb", "memory", "hierarchy"];
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
    "sector",
    "index",
    "slices",
    "hit_score",
    "miss_score",
];
const TLB_KEYS: &[&str] = &["name", "entries", "ways", "pages", "policy", "latency", "holds", "shared"];
const MEMORY_KEYS: &[&str] = &["latency", "page"];
const ORDER_KEYS: &[&str] = &["writeback_first", "fetch_on_full_line_write", "seed"];

/// A table being read: knows where it is.
struct Table<'a> {
    entries: &'a DeTable<'a>,
    at: usize,
    reader: &'a Reader<'a>,
    part: Option<(&'static str, usize, String)>,
}

struct Reader<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Reader<'_> {
    fn place(&self, offset: usize, part: Option<(&'static str, usize, String)>) -> Box<Place> {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        Box::new(Place { origin: self.origin.into(), line: Some(line), part })
    }
}

pub(super) fn hierarchy(text: &str, origin: &str) -> Result<HierarchyConfig, ConfigError> {
    let reader = Reader { text, origin };
    let document = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
        place: reader.place(e.span().map_or(0, |s| s.start), None),
        message: e.message().replace('\n', " "),
    })?;
    let top = Table { entries: document.get_ref(), at: 0, reader: &reader, part: None };
    top.only(TOP_KEYS)?;
    let (mut order, mut seed) = (OrderConfig::default(), 1);
    if let Some(table) = top.table("hierarchy")? {
        table.only(ORDER_KEYS)?;
        order.writeback_first = table.flag("writeback_first")?.unwrap_or(false);
        order.fetch_on_full_line_write = table.flag("fetch_on_full_line_write")?.unwrap_or(false);
        seed = table.whole("seed")?.unwrap_or(1);
    }
    let mut memory = MemoryConfig::default();
    if let Some(table) = top.table("memory")? {
        table.only(MEMORY_KEYS)?;
        memory.latency = table.number("latency")?.unwrap_or(memory.latency);
        memory.page = table.size32("page")?.unwrap_or(memory.page);
    }
    let tables = top.tables("level")?;
    let levels = tables.iter().enumerate().map(|(n, table)| level(n, table)).collect::<Result<Vec<_>, _>>()?;
    let tlb_tables = top.tables("tlb")?;
    let tlbs = tlb_tables.iter().enumerate().map(|(n, table)| tlb(n, table)).collect::<Result<Vec<_>, _>>()?;
    let mut config = HierarchyConfig {
        name: top.string("name")?.unwrap_or(origin).into(),
        cores: top.cores()?.unwrap_or(1),
        levels,
        tlbs,
        memory,
        data_only: top.flag("data_only")?.unwrap_or(false),
        order,
        seed,
    };
    config.check_at(|part, field| match part {
        Part::Top => top.place(field),
        Part::Level(n) => tables[n].place(field),
        Part::Tlb(n) => tlb_tables[n].place(field),
        Part::Memory => match top.table("memory") {
            Ok(Some(memory)) => memory.place(field),
            _ => top.place("memory"),
        },
    })?;
    for level in 0..config.levels.len() {
        // What is usual at its place goes without saying.
        let usual = config.usual_miss_score(level);
        config.levels[level].miss_score.take_if(|said| *said == usual);
    }
    Ok(config)
}

fn tlb(index: usize, table: &Table<'_>) -> Result<TlbConfig, ConfigError> {
    table.only(TLB_KEYS)?;
    let name = table.string("name")?.map_or_else(|| format!("TLB{}", index + 1), str::to_owned);
    let missing = |key, example| ConfigError::MissingKey { place: table.here(), key, example };
    Ok(TlbConfig {
        name,
        entries: table.number("entries")?.ok_or_else(|| missing("entries", "entries = 64"))?,
        ways: table.ways()?.ok_or_else(|| missing("ways", "ways = 4"))?,
        pages: table.pages()?.unwrap_or_else(|| vec![PAGE]),
        policy: table.word()?,
        latency: table.number("latency")?.unwrap_or(if index == 0 { 1 } else { 7 }),
        holds: table.word()?,
        shared: table.flag("shared")?.unwrap_or(false),
    })
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
        sector: table.size32("sector")?,
        index: table.word()?,
        slices: table.number("slices")?,
        hit_score: table.score("hit_score", Score::RANGE, Score::parse)?.unwrap_or(usual.hit_score),
        miss_score: table.score("miss_score", MissScore::RANGE, MissScore::parse)?,
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
        self.reader.place(at, self.part.clone())
    }

    fn here(&self) -> Box<Place> {
        self.reader.place(self.at, self.part.clone())
    }

    /// Refuses keys that nobody reads, the first in the file first.
    fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        let unknown = self.entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        Err(ConfigError::UnknownKey {
            place: self.reader.place(key.span().start, self.part.clone()),
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
        self.integer(key, "a whole number from 1 to 4294967295", u32::from_str_radix)
    }

    fn whole(&self, key: &str) -> Result<Option<u64>, ConfigError> {
        self.integer(key, "a whole number from 0 to 18446744073709551615", u64::from_str_radix)
    }

    fn integer<N>(
        &self,
        key: &str,
        expected: &'static str,
        read: fn(&str, u32) -> Result<N, std::num::ParseIntError>,
    ) -> Result<Option<N>, ConfigError> {
        match self.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(value @ DeValue::Integer(n)) => match read(n.as_str(), n.radix()) {
                Ok(n) => Ok(Some(n)),
                Err(_) => self.wrong(key, value, expected),
            },
            Some(other) => self.wrong(key, other, expected),
        }
    }

    fn score<S>(
        &self,
        key: &str,
        expected: &'static str,
        read: fn(&str) -> Option<S>,
    ) -> Result<Option<S>, ConfigError> {
        let Some(value) = self.get(key).map(Spanned::get_ref) else { return Ok(None) };
        let read = match value {
            DeValue::String(s) => read(s).filter(|_| **s == *MissScore::WORD),
            DeValue::Float(x) => read(x.as_str()),
            DeValue::Integer(n) if n.radix() == 10 => read(n.as_str()),
            _ => None,
        };
        read.map_or_else(|| self.wrong(key, value, expected), |score| Ok(Some(score)))
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
                    Ok(Some(Table { entries, at: value.span().start, reader: self.reader, part: None }))
                }
                other => self.wrong(key, other, "a table"),
            },
        }
    }

    /// A list of tables, each under its own `[[key]]`.
    fn tables(&self, key: &'static str) -> Result<Vec<Table<'a>>, ConfigError> {
        let expected = match key {
            "tlb" => "tables, each under its own [[tlb]]",
            _ => "tables, each under its own [[level]]",
        };
        let items = match self.get(key).map(Spanned::get_ref) {
            None => return Ok(Vec::new()),
            Some(DeValue::Array(items)) => items,
            Some(other) => return self.wrong(key, other, expected),
        };
        let tables = items.iter().zip(1..).map(|(item, number)| match item.get_ref() {
            DeValue::Table(entries) => {
                let mut table = Table { entries, at: item.span().start, reader: self.reader, part: None };
                let name = table.string("name").ok().flatten().unwrap_or_default().to_owned();
                table.part = Some((key, number, name));
                Ok(table)
            }
            other => self.wrong(key, other, expected),
        });
        tables.collect()
    }

    fn cores(&self) -> Result<Option<u16>, ConfigError> {
        let Some(cores) = self.number("cores")? else { return Ok(None) };
        u16::try_from(cores).map(Some).map_err(|_| ConfigError::OutOfRange {
            place: self.place("cores"),
            field: "cores",
            value: u64::from(cores),
            min: 1,
            max: u64::from(super::MAX_CORES),
        })
    }

    /// A size that fits 32 bits: a page or a sector.
    fn size32(&self, key: &'static str) -> Result<Option<u32>, ConfigError> {
        self.size(key)?.map(|size| self.narrow(key, size)).transpose()
    }

    fn narrow(&self, key: &'static str, value: u64) -> Result<u32, ConfigError> {
        let (place, max) = (self.place(key), u64::from(super::MAX_LINE));
        u32::try_from(value).map_err(|_| ConfigError::OutOfRange { place, field: key, value, min: 1, max })
    }

    /// `pages = ["4KiB", "2MiB"]`, or one size alone.
    fn pages(&self) -> Result<Option<Vec<u32>>, ConfigError> {
        const EXPECTED: &str = "a list of page sizes such as [\"4KiB\", \"2MiB\"]";
        let items = match self.get("pages").map(Spanned::get_ref) {
            None => return Ok(None),
            Some(DeValue::Array(items)) => items,
            Some(_) => return Ok(self.size32("pages")?.map(|page| vec![page])),
        };
        let one = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::String(s) => match parse_size(s) {
                Some(bytes) => self.narrow("pages", bytes),
                None => Err(ConfigError::BadSize { place: self.place("pages"), key: "pages", value: s.to_string() }),
            },
            other => self.wrong("pages", other, EXPECTED),
        };
        items.iter().map(one).collect::<Result<Vec<_>, _>>().map(Some)
    }
}
