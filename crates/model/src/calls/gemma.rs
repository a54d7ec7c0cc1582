//! Gemma's own notation: `call:lamp{room:<|"|>attic<|"|>,on:true}`.

use super::arguments;
use super::lenient::{self, Dialect, State};
use super::objects::{Meaning, RawCall};
use super::piece::Piece;
use super::shape::Shape;
use super::source::{Source, name_end};

/// The call whose `call:` stands at `at`. The shape is [`Shape::Gemma4`] unless strings are
/// between `<escape>`.
pub(super) fn call(source: &Source<'_>, at: usize) -> Option<Piece> {
    let start = source.rest(at).strip_prefix("call:").map(|_| source.skip_blank(at + "call:".len()))?;
    let stop = name_end(source.text, start);
    let written = &source.text[start..stop];
    let open = source.skip_blank(stop);
    if stop == start || source.byte(open) != Some(b'{') {
        return None;
    }
    let reading = lenient::read(source.text, open, Dialect::Gemma, source.work);
    let raw = &source.text[open..reading.end];
    let shape = if raw.contains("<escape>") { Shape::FunctionGemma } else { Shape::Gemma4 };
    let Some(tool) = source.tools.get_qualified(written) else {
        return Some(Piece::new(Meaning::Unknown(written.to_owned()), reading.end, shape));
    };
    let meaning = match (reading.state, reading.value) {
        (State::Complete, serde_json::Value::Object(mut map)) => {
            let mut notes: Vec<String> = reading.repairs.iter().map(|repair| (*repair).to_owned()).collect();
            arguments::restring(tool, &mut map);
            arguments::fit(tool, &mut map, &mut notes, source.work);
            let name = tool.name.clone();
            Meaning::Calls(vec![RawCall { name, arguments: map, double_encoded: false, leaked: false, notes }])
        }
        (State::Truncated, _) => Meaning::Truncated(tool.name.clone()),
        _ => Meaning::Unparseable(tool.name.clone()),
    };
    Some(Piece::new(meaning, reading.end, shape))
}
