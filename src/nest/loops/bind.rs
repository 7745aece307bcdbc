//! What a `.loops` file says, under values of its parameters.

use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::form::Form;
use super::super::grammar::{File, ForItem, Item, Level, Schedule, StatementItem};
use super::super::lexer::{At, place, short};
use super::super::settings::Settings;
use super::super::symbolic::operations;
use super::super::tree::{Access, Block, Branch, Check, Cores, Loop, Nest, Node, Statement};
use super::super::walk::fingerprint;
use super::Parameter;
use super::arrays::{Array, array};
use std::collections::BTreeMap;

/// What a symbol may be tried with that has no value.
const SAMPLE: i64 = 16;
/// Cores of a parallel loop, at most.
const MOST_CORES: i64 = 512;

fn evaluated(name: &str, at: At, expr: &Expr, what: &str, known: &BTreeMap<&str, i64>) -> Result<i64, NestError> {
    let resolved = expr.resolved(&mut |word| known.get(word).map(|value| Expr::num(*value))).map_err(|word| {
        let known: Vec<&str> = known.keys().copied().collect();
        let known = if known.is_empty() { "no parameter is known here".into() } else { known.join(", ") };
        NestError::new(
            place(name, at),
            format!("`{}` in {what}", short(&word)),
            format!("numbers and parameters that stand before it ({known})"),
            format!("declare it: param {} = {SAMPLE}", short(&word)),
        )
    })?;
    resolved.eval(&[]).map_err(|error| {
        NestError::new(place(name, at), format!("{error} in {what}"), "a whole number", "correct it, or its parameters")
    })
}

pub(super) fn parameters(name: &str, file: &File, settings: &Settings) -> Result<Vec<Parameter>, NestError> {
    let mut known: BTreeMap<&str, i64> = BTreeMap::new();
    let mut out: Vec<Parameter> = Vec::new();
    for param in &file.params {
        if out.iter().any(|other| other.name == param.name) {
            let found = format!("a second parameter `{}`", param.name);
            return Err(NestError::new(place(name, param.at), found, "names that differ", "rename one of them"));
        }
        let of = format!("the parameter `{}`", param.name);
        let range = param.range.as_ref().map(|(from, to)| -> Result<_, NestError> {
            let [from, to] = [from, to].map(|e| evaluated(name, param.at, e, &of, &known));
            Ok((from?, to?))
        });
        let range = range.transpose()?;
        let default = param.value.as_ref().map(|e| evaluated(name, param.at, e, &of, &known)).transpose();
        let value = match settings.get(&param.name) {
            Some(value) => Some(value),
            None => default?,
        };
        if let (Some(value), Some((from, to))) = (value, range)
            && !(from..=to).contains(&value)
        {
            return Err(NestError::new(
                place(name, param.at),
                format!("{}={value}", param.name),
                format!("a value of {from} to {to}"),
                "set one of these, or widen the range",
            ));
        }
        known.extend(value.map(|value| (param.name.as_str(), value)));
        out.push(Parameter { name: param.name.clone(), value, range });
    }
    for (set, _) in settings.iter() {
        if !out.iter().any(|param| param.name == set) {
            let names: Vec<&str> = out.iter().map(|param| param.name.as_str()).collect();
            let names = if names.is_empty() { "none, for the file has no parameters".into() } else { names.join(", ") };
            let found = format!("a value for `{}`", short(set));
            return Err(NestError::new(
                name,
                found,
                format!("one for a parameter of the file: {names}"),
                "leave it out",
            ));
        }
    }
    Ok(out)
}

/// What a name stands for.
enum Meaning {
    Number(i64),
    Slot(usize),
}

struct Binder<'a> {
    name: &'a str,
    names: BTreeMap<String, Meaning>,
    arrays: BTreeMap<&'a str, Array>,
    nest: Nest,
}

