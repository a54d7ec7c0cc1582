//! Names of tools where they stand like a call.

/// Prefixes and a suffix that a parser takes off a name.
const SPACES: [&str; 3] = ["functions.", "default_api.", "tools."];
const SUFFIX: &str = ".call";

/// `text` in which no notation names one of `tools` as a call: `"name": "lamp"` becomes
/// `"name": "‹lamp›"`, `lamp(…)` becomes `‹lamp›(…)`.
///
/// A name counts as a call when a quote, a bracket or another sign is beside it; in a sentence it
/// stays as it is. For text that a model may repeat word for word: only exact names of this turn's
/// tools are ever called. Run it behind [`super::sanitise`], which breaks the markers.
pub fn defuse_calls<'a>(text: &str, tools: impl IntoIterator<Item = &'a str>) -> String {
    let tools: Vec<&str> = tools.into_iter().filter(|name| !name.is_empty()).collect();
    let text = decode_escapes(text);
    let mut safe = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, end)) = next_word(&text, at) {
        safe.push_str(&text[at..start]);
        let word = &text[start..end];
        match name_in(word, &tools) {
            Some((from, to)) if stands_like_a_call(&text[..start], &text[end..], word) => {
                safe.push_str(&format!("{}‹{}›{}", &word[..from], &word[from..to], &word[to..]));
            }
            _ => safe.push_str(word),
        }
        at = end;
    }
    safe.push_str(&text[at..]);
    safe
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The next run of characters that names are made of.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let start = from + bytes[from..].iter().position(|byte| is_name_byte(*byte))?;
    let length = bytes[start..].iter().position(|byte| !is_name_byte(*byte));
    Some((start, length.map_or(bytes.len(), |length| start + length)))
}

/// Where in `word` the name of a tool stands.
fn name_in(word: &str, tools: &[&str]) -> Option<(usize, usize)> {
    let known = |from: usize, to: usize| word.get(from..to).is_some_and(|part| tools.contains(&part));
    let starts = std::iter::once(0).chain(SPACES.iter().filter(|space| word.starts_with(**space)).map(|s| s.len()));
    let ends = [word.len(), word.trim_end_matches('.').len(), word.strip_suffix(SUFFIX).map_or(0, str::len)];
    starts.flat_map(|from| ends.map(|to| (from, to))).find(|(from, to)| known(*from, *to))
}

/// Is there a sign of a notation on either side, blanks apart?
fn stands_like_a_call(before: &str, after: &str, word: &str) -> bool {
    const LEADS: &str = "\"'`=:<>({[,;/|*\\›";
    const FOLLOWS: &str = "\"'`({[<:,]})>|\\‹";
    let before = before.trim_end();
    let after = after.trim_start();
    let led = before.is_empty() || before.ends_with(|c| LEADS.contains(c));
    let followed = after.is_empty() || after.starts_with(|c| FOLLOWS.contains(c));
    // A sentence ends with a name and goes on with a comma.
    let prose = after.starts_with([',', ':', ')']) && before.ends_with(char::is_alphanumeric);
    (led || followed || word.contains('.')) && !prose
}

/// `\u0061` in JSON is an `a`: a name must not hide behind that.
fn decode_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        let digits = rest.get(at + 2..at + 6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let letter = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|byte| is_name_byte(*byte));
        plain.push_str(&rest[..at]);
        let end = if let Some(letter) = letter {
            plain.push(char::from(letter));
            at + 6
        } else {
            plain.push_str("\\u");
            at + 2
        };
        rest = &rest[end..];
    }
    plain.push_str(rest);
    plain
}
