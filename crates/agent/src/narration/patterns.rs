//! The rules, one sentence at a time.

use std::sync::LazyLock;

use regex::Regex;

use super::phrases::{
    CONDITIONAL, ENGLISH_BETWEEN, FRENCH_BETWEEN, JE, JE_VAIS, LAISSE_MOI, LET_ME_HAVE_TIME, ON_IT, OPENING, STATEMENT,
    SUBJECT, TALK, UNDER_WAY, WAIT, WHETHER,
};
use super::verbs::{ENGLISH_BASE, ENGLISH_ING, ENGLISH_TEXT, FRENCH_BASE, FRENCH_FIRST, FRENCH_TEXT, MADE};

struct Rules {
    /// Announcements of acts.
    announcing: Vec<Regex>,
    /// Announcements of writing, which are acts only beside something that a tool makes.
    writing: Vec<Regex>,
    made: Regex,
    /// Participles at the start of a sentence.
    participle: Regex,
    statement: Regex,
    wait: Regex,
    talk: Regex,
    conditional: Regex,
    whether: Regex,
    opening: Regex,
}

/// Builds every rule; `None` only if a pattern were invalid, which a test excludes.
fn build() -> Option<Rules> {
    let rule = |pattern: &str| Regex::new(pattern).ok();
    let verbs = |lead: &str, verbs: &str| Regex::new(&format!(r"{lead}(?:{verbs})\b")).ok();
    let english = |of: &str| verbs(&format!(r"\b{SUBJECT} {ENGLISH_BETWEEN}"), of);
    let french = |lead: &str, of: &str| verbs(&format!("{lead}{FRENCH_BETWEEN}"), of);
    Some(Rules {
        announcing: vec![
            english(ENGLISH_BASE)?,
            verbs(&format!(r"\b{SUBJECT} be "), ENGLISH_ING)?,
            verbs(r"\b(?:i'?m|i am) (?:(?:now|just|currently|already|also) )*", ENGLISH_ING)?,
            french(JE_VAIS, FRENCH_BASE)?,
            french(r"\bje suis en train (?:de |d')", FRENCH_BASE)?,
            french(LAISSE_MOI, FRENCH_BASE)?,
            verbs(JE, FRENCH_FIRST)?,
            rule(ON_IT)?,
            rule(LET_ME_HAVE_TIME)?,
            rule(UNDER_WAY)?,
        ],
        writing: vec![english(ENGLISH_TEXT)?, french(JE_VAIS, FRENCH_TEXT)?, verbs(JE, FRENCH_TEXT)?],
        made: rule(&format!(r"\b(?:{MADE})\b"))?,
        participle: rule(&format!(r"^(?:{ENGLISH_ING})\b"))?,
        statement: rule(STATEMENT)?,
        wait: rule(WAIT)?,
        talk: rule(TALK)?,
        conditional: rule(CONDITIONAL)?,
        whether: rule(WHETHER)?,
        opening: rule(OPENING)?,
    })
}

static RULES: LazyLock<Option<Rules>> = LazyLock::new(build);

/// True when this folded sentence announces an act.
pub(super) fn announces(sentence: &str) -> bool {
    RULES.as_ref().is_some_and(|rules| rules.announces(sentence))
}

impl Rules {
    fn announces(&self, sentence: &str) -> bool {
        let sentence = self.opening.replace(sentence, "");
        let sentence = sentence.trim();
        let asked = self.whether.replace_all(sentence, "$1");
        if self.conditional.is_match(&asked) {
            return false;
        }
        self.wait.is_match(sentence)
            || (self.acts(&asked) && !self.talk.is_match(&asked))
            || (self.made.is_match(&asked) && self.writing.iter().any(|rule| rule.is_match(&asked)))
            || (self.participle.is_match(sentence) && !self.statement.is_match(sentence))
    }

    fn acts(&self, sentence: &str) -> bool {
        let announcing = |rule: &Regex| rule.find(sentence).is_some_and(|found| !delivers(&sentence[found.end()..]));
        self.announcing.iter().any(announcing)
    }
}

/// True when a colon and some words follow the announcement: it is carried out in the sentence.
fn delivers(rest: &str) -> bool {
    rest.split_once(": ").is_some_and(|(_, said)| said.split_whitespace().count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        assert!(build().is_some());
    }
}
