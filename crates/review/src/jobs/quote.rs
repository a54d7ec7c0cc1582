//! Texts inside other languages: shell words, YAML strings, expressions of GitHub Actions.

/// A word of a POSIX shell, bare where it needs no quotes.
pub fn shell(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A YAML string in double quotes, which are JSON's.
pub(super) fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text in a workflow of GitHub Actions, where `${{` would begin an expression.
pub(super) fn workflow(text: &str) -> String {
    text.replace("${{", "${{ '${{' }}")
}

/// A script as a block of YAML: each line indented.
pub(super) fn block(script: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let lines = script.lines().map(|line| if line.is_empty() { String::new() } else { format!("{margin}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words() {
        for (text, word) in [
            ("plain-1.2/x:y", "plain-1.2/x:y"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$HOME `x`", "'$HOME `x`'"),
            ("~/runs", "'~/runs'"),
            ("été", "'été'"),
        ] {
            assert_eq!(shell(text), word);
        }
        assert_eq!(yaml("a \"b\" \\ ü"), "\"a \\\"b\\\" \\\\ ü\"");
        assert_eq!(workflow("x${{ secrets.A }}"), "x${{ '${{' }} secrets.A }}");
        assert_eq!(block("a\n\nb\n", 2), "  a\n\n  b");
    }

    #[cfg(unix)]
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_shell_reads_back_what_was_quoted(text in "[^\0\r\n]{0,30}") {
            let script = format!("printf %s {}", shell(&text));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }
}
