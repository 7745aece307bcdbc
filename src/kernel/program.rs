//! A compute shader, parsed, validated, with its entry chosen and its overrides set.

use super::annotations::{Annotations, Emit};
use super::code::Site;
use super::error::KernelError;
use super::mask::MOST_ITEMS;
use super::reading::{chosen, parsed, set_overrides, with_stack};
use super::texel::Texture;
use super::types::Types;
use naga::valid::ModuleInfo;
use naga::{AddressSpace, Handle, Module, ShaderStage, Span, StorageAccess, TypeInner};
use std::collections::BTreeMap;

/// Bytes of source that are read.
const MOST_SOURCE: usize = 1 << 20;

/// Memory that the items of a group share with each other, or with all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// `var<workgroup>`: a copy for each group.
    Workgroup,
    /// `var<storage>`.
    Storage,
    /// `var<uniform>`.
    Uniform,
    /// A texture.
    Texture,
}

impl Space {
    /// Its name in WGSL.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Workgroup => "workgroup",
            Self::Storage => "storage",
            Self::Uniform => "uniform",
            Self::Texture => "texture",
        }
    }
}

/// A variable that is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// `@group` and `@binding`.
    pub binding: Option<(u32, u32)>,
    /// Bytes without the elements of an array that has no length.
    pub bytes: u32,
    /// Bytes from one element to the next of an array that has no length, last in it.
    pub stride: Option<u32>,
    /// Whether the shader may write to it.
    pub writes: bool,
    /// What it is where it is a texture.
    pub texture: Option<Texture>,
    pub(super) handle: Handle<naga::GlobalVariable>,
}

/// A sampler that the entry uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// `@group` and `@binding`.
    pub binding: (u32, u32),
    pub(super) handle: Handle<naga::GlobalVariable>,
}

/// A shader that can be run.
#[derive(Debug)]
pub struct Program {
    /// What it is called in messages.
    pub file: String,
    /// Its source.
    pub text: String,
    /// Name of the entry.
    pub entry: String,
    /// Items of a group, by dimension.
    pub group_size: [u32; 3],
    /// Shared variables that the entry uses, in the order of the source.
    pub shared: Vec<Shared>,
    /// Samplers that the entry uses, in the order of the source.
    pub samplers: Vec<Sampler>,
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    pub(super) types: Types,
    pub(super) entry_index: usize,
    /// Variables that the source declares, and their spaces: setting overrides drops those that the entry does not use.
    declared: Vec<(String, AddressSpace)>,
    annotations: Annotations,
    /// Where lines start in what was parsed.
    lines: Vec<usize>,
}

impl Program {
    /// Reads WGSL. `entry` need not be given where there is one compute entry; `overrides` are values by name or `@id`.
    ///
    /// # Errors
    /// [`KernelError`] for text that does not parse or validate, an entry that is not there or not chosen, overrides without a value,
    /// annotations of what is not there.
    pub fn new(
        file: &str,
        text: &str,
        entry: Option<&str>,
        overrides: &BTreeMap<String, f64>,
    ) -> Result<Self, KernelError> {
        Self::with(file, text, entry, overrides, true)
    }

