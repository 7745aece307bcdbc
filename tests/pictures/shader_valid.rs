//! Every shader, composed exactly as at run time, passes naga: no GPU needed. All failures are listed, with source.

use orrery::render::shaders::{ENTRY, PASSES, SOLIDS, SOURCES, compose, compose_text};
use std::fs;
use std::path::Path;
use wgpu::naga::ShaderStage;
use wgpu::naga::front::wgsl;
use wgpu::naga::valid::{Capabilities, ValidationFlags, Validator};

/// Naga's complaint about a composed text, rendered with the source; `None` = valid.
fn complaint(name: &str, text: &str) -> Option<String> {
    let module = match wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => return Some(error.emit_to_string_with_path(text, &format!("{name}.wgsl (composed)"))),
    };
    // No capability: what the downlevel limits promise is all there is.
    let error = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).err()?;
    Some(error.emit_to_string_with_path(text, &format!("{name}.wgsl (composed)")))
}

#[test]
fn every_shader_is_valid() {
    let mut complaints = Vec::new();
    for name in ENTRY.into_iter().chain(PASSES).chain(SOLIDS) {
        match compose(name) {
            Ok(text) => complaints.extend(complaint(name, &text)),
            Err(error) => complaints.push(error),
        }
    }
    // Shared files are valid alone too.
    for (name, text) in SOURCES.iter().filter(|(name, _)| name.starts_with("shared/")) {
        match compose_text(name, text) {
            Ok(text) => complaints.extend(complaint(name, &text)),
            Err(error) => complaints.push(error),
        }
    }
    assert!(complaints.is_empty(), "{} shaders are not valid:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn entry_points_are_what_pipelines_ask_for() {
    for name in ENTRY.into_iter().chain(PASSES).chain(SOLIDS) {
        let module = wgsl::parse_str(&compose(name).expect("composes")).expect("parses");
        let found: Vec<(&str, ShaderStage)> = module.entry_points.iter().map(|e| (e.name.as_str(), e.stage)).collect();
        let main = [("vs_main", ShaderStage::Vertex), ("fs_main", ShaderStage::Fragment)];
        let light = [("vs_light", ShaderStage::Vertex), ("fs_light", ShaderStage::Fragment)];
        let over = [("vs_over", ShaderStage::Vertex), ("fs_over", ShaderStage::Fragment)];
        let expected = match name {
            "glyphs" => [main, light].concat(),
            "solids" => [main, over].concat(),
            _ => main.to_vec(),
        };
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn every_file_under_shaders_is_embedded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut files = Vec::new();
    for folder in ["", "shared/"] {
        for entry in fs::read_dir(root.join(folder)).expect("shaders/ is readable") {
            let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
            files.extend(name.strip_suffix(".wgsl").map(|stem| format!("{folder}{stem}")));
        }
    }
    files.sort();
    let mut embedded: Vec<&str> = SOURCES.iter().map(|(name, _)| *name).collect();
    embedded.sort_unstable();
    assert_eq!(files, embedded);
    for (name, text) in SOURCES {
        assert_eq!(fs::read_to_string(root.join(format!("{name}.wgsl"))).expect(name), text, "{name}");
    }
}

#[test]
fn a_broken_shader_is_refused_with_its_line() {
    let text = "@fragment\nfn fs_main() -> @location(0) vec4f {\n    return vec3f(1.0);\n}\n";
    let told = complaint("planted", text).expect("a vec3f is no vec4f");
    assert!(told.contains("planted.wgsl") && told.contains("return vec3f"), "{told}");
    let unknown = complaint("planted", "fn f() -> f32 { return nothing; }").expect("an unknown name");
    assert!(unknown.contains("nothing"), "{unknown}");
}
