//! A kernel rewritten so that an adapter tells what its items do: naga's statements, with others between them that write words.
//!
//! ```text
//! a[i] = a[i + s];        past the end? its index, or the byte of a[i + s]; then that of a[i]
//! if c { .. }             the bit of c
//! for ..                  the bit of its test; a round fewer that may be gone
//! ```
//!
//! Each item has a slot of a storage buffer for itself, so nothing is counted together and the words are the same each time. Words past
//! the slot are counted and not kept; whoever runs it looks at the count and gives more room. A launch may be cut into parts: the
//! numbers of groups and items are computed from what is launched in whole.

mod body;
mod images;
mod prelude;

use super::code::{Compiled, Value, Which};
use super::error::KernelError;
use super::program::Program;
use body::{Shared, Writer};
use naga::{
    Arena, Binding, Block, BuiltIn, EntryPoint, Expression, FunctionArgument, Module, ResourceBinding, Scalar,
    ShaderStage, Span, Statement, Type, TypeInner, VectorSize,
};
use prelude::Prelude;
use std::collections::BTreeMap;

/// Words before the slots.
pub const HEAD: usize = 8;
/// Words of a slot before those of its item.
pub const SLOT_HEAD: usize = 2;
/// Words of a slot that are not its item's: those before, and the one that takes what has no room.
pub const SLOT_MORE: usize = SLOT_HEAD + 1;

/// Name of the entry that is run.
pub const ENTRY: &str = "orrery_main";

/// A kernel that tells what it does.
#[derive(Debug, Clone)]
pub struct Instrumented {
    /// The module; its entry is [`ENTRY`].
    pub module: Module,
    /// `@group` and `@binding` of the buffer that it writes to.
    pub recorder: (u32, u32),
}

impl Program {
    pub(super) fn instrumented(&self, compiled: &Compiled) -> Result<Instrumented, KernelError> {
        let mut module = self.module.clone();
        let recorder = self.free_binding();
        let old = std::mem::take(&mut module.functions);
        let binding = ResourceBinding { group: recorder.0, binding: recorder.1 };
        let prelude = Prelude::into_module(&mut module, binding)?;
        let number = module.types.insert(Type { name: None, inner: TypeInner::Scalar(Scalar::U32) }, Span::UNDEFINED);
        let threes = [Scalar::U32, Scalar::I32, Scalar::F32].map(|scalar| {
            let inner = TypeInner::Vector { size: VectorSize::Tri, scalar };
            module.types.insert(Type { name: None, inner }, Span::UNDEFINED)
        });
        let mut shared = Shared { program: self, prelude: &prelude, number, threes, moved: BTreeMap::new() };
        for (handle, function) in old.iter() {
            let mut function = function.clone();
            let which = Which::Function(handle);
            // A function that the entry does not reach goes, below.
            let Some(code) = compiled.codes.iter().find(|code| code.which == which) else { continue };
            moved_results(&mut function.expressions, &shared);
            body::instrument(&shared, code, &mut function)?;
            let new = module.functions.append(function, old.get_span(handle));
            shared.moved.insert(handle, new);
        }
        let Some(code) = compiled.codes.last() else { return Err(KernelError::Entry(self.entry.clone())) };
        let mut function = self.function(Which::Entry).clone();
        moved_results(&mut function.expressions, &shared);
        body::instrument(&shared, code, &mut function)?;
        let bindings: Vec<Option<Binding>> =
            function.arguments.iter_mut().map(|argument| argument.binding.take()).collect();
        function.name = Some("orrery_kernel".into());
        let arguments: Vec<(Option<Binding>, naga::Handle<Type>)> =
            bindings.into_iter().zip(function.arguments.iter().map(|argument| argument.ty)).collect();
        let kernel = module.functions.append(function, Span::UNDEFINED);
        let entry = self.entry_around(&mut module, &prelude, kernel, &arguments)?;
        module.entry_points = vec![entry];
        naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
        Ok(Instrumented { module, recorder })
    }

    /// A binding that no variable of the entry has, in the first of the groups that there are.
    fn free_binding(&self) -> (u32, u32) {
        let used = |group| {
            let samplers = self.samplers.iter().map(|sampler| sampler.binding);
            let all = self.shared.iter().filter_map(|shared| shared.binding).chain(samplers);
            all.filter(move |(at, _)| *at == group).map(|(_, binding)| binding)
        };
        (0, (0..).find(|binding| used(0).all(|taken| taken != *binding)).unwrap_or(u32::MAX))
    }

