//! Words with live values: `B misses {B.L1.misses} times, {B.miss_rate} of its references`.
//!
//! ```text
//! {L1.misses} {L1.hits} {L1.accesses} {L1.miss_rate} {L1.hit_rate} {L1.writebacks} {L1.evictions}    a level
//! {B.misses} {B.references} {B.miss_rate} {B.L2.misses} {B.L2.miss_rate}                             a region
//! {memory.reads} {memory.writes} {memory.bytes_read} {memory.bytes_written}                          memory
//! {references} {reference.what} {reference.why} {reference.code} {reference.line} {reference.number} where it is
//! {B}                                                                                                the region's name, in its colour
//! {side} {Side}                                                                                      where its picture stands: on the left
//! {scene.L1.misses}  since the scene began      {whole.L1.misses}  in the whole trace      {blocked:L1.misses}  of another source
//! ```
//!
//! All counts are those of `orrery stats --range 0..N` for the reference N that is under way, which is not counted itself.

use super::error::unknown;
use crate::overlay::info::innermost;
use crate::overlay::pen::percent;
use crate::overlay::{Info, Studio};
use crate::reference::Tables;
use crate::shown;
use crate::sim::MemoryCounters;
use crate::timeline::Moment;
use crate::timeline::cursor::levels;
use crate::units::grouped;

/// Counts of all references before a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    references: u64,
    levels: Vec<LevelCounts>,
    regions: Vec<RegionCounts>,
    memory: MemoryCounters,
    /// The levels that are asked first.
    innermost: Vec<usize>,
}

/// Demand accesses of a level, and what left it.
#[derive(Clone, Debug, Default, PartialEq)]
struct LevelCounts {
    name: String,
    accesses: u64,
    misses: u64,
    writebacks: u64,
    evictions: u64,
}

/// References to a region, and its demand misses by level. Regions of one name are one.
#[derive(Clone, Debug, Default, PartialEq)]
struct RegionCounts {
    name: String,
    references: u64,
    misses: Vec<u64>,
}

impl Counts {
    /// Those of a moment.
    #[must_use]
    pub fn of(moment: &Moment<'_>, tables: &Tables) -> Self {
        let hierarchy = moment.before;
        let level = |level| {
            let counters = hierarchy.level_counters(level);
            let accesses = counters.demand_accesses();
            LevelCounts {
                name: hierarchy.config().levels[level.index()].name.clone(),
                accesses,
                misses: accesses - counters.demand_hits(),
                writebacks: counters.writebacks,
                evictions: counters.evictions,
            }
        };
        let level_counts: Vec<LevelCounts> = levels(hierarchy).map(level).collect();
        let mut regions: Vec<RegionCounts> = Vec::new();
        for (region, row) in tables.regions.iter().zip(moment.rows) {
            let at = regions.iter().position(|known| known.name == region.name).unwrap_or_else(|| {
                let misses = vec![0; level_counts.len()];
                regions.push(RegionCounts { name: region.name.clone(), references: 0, misses });
                regions.len() - 1
            });
            let counts = &mut regions[at];
            counts.references += moment.tally.references(row);
            for (level, misses) in counts.misses.iter_mut().enumerate() {
                *misses += moment.tally.misses(row, level);
            }
        }
        Self {
            references: moment.tick,
            levels: level_counts,
            regions,
            memory: *hierarchy.memory_counters(),
            innermost: innermost(hierarchy).map(crate::units::LevelId::index).collect(),
        }
    }

    /// What was counted since `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let mut now = self.clone();
        now.references -= earlier.references.min(now.references);
        for (level, before) in now.levels.iter_mut().zip(&earlier.levels) {
            level.accesses = level.accesses.saturating_sub(before.accesses);
            level.misses = level.misses.saturating_sub(before.misses);
            level.writebacks = level.writebacks.saturating_sub(before.writebacks);
            level.evictions = level.evictions.saturating_sub(before.evictions);
        }
        for (region, before) in now.regions.iter_mut().zip(&earlier.regions) {
            region.references = region.references.saturating_sub(before.references);
            for (misses, before) in region.misses.iter_mut().zip(&before.misses) {
                *misses = misses.saturating_sub(*before);
            }
        }
        let (memory, before) = (&mut now.memory, &earlier.memory);
        memory.reads = memory.reads.saturating_sub(before.reads);
        memory.writes = memory.writes.saturating_sub(before.writes);
        memory.bytes_read = memory.bytes_read.saturating_sub(before.bytes_read);
        memory.bytes_written = memory.bytes_written.saturating_sub(before.bytes_written);
        now
    }
}

