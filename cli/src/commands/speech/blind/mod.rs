//! `tenpass blind`: which answers or voices a person prefers who does not know whose they are.

mod answers;
mod ballot_box;
mod show;
mod sounds;

use tenpass_frame::Kind;
use tenpass_listening::blind::{BlindError, Session};

use crate::args::speech::blind::Blind;
use crate::commands::table::{Columns, show as print, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

impl From<BlindError> for Failure {
    fn from(error: BlindError) -> Self {
        let hint = error.hint();
        match error {
            BlindError::Store(error) => error.into(),
            other => Self::mistake(other).hint(hint),
        }
    }
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Blind) -> Result<Exit, Failure> {
    match command {
        Blind::New(new) => answers::new(context, new),
        Blind::Vote(named) => ballot_box::vote(context, &find(context, &named.session)?),
        Blind::Result(outcome) => {
            let session = find(context, &outcome.named.session)?;
            show::outcome(context, &session.outcome(outcome.early)?, outcome.format.format)
        }
        Blind::List(format) => list(context, format.format),
    }
}

fn find(context: &Context, query: &str) -> Result<Session, Failure> {
    match Session::find(&context.runs(), query) {
        Err(BlindError::Store(tenpass_listening::store::StoreError::Unknown { .. })) if query == "latest" => {
            Err(Failure::mistake("there is no blind session yet").hint("start one: tenpass blind new --models A,B"))
        }
        found => Ok(found?),
    }
}

const LISTED: &Columns = &[
    ("id", Kind::Text),
    ("started", Kind::Text),
    ("title", Kind::Text),
    ("prompts", Kind::Int),
    ("voted", Kind::Int),
    ("ballots", Kind::Int),
    ("revealed", Kind::Bool),
];

#[derive(serde::Serialize)]
struct Listed {
    id: String,
    started: String,
    title: String,
    prompts: u64,
    voted: u64,
    ballots: u64,
    revealed: bool,
}

fn list(context: &Context, format: crate::args::Format) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    for session in Session::list(&context.runs())? {
        let (voted, ballots) = session.progress()?;
        rows.push(Listed {
            id: session.id().to_owned(),
            started: session.started().to_owned(),
            title: session.title().to_owned(),
            prompts: session.prompts().len() as u64,
            voted: voted as u64,
            ballots: ballots as u64,
            revealed: session.is_revealed(),
        });
    }
    print(context.printer, format, LISTED, &rows, || {
        if rows.is_empty() {
            return "no session yet: tenpass blind new --models A,B".to_owned();
        }
        let lines: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let state = if row.revealed { "told" } else { "sealed" };
                vec![row.id.clone(), row.title.clone(), format!("{}/{}", row.voted, row.ballots), state.to_owned()]
            })
            .collect();
        table(&["session", "title", "votes", "names"], &lines, &[2])
    })?;
    Ok(Exit::Yes)
}