    /// The entry that calls what was the entry.
    fn entry_around(
        &self,
        module: &mut Module,
        prelude: &Prelude,
        kernel: naga::Handle<naga::Function>,
        wanted: &[(Option<Binding>, naga::Handle<Type>)],
    ) -> Result<EntryPoint, KernelError> {
        let number = module.types.insert(Type { name: None, inner: TypeInner::Scalar(Scalar::U32) }, Span::UNDEFINED);
        let three = TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::U32 };
        let three = module.types.insert(Type { name: None, inner: three }, Span::UNDEFINED);
        let argument = |name: &str, ty, builtin| FunctionArgument {
            name: Some(name.into()),
            ty,
            binding: Some(Binding::BuiltIn(builtin)),
        };
        let arguments = vec![
            argument("group", three, BuiltIn::WorkGroupId),
            argument("local", three, BuiltIn::LocalInvocationId),
            argument("index", number, BuiltIn::LocalInvocationIndex),
        ];
        let mut expressions = Arena::new();
        let mut writer = Writer { expressions: &mut expressions, block: Block::new() };
        let [group, local, index] = [0, 1, 2].map(|n| writer.value(Expression::FunctionArgument(n)));
        let components = self.group_size.map(|n| writer.literal(n)).to_vec();
        let size = writer.value(Expression::Compose { ty: three, components });
        let begins = writer.ask(prelude.function("begin"), vec![group, local, index, size]);
        let start = std::mem::take(&mut writer.block);
        let mut given = Vec::new();
        for (binding, ty) in wanted {
            let mut builtin = |builtin: BuiltIn| -> Result<Value, KernelError> {
                let mut kept = |name: &str| {
                    let pointer = writer.value(Expression::GlobalVariable(prelude.variable(name)));
                    writer.value(Expression::Load { pointer })
                };
                Ok(match builtin {
                    BuiltIn::GlobalInvocationId => kept("global_id"),
                    BuiltIn::WorkGroupId => kept("group_id"),
                    BuiltIn::NumWorkGroups => kept("groups"),
                    BuiltIn::LocalInvocationId => local,
                    BuiltIn::LocalInvocationIndex => index,
                    BuiltIn::WorkGroupSize => size,
                    other => return Err(self.no_builtin(&format!("the builtin {other:?}"))),
                })
            };
            let members = match (&module.types[*ty].inner, binding) {
                (_, Some(Binding::BuiltIn(one))) => {
                    given.push(builtin(*one)?);
                    continue;
                }
                (TypeInner::Struct { members, .. }, None) => members,
                _ => return Err(self.no_builtin("an argument that is no builtin")),
            };
            let mut components = Vec::new();
            for member in members {
                match member.binding {
                    Some(Binding::BuiltIn(one)) => components.push(builtin(one)?),
                    _ => return Err(self.no_builtin("an argument that is no builtin")),
                }
            }
            given.push(writer.value(Expression::Compose { ty: *ty, components }));
        }
        writer.call(kernel, given);
        writer.call(prelude.function("done"), Vec::new());
        let accept = std::mem::replace(&mut writer.block, start);
        writer.push(Statement::If { condition: begins, accept, reject: Block::new() });
        writer.push(Statement::Return { value: None });
        let body = writer.block;
        let function =
            naga::Function { name: Some(ENTRY.into()), arguments, expressions, body, ..naga::Function::default() };
        Ok(EntryPoint {
            name: ENTRY.into(),
            stage: ShaderStage::Compute,
            early_depth_test: None,
            workgroup_size: self.group_size,
            workgroup_size_overrides: None,
            function,
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        })
    }

    fn no_builtin(&self, what: &str) -> KernelError {
        KernelError::Unsupported {
            file: self.file.clone(),
            line: self.entry_line(),
            what: what.to_owned(),
            remedy: "write it in another way",
        }
    }
}

/// Results are those of functions where they are now.
fn moved_results(expressions: &mut Arena<Expression>, shared: &Shared<'_>) {
    for (_, expression) in expressions.iter_mut() {
        if let Expression::CallResult(function) = expression
            && let Some(new) = shared.moved.get(function)
        {
            *function = *new;
        }
    }
}
