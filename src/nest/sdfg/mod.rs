//! Dataflow graphs of DaCe, `*.sdfg`: states, maps, tasklets and nested graphs into a nest.
//!
//! The order of accesses: states as control goes; in a state, and in each scope of a map, nodes in topological order, of those that are
//! free at the same time the first in the file; maps in the order of their iterations, the last parameter fastest; of a tasklet its
//! in-edges in the order of the file, then its out-edges. A memlet of several elements touches each of them, in rows. A write with conflict
//! resolution (`wcr`) is one access. A copy between containers reads an element and writes it, element by element, when its source comes.
//!
//! What has no exact stream, library nodes and dynamic memlets, is told by [`Nest::gaps`](super::Nest::gaps).

mod copies;
mod data;
mod flow;
mod json;
mod state;

use super::expr::{Expr, UNSET};
use super::fault::NestError;
use super::settings::Settings;
use super::symbolic::Volumes;
use super::tree::{Block, Nest};
use super::walk::fingerprint;
use data::Frame;
use json::text_of;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a symbol may be tried with that has no value.
const SAMPLE: i64 = 16;
/// Graphs and scopes within one another, at most.
const DEEPEST: usize = 60;

/// A file that was read; its symbols have no values yet.
#[derive(Clone, Debug)]
pub struct Graph {
    name: String,
    text: String,
    root: Value,
}

impl Graph {
    /// Reads a text; `name` is what messages call it.
    ///
    /// # Errors
    /// When it is no JSON, or no SDFG.
    pub fn parse(name: &str, text: &str) -> Result<Self, NestError> {
        let root: Value = serde_json::from_str(text).map_err(|error| {
            let place = format!("{name}:{}:{}", error.line(), error.column());
            NestError::new(place, format!("no JSON ({error})"), "an SDFG as DaCe saves it", "save it again")
        })?;
        if text_of(root.get("type")) != "SDFG" {
            let found = match root.get("type").and_then(Value::as_str) {
                Some(kind) => format!("JSON of the type `{}`", super::lexer::short(kind)),
                None => "JSON without a type".into(),
            };
            return Err(NestError::new(name, found, "JSON of the type `SDFG`", "save the graph by sdfg.save in DaCe"));
        }
        Ok(Self { name: name.to_owned(), text: text.to_owned(), root })
    }

    /// Whether content that starts so is such a file.
    #[must_use]
    pub fn looks_like(head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        let head = head.trim_start_matches('\u{feff}').trim_start();
        let mut rest = head.split('"');
        head.starts_with('{')
            && (head.contains("\"SDFG\"") || head.contains("\"_arrays\"") || head.contains("\"SDFGState\""))
            && rest.nth(1).is_some()
    }

    /// The nest under these values of its symbols.
    ///
    /// # Errors
    /// Where a symbol has no value, a container no size, or the graph is none that DaCe writes.
    pub fn bind(&self, settings: &Settings) -> Result<Nest, NestError> {
        self.lowered(settings, false)
    }

    /// The nest as [`Graph::bind`] makes it, what its parts move and compute as expressions in the symbols.
    ///
    /// # Errors
    /// As there, and where accesses cannot be counted.
    pub fn volumes(&self, settings: &Settings) -> Result<Volumes, NestError> {
        Volumes::of(self.lowered(settings, true)?)
    }

    fn lowered(&self, settings: &Settings, symbolic: bool) -> Result<Nest, NestError> {
        let mut lower = Lower {
            name: &self.name,
            settings,
            nest: Nest {
                name: self.name.clone(),
                title: text_of(self.root.pointer("/attributes/name")).to_owned(),
                identity: fingerprint("sdfg", &self.text, settings),
                ..Nest::default()
            },
            missing: BTreeSet::new(),
            asked: BTreeSet::new(),
            names: BTreeSet::new(),
            depth: 0,
            symbols: symbolic.then(BTreeMap::new),
        };
        let symbols = self.root.pointer("/attributes/symbols").and_then(Value::as_object);
        lower.asked.extend(symbols.into_iter().flatten().map(|(name, _)| name.clone()));
        let mut frame = Frame::root(&self.root);
        lower.containers(&mut frame, true)?;
        let nodes = lower.graph(&self.root, &mut frame)?;
        lower.finish(nodes)
    }
}

/// Why a part makes no accesses here, and what to do about it.
struct Skip(String);

/// Either the file is wrong, or a part of it has no exact stream.
enum Trouble {
    Wrong(NestError),
    Skip(Skip),
}

impl From<NestError> for Trouble {
    fn from(error: NestError) -> Self {
        Self::Wrong(error)
    }
}

impl From<Skip> for Trouble {
    fn from(skip: Skip) -> Self {
        Self::Skip(skip)
    }
}

/// Turns a graph into a nest.
struct Lower<'a> {
    name: &'a str,
    settings: &'a Settings,
    nest: Nest,
    /// Symbols without a value.
    missing: BTreeSet<String>,
    /// Symbols that were asked for.
    asked: BTreeSet<String>,
    /// Names of containers so far.
    names: BTreeSet<String>,
    depth: usize,
    /// Slots of symbols, where these are to stay symbols.
    symbols: Option<BTreeMap<String, usize>>,
}

