//! Pieces that a voice speaks at once (Z16): 24 to 240 characters, ended where a sentence ends; the first one may
//! end at a comma or colon, so that something is heard early.

use super::rules::is_month;
use super::spoken;

/// Fewest characters of a chunk, unless nothing more comes.
pub const SHORTEST_CHUNK: usize = 24;
/// Most characters of a chunk.
pub const LONGEST_CHUNK: usize = 240;

/// Words that end in a full stop and do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "e.g", "i.e", "vs", "approx", "fig", "no", "vol", "pp", "p",
    "m", "mm", "mme", "mlle", "env", "tél", "av", "bd", "ex", "c.-à-d", "j.-c", "jan", "feb", "mar", "apr", "jun",
    "jul", "aug", "sep", "sept", "oct", "nov", "dec", "janv", "févr", "avr", "juil", "déc", "dept", "max", "min", "cf",
    "art", "chap",
];

/// Cuts text that can be spoken already.
pub fn chunks(text: &str) -> Vec<String> {
    let mut chunker = Chunker::plain();
    let mut found = chunker.push(text);
    found.extend(chunker.finish());
    found
}

/// Cuts a text while it is being written.
#[derive(Debug, Clone)]
pub struct Chunker {
    /// Of raw Markdown; `None` when what comes can be spoken as it is.
    language: Option<String>,
    /// What came and is not understood yet.
    raw: String,
    /// What can be spoken and is too short for a chunk.
    ready: String,
    is_first: bool,
}

impl Chunker {
    /// For text that can be spoken as it comes.
    pub fn plain() -> Self {
        Self { language: None, raw: String::new(), ready: String::new(), is_first: true }
    }

    /// For what a model writes: Markdown, numbers and all; see [`spoken`].
    pub fn speaking(language: &str) -> Self {
        Self { language: Some(language.to_owned()), ..Self::plain() }
    }

    /// Takes the next piece of text, of any length, and gives the chunks that are complete with it.
    pub fn push(&mut self, piece: &str) -> Vec<String> {
        self.raw.push_str(piece);
        let mut found = Vec::new();
        while let Some(end) = self.safe_end() {
            let segment: String = self.raw.drain(..end).collect();
            self.take(&segment, &mut found);
        }
        found
    }

    /// The rest, when the text is at its end.
    pub fn finish(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        let segment = std::mem::take(&mut self.raw);
        self.take(&segment, &mut found);
        let rest = std::mem::take(&mut self.ready);
        if rest.chars().any(char::is_alphanumeric) {
            // A few last words join the chunk before, if that one has not been handed out.
            match found.last_mut() {
                Some(last) if length(&rest) < SHORTEST_CHUNK && length(last) + length(&rest) < LONGEST_CHUNK => {
                    last.push(' ');
                    last.push_str(rest.trim());
                }
                _ => found.push(rest.trim().to_owned()),
            }
        }
        self.is_first = true;
        found
    }

    /// Where the raw text can be cut so that what is before the cut will not change its meaning.
    fn safe_end(&self) -> Option<usize> {
        let raw = &self.raw;
        let is_markdown = self.language.is_some();
        if is_markdown && let Some(end) = open_block(raw) {
            return end;
        }
        // A line break ends a block only where Markdown says so, and then the mark of the next line is known.
        if let Some(end) = paragraph_end(raw, is_markdown) {
            return Some(end.min(self.sentence_end(&raw[..end]).unwrap_or(end)));
        }
        self.sentence_end(raw)
    }

    fn sentence_end(&self, raw: &str) -> Option<usize> {
        let mut candidates = raw.char_indices().filter(|(_, character)| ".!?…,:;".contains(*character));
        candidates.find_map(|(at, mark)| {
            let after = at + mark.len_utf8();
            let closing =
                raw[after..].chars().take_while(|next| "\"'»”’)*_".contains(*next)).map(char::len_utf8).sum::<usize>();
            let end = after + closing;
            if !raw[end..].starts_with(char::is_whitespace) || (self.language.is_some() && !balanced(&raw[..end])) {
                return None;
            }
            let before = &raw[..at];
            let is_end = match mark {
                '!' | '?' | '…' => true,
                '.' => ends_sentence(before, &raw[end..]),
                _ => self.is_first && self.early(before, mark),
            };
            is_end.then_some(end)
        })
    }

    /// Whether the first chunk may end at this comma or colon.
    fn early(&self, before: &str, mark: char) -> bool {
        // "March 15, 2024" and "1 000, dont" belong together.
        let before_digit = before.ends_with(|character: char| character.is_ascii_digit());
        length(&self.ready) + length(before.trim()) >= SHORTEST_CHUNK
            && !(before_digit && mark == ',')
            && !before.split_whitespace().last().is_some_and(is_month)
    }

