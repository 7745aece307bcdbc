//! Words as they are compared: small letters without accents.

/// Letters with accents, by the letter that they are one of.
const ACCENTS: [(&str, &str); 27] = [
    ("àáâãäåāăąǎ", "a"),
    ("çćĉċč", "c"),
    ("ďđð", "d"),
    ("èéêëēĕėęě", "e"),
    ("ĝğġģ", "g"),
    ("ĥħ", "h"),
    ("ìíîïĩīĭįıǐ", "i"),
    ("ĵ", "j"),
    ("ķ", "k"),
    ("ĺļľŀł", "l"),
    ("ñńņňŉ", "n"),
    ("òóôõöøōŏőǒ", "o"),
    ("ŕŗř", "r"),
    ("śŝşšș", "s"),
    ("ţťŧț", "t"),
    ("ùúûüũūŭůűųǔ", "u"),
    ("ŵ", "w"),
    ("ýÿŷ", "y"),
    ("źżž", "z"),
    ("ß", "ss"),
    ("æ", "ae"),
    ("œ", "oe"),
    ("þ", "th"),
    ("ά", "α"),
    ("έ", "ε"),
    ("ё", "е"),
    ("й", "и"),
];

/// See the module.
pub(in crate::app) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            ' '..='~' => out.push(c),
            // Accents that stand by themselves after their letter.
            '\u{300}'..='\u{36f}' => {}
            c => match ACCENTS.iter().find(|(with, _)| with.contains(c)) {
                Some((_, plain)) => out.push_str(plain),
                None => out.push(c),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_accents_do_not_count() {
        for (text, plain) in [
            ("Größe ÉTÉ naïve", "grosse ete naive"),
            ("e\u{301}te\u{301}", "ete"),
            ("İstanbul", "istanbul"),
            ("長さ 🦀 ЁЖ", "長さ 🦀 еж"),
            ("a[1][2] + x", "a[1][2] + x"),
        ] {
            assert_eq!(folded(text), plain);
            assert_eq!(folded(plain), plain, "once more changes nothing");
        }
    }
}
