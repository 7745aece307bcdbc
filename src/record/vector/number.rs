//! Numbers in few digits, and outlines as SVG writes them.

use crate::overlay::vector::Step;
use egui::Pos2;

/// Hundredths, the nearest.
#[expect(clippy::cast_possible_truncation, reason = "places in a picture; saturates")]
fn hundredths(v: f32) -> i64 {
    if v.is_finite() { (f64::from(v) * 100.0).round() as i64 } else { 0 }
}

/// So many thousandths, without zeros that say nothing.
fn decimal(mut value: i64, mut digits: usize) -> String {
    while digits > 0 && value % 10 == 0 {
        value /= 10;
        digits -= 1;
    }
    if digits == 0 {
        return value.to_string();
    }
    let text = format!("{:0width$}", value.abs(), width = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    format!("{}{}.{part}", if value < 0 { "-" } else { "" }, if whole == "0" { "" } else { whole })
}

/// A place or a length: two digits after the point.
pub(super) fn place(v: f32) -> String {
    decimal(hundredths(v), 2)
}

/// A share: three digits after the point.
#[expect(clippy::cast_possible_truncation, reason = "rounded, 0 to 1 and a little more")]
pub(super) fn share(v: f32) -> String {
    decimal(if v.is_finite() { (f64::from(v) * 1000.0).round() as i64 } else { 0 }, 3)
}

/// Writes outlines by how far each place is from the last one.
#[derive(Default)]
struct Outline {
    text: String,
    at: [i64; 2],
    begun: [i64; 2],
    /// The letter of the last step, which need not be said again.
    letter: char,
}

impl Outline {
    fn say(&mut self, letter: char, values: &[i64]) {
        // After a move, lines need no letter either; `m` itself is always said.
        if letter != self.letter || letter == 'm' || letter == 'z' {
            self.text.push(letter);
        } else if values.first().is_some_and(|v| *v >= 0) {
            self.text.push(' ');
        }
        self.letter = letter;
        for (n, value) in values.iter().enumerate() {
            if n > 0 && *value >= 0 {
                self.text.push(' ');
            }
            self.text.push_str(&decimal(*value, 2));
        }
    }

    fn way_to(&self, p: Pos2) -> [i64; 2] {
        [hundredths(p.x) - self.at[0], hundredths(p.y) - self.at[1]]
    }

    fn go(&mut self, [dx, dy]: [i64; 2]) {
        self.at = [self.at[0] + dx, self.at[1] + dy];
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Move(p) => {
                let by = self.way_to(p);
                self.say('m', &by);
                self.go(by);
                self.begun = self.at;
            }
            Step::Line(p) => {
                let by = self.way_to(p);
                match by {
                    [0, 0] => {}
                    [dx, 0] => self.say('h', &[dx]),
                    [0, dy] => self.say('v', &[dy]),
                    [dx, dy] => self.say('l', &[dx, dy]),
                }
                self.go(by);
            }
            Step::Curve(a, b, p) => {
                let (a, b, by) = (self.way_to(a), self.way_to(b), self.way_to(p));
                self.say('c', &[a[0], a[1], b[0], b[1], by[0], by[1]]);
                self.go(by);
            }
            Step::Close => {
                self.say('z', &[]);
                self.at = self.begun;
            }
        }
    }
}

/// The data of a `<path>`.
pub(super) fn outline(steps: &[Step]) -> String {
    let mut outline = Outline::default();
    steps.iter().for_each(|step| outline.step(step));
    outline.text
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn numbers_are_short_and_outlines_end_where_they_should() {
        let all =
            [(0.0, "0"), (1.5, "1.5"), (-0.25, "-.25"), (10.0, "10"), (0.004, "0"), (1280.0, "1280"), (-3.1, "-3.1")];
        for (value, text) in all {
            assert_eq!(place(value), text);
        }
        assert_eq!((share(1.0), share(0.0625), share(f32::NAN)), ("1".into(), ".063".into(), "0".into()));
        let steps = [
            Step::Move(pos2(1.0, 2.0)),
            Step::Line(pos2(4.0, 2.0)),
            Step::Line(pos2(4.0, -2.5)),
            Step::Line(pos2(3.0, -3.0)),
            Step::Line(pos2(5.0, -2.0)),
            Step::Curve(pos2(5.0, -1.0), pos2(4.5, 0.0), pos2(4.0, 0.25)),
            Step::Close,
            Step::Move(pos2(0.0, 0.0)),
        ];
        assert_eq!(outline(&steps), "m1 2h3v-4.5l-1-.5 2 1c0 1-.5 2-1 2.25zm-1-2");
    }
}