    /// As [`Program::new`]; `// @watch` and `// @emit` are comments as others are where they are not `annotated`.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn with(
        file: &str,
        text: &str,
        entry: Option<&str>,
        overrides: &BTreeMap<String, f64>,
        annotated: bool,
    ) -> Result<Self, KernelError> {
        if text.len() > MOST_SOURCE {
            return Err(KernelError::Source(format!(
                "{file}: {} bytes of source; expected {MOST_SOURCE} at most; take out what is not the kernel",
                text.len()
            )));
        }
        // A mark of the order of bytes is no part of the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let annotations = match annotated {
            true => Annotations::of(file, text)?,
            false => Annotations { text: text.to_owned(), ..Annotations::default() },
        };
        let (module, info) = with_stack(|| parsed(file, &annotations))?;
        let named = |(_, v): (_, &naga::GlobalVariable)| Some((v.name.clone()?, v.space));
        let declared = module.global_variables.iter().filter_map(named).collect();
        let entry = chosen(file, &module, entry)?;
        let (module, info) = with_stack(|| set_overrides(file, module, info, &entry, overrides))?;
        let found = module.entry_points.iter().position(|e| e.name == entry && e.stage == ShaderStage::Compute);
        let entry_index = found.ok_or_else(|| KernelError::Entry(format!("{file}: found no entry {entry}")))?;
        let group_size = module.entry_points[entry_index].workgroup_size;
        let items = group_size.iter().fold(1u64, |product, n| product.saturating_mul((*n).into()));
        if items == 0 || items > MOST_ITEMS as u64 {
            let [x, y, z] = group_size;
            return Err(KernelError::Launch(format!(
                "{file}: @workgroup_size({x}, {y}, {z}) makes groups of {items} items; expected 1 to {MOST_ITEMS}"
            )));
        }
        let types = Types::new(&module)?;
        let lines = std::iter::once(0).chain(annotations.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut program = Self {
            file: file.to_owned(),
            text: text.to_owned(),
            entry,
            group_size,
            shared: Vec::new(),
            samplers: Vec::new(),
            module,
            info,
            types,
            entry_index,
            declared,
            annotations,
            lines,
        };
        (program.shared, program.samplers) = program.find_shared()?;
        program.check_watched()?;
        Ok(program)
    }

    /// Items of a group.
    #[must_use]
    pub fn group_items(&self) -> usize {
        self.group_size.iter().map(|n| *n as usize).product()
    }

    /// What naga made of it, with its overrides set.
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// A line of the source, the first being 1, without the blanks around it.
    #[must_use]
    pub fn source_line(&self, line: u32) -> &str {
        (line as usize).checked_sub(1).and_then(|n| self.text.lines().nth(n)).unwrap_or("").trim()
    }

    /// Values that are told, in the order of the source.
    #[must_use]
    pub fn emits(&self) -> &[Emit] {
        &self.annotations.emits
    }

    /// Whether accesses of the nth of [`Program::shared`] are told: of all, where none is watched.
    #[must_use]
    pub fn is_watched(&self, shared: usize) -> bool {
        let watched = &self.annotations.watched;
        watched.is_empty() || watched.iter().any(|(name, _)| self.shared.get(shared).is_some_and(|s| s.name == *name))
    }

    /// Whether only some variables are watched.
    #[must_use]
    pub fn watches(&self) -> bool {
        !self.annotations.watched.is_empty()
    }

    /// The text that naga read: with expressions in place of annotations.
    pub(super) fn made(&self) -> &str {
        &self.annotations.text
    }

    /// Which of the values is told there.
    pub(super) fn emit_at(&self, span: Span) -> Option<usize> {
        self.annotations.emit_at(&span.to_range()?)
    }

    fn check_watched(&self) -> Result<(), KernelError> {
        let workgroup =
            |name: &str| self.declared.iter().any(|(own, space)| own == name && *space == AddressSpace::WorkGroup);
        let mut watched = self.annotations.watched.iter();
        let Some((name, line)) = watched.find(|(name, _)| !self.declares(name) && !workgroup(name)) else {
            return Ok(());
        };
        let names: Vec<&str> = self.shared.iter().map(|shared| shared.name.as_str()).collect();
        Err(KernelError::Source(format!(
            "{}:{line}: `// @watch {name}`: found no shared variable of this name; expected one of {}",
            self.file,
            names.join(", ")
        )))
    }

    /// Whether there is a buffer, texture or sampler of that name, be it that the entry does not use it.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        let is_buffer =
            |space| matches!(space, AddressSpace::Storage { .. } | AddressSpace::Uniform | AddressSpace::Handle);
        self.declared.iter().any(|(own, space)| own == name && is_buffer(*space))
    }

    /// Places in the source that access shared memory, by number.
    ///
    /// # Errors
    /// [`KernelError::Unsupported`] for what cannot be run.
    pub fn sites(&self) -> Result<Vec<Site>, KernelError> {
        Ok(self.compiled()?.told_sites().to_vec())
    }

    /// The line of the entry's name.
    pub(super) fn entry_line(&self) -> u32 {
        let at = self.made().find(&format!("fn {}", self.entry)).unwrap_or(0);
        u32::try_from(self.lines.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    /// The line that something starts in, the first being 1.
    pub(super) fn line_of(&self, span: Span) -> u32 {
        let at = span.to_range().map_or(0, |range| range.start);
        u32::try_from(self.lines.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    fn find_shared(&self) -> Result<(Vec<Shared>, Vec<Sampler>), KernelError> {
        let uses = self.info.get_entry_point(self.entry_index);
        let (mut shared, mut samplers) = (Vec::new(), Vec::new());
        for (handle, variable) in self.module.global_variables.iter() {
            if uses[handle].is_empty() {
                continue;
            }
            let name = variable.name.clone().unwrap_or_default();
            let unsupported = |what: String| KernelError::Unsupported {
                file: self.file.clone(),
                line: self.line_of(self.module.global_variables.get_span(handle)),
                what,
                remedy: "expected variables in workgroup, storage, uniform or private memory, textures of one sample, or samplers",
            };
            let (space, writes) = match variable.space {
                AddressSpace::WorkGroup => (Space::Workgroup, true),
                AddressSpace::Storage { access } => (Space::Storage, access.contains(StorageAccess::STORE)),
                AddressSpace::Uniform => (Space::Uniform, false),
                AddressSpace::Private => continue,
                AddressSpace::Handle => (Space::Texture, false),
                other => return Err(unsupported(format!("{name} in memory of the kind {other:?}"))),
            };
            if let TypeInner::BindingArray { .. } = self.module.types[variable.ty].inner {
                return Err(unsupported(format!("{name}, an array of bindings,")));
            }
            let binding = variable.binding.map(|at| (at.group, at.binding));
            if space == Space::Texture {
                let inner = &self.module.types[variable.ty].inner;
                if let (TypeInner::Sampler { comparison: false }, Some(binding)) = (inner, binding) {
                    samplers.push(Sampler { name, binding, handle });
                    continue;
                }
                let sampled = uses.sampling_set.iter().any(|key| key.image == handle);
                let texture = Texture::of(inner, sampled).map_err(|what| unsupported(format!("{name}, {what},")))?;
                if texture.is_none() {
                    return Err(unsupported(format!("{name}, which is no texture and no sampler of one,")));
                }
                let writes = texture.and_then(|texture| texture.storage).is_some_and(|(_, writes)| writes);
                shared.push(Shared { name, space, binding, bytes: 0, stride: None, writes, texture, handle });
                continue;
            }
            let bytes = self.types.layout(variable.ty).0;
            let stride = self.open_stride(variable.ty);
            // An array without a length counts one element in its size.
            let fixed = match (&self.module.types[variable.ty].inner, stride) {
                (TypeInner::Array { .. }, Some(_)) => 0,
                (TypeInner::Struct { members, .. }, Some(_)) => members.last().map_or(0, |member| member.offset),
                _ => bytes,
            };
            shared.push(Shared { name, space, binding, bytes: fixed, stride, writes, texture: None, handle });
        }
        Ok((shared, samplers))
    }

    /// The stride of an array without a length, which is the type or its last member.
    fn open_stride(&self, ty: Handle<naga::Type>) -> Option<u32> {
        match &self.module.types[ty].inner {
            TypeInner::Array { size, stride, .. } => super::types::elements(*size).is_none().then_some(*stride),
            TypeInner::Struct { members, .. } => members.last().and_then(|member| self.open_stride(member.ty)),
            _ => None,
        }
    }
}
