//! Operations of a line of code: arithmetic, and calls of functions.

/// Operations of one execution of a text in Python, C or the language of loops: `+ - * / % ** // << >> & | ^`, also those of `+=`, and calls
/// of functions by name. What is in square brackets is an address and no operation; signs before numbers are none, nor are comparisons.
pub(in crate::nest) fn operations(code: &str) -> u64 {
    let mut count = 0u64;
    for line in code.lines() {
        let signs: Vec<char> = line.chars().collect();
        let (mut depth, mut at) = (0u32, 0usize);
        // Whether an operand ends here, so that a sign after it is between two.
        let mut behind_operand = false;
        while let Some(&sign) = signs.get(at) {
            let next = signs.get(at + 1).copied().unwrap_or(' ');
            match sign {
                '#' => break,
                '/' if next == '/' && !behind_operand => break,
                '"' | '\'' => {
                    at += 1;
                    while signs.get(at).is_some_and(|other| *other != sign) {
                        at += 1;
                    }
                    behind_operand = true;
                }
                '[' => depth += 1,
                ']' => {
                    depth = depth.saturating_sub(1);
                    behind_operand = true;
                }
                _ if sign.is_alphanumeric() || sign == '_' => {
                    let start = at;
                    while let Some(&letter) = signs.get(at + 1) {
                        // 1e-3 and 0.5f are numbers.
                        let in_number = signs[start].is_ascii_digit()
                            && (letter == '.' || (matches!(letter, '+' | '-') && matches!(signs[at], 'e' | 'E')));
                        if !(letter.is_alphanumeric() || letter == '_' || in_number) {
                            break;
                        }
                        at += 1;
                    }
                    let word: String = signs[start..=at].iter().collect();
                    let keyword = matches!(
                        word.as_str(),
                        "if" | "else" | "and" | "or" | "not" | "in" | "return" | "while" | "for"
                    );
                    let called = signs[at + 1..].iter().find(|c| !c.is_whitespace()) == Some(&'(');
                    let is_type = ["float", "int", "uint", "double", "complex", "bool"]
                        .iter()
                        .any(|name| word.trim_end_matches(|c: char| c.is_ascii_digit()) == *name);
                    count += u64::from(depth == 0 && called && !keyword && !is_type);
                    behind_operand = !keyword;
                }
                ')' => behind_operand = true,
                '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' => {
                    let twice = next == sign;
                    let is_shift = matches!(sign, '<' | '>');
                    let counts = behind_operand && (!is_shift || twice) && !(twice && matches!(sign, '&' | '|'));
                    count += u64::from(depth == 0 && counts);
                    at += usize::from(twice && !matches!(sign, '+' | '-' | '%' | '^'));
                    behind_operand = false;
                }
                c if c.is_whitespace() => {}
                _ => behind_operand = false,
            }
            at += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::operations;

    #[test]
    fn arithmetic_and_calls_are_counted() {
        for (code, count) in [
            ("C[i,j] += A[i,k] * B[k,j]", 2),
            ("out = a", 0),
            ("t = -1.5e-3 * x", 1),
            ("out = sqrt(a ** 2 + b**2) - 4", 5),
            ("A[i + 1, j - 2] = B[i * 3]", 0),
            ("a = b < c  # + comment", 0),
            ("x = (a + b) / (c - d)\ny = x // 2", 4),
            ("out = max(a, b) if a > 0 else -b", 1),
            ("out = a + dace.float64(2)", 1),
            ("", 0),
        ] {
            assert_eq!(operations(code), count, "{code}");
        }
    }
}