/// What values are told of: a source at a moment.
pub struct Told<'a> {
    /// Counts before the moment.
    pub now: Counts,
    /// Counts before the scene.
    pub scene: &'a Counts,
    /// Counts of the whole trace.
    pub whole: &'a Counts,
    /// The words beside the picture.
    pub info: &'a Info,
    /// Where the picture stands among those of its scene.
    pub side: &'a str,
}

/// Which references are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All before the moment.
    Now,
    /// Those since the scene began.
    Scene,
    /// All of the trace.
    Whole,
}

/// What is counted, or said.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    References,
    Reference(&'static str),
    Level(usize, &'static str),
    Region(usize, Option<usize>, &'static str),
    Memory(&'static str),
    Name(String),
    /// Where the picture stands; whether at the start of a sentence.
    Side(bool),
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    /// Number of the source.
    source: usize,
    scope: Scope,
    what: What,
}

/// Words, some of which are values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(String),
    Value(Value),
}

/// A run of a text: its words, and the name of the region (and the number of its source) whose colour they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The words.
    pub words: String,
    /// Source and region that they name.
    pub region: Option<(usize, String)>,
}

const LEVEL: [&str; 7] = ["misses", "hits", "accesses", "miss_rate", "hit_rate", "writebacks", "evictions"];
const REGION: [&str; 3] = ["misses", "references", "miss_rate"];
const MEMORY: [&str; 4] = ["reads", "writes", "bytes_read", "bytes_written"];
const REFERENCE: [&str; 5] = ["what", "why", "code", "line", "number"];

fn word(found: &str, known: &[&'static str]) -> Result<&'static str, String> {
    known.iter().find(|word| **word == found).copied().ok_or_else(|| unknown(found, known))
}

impl Template {
    /// Reads words with values in braces; `{{` and `}}` are braces. `sources` are the names that there are with what each has, and `own`
    /// the number of the one that is meant where none is named.
    ///
    /// # Errors
    /// The value that is none, and what was expected.
    pub fn parse(text: &str, own: usize, sources: &[(&str, &Counts)]) -> Result<Self, String> {
        let (mut parts, mut words) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            words.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                words.push_str(brace);
                rest = after;
                continue;
            }
            let end = rest.find('}').filter(|_| brace == "{").ok_or_else(|| {
                format!(
                    "found a `{brace}` without its other one in `{text}`; write {{{{ and }}}} for braces themselves"
                )
            })?;
            let text = rest[..end].trim();
            rest = &rest[end + 1..];
            let value = Value::parse(text, own, sources).map_err(|error| format!("{{{text}}}: {error}"))?;
            // What is counted of a whole trace is the same at each moment, also where the trace is not in sight.
            let whole = sources.get(value.source).filter(|_| value.scope == Scope::Whole);
            if let Some(counted) = whole.and_then(|(_, counts)| value.counted(counts)) {
                words.push_str(&counted);
                continue;
            }
            if !words.is_empty() {
                parts.push(Part::Words(std::mem::take(&mut words)));
            }
            parts.push(Part::Value(value));
        }
        words.push_str(rest);
        if !words.is_empty() {
            parts.push(Part::Words(words));
        }
        Ok(Self { parts })
    }

    /// Numbers of the sources whose values are told.
    pub fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(value) => Some(value.source),
            Part::Words(_) => None,
        })
    }

    /// The words at a moment; `told` gives what values of a source are told of.
    #[must_use]
    pub fn words<'a>(&self, told: &dyn Fn(usize) -> Option<&'a Told<'a>>) -> Vec<Run> {
        let run = |part: &Part| match part {
            Part::Words(words) => Run { words: words.clone(), region: None },
            Part::Value(Value { what: What::Name(name), source, .. }) => {
                Run { words: shown::line(name).into_owned(), region: Some((*source, name.clone())) }
            }
            Part::Value(value) => {
                let words = told(value.source).map_or_else(|| "–".into(), |told| value.words(told));
                Run { words: shown::line(&words).into_owned(), region: None }
            }
        };
        self.parts.iter().map(run).collect()
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl Value {
    fn parse(text: &str, own: usize, sources: &[(&str, &Counts)]) -> Result<Self, String> {
        let of_source = text.split_once(':').and_then(|(name, rest)| {
            let at = sources.iter().position(|(known, _)| *known == name.trim())?;
            Some((at, rest.trim()))
        });
        let parsed = Self::of(of_source.unwrap_or((own, text)), sources);
        match text.split_once(':').filter(|_| of_source.is_none()) {
            // A region's own name may have such a sign.
            Some((name, _)) if parsed.is_err() => {
                let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
                Err(format!("source: {}", unknown(name, &names)))
            }
            _ => parsed,
        }
    }

    fn of((source, rest): (usize, &str), sources: &[(&str, &Counts)]) -> Result<Self, String> {
        let Some((_, counts)) = sources.get(source) else {
            return Err(
                "found a value where there is no picture; expected one with its source, as in {NAME:L1.misses}".into(),
            );
        };
        let (scope, rest) = match rest.split_once('.') {
            Some(("scene", rest)) => (Scope::Scene, rest),
            Some(("whole", rest)) => (Scope::Whole, rest),
            _ => (Scope::Now, rest),
        };
        Ok(Self { source, scope, what: What::parse(rest, counts)? })
    }

    /// The value in words.
    fn words(&self, told: &Told<'_>) -> String {
        let since;
        let counts = match self.scope {
            Scope::Now => &told.now,
            Scope::Whole => told.whole,
            Scope::Scene => {
                since = told.now.since(told.scene);
                &since
            }
        };
        if let Some(words) = self.counted(counts) {
            return words;
        }
        match &self.what {
            What::Reference(what) => {
                let now = &told.info.now;
                match *what {
                    "what" => now.what.split_whitespace().collect::<Vec<_>>().join(" "),
                    "why" => now.why.join("; "),
                    "code" => now.code.trim().to_owned(),
                    "line" => now.location.clone(),
                    _ => grouped(told.info.tick),
                }
            }
            What::Side(true) => {
                let mut rest = told.side.chars();
                rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
            }
            _ => told.side.to_owned(),
        }
    }

    /// What counts alone tell; `None` of what depends on the picture.
    fn counted(&self, counts: &Counts) -> Option<String> {
        let rate = |part: u64, of: u64| percent((of > 0).then(|| part as f64 / of as f64));
        Some(match &self.what {
            What::References => grouped(counts.references),
            What::Level(at, what) => {
                let level = &counts.levels[*at];
                match *what {
                    "misses" => grouped(level.misses),
                    "hits" => grouped(level.accesses - level.misses),
                    "accesses" => grouped(level.accesses),
                    "writebacks" => grouped(level.writebacks),
                    "evictions" => grouped(level.evictions),
                    "miss_rate" => rate(level.misses, level.accesses),
                    _ => rate(level.accesses - level.misses, level.accesses),
                }
            }
            What::Region(at, level, what) => {
                let region = &counts.regions[*at];
                let misses: u64 = match level {
                    Some(level) => region.misses[*level],
                    None => counts.innermost.iter().map(|level| region.misses[*level]).sum(),
                };
                match *what {
                    "misses" => grouped(misses),
                    "references" => grouped(region.references),
                    _ => rate(misses, region.references),
                }
            }
            What::Memory(what) => grouped(match *what {
                "reads" => counts.memory.reads,
                "writes" => counts.memory.writes,
                "bytes_read" => counts.memory.bytes_read,
                _ => counts.memory.bytes_written,
            }),
            What::Name(name) => name.clone(),
            What::Reference(_) | What::Side(_) => return None,
        })
    }
}

