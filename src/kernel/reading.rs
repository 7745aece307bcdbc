//! From text to a module that can be run: parsed, validated, with its entry chosen, its overrides set and its arrays as long as these say.

use super::error::KernelError;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{ArraySize, Module, ShaderStage, Type, TypeInner};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// Bytes of stack for naga, which goes one deeper for each operator of a sum.
const STACK: usize = 1 << 30;

/// Does something on a stack of its own.
pub(super) fn with_stack<T: Send>(work: impl FnOnce() -> Result<T, KernelError> + Send) -> Result<T, KernelError> {
    let failed = || KernelError::TooMuch("naga could not be run: no thread was to be had for it, or it failed".into());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("naga".into()).stack_size(STACK).spawn_scoped(scope, work);
        thread.map_err(|_| failed())?.join().map_err(|_| failed())?
    })
}

pub(super) fn parsed(file: &str, text: &str) -> Result<(Module, ModuleInfo), KernelError> {
    let told = |words: String| {
        let hint = hint(text, &words);
        let words = trimmed(words);
        // naga names no place where it has none.
        let place = if words.contains(file) { String::new() } else { format!("{file}: ") };
        KernelError::Source(format!("{place}{words}{hint}"))
    };
    let module =
        naga::front::wgsl::parse_str(text).map_err(|error| told(error.emit_to_string_with_path(text, file)))?;
    let info = validator().validate(&module).map_err(|error| told(error.emit_to_string_with_path(text, file)))?;
    Ok((module, info))
}

fn validator() -> Validator {
    // What naga holds against barriers in divergent flow is found while running, with both lines.
    Validator::new(ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY, Capabilities::all())
}

/// Why text that is no WGSL may be none: what is in it that others turn into WGSL first.
fn hint(text: &str, words: &str) -> String {
    let lines = || (1..).zip(text.lines().map(str::trim_start));
    let word = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    if let Some((number, line)) = lines().find(|(_, line)| line.starts_with('#')) {
        return format!(
            "\nnote: line {number}: `{}` is for a preprocessor, and no WGSL: give the text that it makes",
            word(line)
        );
    }
    if let Some((number, _)) = lines().find(|(_, line)| line.contains("{{")) {
        return format!("\nnote: line {number}: `{{{{` is for a template, and no WGSL: give the text that it makes");
    }
    if let Some((number, _)) = lines().find(|(_, line)| line.starts_with("enable ") && line.contains("subgroups")) {
        return format!("\nnote: line {number}: kernels with subgroup operations are not run here");
    }
    // A name that is nowhere may be in another file.
    if words.contains("no definition in scope") || words.contains("unknown") {
        return "\nnote: if it is one of several files that a program joins, give them as one".to_owned();
    }
    String::new()
}

/// naga's words, without the word that stands before all errors here and the lines that end them.
fn trimmed(words: String) -> String {
    words.strip_prefix("error: ").unwrap_or(&words).trim_end().to_owned()
}

pub(super) fn chosen(file: &str, module: &Module, wanted: Option<&str>) -> Result<String, KernelError> {
    let compute: Vec<&str> =
        module.entry_points.iter().filter(|e| e.stage == ShaderStage::Compute).map(|e| e.name.as_str()).collect();
    let error = |words: String| Err(KernelError::Entry(format!("{file}: {words}")));
    match (wanted, compute.as_slice()) {
        (_, []) => error("found no compute entry; expected a function with @compute @workgroup_size(...)".into()),
        (None, [one]) => Ok((*one).to_owned()),
        (None, _) => error(format!(
            "found {} compute entries ({}); expected one; choose it with --entry",
            compute.len(),
            compute.join(", ")
        )),
        (Some(name), _) if compute.contains(&name) => Ok(name.to_owned()),
        (Some(name), _) => {
            error(format!("found no compute entry {name}; expected --entry to name one of {}", compute.join(", ")))
        }
    }
}