/// The nest of a file; where it is `symbolic`, parameters are slots that have their values.
pub(super) fn bind(
    name: &str,
    text: &str,
    file: &File,
    settings: &Settings,
    symbolic: bool,
) -> Result<Nest, NestError> {
    let params = parameters(name, file, settings)?;
    let missing: Vec<&str> = params.iter().filter(|p| p.value.is_none()).map(|p| p.name.as_str()).collect();
    if !missing.is_empty() {
        let sample = |n: &&str| {
            let range = params.iter().find(|p| p.name == **n).and_then(|p| p.range);
            format!("--set {n}={}", range.map_or(SAMPLE, |(from, to)| SAMPLE.max(from).min(to)))
        };
        let samples: Vec<String> = missing.iter().map(sample).collect();
        return Err(NestError::new(
            name,
            format!("no value for {}", missing.join(", ")),
            "a value for each parameter",
            format!("try {}", samples.join(" ")),
        ));
    }
    let values: Vec<(&str, i64)> = params.iter().filter_map(|p| Some((p.name.as_str(), p.value?))).collect();
    let known: BTreeMap<&str, i64> = values.iter().copied().collect();
    let mut binder = Binder {
        name,
        names: values.iter().map(|(name, value)| ((*name).to_owned(), Meaning::Number(*value))).collect(),
        arrays: BTreeMap::new(),
        nest: Nest {
            name: name.to_owned(),
            title: file.title.clone(),
            subtitle: file.about.clone(),
            identity: fingerprint("loops", text, settings),
            ..Nest::default()
        },
    };
    for decl in &file.arrays {
        if binder.arrays.contains_key(decl.name.as_str()) || known.contains_key(decl.name.as_str()) {
            let found = format!("a second `{}`", decl.name);
            return Err(NestError::new(place(name, decl.at), found, "names that differ", "rename one of them"));
        }
        let eval = |expr: &Expr, what: &str| {
            evaluated(name, decl.at, expr, &format!("{what} of array `{}`", decl.name), &known)
        };
        let (container, array, notices) = array(name, decl, binder.nest.containers.len(), &eval)?;
        binder.nest.containers.push(container);
        binder.nest.notices.extend(notices);
        binder.arrays.insert(&decl.name, array);
    }
    if symbolic {
        for (name, value) in &values {
            let slot = binder.slot(name);
            binder.nest.initial[slot] = *value;
            binder.nest.parameters.push(slot);
            binder.names.insert((*name).to_owned(), Meaning::Slot(slot));
        }
    }
    let nodes = binder.items(&file.body)?;
    binder.nest.root = Block::of(nodes);
    if binder.nest.subtitle.is_empty() {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        binder.nest.subtitle = values.join(", ");
    }
    Ok(binder.nest)
}