impl Lower<'_> {
    fn finish(mut self, nodes: Vec<super::tree::Node>) -> Result<Nest, NestError> {
        if !self.missing.is_empty() {
            let names: Vec<&str> = self.missing.iter().map(String::as_str).collect();
            let samples: Vec<String> = names.iter().map(|name| format!("--set {name}={SAMPLE}")).collect();
            return Err(NestError::new(
                self.name,
                format!("no value for {}", names.join(", ")),
                "a value for each symbol, and each scalar that bounds a loop",
                format!("try {}", samples.join(" ")),
            ));
        }
        if let Some((unknown, _)) = self.settings.iter().find(|(name, _)| !self.asked.contains(*name)) {
            let known: Vec<&str> = self.asked.iter().map(String::as_str).collect();
            let known = if known.is_empty() { "none, for the graph has none".into() } else { known.join(", ") };
            let found = format!("a value for `{}`", super::lexer::short(unknown));
            return Err(NestError::new(self.name, found, format!("one for a symbol: {known}"), "leave it out"));
        }
        let values: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        self.nest.subtitle = values.join(", ");
        self.nest.root = Block::of(nodes);
        Ok(self.nest)
    }

    fn wrong(&self, place: &str, found: impl Into<String>, expected: &str) -> NestError {
        let place = if place.is_empty() { self.name.to_owned() } else { format!("{}, {place}", self.name) };
        NestError::new(place, found, expected, "save the graph again with DaCe")
    }

    fn gap(&mut self, words: String) {
        if !self.nest.gaps.contains(&words) {
            self.nest.gaps.push(words);
        }
    }

    fn slot(&mut self, name: &str) -> usize {
        self.nest.slots.push(name.to_owned());
        self.nest.initial.push(UNSET);
        self.nest.slots.len() - 1
    }

    /// Goes one scope deeper; [`Lower::depth`] is set back by whoever called.
    fn deeper(&mut self, place: &str) -> Result<(), NestError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let found = format!("more than {DEEPEST} graphs and maps within one another");
            return Err(self.wrong(place, found, "fewer"));
        }
        Ok(())
    }

    /// What a text or number of the file stands for, in the names of a frame.
    fn expr(&mut self, value: &Value, frame: &Frame<'_>, place: &str) -> Result<Expr, Trouble> {
        let text = match value {
            Value::Number(number) => match number.as_i64() {
                Some(number) => return Ok(Expr::num(number)),
                None => number.to_string(),
            },
            Value::Bool(truth) => return Ok(Expr::num(i64::from(*truth))),
            Value::String(text) => text.clone(),
            // A symbolic value with its approximation beside it.
            Value::Object(both) if both.contains_key("main") => return self.expr(&both["main"], frame, place),
            Value::Object(code) if code.contains_key("string_data") => {
                return self.expr(&code["string_data"], frame, place);
            }
            _ => return Err(self.wrong(place, format!("`{value}`"), "an expression").into()),
        };
        self.text_expr(&text, frame, place)
    }

    fn text_expr(&mut self, text: &str, frame: &Frame<'_>, place: &str) -> Result<Expr, Trouble> {
        let place = format!("{}{}{place}", self.name, if place.is_empty() { "" } else { ", " });
        let parsed = match super::parser::expression(&place, text.trim()) {
            Ok(parsed) => parsed,
            Err(error) => {
                // Of data nobody knows here; all else is what it is.
                let names = frame.data.keys().find(|name| text.contains(&format!("{name}[")));
                return Err(match names {
                    Some(name) => reads_data(&place, text, name).into(),
                    None => error.into(),
                });
            }
        };
        let mut of: BTreeMap<String, Expr> = BTreeMap::new();
        for name in parsed.names() {
            if !of.contains_key(&**name) {
                let meaning = self.meaning(name, frame, (&place, text))?;
                of.insert(name.to_string(), meaning);
            }
        }
        let resolved = parsed.resolved(&mut |name| of.get(name).cloned());
        Ok(resolved.unwrap_or_else(|_| Expr::num(0)))
    }

    fn meaning(&mut self, name: &str, frame: &Frame<'_>, (place, text): (&str, &str)) -> Result<Expr, Trouble> {
        if let Some(known) = frame.names.get(name) {
            return Ok(known.clone());
        }
        // A scalar goes by the name of the container that it is, however deep.
        let outer = match frame.data.get(name) {
            Some(data) if data.is_scalar => data.source.clone(),
            Some(data) => return Err(reads_data(place, text, &data.source).into()),
            None => name.to_owned(),
        };
        if let Some(constant) = frame.constant(name) {
            return Ok(Expr::num(constant));
        }
        let set = self.settings.get(&outer);
        let is_inner = frame.data.get(name).is_some_and(|data| data.transient || !data.whole);
        if is_inner && set.is_none() {
            return Err(reads_data(place, text, &outer).into());
        }
        self.asked.insert(outer.clone());
        if set.is_none() {
            self.missing.insert(outer.clone());
        }
        Ok(self.valued(&outer, set.unwrap_or(1)))
    }

    /// A symbol that has a value: the value, or a slot that has it where symbols stay symbols.
    fn valued(&mut self, name: &str, value: i64) -> Expr {
        let Some(known) = &self.symbols else { return Expr::num(value) };
        if let Some(slot) = known.get(name) {
            return Expr::slot(*slot);
        }
        let slot = self.slot(name);
        self.nest.initial[slot] = value;
        self.nest.parameters.push(slot);
        if let Some(known) = &mut self.symbols {
            known.insert(name.to_owned(), slot);
        }
        Expr::slot(slot)
    }

    /// The value of what depends on numbers and symbols alone.
    fn known(&self, expr: &Expr) -> Option<i64> {
        let fixed = expr.slots().all(|slot| self.nest.parameters.contains(&slot));
        let form = super::form::Form::of(expr.clone());
        if fixed { form.eval(&self.nest.initial).ok() } else { form.constant() }
    }
}

fn reads_data(place: &str, text: &str, name: &str) -> Skip {
    Skip(format!(
        "{place}: `{}` depends on what `{name}` holds, which is known at run time only; record the program, or replace it by a symbol",
        super::lexer::short(text)
    ))
}
