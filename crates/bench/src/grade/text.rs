//! Text comparison: what two strings have in common when case, spaces and punctuation do not count.

/// `text` without spaces and the punctuation `,./-_*^`, lower case, every quotation mark the same.
/// This is the comparison of the Berkeley Function Calling Leaderboard (`standardize_string` of its
/// checker), widened to typographic quotes and to every kind of white space.
pub(crate) fn loose(text: &str) -> String {
    text.chars()
        .filter(|char| !char.is_whitespace() && !matches!(char, ',' | '.' | '/' | '-' | '_' | '*' | '^'))
        .flat_map(char::to_lowercase)
        .map(|char| if matches!(char, '\'' | '’' | '‘' | '“' | '”' | '«' | '»') { '"' } else { char })
        .collect()
}

/// True when `text` contains `part`, upper or lower case.
pub(crate) fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_case_and_quotes_do_not_count() {
        assert_eq!(loose("April 1, 2024"), loose("april 1 2024"));
        assert_eq!(loose("l’été"), loose("L'Été"));
        assert_ne!(loose("Paris"), loose("Parys"));
    }
}
