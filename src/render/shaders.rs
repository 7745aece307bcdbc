//! WGSL sources, embedded, with a one-line `#import shared/name` resolver: an imported file is pasted once, in place of
//! its first import.

/// A shader file by name, `glyphs` or `shared/frame`.
type Source = (&'static str, &'static str);

/// Every file under `shaders/`.
pub const SOURCES: [Source; 9] = [
    ("glyphs", include_str!("../../shaders/glyphs.wgsl")),
    ("pathlines", include_str!("../../shaders/pathlines.wgsl")),
    ("bars", include_str!("../../shaders/bars.wgsl")),
    ("disks", include_str!("../../shaders/disks.wgsl")),
    ("cells", include_str!("../../shaders/cells.wgsl")),
    ("solids", include_str!("../../shaders/solids.wgsl")),
    ("words", include_str!("../../shaders/words.wgsl")),
    ("themes", include_str!("../../shaders/themes.wgsl")),
    ("shared/frame", include_str!("../../shaders/shared/frame.wgsl")),
];

/// The shaders that draw a scene; they import the shared ones.
pub const ENTRY: [&str; 5] = ["glyphs", "pathlines", "disks", "cells", "bars"];

/// Those that draw solids into a picture of their own.
pub const SOLIDS: [&str; 1] = ["solids"];

/// Those that go over a finished picture: words, then the theme.
pub const PASSES: [&str; 2] = ["words", "themes"];

/// The text of a shader with its imports in place.
///
/// # Errors
/// When a file is not among [`SOURCES`]; the message names it and who imports it.
pub fn compose(name: &str) -> Result<String, String> {
    let text = source(name).ok_or_else(|| format!("no shader `{name}`"))?;
    compose_text(name, text)
}

/// As [`compose`], for a text that stands in no file (tests add an entry point to the shared ones so).
///
/// # Errors
/// When an import is not among [`SOURCES`].
pub fn compose_text(name: &str, text: &str) -> Result<String, String> {
    let mut out = String::new();
    paste(name, text, &mut Vec::new(), &mut out)?;
    Ok(out)
}

fn source(name: &str) -> Option<&'static str> {
    SOURCES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

fn paste(name: &str, text: &str, done: &mut Vec<String>, out: &mut String) -> Result<(), String> {
    for line in text.lines() {
        if let Some(import) = line.strip_prefix("#import ") {
            let import = import.trim();
            if done.iter().any(|d| d == import) {
                continue;
            }
            done.push(import.into());
            let text =
                source(import).ok_or_else(|| format!("shader `{name}` imports `{import}`, which does not exist"))?;
            paste(import, text, done, out)?;
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    Ok(())
}

/// Compiles a shader of [`ENTRY`], [`SOLIDS`] or [`PASSES`].
///
/// # Panics
/// Never for the embedded shaders: `tests/pictures/shader_valid.rs` composes and validates each.
pub(super) fn module(device: &wgpu::Device, name: &'static str) -> wgpu::ShaderModule {
    let text = compose(name).unwrap_or_default();
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_pasted_once() {
        let text = compose("cells").expect("embedded");
        assert_eq!(text.matches("struct Frame").count(), 1);
        assert_eq!(text.matches("fn clip_from_world").count(), 1);
        assert!(!text.contains("#import"));
    }

    #[test]
    fn a_missing_import_names_file_and_importer() {
        let error = compose_text("mine", "#import shared/nothing").expect_err("does not exist");
        assert!(error.contains("mine") && error.contains("shared/nothing"), "{error}");
    }
}