    /// Makes a segment speakable and packs it into chunks.
    fn take(&mut self, segment: &str, found: &mut Vec<String>) {
        let text = match &self.language {
            Some(language) => spoken(segment, language),
            None => segment.trim().to_owned(),
        };
        for line in text.lines() {
            for sentence in sentences(line) {
                self.pack(&sentence, found);
            }
        }
    }

    fn pack(&mut self, sentence: &str, found: &mut Vec<String>) {
        if !sentence.chars().any(char::is_alphanumeric) {
            return;
        }
        if length(&self.ready) + 1 + length(sentence) > LONGEST_CHUNK {
            self.emit(found);
        }
        if !self.ready.is_empty() {
            self.ready.push(' ');
        }
        self.ready.push_str(sentence.trim());
        while length(&self.ready) > LONGEST_CHUNK {
            let end = longest_cut(&self.ready);
            let rest = self.ready.split_off(end);
            self.emit(found);
            rest.trim_start().clone_into(&mut self.ready);
        }
        if length(&self.ready) >= SHORTEST_CHUNK {
            self.emit(found);
        }
    }

    fn emit(&mut self, found: &mut Vec<String>) {
        let text = std::mem::take(&mut self.ready);
        if text.chars().any(char::is_alphanumeric) {
            found.push(text.trim().to_owned());
            self.is_first = false;
        }
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Inside a fence or a table nothing can be cut; `Some(None)` says to wait.
#[allow(clippy::option_option, reason = "no block, a block that is open, a block that ends here")]
fn open_block(raw: &str) -> Option<Option<usize>> {
    let start = raw.len() - raw.trim_start().len();
    let text = &raw[start..];
    for fence in ["```", "~~~"] {
        if let Some(inside) = text.strip_prefix(fence) {
            let Some(end) = inside.find(&format!("\n{fence}")) else { return Some(None) };
            let line = inside[end + 1..].find('\n').map(|line| start + fence.len() + end + 1 + line + 1);
            return Some(line);
        }
        if text.len() < 3 && fence.starts_with(text) && !text.is_empty() {
            return Some(None);
        }
    }
    if text.starts_with('|') {
        let mut at = start;
        for line in text.split_inclusive('\n') {
            if !line.ends_with('\n') {
                break;
            }
            if !line.trim_start().starts_with('|') {
                return Some(Some(at));
            }
            at += line.len();
        }
        return Some(None);
    }
    None
}

/// The end of the first line, when what follows shows that a block ends there.
fn paragraph_end(raw: &str, is_markdown: bool) -> Option<usize> {
    let start = raw.len() - raw.trim_start().len();
    let end = start + raw[start..].find('\n')? + 1;
    if !is_markdown || raw[start..end].starts_with('#') {
        return Some(end);
    }
    let next = &raw[end..];
    let first = next.trim_start_matches([' ', '\t']).chars().next()?;
    let breaks = first == '\n' || "#>|-*+•`~".contains(first) || first.is_ascii_digit();
    breaks.then_some(end)
}

/// Whether a full stop after this ends a sentence.
fn ends_sentence(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|character: char| character.is_whitespace() || "(\"«“'*_".contains(character))
        .next()
        .unwrap_or("");
    let lower = word.to_lowercase();
    let next = after.trim_start().chars().next();
    if ABBREVIATIONS.contains(&lower.as_str()) {
        // "No." is a word too, and "etc." ends many sentences.
        return lower == "no" && !next.is_some_and(|next| next.is_ascii_digit());
    }
    // Initials, and the number of a list's item.
    let is_initial = length(word) == 1 && word.chars().all(char::is_uppercase) && word != "I";
    let is_item = !word.is_empty() && word.chars().all(|digit| digit.is_ascii_digit()) && before.trim() == word;
    !is_initial && !is_item
}

/// Whether no mark of Markdown is open.
fn balanced(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or(text);
    let count = |mark: &str| line.matches(mark).count();
    count("`").is_multiple_of(2)
        && count("**").is_multiple_of(2)
        && count("[") <= count("]")
        && line.rfind("](").is_none_or(|at| line[at..].contains(')'))
}

/// Sentences of a line that can be spoken.
fn sentences(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in line.char_indices().filter(|(_, character)| ".!?…".contains(*character)) {
        let after = at + mark.len_utf8();
        let closing: usize =
            line[after..].chars().take_while(|next| "\"'»”’)".contains(*next)).map(char::len_utf8).sum();
        let end = after + closing;
        if end >= start
            && line[end..].starts_with(' ')
            && (mark != '.' || ends_sentence(&line[start..at], &line[end..]))
        {
            found.push(line[start..end].trim().to_owned());
            start = end;
        }
    }
    found.push(line[start..].trim().to_owned());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Where a text that is too long is cut: at the last clause, else at the last word, else anywhere.
fn longest_cut(text: &str) -> usize {
    let limit = text.char_indices().nth(LONGEST_CHUNK).map_or(text.len(), |(at, _)| at);
    let head = &text[..limit];
    let least = text.char_indices().nth(SHORTEST_CHUNK).map_or(0, |(at, _)| at);
    let clause = head
        .rmatch_indices([',', ';', ':'])
        .map(|(at, mark)| at + mark.len())
        .find(|end| *end >= least && text[*end..].starts_with(char::is_whitespace));
    clause.or_else(|| head.rfind(char::is_whitespace).filter(|at| *at >= least)).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(text: &str, language: &str, size: usize) -> Vec<String> {
        let mut chunker = Chunker::speaking(language);
        let characters: Vec<char> = text.chars().collect();
        let mut found = Vec::new();
        for piece in characters.chunks(size) {
            found.extend(chunker.push(&piece.iter().collect::<String>()));
        }
        found.extend(chunker.finish());
        found
    }

    #[test]
    fn sentences_are_gathered_and_the_first_clause_comes_early() {
        let text = "Good morning my dear old friend, I have news for you today. It is good. Yes. Very good news indeed, I think.";
        assert_eq!(
            chunks(text),
            [
                "Good morning my dear old friend,",
                "I have news for you today.",
                "It is good. Yes. Very good news indeed, I think.",
            ]
        );
        assert_eq!(chunks("Hi, Bob."), ["Hi, Bob."]);
        assert!(chunks(" … ").is_empty());
    }

    #[test]
    fn numbers_names_and_abbreviations_are_not_cut() {
        let text = "It costs exactly 3.14 dollars today. M. Dupont et Mme. Durand sont là. We met e.g. J. K. Rowling there. Fine.";
        assert_eq!(
            chunks(text),
            [
                "It costs exactly 3.14 dollars today.",
                "M. Dupont et Mme. Durand sont là.",
                "We met e.g. J. K. Rowling there.",
                "Fine.",
            ]
        );
    }

    #[test]
    fn long_sentences_are_cut_at_clauses_and_words() {
        let text = format!("{}, {}.", "word ".repeat(40).trim(), "more ".repeat(80).trim());
        let found = chunks(&text);
        assert!(found.len() >= 3 && found.iter().all(|chunk| length(chunk) <= LONGEST_CHUNK), "{found:?}");
        assert!(found[0].ends_with(','), "{found:?}");
        assert_eq!(found.join(" "), text);
        assert_eq!(chunks(&"x".repeat(600)).iter().map(|chunk| length(chunk)).collect::<Vec<_>>(), [240, 240, 120]);
    }

    #[test]
    fn a_stream_is_cut_the_same_whatever_its_pieces() {
        let text = "# The plan\n\nFirst, **buy 2 eggs** at 14:30. Then see [the page](https://a.b/c. d). \n\n- one item here\n- another, with `code. x`\n\n```rust\nlet x = 1. ;\n```\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nOn March 15, 2024 it costs $3.14 or so. The end";
        let whole = streamed(text, "en", 10_000);
        for size in [1, 2, 3, 7, 20] {
            assert_eq!(streamed(text, "en", size), whole, "pieces of {size}");
        }
        let joined = whole.join(" ");
        for part in [
            "buy two eggs at fourteen thirty.",
            "the page",
            "block of code.",
            "A: one, B: two.",
            "March fifteenth, twenty twenty-four it costs three dollars and fourteen cents",
        ] {
            assert!(joined.contains(part), "{part}: {whole:?}");
        }
    }

    #[test]
    fn what_is_written_is_heard_before_the_text_ends() {
        let mut chunker = Chunker::speaking("fr");
        assert!(chunker.push("Bonjour à tous mes chers amis").is_empty());
        assert!(chunker.push(",").is_empty());
        assert_eq!(chunker.push(" voici"), ["Bonjour à tous mes chers amis,"]);
        assert!(chunker.push(" la suite. ").is_empty());
        assert_eq!(chunker.finish(), ["voici la suite."]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_long(text in "[a-zé .,!?\n]{0,600}") {
            let found = chunks(&text);
            proptest::prop_assert!(found.iter().all(|chunk| length(chunk) <= LONGEST_CHUNK));
            let letters = |text: &str| text.chars().filter(|character| character.is_alphanumeric()).collect::<String>();
            proptest::prop_assert_eq!(letters(&found.join(" ")), letters(&text));
        }

        #[test]
        fn any_stream_is_survived(pieces in proptest::collection::vec("[a-z0-9`*|#\\[\\]() .,\n~-]{0,12}", 0..30)) {
            let mut chunker = Chunker::speaking("en");
            for piece in &pieces {
                chunker.push(piece);
            }
            chunker.finish();
        }
    }
}
