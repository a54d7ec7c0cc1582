//! Stand-in for the sanitiser until its module is there.

pub(super) fn sanitise(text: &str) -> String {
    text.replace("[[", "[ [").replace("<|", "< |").chars().filter(|c| !matches!(c, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}') && (!c.is_control() || *c == '\n' || *c == '\t')).collect()
}
