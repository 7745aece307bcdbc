//! Which caches a trace is played through: those that are asked for, or those that suit what its references touch.

use super::OpenError;
use crate::reference::ReferenceSource;
use crate::sim::config::{HierarchyConfig, MAX_CORES, Touched};

/// Caches, and why these.
#[derive(Clone, Debug)]
pub struct Caches {
    /// What is simulated.
    pub config: HierarchyConfig,
    /// Why they were chosen, where nobody asked for any.
    pub why: Option<String>,
}

/// The caches that are asked for, or words that say why they are none.
type Asked = Result<HierarchyConfig, String>;

/// How the caches of a trace are found.
#[derive(Clone, Debug)]
pub struct CacheChoice {
    asked: Wanted,
    /// Whether fetches are left out, which then touch nothing.
    data_only: bool,
    /// Whether there are as many cores as the trace has.
    cores_of_trace: bool,
}

#[derive(Clone, Debug)]
enum Wanted {
    These(Asked),
    /// Those for a trace that touches little, and for any other.
    Suited([Asked; 2]),
}

impl CacheChoice {
    /// These caches.
    #[must_use]
    pub fn of(config: HierarchyConfig) -> Self {
        Self::asked(Ok(config))
    }

    /// These caches; or words for why they are none, which whoever opens them gets.
    #[must_use]
    pub fn asked(config: Result<HierarchyConfig, String>) -> Self {
        Self { asked: Wanted::These(config), data_only: false, cores_of_trace: false }
    }

    /// What `preset` makes of the preset that suits what the trace touches, whose name it gets. Where it is to be simulated
    /// without fetches, `data_only` says so.
    #[must_use]
    pub fn suited(data_only: bool, preset: impl Fn(&str) -> Result<HierarchyConfig, String>) -> Self {
        Self { asked: Wanted::Suited(Touched::PRESETS.map(preset)), data_only, cores_of_trace: false }
    }

    /// With as many cores as the trace has.
    #[must_use]
    pub fn with_cores_of_trace(self) -> Self {
        Self { cores_of_trace: true, ..self }
    }

    /// Whether nobody asked for caches, so that they follow from what the trace touches.
    #[must_use]
    pub fn is_by_touch(&self) -> bool {
        matches!(self.asked, Wanted::Suited(_))
    }

    /// The caches of a trace.
    ///
    /// # Errors
    /// When those that are asked for are none, the trace cannot be read, or has more cores than are simulated.
    pub fn open(&self, source: &dyn ReferenceSource) -> Result<Caches, OpenError> {
        self.open_with(source, &mut self.touched())
    }

    /// To count what the trace touches.
    pub(super) fn touched(&self) -> Touched {
        Touched::new(self.data_only)
    }

    /// As [`CacheChoice::open`], of a trace of which `touched` saw a part.
    pub(super) fn open_with(&self, source: &dyn ReferenceSource, touched: &mut Touched) -> Result<Caches, OpenError> {
        let (asked, why) = match &self.asked {
            Wanted::These(asked) => (asked, None),
            Wanted::Suited([small, large]) => {
                touched.look(source)?;
                (if touched.is_small() { small } else { large }, Some(touched.why()))
            }
        };
        let mut config = asked.clone().map_err(OpenError::Caches)?;
        if self.cores_of_trace {
            let cores = source.cores()?;
            config.cores = u16::try_from(cores).ok().filter(|cores| *cores <= MAX_CORES).ok_or_else(|| {
                OpenError::Caches(format!(
                    "the trace has {cores} cores; at most {MAX_CORES} are simulated: choose a part of it"
                ))
            })?;
            config.check().map_err(|e| OpenError::Caches(e.to_string()))?;
        }
        Ok(Caches { config, why })
    }
}