/// Puts values in the place of overrides.
pub(super) fn set_overrides(
    file: &str,
    module: Module,
    info: ModuleInfo,
    entry: &str,
    values: &BTreeMap<String, f64>,
) -> Result<(Module, ModuleInfo), KernelError> {
    let name_of = |o: &naga::Override| match (o.id, &o.name) {
        (Some(id), Some(name)) => format!("{name} (@id({id}))"),
        (_, Some(name)) => name.clone(),
        (Some(id), None) => format!("@id({id})"),
        (None, None) => String::new(),
    };
    let known: Vec<String> = module.overrides.iter().map(|(_, o)| name_of(o)).filter(|n| !n.is_empty()).collect();
    let listed =
        if known.is_empty() { "it has none".to_owned() } else { format!("expected one of {}", known.join(", ")) };
    let mut constants = naga::back::PipelineConstants::default();
    for (name, value) in values {
        let found = module
            .overrides
            .iter()
            .find(|(_, o)| o.name.as_deref() == Some(name) || (o.id.is_some() && o.id == name.parse::<u16>().ok()));
        let Some((_, found)) = found else {
            return Err(KernelError::Override(format!("{file}: found no override {name} to set; {listed}")));
        };
        // naga knows those with an id by it alone.
        let key = found.id.map_or_else(|| name.clone(), |id| id.to_string());
        let scalar = match module.types[found.ty].inner {
            TypeInner::Scalar(scalar) => scalar,
            _ => naga::Scalar::F32,
        };
        if let Some(words) = super::buffers::misfit(*value, scalar) {
            return Err(KernelError::Override(format!("{file}: --set {name}: {words}")));
        }
        constants.insert(key, *value);
    }
    if module.overrides.is_empty() {
        return Ok((module, info));
    }
    let is_set = |o: &naga::Override| {
        constants.keys().any(|key| o.name.as_ref() == Some(key) || o.id.is_some_and(|id| id.to_string() == *key))
    };
    let missing = module.overrides.iter().filter(|(_, o)| o.init.is_none() && !is_set(o)).map(|(_, o)| name_of(o));
    let missing: Vec<String> = missing.collect();
    let processed = naga::back::pipeline_constants::process_overrides(
        &module,
        &info,
        Some((ShaderStage::Compute, entry)),
        &constants,
    );
    let (module, info) = processed.map_err(|error| {
        let wanted = if missing.is_empty() { listed } else { format!("without a value: {}", missing.join(", ")) };
        let mut words = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            words += &format!(": {inner}");
            cause = inner.source();
        }
        KernelError::Override(format!("{file}: overrides: {words}; give values with --set NAME=VALUE; {wanted}"))
    })?;
    sized(file, module.into_owned(), info.into_owned())
}

/// Gives arrays whose length is an override that length.
fn sized(file: &str, mut module: Module, info: ModuleInfo) -> Result<(Module, ModuleInfo), KernelError> {
    let wrong =
        |words: String| KernelError::Override(format!("{file}: overrides: {words}; correct it with --set NAME=VALUE"));
    let mut settled = Vec::new();
    for (handle, ty) in module.types.iter() {
        let TypeInner::Array { base, size: size @ ArraySize::Pending(_), stride } = ty.inner else { continue };
        let length = match size.resolve(module.to_ctx()) {
            Ok(naga::proc::IndexableLength::Known(length)) => NonZeroU32::new(length),
            _ => None,
        };
        let size = length.map(ArraySize::Constant).ok_or_else(|| {
            wrong("found an array whose length is no whole number above 0; expected 1 or more elements".into())
        })?;
        // With a name of its own: the same type may be there already, and there is but one of each.
        let name = Some(format!("an array of overridden length, {}", handle.index()));
        settled.push((handle, Type { name, inner: TypeInner::Array { base, size, stride } }));
    }
    if settled.is_empty() {
        return Ok((module, info));
    }
    settled.into_iter().for_each(|(handle, ty)| module.types.replace(handle, ty));
    let info = validator().validate(&module).map_err(|error| wrong(trimmed(error.emit_to_string(""))))?;
    Ok((module, info))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_others_is_told_as_that() {
        for (text, expect) in [
            ("#import bevy_pbr::utils\nfn f() {}", "line 1: `#import` is for a preprocessor"),
            ("const A = 1;\n  #ifdef B\nfn f() {}", "line 2: `#ifdef` is for a preprocessor"),
            ("fn f() { let a = array<{{ elem }}, 4>(); }", "line 1: `{{` is for a template"),
            ("enable subgroups;\nfn f() {}", "line 1: kernels with subgroup operations"),
            ("fn f() -> f32 { return TAU; }", "one of several files"),
        ] {
            let Err(KernelError::Source(words)) = parsed("k.wgsl", text) else { panic!("{text} is parsed") };
            assert!(words.contains(expect), "{words}");
        }
    }
}
