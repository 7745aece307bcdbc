//! What of an array is looked at as solids: which array, by which measure, whose accesses, in which slices of time, in which form.

use super::camera::Projection;
use super::iso::Isovalues;
use super::plane::Form;
use super::scatter::Glyphs;
use crate::timeline::{Aggregate, Distribution, GridCounts, GridKind, GridPart};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What is counted of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Local minus remote: reads above the plane, writes below.
    #[default]
    Difference,
    /// Reads and writes.
    Accesses,
    /// Reads of all cores.
    Reads,
    /// Writes of all cores.
    Writes,
    /// Accesses of the owner.
    Local,
    /// Accesses of other cores.
    Remote,
    /// Reads of the owner.
    LocalReads,
    /// Reads of other cores.
    RemoteReads,
    /// Writes of the owner.
    LocalWrites,
    /// Writes of other cores.
    RemoteWrites,
    /// References that missed in the cache that is asked first.
    Misses,
    /// References that hit there.
    Hits,
    /// Bytes read and written.
    Bytes,
    /// Times that the cache that is asked first gave it up for another line.
    Evictions,
    /// Times that another core's store, or a cache outside, took it from there.
    Invalidations,
}

impl Measure {
    /// All of them, with their names and what they count, in words.
    pub const ALL: [(Self, &'static str, &'static str); 15] = [
        (Self::Difference, "local-remote", "local minus remote accesses"),
        (Self::Accesses, "accesses", "accesses"),
        (Self::Reads, "reads", "reads"),
        (Self::Writes, "writes", "writes"),
        (Self::Local, "local", "local accesses"),
        (Self::Remote, "remote", "remote accesses"),
        (Self::LocalReads, "local-reads", "local reads"),
        (Self::RemoteReads, "remote-reads", "remote reads"),
        (Self::LocalWrites, "local-writes", "local writes"),
        (Self::RemoteWrites, "remote-writes", "remote writes"),
        (Self::Misses, "misses", "misses"),
        (Self::Hits, "hits", "hits"),
        (Self::Bytes, "bytes", "bytes"),
        (Self::Evictions, "evictions", "evictions"),
        (Self::Invalidations, "invalidations", "invalidations"),
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What it counts.
    #[must_use]
    pub fn what(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (Self, &'static str, &'static str) {
        Self::ALL.into_iter().find(|(measure, ..)| *measure == self).unwrap_or(Self::ALL[0])
    }

    /// What it is of these counts: 0 or more, but for [`Measure::Difference`], of all accesses.
    #[must_use]
    pub fn of(self, counts: &GridCounts) -> f64 {
        let GridCounts {
            local_reads,
            remote_reads,
            local_writes,
            remote_writes,
            misses,
            bytes,
            evictions,
            invalidations,
        } = *counts;
        let number = match self {
            Self::Difference => return difference(local_reads + local_writes, remote_reads + remote_writes),
            Self::Accesses => counts.accesses(),
            Self::Reads => local_reads + remote_reads,
            Self::Writes => local_writes + remote_writes,
            Self::Local => local_reads + local_writes,
            Self::Remote => remote_reads + remote_writes,
            Self::LocalReads => local_reads,
            Self::RemoteReads => remote_reads,
            Self::LocalWrites => local_writes,
            Self::RemoteWrites => remote_writes,
            Self::Misses => misses,
            Self::Hits => counts.accesses().saturating_sub(misses),
            Self::Bytes => bytes,
            Self::Evictions => evictions,
            Self::Invalidations => invalidations,
        };
        number as f64
    }

    /// Whether caches are played for it.
    #[must_use]
    pub fn needs_moves(self) -> bool {
        matches!(self, Self::Evictions | Self::Invalidations)
    }

    /// What it is above the plane and, of [`Measure::Difference`], below it.
    #[must_use]
    pub fn heights(self, counts: &GridCounts) -> (f64, Option<f64>) {
        match self {
            Self::Difference => (
                difference(counts.local_reads, counts.remote_reads),
                Some(difference(counts.local_writes, counts.remote_writes)),
            ),
            _ => (self.of(counts), None),
        }
    }
}

fn difference(local: u64, remote: u64) -> f64 {
    local as f64 - remote as f64
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name, _)| *name == text).map(|(measure, ..)| measure);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name, _)| *name).collect();
            format!("found `{text}`; expected one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(form, _)| form);
        found.ok_or_else(|| format!("found `{text}`; expected auto, spheres, towers or sheet"))
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Glyphs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(glyphs, _)| glyphs);
        found.ok_or_else(|| format!("found `{text}`; expected processor, owner or local-remote"))
    }
}

