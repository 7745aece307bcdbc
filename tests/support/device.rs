//! What tests of pictures share: the device, and the comparison of pictures.

use orrery::render::Context;
use orrery::render::context::Preference;

/// A device to test on: a software adapter where there is one, so that pictures are the same on every machine;
/// `GOLDEN_ADAPTER=gpu` asks for hardware. Without any, says so and gives `None`, or fails under `REQUIRE_ADAPTER=1`.
///
/// # Panics
/// Where an adapter is required and there is none.
#[must_use]
pub(crate) fn device(test: &str) -> Option<Context> {
    let hardware = std::env::var("GOLDEN_ADAPTER").is_ok_and(|v| v == "gpu");
    let preference = if hardware { Preference::Fastest } else { Preference::Software };
    match Context::headless(preference) {
        Ok(context) => Some(context),
        Err(error) => {
            let required = std::env::var("REQUIRE_ADAPTER").is_ok_and(|v| v == "1");
            assert!(!required, "{test}: an adapter is required (REQUIRE_ADAPTER=1): {error}");
            eprintln!("skipped: {test}: no adapter: {error}");
            None
        }
    }
}
