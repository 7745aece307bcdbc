//! Expressions, as `.loops` and DaCe write them.

use super::expr::{Expr, MOST_OPS, Op};
use super::fault::NestError;
#[cfg(feature = "native")]
use super::lexer::tokens;
use super::lexer::{At, Lexeme, Token, place};

/// Brackets, signs and powers within one another, at most.
const DEEPEST: u32 = 200;

/// Reads tokens from the first to the last.
pub(super) struct Parser<'a> {
    pub(super) name: &'a str,
    tokens: &'a [Token],
    next: usize,
    depth: u32,
    /// What `/` is: exact in graphs, rounded down in `.loops`.
    divide: Op,
}

/// An expression of a graph, alone in its text. `place` is what messages call it.
#[cfg(feature = "native")]
pub(super) fn expression(place: &str, text: &str) -> Result<Expr, NestError> {
    let tokens = tokens(place, text)?;
    let mut parser = Parser::new(place, &tokens, Op::Divide);
    let expr = parser.expr()?;
    if parser.peek() != &Lexeme::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(expr)
}

impl<'a> Parser<'a> {
    pub(super) fn new(name: &'a str, tokens: &'a [Token], divide: Op) -> Self {
        Self { name, tokens, next: 0, depth: 0, divide }
    }

    pub(super) fn token(&self) -> &'a Token {
        // The last one is the end, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    pub(super) fn peek(&self) -> &'a Lexeme {
        &self.token().what
    }

    /// Where the token before the next one ends, in bytes.
    pub(super) fn end_of_last(&self) -> usize {
        self.next.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.to)
    }

    /// The token after the next.
    pub(super) fn second(&self) -> &'a Lexeme {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].what
    }

    pub(super) fn at(&self) -> At {
        self.token().at
    }

    pub(super) fn advance(&mut self) -> &'a Token {
        let token = self.token();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Lexeme::Sign(s) if *s == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Lexeme::Word(w) if w == word)
    }

    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.advance();
        }
        is
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    pub(super) fn expect(&mut self, sign: &str, why: &str) -> Result<(), NestError> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}` {why}"))) }
    }

    pub(super) fn fault(&self, at: At, found: &str, expected: &str, remedy: &str) -> NestError {
        NestError::new(place(self.name, at), found, expected, remedy)
    }

    /// The next token is not what is expected.
    pub(super) fn unexpected(&self, expected: &str) -> NestError {
        self.fault(self.at(), &self.peek().shown(), expected, "see docs/loops.md for the grammar")
    }

    pub(super) fn deeper(&mut self) -> Result<(), NestError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let found = format!("more than {DEEPEST} brackets, loops or signs within one another");
            return Err(self.fault(self.at(), &found, "a flatter one", "name parts of it, or leave brackets out"));
        }
        Ok(())
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    /// `A if C else B`, which binds least.
    pub(super) fn expr(&mut self) -> Result<Expr, NestError> {
        self.deeper()?;
        let at = self.at();
        let value = self.either()?;
        let value = if self.is_word("if") && self.divide == Op::Divide {
            self.advance();
            let condition = self.either()?;
            if !self.takes_word("else") {
                return Err(self.unexpected("`else` of a value that depends on a condition"));
            }
            condition.beside(value).with(self.expr()?, Op::Choose)
        } else {
            value
        };
        self.shallower();
        if value.ops().len() > MOST_OPS {
            let found = format!("an expression of more than {MOST_OPS} operators and values");
            return Err(self.fault(at, &found, "a shorter one", "name parts of it"));
        }
        Ok(value)
    }

    fn either(&mut self) -> Result<Expr, NestError> {
        let mut left = self.both()?;
        while self.takes_word("or") || self.takes("||") || self.takes("|") {
            left = left.with(self.both()?, Op::Either);
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expr, NestError> {
        let mut left = self.not()?;
        while self.takes_word("and") || self.takes("&&") || self.takes("&") {
            left = left.with(self.not()?, Op::Both);
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr, NestError> {
        let mut times = 0usize;
        while self.takes_word("not") || self.takes("!") {
            times += 1;
        }
        let mut value = self.compared()?;
        for _ in 0..times {
            value = value.then(Op::Not);
        }
        Ok(value)
    }

    fn compared(&mut self) -> Result<Expr, NestError> {
        let mut left = self.sum()?;
        let mut all: Option<Expr> = None;
        loop {
            let (op, swapped, not) = match self.peek() {
                Lexeme::Sign("<") => (Op::Less, false, false),
                Lexeme::Sign("<=") => (Op::AtMost, false, false),
                Lexeme::Sign(">") => (Op::Less, true, false),
                Lexeme::Sign(">=") => (Op::AtMost, true, false),
                Lexeme::Sign("==") => (Op::Equal, false, false),
                Lexeme::Sign("!=") => (Op::Equal, false, true),
                _ => return Ok(all.unwrap_or(left)),
            };
            self.advance();
            let right = self.sum()?;
            let (a, b) = if swapped { (right.clone(), left) } else { (left, right.clone()) };
            let one = if not { a.with(b, op).then(Op::Not) } else { a.with(b, op) };
            // `0 <= i < N` asks both.
            all = Some(match all {
                Some(all) => all.with(one, Op::Both),
                None => one,
            });
            left = right;
        }
    }

    pub(super) fn sum(&mut self) -> Result<Expr, NestError> {
        let mut left = self.product()?;
        loop {
            let op = if self.takes("+") {
                Op::Add
            } else if self.takes("-") {
                Op::Sub
            } else {
                return Ok(left);
            };
            left = left.with(self.product()?, op);
        }
    }

    fn product(&mut self) -> Result<Expr, NestError> {
        let mut left = self.signed()?;
        loop {
            let op = match self.peek() {
                Lexeme::Sign("*") => Op::Mul,
                Lexeme::Sign("//") => Op::FloorDiv,
                Lexeme::Sign("/") => self.divide.clone(),
                Lexeme::Sign("%") => Op::Mod,
                _ => return Ok(left),
            };
            self.advance();
            left = left.with(self.signed()?, op);
        }
    }

    fn signed(&mut self) -> Result<Expr, NestError> {
        let mut negative = false;
        loop {
            if self.takes("-") {
                negative = !negative;
            } else if !self.takes("+") {
                break;
            }
        }
        let value = self.power()?;
        Ok(match value.constant() {
            _ if !negative => value,
            Some(number) => Expr::num(-number),
            None => value.then(Op::Neg),
        })
    }

    fn power(&mut self) -> Result<Expr, NestError> {
        let base = self.operand()?;
        if !self.takes("**") {
            return Ok(base);
        }
        self.deeper()?;
        let power = self.signed()?;
        self.shallower();
        Ok(base.with(power, Op::Pow))
    }

    fn operand(&mut self) -> Result<Expr, NestError> {
        let token = self.token();
        match &token.what {
            Lexeme::Whole(value) => {
                self.advance();
                Ok(Expr::num(*value))
            }
            Lexeme::Decimal(text) => {
                // `4.0` of a graph is 4.
                let whole = text.split_once('.').filter(|(_, rest)| rest.bytes().all(|b| b == b'0'));
                let value = whole.and_then(|(whole, _)| whole.parse().ok());
                let value =
                    value.filter(|_| self.divide == Op::Divide).ok_or_else(|| self.unexpected("a whole number"))?;
                self.advance();
                Ok(Expr::num(value))
            }
            Lexeme::Word(word) => {
                self.advance();
                if self.is("(") {
                    return self.call(token, word);
                }
                if self.is("[") {
                    let found = format!("`{word}[...]` in an expression of whole numbers");
                    return Err(self.fault(
                        token.at,
                        &found,
                        "loop indices and parameters only: what is read decides at run time",
                        "record the program instead, or give the value by a parameter",
                    ));
                }
                Ok(match word.as_str() {
                    "True" | "true" => Expr::num(1),
                    "False" | "false" => Expr::num(0),
                    _ => Expr::name(word),
                })
            }
            Lexeme::Sign("(") => {
                self.advance();
                let value = self.expr()?;
                self.expect(")", "after what stands in brackets")?;
                Ok(value)
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn call(&mut self, name: &Token, word: &str) -> Result<Expr, NestError> {
        self.expect("(", "before arguments")?;
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.expr()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect(")", "after arguments")?;
        function(word, arguments).ok_or_else(|| {
            self.fault(
                name.at,
                &format!("the call `{word}(...)`"),
                "min, max, abs, floor, ceiling, int_floor, int_ceil or mod, with their arguments",
                "write it with these",
            )
        })
    }
}

/// A function of whole numbers, by any name that `.loops`, DaCe or sympy have for it.
fn function(name: &str, arguments: Vec<Expr>) -> Option<Expr> {
    let count = arguments.len();
    let one = |op: Op, list: Vec<Expr>| list.into_iter().next().filter(|_| count == 1).map(|a| a.then(op));
    let fold = |op: Op, list: Vec<Expr>| list.into_iter().reduce(|a, b| a.with(b, op.clone()));
    let two = |op: Op, list: Vec<Expr>| if count == 2 { fold(op, list) } else { None };
    match name {
        "min" | "Min" => fold(Op::Min, arguments),
        "max" | "Max" => fold(Op::Max, arguments),
        "And" | "AND" => fold(Op::Both, arguments),
        "Or" | "OR" => fold(Op::Either, arguments),
        "abs" | "Abs" => one(Op::Abs, arguments),
        "floor" => one(Op::Floor, arguments),
        "ceil" | "ceiling" => one(Op::Ceil, arguments),
        "Not" => one(Op::Not, arguments),
        "int_floor" => two(Op::FloorDiv, arguments),
        "int_ceil" => two(Op::CeilDiv, arguments),
        "mod" | "Mod" => two(Op::Mod, arguments),
        "pow" | "Pow" => two(Op::Pow, arguments),
        "Lt" | "StrictLessThan" => two(Op::Less, arguments),
        "Le" | "LessThan" => two(Op::AtMost, arguments),
        "Gt" | "StrictGreaterThan" => two(Op::Less, arguments.into_iter().rev().collect()),
        "Ge" | "GreaterThan" => two(Op::AtMost, arguments.into_iter().rev().collect()),
        "Eq" | "Equality" => two(Op::Equal, arguments),
        "Ne" | "Unequality" => two(Op::Equal, arguments).map(|e| e.then(Op::Not)),
        // Types that DaCe writes round a value.
        "int" | "int32" | "int64" => arguments.into_iter().next().filter(|_| count == 1),
        _ => None,
    }
}