impl fmt::Display for Glyphs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl SolidLook {
    /// The flags of the command line that say it, with their values: those that are not as usual.
    #[must_use]
    pub fn flags(&self) -> Vec<(&'static str, String)> {
        fn changed<T: PartialEq + fmt::Display>(
            flag: &'static str,
            own: &T,
            usual: &T,
        ) -> Option<(&'static str, String)> {
            (own != usual).then(|| (flag, own.to_string()))
        }
        let usual = Self::default();
        [
            self.array.as_ref().map(|name| ("--array", name.to_string())),
            changed("--elements", &self.part, &usual.part),
            changed("--measure", &self.measure, &usual.measure),
            self.color.map(|measure| ("--color-by", measure.to_string())),
            changed("--aggregate", &self.aggregate, &usual.aggregate),
            changed("--owner", &self.owner, &usual.owner),
            self.core.map(|core| ("--of-core", core.to_string())),
            self.kind.map(|kind| ("--of-kind", kind.name().to_owned())),
            self.threshold.map(|least| ("--threshold", least.to_string())),
            changed("--slices", &self.slices, &usual.slices),
            self.window.map(|(from, to)| ("--slice", format!("{from}..{to}"))),
            changed("--form", &self.form, &usual.form),
            changed("--isovalues", &self.isovalues, &usual.isovalues),
            changed("--glyphs", &self.glyphs, &usual.glyphs),
            changed("--projection", &self.projection, &usual.projection),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A number where it is drawn, else 0.
    #[must_use]
    pub fn kept(&self, number: f64) -> f64 {
        if self.threshold.is_some_and(|least| number.abs() < least as f64) { 0.0 } else { number }
    }
}

/// Slices where nobody asks for another number.
pub const SLICES: u32 = 64;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolidLook {
    /// Name of the array; `None` = the one with most references of those that have rows and columns.
    pub array: Option<Arc<str>>,
    /// Which part of it.
    pub part: GridPart,
    /// What is counted.
    pub measure: Measure,
    /// What colours tell; `None` = the same, or what the picture is known for.
    pub color: Option<Measure>,
    /// What blocks of several elements tell of them.
    pub aggregate: Aggregate,
    /// Who owns an element.
    pub owner: Distribution,
    /// Only accesses of this core.
    pub core: Option<u16>,
    /// Only accesses of this kind.
    pub kind: Option<GridKind>,
    /// The least number, of either sign, that is drawn; `None` = all are.
    pub threshold: Option<u64>,
    /// Slices that the trace is cut into.
    pub slices: u32,
    /// The slices that are shown, from one up to another; `None` = those before the playhead.
    pub window: Option<(u32, u32)>,
    /// How elements of a plane are drawn.
    pub form: Form,
    /// Which values isosurfaces have.
    pub isovalues: Isovalues,
    /// What glyphs of a scatter are of.
    pub glyphs: Glyphs,
    /// How what is far is seen.
    pub projection: Projection,
}

impl Default for SolidLook {
    fn default() -> Self {
        Self {
            array: None,
            part: GridPart::ALL,
            measure: Measure::default(),
            color: None,
            aggregate: Aggregate::default(),
            owner: Distribution::default(),
            core: None,
            kind: None,
            threshold: None,
            slices: SLICES,
            window: None,
            form: Form::default(),
            isovalues: Isovalues::default(),
            glyphs: Glyphs::default(),
            projection: Projection::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_what_their_names_say() {
        let counts = GridCounts {
            local_reads: 1,
            remote_reads: 20,
            local_writes: 300,
            remote_writes: 4000,
            misses: 7,
            bytes: 50_000,
            evictions: 600_000,
            invalidations: 8_000_000,
        };
        let found: Vec<f64> = Measure::ALL.iter().map(|(measure, ..)| measure.of(&counts)).collect();
        let expect =
            [-3719.0, 4321.0, 21.0, 4300.0, 301.0, 4020.0, 1.0, 20.0, 300.0, 4000.0, 7.0, 4314.0, 50_000.0, 6e5, 8e6];
        assert_eq!(found, expect);
        assert_eq!(Measure::Difference.heights(&counts), (-19.0, Some(-3700.0)));
        assert_eq!(Measure::Remote.heights(&counts), (4020.0, None));
    }

    #[test]
    fn a_threshold_leaves_out_what_is_less_of_either_sign() {
        let look = SolidLook { threshold: Some(3), ..SolidLook::default() };
        assert_eq!([-4.0, -3.0, -2.0, 0.0, 2.9, 3.0].map(|n| look.kept(n)), [-4.0, -3.0, 0.0, 0.0, 0.0, 3.0]);
        assert_eq!(SolidLook::default().kept(0.5), 0.5);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for (measure, name, _) in Measure::ALL {
            assert_eq!(name.parse(), Ok(measure));
        }
        for (form, name) in Form::ALL {
            assert_eq!(name.parse(), Ok(form));
        }
        for (glyphs, name) in Glyphs::ALL {
            assert_eq!(name.parse(), Ok(glyphs));
        }
        assert!("cores".parse::<Glyphs>().is_err());
        assert!("remote reads".parse::<Measure>().expect_err("no measure").contains("remote-reads"));
        assert!("cubes".parse::<Form>().is_err());
    }
}
