//! What tasks are called. Simulators call them by numbers, or by a number with a role (`891_req_out`, `891@GPU[1].DRAM[0]`); both are
//! kept as a number and a form. Other names are kept as they are.

use super::packed::{Packer, Unpacker};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

/// The name of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskId<'a> {
    /// A number.
    Number(u64),
    /// Any text.
    Text(&'a str),
}

impl fmt::Display for TaskId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

const OUT: &str = "_req_out";

/// A name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Parts<'a> {
    Number(u64),
    /// `891_req_out`
    Out(u64),
    /// `891@GPU[1].DRAM[0]`
    At(u64, &'a str),
    Text(&'a str),
}

/// The number that these digits write, where it is written in no other way.
fn number(digits: &str) -> Option<u64> {
    let plain = digits == "0" || digits.bytes().next().is_some_and(|first| matches!(first, b'1'..=b'9'));
    if !plain || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

impl<'a> Parts<'a> {
    pub(super) fn of(id: &TaskId<'a>) -> Self {
        let text = match *id {
            TaskId::Number(number) => return Self::Number(number),
            TaskId::Text(text) => text,
        };
        if let Some(number) = number(text) {
            return Self::Number(number);
        }
        if let Some(number) = text.strip_suffix(OUT).and_then(number) {
            return Self::Out(number);
        }
        if let Some((digits, location)) = text.split_once('@')
            && let Some(number) = number(digits)
        {
            return Self::At(number, location);
        }
        Self::Text(text)
    }

    /// A number that stands for the name: two names have the same one with a chance of 2^-64.
    pub(super) fn digest(self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// The names of many tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    /// The number; of `Text` the place in `texts`.
    numbers: Vec<u64>,
    forms: Vec<Form>,
    texts: String,
    /// Where in `texts` each one ends.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    Out,
    /// At the location of the task itself.
    At,
    Text,
}

impl Form {
    const ALL: [Self; 4] = [Self::Number, Self::Out, Self::At, Self::Text];

    /// The form of this number.
    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|form| *form as u8 == number)
    }
}

impl Ids {
    pub(super) fn push(&mut self, id: &TaskId<'_>, location: &str) {
        let (form, number) = match Parts::of(id) {
            Parts::Number(number) => (Form::Number, number),
            Parts::Out(number) => (Form::Out, number),
            Parts::At(number, at) if at == location => (Form::At, number),
            Parts::At(..) | Parts::Text(_) => {
                self.texts.push_str(&id.to_string());
                self.ends.push(self.texts.len());
                (Form::Text, self.ends.len() as u64 - 1)
            }
        };
        self.numbers.push(number);
        self.forms.push(form);
    }

    fn text(&self, at: u64) -> &str {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[from..self.ends[at]]
    }

    pub(super) fn parts<'a>(&'a self, at: usize, location: &'a str) -> Parts<'a> {
        let number = self.numbers[at];
        match self.forms[at] {
            Form::Number => Parts::Number(number),
            Form::Out => Parts::Out(number),
            Form::At => Parts::At(number, location),
            // Kept as text because its location is another one: it is taken apart again, for its digest.
            Form::Text => Parts::of(&TaskId::Text(self.text(number))),
        }
    }

    /// The name, as it was given.
    pub(super) fn name(&self, at: usize, location: &str) -> String {
        let number = self.numbers[at];
        match self.forms[at] {
            Form::Number => number.to_string(),
            Form::Out => format!("{number}{OUT}"),
            Form::At => format!("{number}@{location}"),
            Form::Text => self.text(number).to_owned(),
        }
    }

    /// The number, where the name is nothing else.
    pub(super) fn number(&self, at: usize) -> Option<u64> {
        (self.forms[at] == Form::Number).then(|| self.numbers[at])
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn pack(&self, out: &mut Packer<'_>) -> io::Result<()> {
        out.column(&self.numbers)?;
        out.column(&self.forms.iter().map(|&form| form as u8).collect::<Vec<_>>())?;
        out.text(&self.texts)?;
        out.column(&self.ends.iter().map(|&end| end as u64).collect::<Vec<_>>())
    }

    pub(super) fn unpack(input: &mut Unpacker<'_>) -> io::Result<Self> {
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let numbers = input.column::<u64>()?;
        let forms: Option<Vec<Form>> = input.column::<u8>()?.into_iter().map(Form::of).collect();
        let (forms, texts) = (forms.ok_or_else(damaged)?, input.text()?);
        let ends: Option<Vec<usize>> =
            input.column::<u64>()?.into_iter().map(|end| usize::try_from(end).ok()).collect();
        let ends = ends.ok_or_else(damaged)?;
        let texts_of = |(form, number): (&Form, &u64)| *form != Form::Text || *number < ends.len() as u64;
        let sound = forms.len() == numbers.len()
            && ends.is_sorted()
            && ends.iter().all(|&end| texts.is_char_boundary(end))
            && forms.iter().zip(&numbers).all(texts_of);
        sound.then_some(Self { numbers, forms, texts, ends }).ok_or_else(damaged)
    }

    /// In another order: `order[new] = old`.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.numbers = order.iter().map(|&old| self.numbers[old as usize]).collect();
        self.forms = order.iter().map(|&old| self.forms[old as usize]).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were() {
        let names = [
            "0",
            "891",
            "007",
            "891_req_out",
            "0891_req_out",
            "_req_out",
            "891@GPU[1].DRAM[0]",
            "891@elsewhere",
            "@",
            "",
            "18446744073709551615",
            "18446744073709551616",
            "c1v2x_req_out",
            "1@",
            "+5",
            "sim_1@Driver",
        ];
        let mut ids = Ids::default();
        for name in names {
            ids.push(&TaskId::Text(name), "GPU[1].DRAM[0]");
        }
        ids.push(&TaskId::Number(7), "");
        for (at, name) in names.iter().enumerate() {
            assert_eq!(&ids.name(at, "GPU[1].DRAM[0]"), name);
            assert_eq!(ids.parts(at, "GPU[1].DRAM[0]").digest(), Parts::of(&TaskId::Text(name)).digest(), "{name}");
        }
        assert_eq!((ids.name(names.len(), ""), ids.number(names.len())), ("7".to_owned(), Some(7)));
        assert_eq!(ids.number(2), None);
    }
}
