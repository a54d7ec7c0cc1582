//! `describe` and its answer.

use serde_json::{Value, json};

use crate::frame::Event;
use crate::services::Services;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What this server offers, as `info`.
pub(crate) fn info(services: &Services) -> Event {
    let by = |name: &str| json!({ "name": name, "url": "" });
    let named = |name: &str, description: &str| {
        json!({
            "name": name, "description": description, "attribution": by("tenpass"), "installed": true, "version": VERSION,
        })
    };
    let with = |mut program: Value, field: &str, models: Vec<Value>| {
        program[field] = json!(models);
        json!([program])
    };
    let mut info = json!({
        "asr": [], "tts": [], "handle": [], "intent": [], "wake": [], "mic": [], "snd": [],
    });
    if let Some(ears) = &services.ears {
        let mut model = named(&ears.info().spec, "speech to text on this machine");
        model["languages"] = json!(services.languages);
        let mut program = with(named("tenpass", "tenpass speech to text"), "models", vec![model]);
        program[0]["supports_transcript_streaming"] = json!(true);
        info["asr"] = program;
    }
    if !services.voices.is_empty() {
        let voices = services.voices.iter().map(|voice| {
            let mut described = named(&voice.name, "a voice on this machine");
            described["languages"] = json!(voice.languages);
            described["speakers"] = Value::Null;
            described
        });
        let mut program = with(named("tenpass", "tenpass text to speech"), "voices", voices.collect());
        program[0]["supports_synthesize_streaming"] = json!(true);
        info["tts"] = program;
    }
    if let Some(wake) = &services.wake {
        let words = wake.words.iter().map(|word| {
            let mut described = named(&word.name, "a wake word");
            described["phrase"] = json!(word.phrase);
            described["languages"] = json!(word.languages);
            described
        });
        info["wake"] = with(named("tenpass", "tenpass wake words"), "models", words.collect());
    }
    if let Some(agent) = &services.agent {
        let mut model = named(agent.name(), "the agent; what needs an approval is refused here");
        model["languages"] = json!(["en", "fr"]);
        let mut program = with(named("tenpass", "tenpass agent"), "models", vec![model]);
        program[0]["supports_handled_streaming"] = json!(false);
        program[0]["supports_home_control"] = json!(false);
        info["handle"] = program;
    }
    Event::new("info", info)
}
