//! Comments carried over from one TOML text to another that says the same.

use super::HierarchyConfig;

impl HierarchyConfig {
    /// As [`HierarchyConfig::to_toml`], with the comments of another file: those at its head, and those above each table (the nth
    /// `[[level]]` takes those of the nth). Tables stand apart by an empty line.
    #[must_use]
    pub fn to_toml_with(&self, comments: &str) -> String {
        annotated(&self.to_toml(), comments)
    }
}

fn annotated(text: &str, comments: &str) -> String {
    let mut above: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut head = None;
    let mut block = Vec::new();
    for line in comments.lines() {
        if line.starts_with('#') {
            block.push(line);
            continue;
        }
        if head.is_none() {
            head = Some(std::mem::take(&mut block));
        } else if line.starts_with('[') {
            above.push((line, std::mem::take(&mut block)));
        }
    }
    let mut out = head.unwrap_or_default().join("\n");
    out.push('\n');
    for line in text.lines() {
        if let Some(at) = above.iter().position(|(table, _)| *table == line) {
            let (_, lines) = above.remove(at);
            for comment in lines {
                out.push_str(comment);
                out.push('\n');
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_above_their_tables() {
        let comments = "# head\nname = \"a\"\n\n# one\n[[level]]\nsize = 1\n\n# two\n# lines\n[[level]]\n\n[memory]\n";
        let text = "name = \"a\"\n\n[hierarchy]\n\n[[level]]\nsize = 1\n\n[[level]]\n\n[memory]\n";
        let expect = "# head\nname = \"a\"\n\n[hierarchy]\n\n# one\n[[level]]\nsize = 1\n\n# two\n# lines\n[[level]]\n\n[memory]\n";
        assert_eq!(annotated(text, comments), expect);
    }
}
