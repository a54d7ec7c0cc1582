//! `tenpass wake listen`.

use std::path::Path;

use serde::Serialize;
use tenpass_wake::{Event, Output};

use super::super::source;
use super::setup;
use crate::args::speech::wake::{EventFormat, Listen};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// One event in JSON.
#[derive(Serialize)]
struct Line<'a> {
    head: &'a str,
    time_s: f64,
    score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    speech: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<f32>,
}

/// Carries out the command.
pub(super) fn run(context: &Context, command: &Listen) -> Result<Exit, Failure> {
    let setup::Listening { mut detector, heads } = setup::detector(context, &command.detector)?;
    for head in &heads {
        context.printer.note(&format!("listening with {}, threshold {}", head.told(), head.threshold_told()));
    }
    let mut events = 0;
    let mut heard = |samples: &[f32]| {
        let mut failed = None;
        detector.push(samples, &mut |output| {
            if let Output::Fired(event) = output {
                events += 1;
                if let Err(failure) = print(context.printer, command.format, event) {
                    failed.get_or_insert(failure);
                }
            }
        });
        failed.map_or(Ok(true), Err)
    };
    match command.from.as_deref() {
        None => source::microphone("tenpass wake listen --from -", &mut heard)?,
        Some(from) if from == Path::new("-") => source::stdin(&mut heard)?,
        Some(from) => source::file(context, from, &mut heard)?,
    }
    let (count, seconds) = (events, detector.seconds());
    context.printer.note(&format!("{count} event{} in {seconds:.1} s", if count == 1 { "" } else { "s" }));
    Ok(Exit::Yes)
}

fn print(printer: Printer, format: EventFormat, event: &Event) -> Result<(), Failure> {
    if format == EventFormat::Json {
        let Event { name, time_s, peak, speech, verified, .. } = event;
        let time_s = (time_s * 1000.0).round() / 1000.0;
        let line = Line { head: name, time_s, score: *peak, speech: *speech, verified: *verified };
        printer.out(&serde_json::to_string(&line).map_err(Failure::bug)?);
        return Ok(());
    }
    let verified = event.verified.map_or_else(String::new, |verified| format!("  speaker {verified:.3}"));
    printer.out(&format!("{:9.2} s  {}  {:.3}{verified}", event.time_s, event.name, event.peak));
    Ok(())
}
