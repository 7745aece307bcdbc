//! Random kernels: what the machine computes and records for all items at once is what each item would by itself.
//!
//! A generator makes a tree of statements: loops, conditions, cases, arrays. It is written down as WGSL, and carried out here by a few
//! lines that know one item, no masks and nothing of naga.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::kernel::{Decision, Event, Extent, Launch, Program, Recording};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Variables of an item, and words of its array.
const VARIABLES: usize = 4;
const WORDS: usize = 8;

/// Numbers that look random: SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % sides
    }

    fn pick(&mut self, count: usize) -> usize {
        usize::try_from(self.roll(count as u64)).unwrap()
    }
}

#[derive(Debug, Clone)]
enum Number {
    Constant(u32),
    Item,
    Variable(usize),
    Word(Box<Number>),
    Two(&'static str, Box<Number>, Box<Number>),
    /// A function that returns early for some.
    Called(Box<Number>),
}

#[derive(Debug, Clone)]
enum Condition {
    Compare(&'static str, Number, Number),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

#[derive(Debug, Clone)]
enum Statement {
    Assign(usize, Number),
    Put(Number, Number),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// A counter of its own, times, body.
    For(usize, Number, Vec<Statement>),
    While(usize, Number, Vec<Statement>),
    Loop(usize, Vec<Statement>),
    Switch(Number, [Vec<Statement>; 3]),
    Break,
    Continue,
    Return,
}

struct Maker {
    dice: Dice,
    counters: usize,
}

impl Maker {
    fn number(&mut self, depth: usize) -> Number {
        match self.dice.roll(if depth == 0 { 4 } else { 9 }) {
            0 => Number::Constant([0, 1, 2, 3, 7, 31, 0x8000_0000, u32::MAX][self.dice.pick(8)]),
            1 => Number::Item,
            2 | 3 => Number::Variable(self.dice.pick(VARIABLES)),
            4 => Number::Word(Box::new(self.number(depth - 1))),
            5 => Number::Called(Box::new(self.number(depth - 1))),
            _ => {
                let op = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"][self.dice.pick(10)];
                Number::Two(op, Box::new(self.number(depth - 1)), Box::new(self.number(depth - 1)))
            }
        }
    }

    fn condition(&mut self, depth: usize) -> Condition {
        match self.dice.roll(if depth == 0 { 1 } else { 5 }) {
            2 => Condition::And(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            3 => Condition::Or(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            4 => Condition::Not(Box::new(self.condition(depth - 1))),
            _ => {
                let op = ["==", "!=", "<", "<=", ">", ">="][self.dice.pick(6)];
                Condition::Compare(op, self.number(1), self.number(1))
            }
        }
    }

    fn block(&mut self, depth: usize, looped: bool) -> Vec<Statement> {
        let mut out: Vec<Statement> = (0..1 + self.dice.roll(3)).map(|_| self.statement(depth, looped)).collect();
        // What leaves stands last.
        if looped && self.dice.roll(4) == 0 {
            out.push(if self.dice.roll(2) == 0 { Statement::Break } else { Statement::Continue });
        } else if depth < 3 && self.dice.roll(12) == 0 {
            out.push(Statement::Return);
        }
        out
    }

    fn statement(&mut self, depth: usize, looped: bool) -> Statement {
        let mut counter = || {
            self.counters += 1;
            self.counters
        };
        if depth == 0 {
            return Statement::Assign(self.dice.pick(VARIABLES), self.number(2));
        }
        match self.dice.roll(10) {
            0..=2 => Statement::Assign(self.dice.pick(VARIABLES), self.number(2)),
            3 => Statement::Put(self.number(1), self.number(2)),
            4 | 5 => {
                let other = if self.dice.roll(2) == 0 { Vec::new() } else { self.block(depth - 1, looped) };
                Statement::If(self.condition(2), self.block(depth - 1, looped), other)
            }
            6 => {
                let counter = counter();
                Statement::For(counter, self.number(1), self.block(depth - 1, true))
            }
            7 => {
                let counter = counter();
                Statement::While(counter, self.number(1), self.block(depth - 1, true))
            }
            8 => {
                let counter = counter();
                Statement::Loop(counter, self.block(depth - 1, true))
            }
            // A break in a case would leave the switch: cases have none.
            _ => Statement::Switch(self.number(1), [(); 3].map(|()| self.block(depth - 1, false))),
        }
    }
}

// ---- as WGSL

fn number(number: &Number) -> String {
    match number {
        Number::Constant(value) => format!("{value}u"),
        Number::Item => "i".into(),
        Number::Variable(n) => format!("v{n}"),
        Number::Word(index) => format!("a[{} % {WORDS}u]", self::number(index)),
        Number::Called(x) => format!("f({})", self::number(x)),
        // A constant divided by a constant is not compiled: nothing here is constant.
        Number::Two(op @ ("<<" | ">>"), x, y) => {
            format!("((zero + {}) {op} ((zero + {}) & 31u))", self::number(x), self::number(y))
        }
        Number::Two(op, x, y) => format!("((zero + {}) {op} (zero + {}))", self::number(x), self::number(y)),
    }
}

fn condition(of: &Condition) -> String {
    match of {
        Condition::Compare(op, x, y) => format!("({} {op} {})", number(x), number(y)),
        Condition::And(x, y) => format!("({} && {})", condition(x), condition(y)),
        Condition::Or(x, y) => format!("({} || {})", condition(x), condition(y)),
        Condition::Not(x) => format!("!({})", condition(x)),
    }
}

fn write(block: &[Statement], out: &mut String) {
    for statement in block {
        let put = |out: &mut String, words: String| writeln!(out, "{words}").unwrap();
        match statement {
            Statement::Assign(n, x) => {
                let told = TOLD[out.len() % TOLD.len()];
                put(out, format!("v{n} = {};{told}", number(x)));
            }
            Statement::Put(index, x) => put(out, format!("a[{} % {WORDS}u] = {};", number(index), number(x))),
            Statement::If(test, accept, reject) => {
                put(out, format!("if {} {{", condition(test)));
                write(accept, out);
                if !reject.is_empty() {
                    put(out, "} else {".into());
                    write(reject, out);
                }
                put(out, "}".into());
            }
            Statement::For(k, times, body) => {
                put(out, format!("for (var k{k} = 0u; k{k} < {} % 4u; k{k}++) {{", number(times)));
                write(body, out);
                put(out, "}".into());
            }
            Statement::While(k, times, body) => {
                put(out, format!("var k{k} = 0u;\nwhile k{k} < {} % 4u && zero == 0u {{\nk{k} += 1u;", number(times)));
                write(body, out);
                put(out, "}".into());
            }
            Statement::Loop(k, body) => {
                put(out, format!("var k{k} = 0u;\nloop {{"));
                write(body, out);
                put(out, format!("continuing {{ k{k}++; break if k{k} > (v0 & 3u); }} }}"));
            }
            Statement::Switch(x, [a, b, c]) => {
                put(out, format!("switch {} % 5u {{ case 0u, 3u: {{", number(x)));
                write(a, out);
                put(out, "} case 1u: {".into());
                write(b, out);
                put(out, "} default: {".into());
                write(c, out);
                put(out, "} }".into());
            }
            Statement::Break => put(out, "if zero == 0u { break; }".into()),
            Statement::Continue => put(out, "if zero == 0u { continue; }".into()),
            Statement::Return => put(out, format!("if v1 % 2u == 0u {{ {STORE} return; }}")),
        }
    }
}

/// What is told after some statements: it changes nothing of what follows, nor of what is recorded of it.
const TOLD: [&str; 5] = [
    "",
    "",
    " // @emit v0 & 65535u",
    " // @emit a[v1 % 8u] % 100u, out[i].y as lines",
    " // @emit v0 < 5u && (a[v1 % 8u] > 3u || out[i].x == zero)",
];

const STORE: &str = "out[i] = vec4u(v0, v1, v2, v3) ^ vec4u(a[0], a[1], a[2] + a[3], a[4] + a[5] * a[6] + a[7]);";

fn source(items: u32, block: &[Statement]) -> String {
    let mut text = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<vec4u>;\n\
         @group(0) @binding(1) var<uniform> zero: u32;\n\
         fn f(x: u32) -> u32 {{\nif x % 3u == 1u {{ return x + 1u; }}\nvar y = x;\n\
         while y > 5u {{ y = y / 2u; if y == 9u {{ return 4u; }} }}\nreturn y;\n}}\n\
         @compute @workgroup_size({items})\nfn main(@builtin(global_invocation_id) id: vec3u) {{\nlet i = id.x;\n\
         var v0 = i; var v1 = i * 7u; var v2 = 3u; var v3 = i ^ 5u;\nvar a: array<u32, {WORDS}>;\n"
    );
    write(block, &mut text);
    text.push_str(STORE);
    text.push_str("\n}\n");
    text
}

/// The kernel of this number: items of a group, statements, source.
fn made(seed: u64) -> (u32, Vec<Statement>, String) {
    let mut maker = Maker { dice: Dice(seed), counters: 0 };
    let block: Vec<Statement> = (0..4).map(|_| maker.statement(3, false)).collect();
    let items = [1, 5, 32, 40, 64][maker.dice.pick(5)];
    let text = source(items, &block);
    (items, block, text)
}

/// The source of the kernel of this number.
pub(crate) fn text_of(seed: u64) -> String {
    made(seed).2
}

// ---- one item by itself

/// How a block ends.
#[derive(PartialEq)]
enum End {
    Next,
    Break,
    Continue,
    Return,
}

struct Item {
    i: u32,
    v: [u32; VARIABLES],
    a: [u32; WORDS],
    path: Vec<Decision>,
}

impl Item {
    fn decide(&mut self, bit: bool) -> bool {
        self.path.push(Decision::If(bit));
        bit
    }

    fn test(&mut self, bit: bool) -> bool {
        self.path.push(Decision::Loop(bit));
        bit
    }

    fn number(&mut self, of: &Number) -> u32 {
        match of {
            Number::Constant(value) => *value,
            Number::Item => self.i,
            Number::Variable(n) => self.v[*n],
            Number::Word(index) => self.a[self.number(index) as usize % WORDS],
            Number::Called(x) => {
                let x = self.number(x);
                if self.decide(x % 3 == 1) {
                    return x.wrapping_add(1);
                }
                let mut y = x;
                while self.test(y > 5) {
                    y /= 2;
                    if self.decide(y == 9) {
                        return 4;
                    }
                }
                y
            }
            Number::Two(op, x, y) => {
                let (x, y) = (self.number(x), self.number(y));
                match *op {
                    "+" => x.wrapping_add(y),
                    "-" => x.wrapping_sub(y),
                    "*" => x.wrapping_mul(y),
                    "/" => x.checked_div(y).unwrap_or(x),
                    "%" => x.checked_rem(y).unwrap_or(0),
                    "&" => x & y,
                    "|" => x | y,
                    "^" => x ^ y,
                    "<<" => x << (y & 31),
                    _ => x >> (y & 31),
                }
            }
        }
    }

    fn condition(&mut self, of: &Condition) -> bool {
        match of {
            Condition::Compare(op, x, y) => {
                let (x, y) = (self.number(x), self.number(y));
                match *op {
                    "==" => x == y,
                    "!=" => x != y,
                    "<" => x < y,
                    "<=" => x <= y,
                    ">" => x > y,
                    _ => x >= y,
                }
            }
            Condition::And(x, y) => self.condition(x) && self.condition(y),
            Condition::Or(x, y) => self.condition(x) || self.condition(y),
            Condition::Not(x) => !self.condition(x),
        }
    }

    fn block(&mut self, block: &[Statement]) -> End {
        for statement in block {
            let end = self.statement(statement);
            if end != End::Next {
                return end;
            }
        }
        End::Next
    }

    fn statement(&mut self, statement: &Statement) -> End {
        match statement {
            Statement::Assign(n, x) => self.v[*n] = self.number(x),
            Statement::Put(index, x) => {
                let at = self.number(index) as usize % WORDS;
                self.a[at] = self.number(x);
            }
            Statement::If(test, accept, reject) => {
                let held = self.condition(test);
                self.decide(held);
                return self.block(if held { accept } else { reject });
            }
            Statement::For(_, times, body) | Statement::While(_, times, body) => {
                let mut k = 0;
                loop {
                    let times = self.number(times) % 4;
                    if !self.test(k < times) {
                        break;
                    }
                    k += 1;
                    match self.block(body) {
                        End::Break => break,
                        End::Return => return End::Return,
                        End::Next | End::Continue => {}
                    }
                }
            }
            Statement::Loop(_, body) => {
                let mut k = 0;
                loop {
                    match self.block(body) {
                        End::Break => break,
                        End::Return => return End::Return,
                        End::Next | End::Continue => {}
                    }
                    k += 1;
                    if !self.test(k <= self.v[0] & 3) {
                        break;
                    }
                }
            }
            Statement::Switch(x, cases) => {
                let way = match self.number(x) % 5 {
                    0 | 3 => 0,
                    1 => 1,
                    _ => 2,
                };
                // `case 0u, 3u` are two for naga, of which the second has the body.
                self.path.push(Decision::Case([1, 2, 3][way]));
                return self.block(&cases[way]);
            }
            Statement::Break => {
                self.decide(true);
                return End::Break;
            }
            Statement::Continue => {
                self.decide(true);
                return End::Continue;
            }
            Statement::Return => {
                let leaves = self.v[1].is_multiple_of(2);
                if self.decide(leaves) {
                    return End::Return;
                }
            }
        }
        End::Next
    }

    fn result(&self) -> [u32; 4] {
        let (v, a) = (&self.v, &self.a);
        let last = a[4].wrapping_add(a[5].wrapping_mul(a[6])).wrapping_add(a[7]);
        [v[0] ^ a[0], v[1] ^ a[1], v[2] ^ a[2].wrapping_add(a[3]), v[3] ^ last]
    }
}

#[test]
fn a_thousand_random_kernels_do_what_each_item_would_alone() {
    let (mut parted, mut decisions) = (0, 0);
    for seed in 0..1000u64 {
        let (items, block, text) = made(seed);
        let program = Program::new("random.wgsl", &text, None, &BTreeMap::new());
        let program = program.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let launch = Launch::of(Extent::Groups([2, 1, 1]));
        let ran = program.run_watched(&launch, Recording::default());
        let (run, recording) = ran.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let mut paths: BTreeMap<(u64, u32), Vec<Decision>> = BTreeMap::new();
        for (group, item, event) in &recording.events {
            if let Event::Decision(_, decision) = event {
                paths.entry((*group, *item)).or_default().push(*decision);
            }
        }
        let out = program.shared.iter().position(|shared| shared.name == "out").unwrap();
        let words: Vec<u32> =
            run.after[out].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let mut divergent = 0;
        for group in 0..2 {
            let mut all = Vec::new();
            for item in 0..items {
                let i = u32::try_from(group).unwrap() * items + item;
                let mut alone = Item { i, v: [i, i.wrapping_mul(7), 3, i ^ 5], a: [0; WORDS], path: Vec::new() };
                let _ = alone.block(&block);
                let at = i as usize * 4;
                assert_eq!(words[at..at + 4], alone.result(), "seed {seed}, item {i}\n{text}");
                let path = paths.remove(&(group, item)).unwrap_or_default();
                assert_eq!(path, alone.path, "seed {seed}, item {i}\n{text}");
                decisions += path.len();
                all.push(path);
            }
            divergent += all.chunks(32).filter(|warp| warp.iter().any(|path| *path != warp[0])).count() as u64;
        }
        assert_eq!(run.counts.divergent_warps, divergent, "seed {seed}\n{text}");
        let lanes: u64 = run
            .counts
            .proxy_warps
            .iter()
            .map(|proxy| proxy.warps * proxy.branchings.iter().map(|way| way.lanes as u64).sum::<u64>())
            .sum();
        assert_eq!(lanes, u64::from(items) * 2);
        parted += divergent;
    }
    assert!(parted > 500 && decisions > 100_000, "{parted} warps that diverge, {decisions} decisions: too tame");
}
