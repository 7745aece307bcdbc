//! How many accesses each part of a nest makes: by a product where all iterations are alike, by a polynomial where they grow evenly, by
//! sums over iterations where neither holds. Nothing is walked.

use super::expr::EvalError;
use super::fault::NestError;
use super::form::{Affine, Form};
use super::machine::{Machine, Run};
use super::run::Running;
use super::tree::{Block, Loop, Nest, Node};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Iterations and steps that one question may look at.
const MOST_WORK: u64 = 1 << 26;
/// Numbers that are kept.
const MOST_KEPT: usize = 1 << 23;

/// Sums that were worked out once, by part and by what they depend on.
#[derive(Debug, Default)]
pub(super) struct Cache {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    sums: BTreeMap<(usize, Vec<i64>), Arc<[u64]>>,
    runs: BTreeMap<(usize, Vec<i64>), Arc<Run>>,
    size: usize,
}

impl Kept {
    fn room(&mut self, size: usize) {
        self.size += size;
        if self.size > MOST_KEPT {
            *self = Self { size, ..Self::default() };
        }
    }
}

/// Accesses before iteration `n` of a loop whose iterations differ.
pub(super) enum Sums {
    Table(Arc<[u64]>),
    /// Differences of the first iterations: Newton's forward formula, and the number of iterations.
    Newton(Vec<i128>, u64),
}

impl Sums {
    /// Accesses before an iteration.
    pub(super) fn before(&self, iteration: u64) -> Option<u64> {
        match self {
            Self::Table(sums) => sums.get(usize::try_from(iteration).ok()?).copied(),
            Self::Newton(differences, _) => {
                let mut sum = 0i128;
                let mut chosen = 1i128;
                for (k, difference) in (0i128..).zip(differences) {
                    // n over k + 1.
                    chosen = chosen.checked_mul(i128::from(iteration) - k)? / (k + 1);
                    sum = sum.checked_add(difference.checked_mul(chosen)?)?;
                }
                u64::try_from(sum).ok()
            }
        }
    }

    /// The iteration that makes access `number`, and the accesses of it before that one.
    pub(super) fn find(&self, number: u64) -> Option<(u64, u64)> {
        let (mut low, mut high) = match self {
            Self::Table(sums) => (0, sums.len() as u64 - 1),
            Self::Newton(_, iterations) => (0, *iterations),
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.before(middle)? <= number { low = middle } else { high = middle }
        }
        Some((low, number - self.before(low)?))
    }
}

/// Answers questions about a nest.
pub(super) struct Counter<'a> {
    pub(super) nest: &'a Nest,
    cache: &'a Cache,
    work: u64,
}

/// Learns what counts depend on, from the innermost parts outward. Nothing else may be asked before.
pub(super) fn prepare(nest: &mut Nest) {
    let mut root = std::mem::take(&mut nest.root);
    let mut numbers = 0;
    block(&mut root, nest, &mut numbers);
    nest.root = root;
}

