//! A `.loops` text into what it says.

use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::grammar::{ArrayDecl, File, ForItem, Item, Level, Order, Param, Schedule, StatementItem, Touch};
use super::super::lexer::{At, Lexeme, short, tokens};
use super::super::parser::Parser;
use crate::reference::Kind;
use std::collections::BTreeSet;

/// Words that no parameter, array or index is called.
const WORDS: [&str; 26] = [
    "title", "about", "param", "array", "temp", "for", "in", "step", "tile", "if", "else", "parallel", "cyclic", "on",
    "of", "row", "column", "tiled", "permuted", "strides", "pad", "align", "base", "offset", "read", "write",
];

/// Types of elements, with their bytes.
pub(super) const TYPES: [(&str, u32); 16] = [
    ("f64", 8),
    ("f32", 4),
    ("f16", 2),
    ("i64", 8),
    ("i32", 4),
    ("i16", 2),
    ("i8", 1),
    ("u64", 8),
    ("u32", 4),
    ("u16", 2),
    ("u8", 1),
    ("c64", 8),
    ("c128", 16),
    ("double", 8),
    ("float", 4),
    ("int", 4),
];

/// Statements of a file, at most.
const MOST_ITEMS: usize = 200_000;

struct Reader<'a> {
    parser: Parser<'a>,
    text: &'a str,
    file: File,
    /// Names of arrays, which tell an array from a parameter in a value.
    arrays: BTreeSet<String>,
    items: usize,
}

/// Reads a whole text.
pub(super) fn read(name: &str, text: &str) -> Result<File, NestError> {
    let tokens = tokens(name, text)?;
    // Arrays may stand behind the loops that use them.
    let arrays = tokens
        .windows(2)
        .filter_map(|pair| match (&pair[0].what, &pair[1].what) {
            (Lexeme::Word(word), Lexeme::Word(name)) if word == "array" || word == "temp" => Some(name.clone()),
            _ => None,
        })
        .collect();
    let parser = Parser::new(name, &tokens, Op::FloorDiv);
    let mut reader = Reader { parser, text, file: File::default(), arrays, items: 0 };
    loop {
        while reader.parser.takes(";") {}
        match reader.parser.peek() {
            Lexeme::End => return Ok(reader.file),
            Lexeme::Word(word) if word == "title" => reader.file.title = reader.words()?,
            Lexeme::Word(word) if word == "about" => reader.file.about = reader.words()?,
            Lexeme::Word(word) if word == "param" => reader.param()?,
            Lexeme::Word(word) if word == "array" || word == "temp" => reader.array()?,
            _ => {
                let item = reader.item()?;
                reader.file.body.push(item);
            }
        }
    }
}

