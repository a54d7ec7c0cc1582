//! `tenpass blind new`: a session, and the answers it is made of.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use tenpass_agent::prompt;
use tenpass_audio::{Audio, Random};
use tenpass_listening::blind::{BlindPrompt, Candidate, Kind, NewSession, Session, read_prompts};
use tenpass_model::{ChatModel, ChatRequest, ModelSpec, SamplingOptions, collect};
use tenpass_trace::Message;

use super::sounds::{self, Speakers};
use crate::args::speech::blind::New;
use crate::backend;
use crate::commands::asynchronous;
use crate::commands::speech::provenance::provenance;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// Prompts of the shipped file, for a program that stands alone.
const SHIPPED: &str = include_str!("../../../../../corpora/prompts/blind.toml");
/// Answers at the same time from the embedded engine, which shares their beginnings.
const EMBEDDED_JOBS: usize = 32;
/// Answers at the same time from a server.
const SERVER_JOBS: usize = 4;

/// What a session's answers depend on beside its candidates; kept with its arguments.
struct Sampling {
    temperature: Option<f32>,
    max_tokens: u32,
    seed: u64,
    speak: Option<String>,
}

/// Makes a session, or the missing answers of one.
pub(super) fn new(context: &Context, new: &New) -> Result<Exit, Failure> {
    let (session, sampling) = match &new.resume {
        Some(id) => resumed(context, id)?,
        None => fresh(context, new)?,
    };
    context.printer.note(&format!(
        "session {}: {} prompts, {} candidates",
        session.id(),
        session.prompts().len(),
        session.candidates().len()
    ));
    match session.kind() {
        Kind::Voices => spoken_prompts(context, &session)?,
        Kind::Text | Kind::SpokenAnswers => asynchronous(ask_all(context, &session, &sampling))??,
    }
    context.printer.out(&format!("{} ballots are ready: tenpass blind vote {}", session.ballots().len(), session.id()));
    Ok(Exit::Yes)
}

fn fresh(context: &Context, new: &New) -> Result<(Session, Sampling), Failure> {
    let prompts = prompts(new)?;
    let (kind, named) = match (new.models.as_slice(), new.voices.as_slice()) {
        ([], []) => {
            return Err(Failure::mistake("nothing to compare is named")
                .hint("name models (--models A,B) or voices (--voices A,B)"));
        }
        ([], voices) => (Kind::Voices, voices.to_vec()),
        (models, _) => {
            let kind = if new.speak.is_some() { Kind::SpokenAnswers } else { Kind::Text };
            (kind, models.iter().map(ToString::to_string).collect())
        }
    };
    // What is wrong with a name or missing is told before a session stands on disk.
    let candidates = match kind {
        Kind::Voices => sounds::candidates(context, &named)?,
        _ => asynchronous(identities(context, &new.models))??,
    };
    if let Some(voice) = &new.speak {
        Speakers::open(context, std::slice::from_ref(voice))?;
    }
    let title = new.title.clone().unwrap_or_else(|| format!("{} answers, {} prompts", named.len(), prompts.len()));
    let typed = json!({
        "temperature": new.temperature, "max_tokens": new.max_tokens, "seed": new.seed, "speak": new.speak,
        "limit": new.limit, "no_replays": new.no_replays,
    });
    let session = Session::create(
        &context.runs(),
        NewSession {
            title,
            kind,
            candidates,
            prompts,
            seed: new.seed,
            replays: !new.no_replays,
            provenance: provenance(context, &typed),
        },
    )?;
    let sampling =
        Sampling { temperature: new.temperature, max_tokens: new.max_tokens, seed: new.seed, speak: new.speak.clone() };
    Ok((session, sampling))
}

/// A session that was interrupted goes on as it was begun.
fn resumed(context: &Context, id: &str) -> Result<(Session, Sampling), Failure> {
    let session = super::find(context, id)?;
    let passed = session.provenance().passed.clone();
    let number = |name: &str| passed.get(name).and_then(serde_json::Value::as_f64);
    let sampling = Sampling {
        temperature: number("temperature").map(|value| value as f32),
        max_tokens: number("max_tokens").map_or(300, |value| value as u32),
        seed: session.seed(),
        speak: passed.get("speak").and_then(serde_json::Value::as_str).map(str::to_owned),
    };
    Ok((session, sampling))
}

fn prompts(new: &New) -> Result<Vec<BlindPrompt>, Failure> {
    let read = |path: &std::path::Path| {
        read_prompts(path).map_err(|error| {
            let hint = error.hint();
            Failure::mistake(error).hint(hint)
        })
    };
    let mut prompts = if let Some(path) = &new.prompts {
        read(path)?
    } else {
        let folder = tempfile::tempdir().map_err(|error| Failure::file(&std::env::temp_dir(), &error))?;
        let path = folder.path().join("blind.toml");
        std::fs::write(&path, SHIPPED).map_err(|error| Failure::file(&path, &error))?;
        read(&path)?
    };
    if let Some(limit) = new.limit {
        if limit == 0 {
            return Err(Failure::mistake("--limit 0 leaves no prompt").hint("give 1 or more"));
        }
        let mut random = Random::named(new.seed, "limit");
        while prompts.len() > limit {
            prompts.remove(random.below(prompts.len()));
        }
    }
    Ok(prompts)
}

/// Who the models are; the same model twice is refused by the session.
async fn identities(context: &Context, specs: &[ModelSpec]) -> Result<Vec<Candidate>, Failure> {
    let mut candidates = Vec::new();
    for spec in specs {
        let model = backend::model(context, spec, None).await?;
        candidates.push(Candidate { spec: spec.to_string(), digest: model.info().digest.clone().unwrap_or_default() });
    }
    Ok(candidates)
}

