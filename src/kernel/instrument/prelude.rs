//! The functions that instrumented kernels call: WGSL, parsed, and put before the functions of the kernel.

use super::super::error::KernelError;
use naga::{Block, Expression, Function, GlobalVariable, Handle, Module, ResourceBinding, Span, Statement, Type};
use std::collections::BTreeMap;

const TEXT: &str = include_str!("prelude.wgsl");

/// Where things of the prelude are in the module that took them in.
#[derive(Debug)]
pub(super) struct Prelude {
    functions: BTreeMap<String, Handle<Function>>,
    variables: BTreeMap<String, Handle<GlobalVariable>>,
}

impl Prelude {
    /// Puts the prelude into a module whose functions were taken out. Its buffer is bound there.
    pub(super) fn into_module(module: &mut Module, binding: ResourceBinding) -> Result<Self, KernelError> {
        let from = naga::front::wgsl::parse_str(TEXT)
            .map_err(|error| KernelError::Source(error.emit_to_string_with_path(TEXT, "prelude.wgsl")))?;
        let mut types: BTreeMap<Handle<Type>, Handle<Type>> = BTreeMap::new();
        for (handle, ty) in from.types.iter() {
            let mut ty = ty.clone();
            if let naga::TypeInner::Array { base, .. } = &mut ty.inner {
                *base = types[base];
            }
            types.insert(handle, module.types.insert(ty, Span::UNDEFINED));
        }
        let mut globals = BTreeMap::new();
        let mut variables = BTreeMap::new();
        for (handle, variable) in from.global_variables.iter() {
            let mut variable = variable.clone();
            variable.ty = types[&variable.ty];
            variable.binding = variable.binding.map(|_| binding);
            let name = variable.name.clone().unwrap_or_default();
            variable.name = Some(format!("orrery_{name}"));
            let here = module.global_variables.append(variable, Span::UNDEFINED);
            globals.insert(handle, here);
            variables.insert(name, here);
        }
        let mut functions = BTreeMap::new();
        let mut moved = BTreeMap::new();
        for (handle, function) in from.functions.iter() {
            let mut function = function.clone();
            let name = function.name.clone().unwrap_or_default();
            function.name = Some(format!("orrery_{name}"));
            function.arguments.iter_mut().for_each(|argument| argument.ty = types[&argument.ty]);
            function.result.iter_mut().for_each(|result| result.ty = types[&result.ty]);
            for (_, expression) in function.expressions.iter_mut() {
                match expression {
                    Expression::GlobalVariable(variable) => *variable = globals[variable],
                    Expression::Compose { ty, .. } | Expression::ZeroValue(ty) => *ty = types[ty],
                    Expression::CallResult(function) => *function = moved[function],
                    _ => {}
                }
            }
            calls(&mut function.body, &|function| moved[&function]);
            let here = module.functions.append(function, Span::UNDEFINED);
            moved.insert(handle, here);
            functions.insert(name, here);
        }
        Ok(Self { functions, variables })
    }

    pub(super) fn function(&self, name: &str) -> Handle<Function> {
        self.functions[name]
    }

    pub(super) fn variable(&self, name: &str) -> Handle<GlobalVariable> {
        self.variables[name]
    }
}

/// Turns calls of functions into those of what they are now.
pub(super) fn calls(block: &mut Block, to: &impl Fn(Handle<Function>) -> Handle<Function>) {
    for statement in block.iter_mut() {
        match statement {
            Statement::Call { function, .. } => *function = to(*function),
            Statement::Block(block) => calls(block, to),
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(|block| calls(block, to)),
            Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| calls(&mut case.body, to)),
            Statement::Loop { body, continuing, .. } => {
                [body, continuing].into_iter().for_each(|block| calls(block, to))
            }
            _ => {}
        }
    }
}