fn block(block: &mut Block, nest: &Nest, numbers: &mut usize) {
    for node in &mut block.nodes {
        match node {
            Node::Access(_) | Node::Set { .. } => {}
            Node::If(branch) => {
                self::block(&mut branch.yes, nest, numbers);
                self::block(&mut branch.no, nest, numbers);
            }
            Node::Loop(l) => {
                self::block(&mut l.body, nest, numbers);
                l.number = *numbers;
                *numbers += 1;
                learn(l);
            }
            Node::Machine(machine) => {
                machine.blocks.iter_mut().for_each(|b| self::block(b, nest, numbers));
                machine.number = *numbers;
                *numbers += 1;
                let mut outer = Vec::new();
                machine.region.forms(&mut |form| form.slots(&mut outer));
                outer.extend(machine.blocks.iter().flat_map(|b| &b.count.slots));
                outer.sort_unstable();
                outer.dedup();
                outer.retain(|slot| !machine.fresh.contains(slot));
                machine.outer = outer;
            }
        }
    }
    // From the last to the first, for what is set counts for what follows.
    let mut slots = Vec::new();
    for node in block.nodes.iter().rev() {
        match node {
            Node::Access(_) => {}
            Node::If(branch) => {
                branch.condition.slots(&mut slots);
                slots.extend(branch.yes.count.slots.iter().chain(&branch.no.count.slots));
            }
            Node::Loop(l) => slots.extend(&l.outer),
            Node::Machine(machine) => slots.extend(&machine.outer),
            Node::Set { slot, value } => {
                if slots.contains(slot) {
                    slots.retain(|s| s != slot);
                    value.slots(&mut slots);
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
    }
    block.count.slots = slots;
    block.count.fixed = None;
    if block.count.slots.is_empty() {
        // Numbers of parts are not final yet, so nothing is kept between questions.
        let cache = Cache::default();
        let mut values = nest.initial.clone();
        block.count.fixed = Counter::new(nest, &cache).block(block, &mut values).ok();
    }
}

/// What a loop whose body is known depends on.
fn learn(l: &mut Loop) {
    let mut outer = l.body.count.slots.clone();
    l.even = !outer.contains(&l.slot);
    outer.retain(|slot| *slot != l.slot);
    [&l.from, &l.to, &l.step].into_iter().for_each(|form| form.slots(&mut outer));
    outer.sort_unstable();
    outer.dedup();
    l.outer = outer;
    l.smooth = is_smooth(l);
    let is_plain = |node: &Node| match node {
        Node::Access(access) => {
            let still = |form: &Form| form.affine().is_some_and(|affine| affine.slope(l.slot) == 0);
            let checks = access.checks.iter();
            !matches!(access.offset, Form::General(_))
                && checks.clone().all(|check| check.index.affine().is_some() && still(&check.extent))
        }
        _ => false,
    };
    l.plain = !l.body.nodes.is_empty() && l.body.nodes.iter().all(is_plain);
    l.groups = groups(l);
}

fn is_smooth(l: &Loop) -> bool {
    let step = l.step.constant();
    let by_one = step == Some(1) || step == Some(-1);
    by_one
        && l.from.affine().is_some()
        && l.to.affine().is_some()
        && l.body.nodes.iter().all(|node| match node {
            Node::Access(_) => true,
            Node::Loop(inner) => inner.smooth,
            _ => false,
        })
}

/// The loops within one another, nothing between them, this one the first; empty where the innermost body has no fixed count.
fn chain(l: &Loop) -> Vec<&Loop> {
    let mut chain = vec![l];
    let mut last = l;
    while let [Node::Loop(inner)] = &last.body.nodes[..] {
        chain.push(inner);
        last = inner;
    }
    if last.body.count.fixed.is_some() { chain } else { Vec::new() }
}

fn groups(l: &Loop) -> Vec<Vec<usize>> {
    let chain = chain(l);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (depth, inner) in chain.iter().enumerate() {
        let mut slots = Vec::new();
        [&inner.from, &inner.to, &inner.step].into_iter().for_each(|form| form.slots(&mut slots));
        let (changing, mut others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|at| slots.contains(&chain[*at].slot)));
        let mut joined: Vec<usize> = changing.concat();
        joined.push(depth);
        joined.sort_unstable();
        others.push(joined);
        groups = others;
    }
    if groups.len() > 1 { groups } else { Vec::new() }
}

/// The least value of a form over the iterations of loops around it, the innermost the last; `None` where that is not told.
pub(super) fn least(form: &Affine, around: &[&Loop], values: &[i64]) -> Option<i64> {
    let mut form = form.clone();
    for l in around.iter().rev() {
        let slope = form.slope(l.slot);
        if slope == 0 {
            continue;
        }
        let (from, to) = (l.from.affine()?, l.to.affine()?);
        let forward = l.step.constant()? > 0;
        // The lowest and the highest index.
        let (low, high) = if forward { (from.clone(), shifted(to, -1)?) } else { (shifted(to, 1)?, from.clone()) };
        let end = if slope > 0 { low } else { high };
        form.terms.retain(|(slot, _)| *slot != l.slot);
        form.constant = form.constant.checked_add(end.constant.checked_mul(slope)?)?;
        for (slot, factor) in end.terms {
            let factor = factor.checked_mul(slope)?;
            match form.terms.iter_mut().find(|(s, _)| *s == slot) {
                Some((_, sum)) => *sum = sum.checked_add(factor)?,
                None => form.terms.push((slot, factor)),
            }
        }
        form.terms.retain(|(_, factor)| *factor != 0);
    }
    form.eval(values).ok()
}

pub(super) fn shifted(affine: &Affine, by: i64) -> Option<Affine> {
    Some(Affine { constant: affine.constant.checked_add(by)?, terms: affine.terms.clone() })
}

/// Whether no loop inside ends before it starts, and how deep they are.
fn depth_if_full<'a>(body: &'a Block, around: &mut Vec<&'a Loop>, values: &[i64]) -> Option<usize> {
    let mut deepest = 0;
    for node in &body.nodes {
        let Node::Loop(inner) = node else { continue };
        let (from, to) = (inner.from.affine()?, inner.to.affine()?);
        let (a, b) = if inner.step.constant()? > 0 { (to, from) } else { (from, to) };
        let mut length = a.clone();
        length.constant = length.constant.checked_sub(b.constant)?;
        for (slot, factor) in &b.terms {
            match length.terms.iter_mut().find(|(s, _)| s == slot) {
                Some((_, sum)) => *sum = sum.checked_sub(*factor)?,
                None => length.terms.push((*slot, factor.checked_neg()?)),
            }
        }
        if least(&length, around, values)? < 0 {
            return None;
        }
        around.push(inner);
        let depth = depth_if_full(&inner.body, around, values);
        around.pop();
        deepest = deepest.max(1 + depth?);
    }
    Some(deepest)
}

impl<'a> Counter<'a> {
    pub(super) fn new(nest: &'a Nest, cache: &'a Cache) -> Self {
        Self { nest, cache, work: 0 }
    }

    pub(super) fn fault(&self, found: String, expected: &str, remedy: &str) -> NestError {
        NestError::new(&self.nest.name, found, expected, remedy)
    }

    pub(super) fn wrong(&self, error: EvalError, what: &str) -> NestError {
        let found = match error {
            EvalError::Unset(slot) => {
                let name = self.nest.slots.get(slot).map_or("", String::as_str);
                format!("`{name}`, which has no value yet, in {what}")
            }
            error => format!("{error} in {what}"),
        };
        self.fault(found, "a whole number of 64 bits", "correct the bounds, or the values of parameters")
    }

    pub(super) fn too_many(&self) -> NestError {
        self.fault("more than 2^64 accesses".into(), "fewer", "set smaller values of parameters")
    }

    pub(super) fn works(&mut self, steps: u64) -> Result<(), NestError> {
        self.work = self.work.saturating_add(steps);
        if self.work > MOST_WORK {
            let found = format!("loops whose accesses take more than {MOST_WORK} steps to be counted");
            let expected =
                "bounds that are sums of multiples of outer indices, steps of 1, no conditions; or fewer iterations";
            return Err(self.fault(found, expected, "set smaller values of parameters"));
        }
        Ok(())
    }

    /// Accesses of a block.
    pub(super) fn block(&mut self, block: &Block, values: &mut [i64]) -> Result<u64, NestError> {
        if let Some(fixed) = block.count.fixed {
            return Ok(fixed);
        }
        let mut sum = 0u64;
        for node in &block.nodes {
            sum = sum.checked_add(self.node(node, values)?).ok_or_else(|| self.too_many())?;
        }
        Ok(sum)
    }

    /// Accesses of a node; what it sets is set.
    pub(super) fn node(&mut self, node: &Node, values: &mut [i64]) -> Result<u64, NestError> {
        match node {
            Node::Access(_) => Ok(1),
            Node::Loop(l) => self.all_of(l, values),
            Node::If(branch) => {
                let holds = branch.condition.eval(values).map_err(|e| self.wrong(e, "a condition"))? != 0;
                self.block(if holds { &branch.yes } else { &branch.no }, values)
            }
            Node::Set { slot, value } => {
                let value = value.eval(values).map_err(|e| self.wrong(e, &self.nest.slots[*slot]))?;
                values[*slot] = value;
                Ok(0)
            }
            Node::Machine(machine) => Ok(self.run(machine, values)?.total),
        }
    }

    /// First index, step and number of iterations.
    pub(super) fn bounds(&self, l: &Loop, values: &[i64]) -> Result<(i64, i64, u64), NestError> {
        let bound = |form: &Form| {
            form.eval(values)
                .map_err(|e| self.wrong(e, &format!("a bound of the loop over `{}`", self.nest.slots[l.slot])))
        };
        let (from, to, step) = (bound(&l.from)?, bound(&l.to)?, bound(&l.step)?);
        if step == 0 {
            let found = format!("a loop over `{}` with step 0", self.nest.slots[l.slot]);
            return Err(self.fault(found, "a step that gets on", "correct the step"));
        }
        let far = if step > 0 { i128::from(to) - i128::from(from) } else { i128::from(from) - i128::from(to) };
        let step_size = i128::from(step).abs();
        let trips = if far <= 0 { 0 } else { (far - 1) / step_size + 1 };
        let trips = u64::try_from(trips).map_err(|_| self.too_many())?;
        // The last index is a number, too.
        let last = i128::from(from) + (i128::from(trips) - 1) * i128::from(step);
        if trips > 0 && i64::try_from(last).is_err() {
            return Err(self.wrong(EvalError::Overflow, "a bound of a loop"));
        }
        Ok((from, step, trips))
    }

    /// Accesses of all iterations.
    fn all_of(&mut self, l: &Loop, values: &mut [i64]) -> Result<u64, NestError> {
        let (from, step, trips) = self.bounds(l, values)?;
        if trips == 0 {
            return Ok(0);
        }
        if l.even {
            let before = std::mem::replace(&mut values[l.slot], from);
            let each = self.block(&l.body, values);
            values[l.slot] = before;
            return each?.checked_mul(trips).ok_or_else(|| self.too_many());
        }
        if !l.groups.is_empty() {
            let chain = chain(l);
            let mut product = chain.last().and_then(|last| last.body.count.fixed).unwrap_or(0);
            for group in &l.groups {
                let group: Vec<&Loop> = group.iter().map(|at| chain[*at]).collect();
                let factor = self.group(&group, values)?;
                product = product.checked_mul(factor).ok_or_else(|| self.too_many())?;
            }
            return Ok(product);
        }
        let sums = self.sums(l, (from, step, trips), values)?;
        sums.before(trips).ok_or_else(|| self.too_many())
    }

    /// Iterations of loops within one another, the outermost first.
    fn group(&mut self, group: &[&Loop], values: &mut [i64]) -> Result<u64, NestError> {
        let [first, rest @ ..] = group else { return Ok(1) };
        let (from, step, trips) = self.bounds(first, values)?;
        let mut slots = Vec::new();
        rest.iter().flat_map(|l| [&l.from, &l.to, &l.step]).for_each(|form| form.slots(&mut slots));
        let before = values[first.slot];
        let all = if !slots.contains(&first.slot) {
            self.group(rest, values)?.checked_mul(trips)
        } else {
            self.works(trips)?;
            let mut sum = Some(0u64);
            let mut index = from;
            for _ in 0..trips {
                values[first.slot] = index;
                let each = self.group(rest, values)?;
                sum = sum.and_then(|sum| sum.checked_add(each));
                index = index.wrapping_add(step);
            }
            sum
        };
        values[first.slot] = before;
        all.ok_or_else(|| self.too_many())
    }

    /// Accesses before each iteration of a loop whose iterations differ; `(from, step, trips)` is what [`Counter::bounds`] told.
    pub(super) fn sums(
        &mut self,
        l: &Loop,
        (from, step, trips): (i64, i64, u64),
        values: &mut [i64],
    ) -> Result<Sums, NestError> {
        let degree = if l.smooth { depth_if_full(&l.body, &mut vec![l], values) } else { None };
        if let Some(degree) = degree.filter(|degree| trips > *degree as u64 + 1) {
            let before = values[l.slot];
            let mut row = Vec::with_capacity(degree + 1);
            let mut index = from;
            for _ in 0..=degree {
                values[l.slot] = index;
                row.push(i128::from(self.block(&l.body, values)?));
                index = index.wrapping_add(step);
            }
            values[l.slot] = before;
            let mut differences = Vec::with_capacity(row.len());
            while let Some(first) = row.first() {
                differences.push(*first);
                row = row.windows(2).map(|pair| pair[1] - pair[0]).collect();
            }
            return Ok(Sums::Newton(differences, trips));
        }
        let key = (l.number, l.outer.iter().map(|slot| values[*slot]).collect::<Vec<i64>>());
        let kept = |cache: &Cache| {
            let kept = cache.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.sums.get(&key).cloned()
        };
        if let Some(sums) = kept(self.cache) {
            return Ok(Sums::Table(sums));
        }
        self.works(trips)?;
        let before = values[l.slot];
        let mut sums = Vec::with_capacity(usize::try_from(trips).unwrap_or(0) + 1);
        sums.push(0u64);
        let (mut sum, mut index) = (0u64, from);
        for _ in 0..trips {
            values[l.slot] = index;
            let each = self.block(&l.body, values)?;
            sum = sum.checked_add(each).ok_or_else(|| self.too_many())?;
            sums.push(sum);
            index = index.wrapping_add(step);
        }
        values[l.slot] = before;
        let sums: Arc<[u64]> = sums.into();
        let mut kept = self.cache.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.room(sums.len());
        kept.sums.insert(key, Arc::clone(&sums));
        Ok(Sums::Table(sums))
    }

    /// What a control flow passes, under these values.
    pub(super) fn run(&mut self, machine: &Machine, values: &mut [i64]) -> Result<Arc<Run>, NestError> {
        let key = (machine.number, machine.outer.iter().map(|slot| values[*slot]).collect::<Vec<i64>>());
        {
            let kept = self.cache.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(run) = kept.runs.get(&key) {
                return Ok(Arc::clone(run));
            }
        }
        let mut now = values.to_vec();
        machine.fresh.iter().for_each(|slot| now[*slot] = self.nest.initial[*slot]);
        let run = Arc::new(Running::new(self, machine).finish(&mut now)?);
        let mut kept = self.cache.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.room(2 * run.starts.len() + run.values.len() + 8);
        kept.runs.insert(key, Arc::clone(&run));
        Ok(run)
    }
}