impl What {
    fn parse(text: &str, counts: &Counts) -> Result<Self, String> {
        let level = |name: &str| counts.levels.iter().position(|level| level.name == name);
        let region = |name: &str| counts.regions.iter().position(|region| region.name == name);
        if text == "references" {
            return Ok(Self::References);
        }
        if region(text).is_some() {
            return Ok(Self::Name(text.to_owned()));
        }
        if text == "side" || text == "Side" {
            return Ok(Self::Side(text == "Side"));
        }
        let known = || {
            let levels = counts.levels.iter().map(|level| level.name.as_str());
            let regions = counts.regions.iter().map(|region| region.name.as_str());
            levels.chain(regions).chain(["memory", "reference", "references", "side"]).collect::<Vec<_>>()
        };
        let Some((of, what)) = text.rsplit_once('.') else { return Err(unknown(text, &known())) };
        match of {
            "memory" => return Ok(Self::Memory(word(what, &MEMORY)?)),
            "reference" => return Ok(Self::Reference(word(what, &REFERENCE)?)),
            _ => {}
        }
        if let Some(at) = level(of) {
            return Ok(Self::Level(at, word(what, &LEVEL)?));
        }
        if let Some(at) = region(of) {
            return Ok(Self::Region(at, None, word(what, &REGION)?));
        }
        if let Some((name, of_level)) = of.rsplit_once('.')
            && let Some(at) = region(name)
        {
            let names: Vec<&str> = counts.levels.iter().map(|level| level.name.as_str()).collect();
            let level = level(of_level).ok_or_else(|| format!("level: {}", unknown(of_level, &names)))?;
            return Ok(Self::Region(at, Some(level), word(what, &REGION)?));
        }
        Err(unknown(of, &known()))
    }
}

