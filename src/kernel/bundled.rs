//! Kernels that travel inside the binary: sources, and how they are launched.

/// What stands before the name of a bundled kernel where the path of a file is expected: `kernel:reduce-modulo`.
pub const SCHEME: &str = "kernel:";

/// One bundled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundledKernel {
    /// Name for the command line: `reduce-modulo`.
    pub name: &'static str,
    /// Its source in WGSL.
    pub text: &'static str,
    /// Its launch, as TOML.
    pub launch: &'static str,
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        [$(BundledKernel {
            name: $name,
            text: include_str!(concat!("../../kernels/", $name, ".wgsl")),
            launch: include_str!(concat!("../../kernels/", $name, ".toml")),
        }),*]
    };
}

/// All of them, in the order a lesson would take.
pub const BUNDLED: [BundledKernel; 12] = bundled![
    "reduce-modulo",
    "reduce-strided",
    "reduce-sequential",
    "sobel",
    "multiply-naive",
    "multiply-tiled",
    "transpose-naive",
    "transpose-tiled",
    "histogram",
    "scan",
    "race",
    "divergent-barrier",
];

/// The kernel of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static BundledKernel> {
    BUNDLED.iter().find(|kernel| kernel.name == name)
}

impl BundledKernel {
    /// What it is and what to look for: the comment that its source starts with.
    #[must_use]
    pub fn look(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("//"));
        lines.map(str::trim).collect::<Vec<_>>().join(" ")
    }
}
