//! `--engine`: who runs a kernel.

use crate::cli::KernelEngine;
#[cfg(feature = "gpu")]
use crate::commands::quiet::quietly;
use crate::kernel::{Engine, Interpreter, KernelError, Launch, Observer, Program, Run};
#[cfg(feature = "gpu")]
use crate::launch::Adapter;
#[cfg(feature = "gpu")]
use crate::render::context::Preference;

/// The engine that was asked for.
pub(super) enum Chosen {
    Interpreter,
    #[cfg(feature = "gpu")]
    Adapter(Box<Adapter>),
}

/// Gets an engine ready.
///
/// # Errors
/// Where there is no adapter, or this program was built without.
pub(super) fn chosen(engine: KernelEngine, file: &str) -> anyhow::Result<Chosen> {
    match engine {
        KernelEngine::Interpreter => Ok(Chosen::Interpreter),
        #[cfg(feature = "gpu")]
        KernelEngine::Adapter => {
            // Without a word of its driver's that is none of the user's.
            let mut adapter = None;
            quietly(&mut || adapter = Some(Adapter::new(Preference::Fastest)));
            match adapter {
                Some(Ok(adapter)) => Ok(Chosen::Adapter(Box::new(adapter))),
                Some(Err(error)) => {
                    anyhow::bail!("{file}: --engine adapter: {error}; or use --engine interpreter, which needs none")
                }
                None => anyhow::bail!("{file}: --engine adapter: it was not asked for; use --engine interpreter"),
            }
        }
        #[cfg(not(feature = "gpu"))]
        KernelEngine::Adapter => Err(crate::commands::UsageError(format!(
            "{file}: --engine adapter: this program was built without the feature `gpu`; expected one built with it, or \
             --engine interpreter"
        ))
        .into()),
    }
}

impl Engine for Chosen {
    fn run<O: Observer>(&mut self, program: &Program, launch: &Launch, observer: O) -> Result<(Run, O), KernelError> {
        let _waiting = super::waiting::waiting(&program.file, launch.steps);
        match self {
            Self::Interpreter => Interpreter.run(program, launch, observer),
            #[cfg(feature = "gpu")]
            Self::Adapter(adapter) => adapter.run(program, launch, observer),
        }
    }
}
