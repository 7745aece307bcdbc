//! Texts: a line, or a word of one, is changed, repeated, taken out or moved.

use super::{bytes, number};
use fastrand::Rng;

/// The text with something changed; `None` where it is not UTF-8.
pub(super) fn change(input: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(input).ok()?;
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..lines.len());
        match rng.u8(..8) {
            0 => lines.insert(at, lines[at].clone()),
            1 if lines.len() > 1 => drop(lines.remove(at)),
            2 => lines.swap(at, 0),
            3 => lines[at] = String::from_utf8_lossy(&bytes(lines[at].as_bytes(), rng)).into_owned(),
            _ => lines[at] = changed(&lines[at], rng),
        }
    }
    Some(lines.join("\n").into_bytes())
}

/// A line with one of its words changed: words are runs of letters and digits.
fn changed(line: &str, rng: &mut Rng) -> String {
    let is = |c: char| c.is_ascii_alphanumeric();
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (at, c) in line.char_indices().filter(|(_, c)| is(*c)) {
        match words.last_mut() {
            Some((_, end)) if *end == at => *end += c.len_utf8(),
            _ => words.push((at, at + c.len_utf8())),
        }
    }
    let Some(&(start, end)) = words.get(rng.usize(..words.len().max(1))) else { return line.to_owned() };
    let new = match rng.u8(..6) {
        0 => String::new(),
        1 => number(rng).to_string(),
        2 => format!("{:x}", number(rng)),
        3 => format!("0x{:x}", number(rng)),
        4 => {
            let (a, b) = words[rng.usize(..words.len())];
            line[a..b].to_owned()
        }
        _ => line[start..end].repeat(2),
    };
    format!("{}{new}{}", &line[..start], &line[end..])
}
