//! Words that say what a buffer is bound to.

use super::buffers::{Content, Size};
use super::texel::Sampling;

/// What the words of `--bind` name, before files are read.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// There it is.
    Content(Content, Option<Size>),
    /// Bytes of this file.
    Binary(String),
    /// Numbers of this file, apart by commas, blanks or line ends.
    Csv(String),
    /// The pixels of this picture.
    Png(String),
    /// What the variable of this name holds at the end of the launch before.
    Held(String),
}

/// Reads `zeros`, `iota`, `random(7)`, with `:1024` or `:64x64` after them for so many elements; numbers; `linear` and `nearest` of
/// samplers; the name of a file.
///
/// # Errors
/// Words that are none of these.
pub fn bound(words: &str) -> Result<Bound, String> {
    let words = words.trim();
    let (kind, length) = match words.split_once(':') {
        Some((kind, length)) if !kind.contains('.') && !kind.contains('/') => {
            let wrong = || {
                format!(
                    "{words}: found {length} after the colon; expected a count of 1 to {}, as in iota:1024, or a size, as in zeros:64x64",
                    u32::MAX
                )
            };
            (kind, Some(size(length).ok_or_else(wrong)?))
        }
        _ => (words, None),
    };
    let seed = kind.strip_prefix("random(").and_then(|rest| rest.strip_suffix(')'));
    if kind == "zeros" || kind == "iota" || kind == "random" {
        let content = [("zeros", Content::Zeros), ("iota", Content::Iota), ("random", Content::Random(0))];
        let found = content.into_iter().find(|(name, _)| *name == kind);
        return found.map(|(_, content)| Bound::Content(content, length)).ok_or_else(|| words.to_owned());
    }
    if let Some(seed) = seed {
        let seed = seed
            .trim()
            .parse()
            .map_err(|_| format!("{words}: expected a whole number as the seed, as in random(7)"))?;
        return Ok(Bound::Content(Content::Random(seed), length));
    }
    if let Some(name) = words.strip_prefix("held(").and_then(|rest| rest.strip_suffix(')')) {
        return Ok(Bound::Held(name.trim().to_owned()));
    }
    if let Some(sampling) = Sampling::parse(words) {
        return Ok(Bound::Content(Content::Sampler(sampling), None));
    }
    if let Ok(numbers) = numbers(words)
        && !numbers.is_empty()
    {
        return Ok(Bound::Content(Content::Numbers(numbers), None));
    }
    let ending = words.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "bin" => Ok(Bound::Binary(words.to_owned())),
        "csv" | "txt" => Ok(Bound::Csv(words.to_owned())),
        "png" => Ok(Bound::Png(words.to_owned())),
        _ => Err(format!(
            "{words}: expected zeros, iota, random(SEED), numbers, a file ending in .bin, .csv or .png, linear or nearest \
             for a sampler, or in [launch.bind] held(NAME)"
        )),
    }
}

/// A count, or a size: `1_024`, `64x64`, `8x8x8`.
fn size(words: &str) -> Option<Size> {
    let mut out = [1; 3];
    let mut axes = out.iter_mut();
    for word in words.split('x') {
        *axes.next()? = word.replace('_', "").parse().ok().filter(|n| *n > 0)?;
    }
    Some(out)
}

/// Numbers, apart by commas, blanks or line ends; `#` starts a comment.
///
/// # Errors
/// The first word that is no number, with its line.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let mut out = Vec::new();
    // Spreadsheets begin a file with a mark of the order of bytes.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.split('#').next().unwrap_or("");
        for word in words.split(|c: char| c == ',' || c == ';' || c.is_whitespace()).filter(|word| !word.is_empty()) {
            out.push(word.parse().map_err(|_| format!("line {line}: found {word}; expected a number"))?);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_contents() {
        assert_eq!(bound("iota"), Ok(Bound::Content(Content::Iota, None)));
        assert_eq!(bound("zeros:1_024"), Ok(Bound::Content(Content::Zeros, Some([1024, 1, 1]))));
        assert_eq!(bound("random(7):3"), Ok(Bound::Content(Content::Random(7), Some([3, 1, 1]))));
        assert_eq!(bound("1,2.5 -3"), Ok(Bound::Content(Content::Numbers(vec![1.0, 2.5, -3.0]), None)));
        assert_eq!(bound("a/b.BIN"), Ok(Bound::Binary("a/b.BIN".into())));
        assert_eq!(bound("c.csv"), Ok(Bound::Csv("c.csv".into())));
        assert_eq!(bound("d.png"), Ok(Bound::Png("d.png".into())));
        assert_eq!(bound("zeros:640x480"), Ok(Bound::Content(Content::Zeros, Some([640, 480, 1]))));
        let nearest = Sampling { linear: false, edge: super::super::texel::Edge::Repeat };
        assert_eq!(bound("nearest-repeat"), Ok(Bound::Content(Content::Sampler(nearest), None)));
        for wrong in ["", "ones", "iota:0", "iota:x", "random(x)", "a.gif", "zeros:4x", "zeros:2x2x2x2", "linear-wrap"]
        {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bound("held(dst)"), Ok(Bound::Held("dst".into())));
        // As a spreadsheet writes it.
        assert_eq!(numbers("\u{feff}1\r\n2\r\n"), Ok(vec![1.0, 2.0]));
        assert_eq!(numbers("1, 2 # two\n3;4\n"), Ok(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(numbers("1\n2, x"), Err("line 2: found x; expected a number".into()));
    }
}
