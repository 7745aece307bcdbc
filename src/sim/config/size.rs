//! Sizes as people write them: `32KiB`, `1.25MiB`, `512`.

/// Units by name; a size is a number and one of these.
const UNITS: [(&str, u64); 9] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("K", 1 << 10),
    ("MiB", 1 << 20),
    ("M", 1 << 20),
    ("GiB", 1 << 30),
    ("G", 1 << 30),
    ("TiB", 1 << 40),
];

/// Reads a size in bytes: `512`, `32KiB`, `32k`, `1.25 MiB` (a fraction must come out as whole bytes). `None` for anything
/// else; `32KB` too, since it means 1,000 to some and 1,024 to others.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start();
    let (_, scale) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.len() > 9 {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(*scale)?;
    if fraction.is_empty() {
        return Some(whole);
    }
    let tens = 10u64.pow(u32::try_from(fraction.len()).ok()?);
    let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(*scale);
    if part % u128::from(tens) != 0 {
        return None;
    }
    whole.checked_add(u64::try_from(part / u128::from(tens)).ok()?)
}

/// The size in the largest unit that leaves a whole number: `32KiB`, `1280KiB`, `500B`.
#[must_use]
pub fn format_size(bytes: u64) -> String {
    let (unit, scale) = [("GiB", 30), ("MiB", 20), ("KiB", 10)]
        .into_iter()
        .find(|(_, shift)| bytes != 0 && bytes.trailing_zeros() >= *shift)
        .unwrap_or(("B", 0));
    format!("{}{unit}", bytes >> scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("512", Some(512)),
            ("512B", Some(512)),
            ("32KiB", Some(32 << 10)),
            ("32 kib", Some(32 << 10)),
            ("32k", Some(32 << 10)),
            ("1MiB", Some(1 << 20)),
            ("1.25MiB", Some(1280 << 10)),
            ("65_536", Some(65536)),
            ("3TiB", Some(3 << 40)),
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("17179869184GiB", None),
            ("32KB", None),
            ("0.3KiB", None),
            ("1.MiB", None),
            (".5MiB", None),
            ("1.2.3", None),
            ("KiB", None),
            ("-1", None),
            ("", None),
            ("32 potatoes", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text:?}");
        }
    }

    #[test]
    fn sizes_written_are_read_back() {
        for bytes in [0, 1, 500, 512, 1024, 1536, 32 << 10, 1280 << 10, 3 << 30, u64::MAX] {
            assert_eq!(parse_size(&format_size(bytes)), Some(bytes));
        }
        assert_eq!(format_size(32 << 10), "32KiB");
        assert_eq!(format_size(1280 << 10), "1280KiB");
        assert_eq!(format_size(500), "500B");
    }
}