impl Binder<'_> {
    fn fault(&self, at: At, found: String, expected: &str, remedy: &str) -> NestError {
        NestError::new(place(self.name, at), found, expected, remedy)
    }

    fn resolved(&self, at: At, expr: &Expr) -> Result<Expr, NestError> {
        let names = &self.names;
        let meaning = |word: &str| match names.get(word)? {
            Meaning::Number(value) => Some(Expr::num(*value)),
            Meaning::Slot(slot) => Some(Expr::slot(*slot)),
        };
        expr.resolved(&mut { meaning }).map_err(|word| {
            let is_array = self.arrays.contains_key(&*word);
            let known: Vec<&str> = self.names.keys().map(String::as_str).collect();
            let found = format!("{} `{}`", if is_array { "the array" } else { "the name" }, short(&word));
            let expected = format!("a loop index or parameter: {}", known.join(", "));
            self.fault(at, found, &expected, "correct it, or declare it by `param` or `for`")
        })
    }

    fn constant(&self, at: At, expr: &Expr, what: &str) -> Result<i64, NestError> {
        let resolved = self.resolved(at, expr)?;
        if resolved.slots().any(|slot| !self.nest.parameters.contains(&slot)) {
            let found = format!("{what} that changes with a loop index");
            return Err(self.fault(
                at,
                found,
                "a number, or parameters",
                "write one that is the same in all iterations",
            ));
        }
        let value = resolved.eval(&self.nest.initial);
        value.map_err(|error| self.fault(at, format!("{error} in {what}"), "a whole number", "correct it"))
    }

    /// What [`Binder::constant`] found, in parameters where these are kept.
    fn kept(&self, at: At, expr: &Expr, value: i64) -> Result<Expr, NestError> {
        if self.nest.parameters.is_empty() { Ok(Expr::num(value)) } else { self.resolved(at, expr) }
    }

    fn items(&mut self, items: &[Item]) -> Result<Vec<Node>, NestError> {
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Item::For(item) => nodes.push(self.for_loop(item)?),
                Item::If { at, condition, yes, no } => {
                    let condition = Form::of(self.resolved(*at, condition)?);
                    let (yes, no) = (Block::of(self.items(yes)?), Block::of(self.items(no)?));
                    nodes.push(Node::If(Box::new(Branch { condition, yes, no })));
                }
                Item::Statement(item) => self.statement(item, &mut nodes)?,
            }
        }
        Ok(nodes)
    }

    fn slot(&mut self, name: &str) -> usize {
        self.nest.slots.push(name.to_owned());
        self.nest.initial.push(super::super::expr::UNSET);
        self.nest.slots.len() - 1
    }

    /// A loop index is known from here on.
    fn index(&mut self, level: &Level) -> Result<usize, NestError> {
        let taken = self.names.contains_key(&level.name) || self.arrays.contains_key(level.name.as_str());
        if taken {
            let found = format!("a second `{}`", level.name);
            return Err(self.fault(level.at, found, "a name that nothing else has here", "rename the loop index"));
        }
        let slot = self.slot(&level.name);
        self.names.insert(level.name.clone(), Meaning::Slot(slot));
        Ok(slot)
    }

    fn for_loop(&mut self, item: &ForItem) -> Result<Node, NestError> {
        let mut parallel = match &item.parallel {
            None => None,
            Some((cores, schedule)) => {
                let cores = self.constant(item.at, cores, "a number of cores")?;
                let Some(cores) = u16::try_from(cores).ok().filter(|n| (1..=MOST_CORES).contains(&i64::from(*n)))
                else {
                    let expected = format!("1 to {MOST_CORES}");
                    return Err(self.fault(item.at, format!("parallel on {cores} cores"), &expected, "correct it"));
                };
                Some((cores, schedule))
            }
        };
        // Loops from the outermost to the innermost: those over tiles first.
        let mut heads: Vec<Loop> = Vec::new();
        let mut tiles: Vec<Option<(usize, Expr)>> = Vec::new();
        for level in &item.levels {
            let Some(tile) = &level.tile else {
                tiles.push(None);
                continue;
            };
            let tile = self.constant(level.at, tile, "a tile")?;
            let step = self.constant(level.at, &level.step, "the step of tiles")?;
            let inside = item.levels.iter().find(|other| {
                [&level.from, &level.to].into_iter().flat_map(|e| e.names()).any(|name| **name == *other.name)
            });
            let wide = tile.checked_mul(step).filter(|_| tile >= 1 && step >= 1);
            let Some(wide) = wide.filter(|_| inside.is_none()) else {
                let found = match inside {
                    Some(other) => format!("tiles of `{}`, whose bounds change with `{}`", level.name, other.name),
                    None => format!("tiles of {tile} iterations of step {step}"),
                };
                let expected = "tiles of 1 or more iterations, a step above 0, bounds that this `for` does not change";
                return Err(self.fault(level.at, found, expected, "write the loop over tiles as a `for` of its own"));
            };
            let (from, to) = (self.resolved(level.at, &level.from)?, self.end(level, step)?);
            let slot = self.slot(&format!("{}_tile", level.name));
            let (tile, step) = (
                level.tile.as_ref().map(|e| self.kept(level.at, e, tile)).transpose()?,
                self.kept(level.at, &level.step, step)?,
            );
            let wide = tile.map_or(Expr::num(wide), |tile| tile.times(step));
            let wide = if wide.slots().next().is_none() { wide.eval(&[]).map_or(wide, Expr::num) } else { wide };
            heads.push(Loop::new(slot, [from, to, wide.clone()], Vec::new()));
            tiles.push(Some((slot, wide)));
        }
        for (level, tile) in item.levels.iter().zip(&tiles) {
            let step = self.constant(level.at, &level.step, "the step of a loop")?;
            if step == 0 {
                let found = format!("step 0 of `{}`", level.name);
                return Err(self.fault(level.at, found, "a step that gets on", "write a step such as 1 or -1"));
            }
            let (mut from, mut to) = (self.resolved(level.at, &level.from)?, self.end(level, step)?);
            if let Some((slot, wide)) = tile {
                from = Expr::slot(*slot);
                to = Expr::slot(*slot).plus(wide.clone()).with(to, Op::Min);
            }
            let slot = self.index(level)?;
            let step = self.kept(level.at, &level.step, step)?;
            heads.push(Loop::new(slot, [from, to, step], Vec::new()));
        }
        if let (Some(first), Some((cores, schedule))) = (heads.first_mut(), parallel.take()) {
            first.cores = Some(match schedule {
                Schedule::Blocks => Cores::Blocks(cores),
                Schedule::Cyclic => Cores::Cyclic(cores),
                Schedule::On(expr) => Cores::On(cores, Form::of(self.resolved(item.at, expr)?)),
            });
        }
        let mut body = self.items(&item.body)?;
        for level in &item.levels {
            self.names.remove(&level.name);
        }
        while let Some(head) = heads.pop() {
            body = vec![Node::Loop(Box::new(Loop { body: Block::of(body), ..head }))];
        }
        body.pop().ok_or_else(|| self.fault(item.at, "a loop without an index".into(), "one", "name it"))
    }

    /// The first value past the end.
    fn end(&self, level: &Level, step: i64) -> Result<Expr, NestError> {
        let to = self.resolved(level.at, &level.to)?;
        Ok(if level.closed { to.plus(Expr::num(step.signum())) } else { to })
    }

    fn statement(&mut self, item: &StatementItem, nodes: &mut Vec<Node>) -> Result<(), NestError> {
        let number = self.nest.statements.len();
        self.nest.statements.push(Statement {
            name: format!("{}: `{}`", place(self.name, item.at), short(&item.text)),
            file: self.name.to_owned(),
            line: item.at.line,
            text: item.text.clone(),
            operations: operations(&item.text),
            state: String::new(),
        });
        for touch in &item.accesses {
            let Some(array) = self.arrays.get(touch.array.as_str()) else {
                let found = format!("`{}`", short(&touch.array));
                return Err(self.fault(touch.at, found, "an array that is declared", "declare it by `array`"));
            };
            if touch.indices.len() != array.shape.len() {
                let found = format!("{} of `{}`", indices(touch.indices.len()), touch.array);
                let expected = indices(array.shape.len());
                return Err(self.fault(touch.at, found, &expected, "give one for each extent"));
            }
            let list: Vec<Expr> = touch.indices.iter().map(|e| self.resolved(touch.at, e)).collect::<Result<_, _>>()?;
            let extents = list.iter().zip(&array.shape).enumerate();
            let checks = extents.map(|(dimension, (index, extent))| Check {
                index: Form::of(index.clone()),
                extent: Form::num(*extent),
                dimension,
            });
            let checks = checks.collect();
            nodes.push(Node::Access(Access::new(array.container, touch.kind, number, array.offset(&list), checks)));
        }
        Ok(())
    }
}

fn indices(count: usize) -> String {
    if count == 1 { "1 index".into() } else { format!("{count} indices") }
}
