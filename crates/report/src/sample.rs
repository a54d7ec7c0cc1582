//! Runs made up for the tests: no model took part.

use tenpass_trace::FailureClass;

use crate::{ConfigurationFacts, PassView, RunFacts, RunSummary, Summariser};

/// Case, family, language, kind, and per configuration how many of ten passes succeed.
type SampleCase = (&'static str, &'static str, &'static str, &'static str, [u32; 3]);

const CASES: [SampleCase; 10] = [
    ("delegate-long-letter", "delegation", "en", "target", [3, 8, 4]),
    ("delegate-translation", "delegation", "fr", "target", [5, 9, 6]),
    ("no-tool-fits-poem", "no_call", "en", "guard", [10, 10, 4]),
    ("question-is-not-an-order", "no_call", "fr", "guard", [9, 9, 9]),
    ("negated-delete", "no_call", "en", "target", [6, 10, 7]),
    ("required-enum-provider", "arguments", "en", "target", [7, 10, 7]),
    ("numbers-as-words", "arguments", "fr", "target", [0, 6, 1]),
    ("nested-address", "arguments", "en", "target", [4, 7, 3]),
    ("two-similar-readers", "choice", "en", "target", [8, 10, 8]),
    ("file-name-in-the-sentence", "choice", "fr", "guard", [10, 10, 10]),
];

const CLASSES: [(FailureClass, &str); 5] = [
    (FailureClass::NoCall, "I will write the letter myself.\nDear Ms Moreau, it is with great pleasure that"),
    (FailureClass::WrongTool, "{\"name\":\"write_file\",\"arguments\":{\"path\":\"letter.txt\"}}"),
    (FailureClass::WrongValue, "{\"name\":\"delegate\",\"arguments\":{\"provider\":\"gpt\"}}"),
    (FailureClass::MissingRequired, "{\"name\":\"delegate\",\"arguments\":{}}"),
    (FailureClass::Timeout, ""),
];

pub(crate) fn facts() -> RunFacts {
    RunFacts {
        title: "bench tools".into(),
        run: Some("20260728-101500-1f3a".into()),
        passes_per_case: 10,
        planned_passes: None,
        elapsed_s: Some(185.0),
    }
}

pub(crate) fn configurations(count: usize) -> Vec<ConfigurationFacts> {
    let of = |label: &str, model: &str, structure: &str, tools: &str| ConfigurationFacts {
        label: label.into(),
        model: model.into(),
        structure: structure.into(),
        tools: tools.into(),
        temperature: Some(0.7),
        context_tokens: Some(4096),
    };
    let all = [
        of("smollm2 native", "embedded:smollm2-135m", "native", "all"),
        of("smollm2 grammar", "embedded:smollm2-135m", "grammar", "router"),
        of("gemma text", "ollama:gemma4:12b-it-q4_K_M", "text", "relevance"),
    ];
    all.into_iter().take(count).collect()
}

/// Every pass of the first `count` configurations.
pub(crate) fn passes(count: usize) -> Vec<PassView<'static>> {
    const LABELS: [&str; 3] = ["smollm2 native", "smollm2 grammar", "gemma text"];
    let mut passes = Vec::new();
    for (c, &(case, family, language, kind, rates)) in CASES.iter().enumerate() {
        for (i, label) in LABELS.iter().take(count).enumerate() {
            for pass in 0..10_u32 {
                let success = pass < rates[i];
                let (class, quote) = CLASSES[(c + pass as usize) % CLASSES.len()];
                let step = f64::from(pass) + c as f64 * 0.5;
                let speed = [1.0, 1.6, 9.0][i];
                passes.push(PassView {
                    case,
                    family,
                    language,
                    kind,
                    configuration: label,
                    pass,
                    success: Some(success),
                    class: (!success).then_some(class),
                    recovered: success && pass == 1 && i == 0,
                    cold: pass == 0 && c == 0,
                    first_token_ms: Some(speed * (14.0 + step)),
                    first_call_ms: success.then_some(speed * (90.0 + 3.0 * step)),
                    total_ms: Some(speed * (210.0 + 11.0 * step)),
                    prompt_tokens: Some(651 + 7 * c as u64),
                    completion_tokens: Some(20 + 3 * u64::from(pass)),
                    output_digest: u64::from(pass) * 31 + c as u64,
                    quote: if success { "" } else { quote },
                });
            }
        }
    }
    passes
}

pub(crate) fn summary_of(
    facts: RunFacts,
    configurations: Vec<ConfigurationFacts>,
    passes: &[PassView<'_>],
) -> RunSummary {
    let mut summariser = Summariser::new(facts, configurations);
    for pass in passes {
        summariser.add(pass);
    }
    summariser.finish()
}

/// The run of `count` configurations.
pub(crate) fn summary(count: usize) -> RunSummary {
    summary_of(facts(), configurations(count), &passes(count))
}
