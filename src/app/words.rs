//! A command line in words, as a shell would part it. No shell runs: what only a shell does is refused in words.

use std::path::Path;

/// Parts `text` at space; quotes and `\` keep space within a word, as in a shell; `~/` begins with the `home` folder.
///
/// # Errors
/// Where a quote is not closed, or a sign stands there that only a shell understands.
pub fn split(text: &str, home: Option<&Path>) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    // A word may be empty, as '' is.
    let mut word: Option<String> = None;
    let mut signs = text.trim().char_indices().peekable();
    let place = |at: usize| text.trim()[..at].chars().count() + 1;
    while let Some((at, sign)) = signs.next() {
        match sign {
            _ if sign.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match signs.next() {
                        Some((_, end)) if end == sign => break,
                        // Between double quotes it keeps these from being what they are, and stays before others.
                        Some((_, '\\')) if sign == '"' => match signs.next() {
                            Some((_, kept @ ('"' | '\\' | '$' | '`'))) => word.push(kept),
                            Some((_, other)) => word.extend(['\\', other]),
                            None => {}
                        },
                        Some((_, other)) => word.push(other),
                        None => {
                            let place = place(at);
                            return Err(format!(
                                "the quote {sign} at sign {place} is not closed; expected another {sign}"
                            ));
                        }
                    }
                }
            }
            '\\' => match signs.next() {
                Some((_, kept)) => word.get_or_insert_default().push(kept),
                None => return Err("\\ is the last sign; expected one after it, or \\\\ for a \\".into()),
            },
            '|' | '<' | '>' | '&' | ';' | '`' => {
                let place = place(at);
                return Err(format!(
                    "found {sign} at sign {place}; expected a program and its arguments, for no shell runs here; \
                     '{sign}' in quotes is an argument"
                ));
            }
            '~' if word.is_none() && signs.peek().is_none_or(|&(_, next)| next == '/' || next.is_whitespace()) => {
                let home = home.map_or("~".into(), |home| home.to_string_lossy());
                word = Some(home.into_owned());
            }
            _ => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    if words.is_empty() { Err("expected a program and its arguments, as ./a.out 100".into()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(text: &str) -> Vec<String> {
        split(text, Some(Path::new("/home/ada"))).unwrap_or_else(|words| panic!("{text}: {words}"))
    }

    #[test]
    fn words_are_parted_as_by_a_shell() {
        for (text, words) in [
            ("./a.out 100", &["./a.out", "100"][..]),
            ("  ./a.out \t 100\n", &["./a.out", "100"]),
            ("'my program' \"a b\" c\\ d", &["my program", "a b", "c d"]),
            ("./a --name='x y'z \"\" ''", &["./a", "--name=x yz", "", ""]),
            (r#"p "say \"hi\" \n \\ \$x" '\n'"#, &["p", r#"say "hi" \n \ $x"#, r"\n"]),
            ("~/mm.c ~ a~ '~/x' ~bob", &["/home/ada/mm.c", "/home/ada", "a~", "~/x", "~bob"]),
            ("p '|' \\> \"a;b\" $HOME *.c", &["p", "|", ">", "a;b", "$HOME", "*.c"]),
            ("./größe ü", &["./größe", "ü"]),
        ] {
            assert_eq!(parted(text), words, "{text}");
        }
    }

    #[test]
    fn what_is_not_closed_or_is_for_a_shell_is_said_with_its_place() {
        for (text, part) in [
            ("p 'a b", "the quote ' at sign 3 is not closed"),
            ("ü \"a'", "the quote \" at sign 3 is not closed"),
            ("p \"a\\\"", "is not closed"),
            ("p \\", "\\ is the last sign"),
            ("p < in.txt", "found < at sign 3"),
            ("p | head", "found | at sign 3"),
            ("p a; q", "found ; at sign 4"),
            ("p &", "found & at sign 3"),
            ("", "expected a program"),
            ("  ", "expected a program"),
        ] {
            let words = split(text, None).expect_err(text);
            assert!(words.contains(part), "{text}: {words}");
        }
    }
}