impl Reader<'_> {
    fn words(&mut self) -> Result<String, NestError> {
        self.parser.advance();
        match self.parser.peek() {
            Lexeme::Text(text) => {
                self.parser.advance();
                Ok(text.clone())
            }
            _ => Err(self.parser.unexpected("a text in quotes")),
        }
    }

    fn name(&mut self, of: &str) -> Result<(String, At), NestError> {
        let at = self.parser.at();
        match self.parser.peek() {
            Lexeme::Word(word) if !WORDS.contains(&word.as_str()) => {
                self.parser.advance();
                Ok((word.clone(), at))
            }
            Lexeme::Word(word) => {
                let found = format!("`{}`, a word of the language", short(word));
                Err(self.parser.fault(at, &found, &format!("the name of {of}"), "choose another name"))
            }
            _ => Err(self.parser.unexpected(&format!("the name of {of}"))),
        }
    }

    /// `param N = 16 in 1..=1024`
    fn param(&mut self) -> Result<(), NestError> {
        self.parser.advance();
        let (name, at) = self.name("a parameter")?;
        let value = if self.parser.takes("=") { Some(self.parser.sum()?) } else { None };
        let range = if self.parser.takes_word("in") {
            let from = self.parser.sum()?;
            let closed = self.range()?;
            let to = self.parser.sum()?;
            Some((from, if closed { to } else { to.with(Expr::num(1), Op::Sub) }))
        } else {
            None
        };
        self.file.params.push(Param { name, value, range, at });
        Ok(())
    }

    /// `..` or `..=`, which is true.
    fn range(&mut self) -> Result<bool, NestError> {
        if self.parser.takes("..=") {
            Ok(true)
        } else if self.parser.takes("..") {
            Ok(false)
        } else {
            Err(self.parser.unexpected("`..` or `..=` of a range, as in 0..N"))
        }
    }

    /// `array A[N, M] of f32 column align 128`
    fn array(&mut self) -> Result<(), NestError> {
        let transient = self.parser.is_word("temp");
        self.parser.advance();
        let (name, at) = self.name("an array")?;
        let shape = if self.parser.is("[") { self.list("[", "]")? } else { Vec::new() };
        let mut decl = ArrayDecl {
            name,
            at,
            transient,
            shape,
            elem_type: "f64".into(),
            elem_bytes: 8,
            order: Order::Row,
            pad: None,
            align: None,
            base: None,
            offset: None,
        };
        if self.parser.takes_word("of") {
            (decl.elem_type, decl.elem_bytes) = self.elem_type()?;
        }
        loop {
            let word = match self.parser.peek() {
                Lexeme::Word(word) => word.as_str(),
                _ => "",
            };
            match word {
                "row" | "column" | "permuted" | "tiled" | "strides" => {
                    self.parser.advance();
                    decl.order = match word {
                        "row" => Order::Row,
                        "column" => Order::Column,
                        "permuted" => Order::Permuted(self.list("(", ")")?),
                        "tiled" => Order::Tiled(self.list("(", ")")?),
                        _ => Order::Strides(self.list("(", ")")?),
                    };
                }
                "pad" | "align" | "base" | "offset" => {
                    self.parser.advance();
                    let value = Some(self.parser.sum()?);
                    match word {
                        "pad" => decl.pad = value,
                        "align" => decl.align = value,
                        "base" => decl.base = value,
                        _ => decl.offset = value,
                    }
                }
                _ => break,
            }
        }
        self.file.arrays.push(decl);
        Ok(())
    }

    fn elem_type(&mut self) -> Result<(String, u32), NestError> {
        let at = self.parser.at();
        let found = self.parser.peek().shown();
        let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        let expected = format!("a type of {}, or bytes(N) with N of 1 to 65536", names.join(", "));
        if let Lexeme::Word(word) = self.parser.peek() {
            self.parser.advance();
            if let Some((name, bytes)) = TYPES.into_iter().find(|(name, _)| name == word) {
                return Ok((name.into(), bytes));
            }
            if word == "bytes" && self.parser.takes("(") {
                let bytes = match self.parser.advance().what {
                    Lexeme::Whole(bytes) => u32::try_from(bytes).ok().filter(|bytes| (1..=1 << 16).contains(bytes)),
                    _ => None,
                };
                if let Some(bytes) = bytes {
                    self.parser.expect(")", "after the bytes of an element")?;
                    return Ok((format!("bytes({bytes})"), bytes));
                }
            }
        }
        Err(self.parser.fault(at, &found, &expected, "name one of these"))
    }

    fn list(&mut self, open: &str, close: &str) -> Result<Vec<Expr>, NestError> {
        self.parser.expect(open, "before a list")?;
        let mut list = vec![self.parser.expr()?];
        while self.parser.takes(",") {
            list.push(self.parser.expr()?);
        }
        self.parser.expect(close, "or `,` in a list")?;
        Ok(list)
    }

    fn block(&mut self) -> Result<Vec<Item>, NestError> {
        self.parser.expect("{", "before what is done")?;
        self.parser.deeper()?;
        let mut items = Vec::new();
        loop {
            while self.parser.takes(";") {}
            if self.parser.takes("}") {
                self.parser.shallower();
                return Ok(items);
            }
            if self.parser.peek() == &Lexeme::End {
                return Err(self.parser.unexpected("`}` of a block that is still open"));
            }
            items.push(self.item()?);
        }
    }

    fn item(&mut self) -> Result<Item, NestError> {
        self.items += 1;
        let at = self.parser.at();
        if self.items > MOST_ITEMS {
            let found = format!("more than {MOST_ITEMS} loops and statements");
            return Err(self.parser.fault(at, &found, "fewer", "write loops in the place of repeated lines"));
        }
        match self.parser.peek() {
            Lexeme::Word(word) if word == "for" || word == "parallel" => self.for_loop(at),
            Lexeme::Word(word) if word == "if" => {
                self.parser.advance();
                let condition = self.parser.expr()?;
                let yes = self.block()?;
                let no = match self.parser.takes_word("else") {
                    true if self.parser.is_word("if") => {
                        self.parser.deeper()?;
                        let items = vec![self.item()?];
                        self.parser.shallower();
                        items
                    }
                    true => self.block()?,
                    false => Vec::new(),
                };
                Ok(Item::If { at, condition, yes, no })
            }
            Lexeme::Word(_) => self.statement(at),
            _ => Err(self
                .parser
                .unexpected("`param`, `array`, `for`, `parallel`, `if` or a statement such as A[i] = B[i]")),
        }
    }

    /// `parallel 4 cyclic for i in 0..N step 2 tile 8, j in 0..i { ... }`
    fn for_loop(&mut self, at: At) -> Result<Item, NestError> {
        let parallel = if self.parser.takes_word("parallel") {
            let cores = self.parser.sum()?;
            let schedule = if self.parser.takes_word("cyclic") {
                Schedule::Cyclic
            } else if self.parser.takes_word("on") {
                Schedule::On(self.parser.sum()?)
            } else {
                Schedule::Blocks
            };
            Some((cores, schedule))
        } else {
            None
        };
        if !self.parser.takes_word("for") {
            return Err(self.parser.unexpected("`for`, as in parallel 4 for i in 0..N { ... }"));
        }
        let mut levels = vec![self.level()?];
        while self.parser.takes(",") {
            levels.push(self.level()?);
        }
        let body = self.block()?;
        Ok(Item::For(ForItem { levels, parallel, at, body }))
    }

    fn level(&mut self) -> Result<Level, NestError> {
        let (name, at) = self.name("a loop index")?;
        if !self.parser.takes_word("in") {
            return Err(self.parser.unexpected("`in`, as in for i in 0..N"));
        }
        let from = self.parser.sum()?;
        let closed = self.range()?;
        let to = self.parser.sum()?;
        let step = if self.parser.takes_word("step") { self.parser.sum()? } else { Expr::num(1) };
        let tile = if self.parser.takes_word("tile") { Some(self.parser.sum()?) } else { None };
        Ok(Level { name, at, from, to, closed, step, tile })
    }

    /// `C[i, j] += A[i, k] * B[k, j]`, `read A[i]`, `write A[i]`
    fn statement(&mut self, at: At) -> Result<Item, NestError> {
        let start = self.parser.token().from;
        let mut accesses = Vec::new();
        let alone = [("read", Kind::Read), ("write", Kind::Write)].into_iter().find(|(w, _)| self.parser.is_word(w));
        if let Some((_, kind)) = alone {
            self.parser.advance();
            let mut more = true;
            while more {
                let touch = self.touch(kind)?;
                accesses.push(touch);
                more = self.parser.takes(",");
            }
        } else {
            let target = self.touch(Kind::Write)?;
            let kind = match self.parser.peek() {
                Lexeme::Sign("=") => Kind::Write,
                Lexeme::Sign("+=" | "-=" | "*=" | "/=") => Kind::Modify,
                _ => {
                    return Err(self
                        .parser
                        .unexpected("`=`, `+=`, `-=`, `*=` or `/=` after the element that is written"));
                }
            };
            self.parser.advance();
            self.value(&mut accesses)?;
            accesses.push(Touch { kind, ..target });
        }
        let end = self.parser.end_of_last();
        let text = self.text.get(start..end).unwrap_or_default();
        // Without the comment that may stand behind it.
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        Ok(Item::Statement(StatementItem { at, text, accesses }))
    }

    fn touch(&mut self, kind: Kind) -> Result<Touch, NestError> {
        let (array, at) = self.name("an array")?;
        if !self.arrays.contains(&array) {
            let known: Vec<&str> = self.arrays.iter().map(String::as_str).take(20).collect();
            let expected = if known.is_empty() {
                "an array, of which the file declares none".to_owned()
            } else {
                format!("an array: {}", known.join(", "))
            };
            let remedy = format!("declare it: array {}[N] of f64", short(&array));
            return Err(self.parser.fault(at, &format!("`{}`", short(&array)), &expected, &remedy));
        }
        let indices = if self.parser.is("[") { self.list("[", "]")? } else { Vec::new() };
        Ok(Touch { array, at, kind, indices })
    }

    /// A value: what it reads, from left to right. What is done with it does not matter.
    fn value(&mut self, reads: &mut Vec<Touch>) -> Result<(), NestError> {
        self.parser.deeper()?;
        loop {
            while self.parser.takes("-")
                || self.parser.takes("+")
                || self.parser.takes("!")
                || self.parser.takes_word("not")
            {}
            self.value_operand(reads)?;
            let goes_on = match self.parser.peek() {
                Lexeme::Sign(sign) => {
                    let signs = [
                        "+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "&", "|",
                        "?", ":",
                    ];
                    signs.contains(sign)
                }
                Lexeme::Word(word) => word == "and" || word == "or",
                _ => false,
            };
            if !goes_on {
                self.parser.shallower();
                return Ok(());
            }
            self.parser.advance();
        }
    }

    fn value_operand(&mut self, reads: &mut Vec<Touch>) -> Result<(), NestError> {
        match self.parser.peek() {
            Lexeme::Whole(_) | Lexeme::Decimal(_) => {
                self.parser.advance();
                Ok(())
            }
            Lexeme::Sign("(") => {
                self.parser.advance();
                self.value(reads)?;
                self.parser.expect(")", "after what stands in brackets")
            }
            Lexeme::Word(word) if self.arrays.contains(word) => {
                let touch = self.touch(Kind::Read)?;
                reads.push(touch);
                Ok(())
            }
            Lexeme::Word(_) if matches!(self.parser.second(), Lexeme::Sign("(")) => {
                self.parser.advance();
                self.parser.advance();
                while !self.parser.is(")") {
                    self.value(reads)?;
                    if !self.parser.takes(",") {
                        break;
                    }
                }
                self.parser.expect(")", "after arguments")
            }
            Lexeme::Word(_) if matches!(self.parser.second(), Lexeme::Sign("[")) => self.touch(Kind::Read).map(drop),
            // A parameter or an index: a register.
            Lexeme::Word(_) => self.name("a value").map(drop),
            _ => Err(self.parser.unexpected("a value: an element such as A[i], a number, a name or `(`")),
        }
    }
}