/// Counts of a studio before a tick.
///
/// # Errors
/// When the trace cannot be read.
pub fn counts_at(studio: &mut Studio, tick: u64) -> Result<Counts, crate::reference::SourceError> {
    if studio.moment().tick != tick {
        studio.seek(crate::axis::Position::at(tick), 0, 0, false)?;
    }
    Ok(Counts::of(&studio.moment(), studio.tables()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::tests::studio;

    #[test]
    fn values_are_told_of_the_moment_the_scene_and_the_whole() {
        let mut studio = studio();
        let [scene, now, whole] = [100, 600, 1000].map(|tick| counts_at(&mut studio, tick).expect("in memory"));
        let sources = [("s", &whole)];
        let info = Info::default();
        let told = Told { now, scene: &scene, whole: &whole, info: &info, side: "on the left" };
        let words = |text: &str| {
            let template = Template::parse(text, 0, &sources).expect(text);
            template.words(&|_| Some(&told)).into_iter().map(|run| run.words).collect::<String>()
        };
        // Of 600 references 150 are of B.
        assert_eq!(words("{references}: {B.references}, {A.references}"), "600: 150, 450");
        assert_eq!(words("{scene.B.references} {whole.B.references} {s:B.references}"), "125 250 150");
        assert_eq!(words("{B.misses} {B.L2.misses} {B.miss_rate}"), "1 1 0.7 %");
        assert_eq!(words("{scene.B.misses} {scene.B.miss_rate}"), "0 0 %");
        assert_eq!(words("{{braces}} {A}"), "{braces} A");
        assert_eq!(words("two\nlines of {A}"), "two\nlines of A");
        assert_eq!(words("{Side}, and {s:side}"), "On the left, and on the left");
        let runs = Template::parse("of {A}!", 0, &sources).expect("good").words(&|_| Some(&told));
        assert_eq!(runs.iter().map(|run| run.region.is_some()).collect::<Vec<_>>(), [false, true, false]);
        for (text, expect) in [
            ("{A.misses", "without its other one"),
            ("{A.L1.hits}", "found `hits`"),
            ("{x:A.misses}", "source: found `x`; expected one of s"),
            ("{memory.read}", "(did you mean `reads`?)"),
            ("{reference.wy}", "(did you mean `why`?)"),
            ("{}", "{}: found ``"),
        ] {
            let error = Template::parse(text, 0, &sources).expect_err(text);
            assert!(error.contains(expect), "{text}: {error}");
        }
        assert!(Template::parse("{L1.misses}", usize::MAX, &sources).is_err(), "a card has no source of its own");
    }
}
