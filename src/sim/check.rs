//! Whether a hierarchy can play references, and in reasonable time: it is checked before they are played.

use super::config::{ConfigError, HierarchyConfig};
use super::policy::NEVER;
use crate::reference::{Reference, SourceError};

/// Why a trace and a configuration do not go together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The configuration is wrong by itself.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The references cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The trace has more cores.
    #[error(
        "reference {tick} is of core {core}, but the cache configuration \"{config}\" has cores = {cores}; write cores = {} or more in it \
         or give --cores {}", core + 1, core + 1
    )]
    Core {
        /// Number of the reference, from 0.
        tick: u64,
        /// Its core, from 0.
        core: u16,
        /// Name of the configuration.
        config: String,
        /// Cores it has.
        cores: u16,
    },
    /// References of so many bytes that simulating them would take minutes or hours.
    #[error(
        "reference {tick}: found {bytes} bytes in the references of more than {LONG} bytes up to here; expected at most {MOST_LONG}, for \
         each line of them is an access; simulate a part of the trace (orrery convert --range), or record what really is touched"
    )]
    TooMuch {
        /// Number of the reference, from 0.
        tick: u64,
        /// Bytes so far.
        bytes: u64,
    },
    /// OPT keeps four bytes a position.
    #[error(
        "policy = \"opt\" at {level}: it is asked more than {NEVER} times, which is all that OPT can look ahead; use a part of the trace"
    )]
    TooLong {
        /// Name of the level.
        level: String,
    },
}

/// Bytes from which a reference is long: no instruction touches more than a page at once, tools that sum copies up do.
const LONG: u32 = 4096;
/// Bytes that the long references of a trace may touch together: some hundred million lines, seconds of simulation.
const MOST_LONG: u64 = 8 << 30;

/// Looks at the references of a trace before they are played: all must be of cores that there are, and long ones may not add up
/// to so many bytes that simulating them would take minutes.
///
/// ```
/// use orrery::reference::{Kind, Reference};
/// use orrery::sim::config::preset;
/// use orrery::sim::{PlayCheck, SimError};
///
/// let mut check = PlayCheck::new([&preset("paper").expect("a preset")]);
/// let mut references = vec![Reference::new(Kind::Read, 64, 8); 3];
/// assert!(check.look(&references, 0).is_ok());
/// references[1].core = 7;
/// assert!(matches!(check.look(&references, 3), Err(SimError::Core { tick: 4, core: 7, .. })));
/// ```
#[derive(Clone, Debug)]
pub struct PlayCheck {
    /// Of the configuration with the fewest cores: its name, and how many.
    narrowest: Option<(String, u16)>,
    /// Bytes of long references so far.
    long_bytes: u64,
}

impl PlayCheck {
    /// For hierarchies of all these configurations; no reference was looked at yet.
    pub fn new<'a>(configs: impl IntoIterator<Item = &'a HierarchyConfig>) -> Self {
        let narrowest = configs.into_iter().min_by_key(|config| config.cores);
        Self { narrowest: narrowest.map(|config| (config.name.clone(), config.cores)), long_bytes: 0 }
    }

    /// Looks at the references that follow; `from` is the number of the first.
    ///
    /// # Errors
    /// [`SimError::Core`] and [`SimError::TooMuch`].
    pub fn look(&mut self, references: &[Reference], from: u64) -> Result<(), SimError> {
        self.look_at_long(references, from)?;
        let Some((config, cores)) = &self.narrowest else { return Ok(()) };
        // All at once, without a branch each.
        if references.iter().fold(0, |highest, reference| reference.core.max(highest)) < *cores {
            return Ok(());
        }
        let other = (from..).zip(references).find(|(_, reference)| reference.core >= *cores);
        let Some((tick, &Reference { core, .. })) = other else { return Ok(()) };
        Err(SimError::Core { tick, core, config: config.clone(), cores: *cores })
    }

    fn look_at_long(&mut self, references: &[Reference], from: u64) -> Result<(), SimError> {
        let long = |r: &Reference| if r.size > LONG { u64::from(r.size) } else { 0 };
        let sum: u64 = references.iter().map(long).sum();
        if self.long_bytes + sum > MOST_LONG {
            let mut bytes = self.long_bytes;
            let passed = references.iter().position(|r| {
                bytes += long(r);
                bytes > MOST_LONG
            });
            return Err(SimError::TooMuch { tick: from + passed.unwrap_or(0) as u64, bytes });
        }
        self.long_bytes += sum;
        Ok(())
    }
}