/// Every model answers what it has not answered yet, one model in memory at a time.
async fn ask_all(context: &Context, session: &Session, sampling: &Sampling) -> Result<(), Failure> {
    let speakers =
        sampling.speak.as_ref().map(|voice| Speakers::open(context, std::slice::from_ref(voice))).transpose()?;
    let mut texts: Vec<Vec<Option<(String, f64)>>> =
        vec![vec![None; session.candidates().len()]; session.prompts().len()];
    let mut writer = session.answer_writer()?;
    for (candidate, record) in session.candidates().iter().enumerate() {
        let open = session.unanswered(candidate)?;
        if open.is_empty() && speakers.is_none() {
            continue;
        }
        let spec: ModelSpec = record.spec.parse().map_err(Failure::mistake)?;
        let model = backend::model(context, &spec, None).await?;
        if model.info().digest.clone().unwrap_or_default() != record.digest {
            return Err(Failure::mistake(format!("{} is not the model it was when the session began", record.spec))
                .hint("start a new session"));
        }
        let bar = StageProgress::new(context.printer);
        let jobs = if model.info().backend == "embedded" { EMBEDDED_JOBS } else { SERVER_JOBS };
        let wanted: Vec<usize> = if speakers.is_some() { (0..session.prompts().len()).collect() } else { open };
        let stage = format!("candidate {}", candidate + 1);
        for (done, batch) in wanted.chunks(jobs).enumerate() {
            bar.tell(&stage, done * jobs, wanted.len());
            for (prompt, text, ms) in ask(&model, session, sampling, batch).await? {
                match &speakers {
                    None => session.answer(&mut writer, (prompt, candidate), &text, ms, None)?,
                    Some(_) => texts[prompt][candidate] = Some((text, ms)),
                }
            }
        }
        bar.end();
    }
    let Some(speakers) = speakers else { return Ok(()) };
    let names: Vec<&str> = session.candidates().iter().map(|one| one.spec.as_str()).collect();
    for (prompt, answers) in texts.into_iter().enumerate() {
        let answers: Vec<(String, f64)> = answers.into_iter().flatten().collect();
        // The voice must not say a name either.
        let shown: Vec<String> =
            answers.iter().map(|(text, _)| tenpass_listening::blind::strip_names(text, &names)).collect();
        let language = sounds::language(&session.prompts()[prompt]);
        let sounds = shown.iter().map(|text| speakers.speak(0, text, &language)).collect::<Result<Vec<Audio>, _>>()?;
        let files = sounds::equal(prompt, sounds)?;
        for (candidate, ((text, ms), file)) in answers.iter().zip(files).enumerate() {
            session.answer(&mut writer, (prompt, candidate), text, *ms, Some(&file))?;
        }
    }
    Ok(())
}

async fn ask(
    model: &Arc<dyn ChatModel>,
    session: &Session,
    sampling: &Sampling,
    batch: &[usize],
) -> Result<Vec<(usize, String, f64)>, Failure> {
    let requests = batch.iter().map(|prompt| request(&session.prompts()[*prompt], sampling, *prompt)).collect();
    let started = Instant::now();
    let streams = model.start_many(requests);
    let answers = futures_util::future::join_all(streams.into_iter().map(|stream| collect(stream, started))).await;
    let mut found = Vec::new();
    for (prompt, answer) in batch.iter().zip(answers) {
        if let Some(error) = answer.error {
            return Err(Failure::from(error));
        }
        found.push((*prompt, answer.text.trim().to_owned(), answer.total_ms));
    }
    Ok(found)
}

/// The request as the assistant would send it, without tools, memory and past.
fn request(asked: &BlindPrompt, sampling: &Sampling, number: usize) -> ChatRequest {
    let now = jiff::Zoned::now();
    let assembled =
        prompt::assemble(&prompt::Input { persona: asked.system.as_deref(), ..prompt::Input::new(&asked.text, &now) });
    let mut messages: Vec<Message> = prompt::join_turns(assembled.messages);
    if messages.is_empty() {
        messages.push(Message::user(&asked.text));
    }
    let options = SamplingOptions {
        temperature: sampling.temperature.unwrap_or(SamplingOptions::default().temperature),
        max_tokens: sampling.max_tokens,
        seed: sampling.seed.wrapping_add(number as u64),
        ..SamplingOptions::default()
    };
    ChatRequest { messages, options, ..ChatRequest::default() }
}

/// Every voice speaks every prompt.
fn spoken_prompts(context: &Context, session: &Session) -> Result<(), Failure> {
    let names: Vec<String> = session.candidates().iter().map(|one| one.spec.clone()).collect();
    let speakers = Speakers::open(context, &names)?;
    let mut writer = session.answer_writer()?;
    let bar = StageProgress::new(context.printer);
    for (number, prompt) in session.prompts().iter().enumerate() {
        bar.tell("speaking", number, session.prompts().len());
        let language = sounds::language(prompt);
        let mut spoken = Vec::new();
        let mut times = Vec::new();
        for voice in 0..names.len() {
            let started = Instant::now();
            spoken.push(speakers.speak(voice, &prompt.text, &language)?);
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        for (candidate, file) in sounds::equal(number, spoken)?.iter().enumerate() {
            session.answer(&mut writer, (number, candidate), &prompt.text, times[candidate], Some(file))?;
        }
    }
    bar.end();
    Ok(())
}
