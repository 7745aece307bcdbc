//! The configurations that ship inside the binary: files of the form that `--cache FILE` reads, each figure with its source.

use super::HierarchyConfig;

/// A configuration that ships inside the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// What `--cache` takes.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The file.
    pub toml: &'static str,
}

macro_rules! shipped {
    ($($name:literal: $summary:literal),* $(,)?) => {
        &[$(Preset {
            name: $name,
            summary: $summary,
            toml: include_str!(concat!("../presets/", $name, ".toml")),
        }),*]
    };
}

const PRESETS: &[Preset] = shipped! {
    "textbook": "three levels as in CS:APP's Core i7 (Haswell)",
    "paper": "two tiny levels: those of the pictures of Choudhury and Rosen (2011)",
    "paper-x4": "the same four times over, for its bigger material point method",
    "skylake-sp": "Intel Xeon Silver 4110 (2017)",
    "ice-lake": "Intel Core i5-1035G1, client (2019)",
    "golden-cove": "Intel Core i9-12900K, P core (2021)",
    "zen2": "AMD Ryzen 7 3800X (2019)",
    "zen3": "AMD Ryzen 7 5800X (2020)",
    "zen4": "AMD Ryzen 7 7700X (2022)",
    "apple-m1": "Apple M1, P core (2020)",
    "cortex-a53": "Arm Cortex-A53 in a Raspberry Pi 3 (2016)",
    "cortex-a72": "Arm Cortex-A72 in an AWS Graviton (2018)",
    "neoverse-n1": "Arm Neoverse N1 in an AWS Graviton2 (2019)",
    "sifive-u74": "SiFive U74 in an FU740 (2020)",
    "raspberry-pi-4": "Arm Cortex-A72 in a Raspberry Pi 4 (2019)",
};

/// The configurations that ship inside the binary; the first is the default.
#[must_use]
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// A preset by name.
#[must_use]
pub fn preset(name: &str) -> Option<HierarchyConfig> {
    let preset = PRESETS.iter().find(|p| p.name == name)?;
    // A test reads them all.
    HierarchyConfig::from_toml(preset.toml, preset.name).ok()
}
