//! Logs that this program wrote: the run comes back as it was. Text, reasoning and score are read where
//! Inspect keeps them, so that what was edited there arrives.

use serde_json::{Map, Value, json};
use tenpass_bench::store::{FormatVersion, Manifest, OutcomeRecord, PassRecord};
use tenpass_trace::FailureClass;

use super::chat::Attachments;
use super::foreign::{INVALIDATED, is_invalidated, own_member};
use super::header::FORMAT;
use super::log::{Header, Sample, Score};
use super::open::field_reason;
use super::score;
use super::{OWN, SCORER};

/// What a log says of the run that it is a part of.
#[derive(Debug)]
pub(crate) struct Own {
    /// The manifest, with the configuration of this log only.
    pub(crate) manifest: Manifest,
    /// The ids of all configurations of the run.
    pub(crate) configurations: Vec<String>,
}

impl Own {
    /// The run's configuration that this log has.
    pub(crate) fn configuration(&self) -> &str {
        self.manifest.configurations.first().map_or("", |record| record.id.as_str())
    }
}

/// What this program added to the log; `None` when another wrote it. An error names the field.
pub(crate) fn own(header: &Header) -> Result<Option<Own>, String> {
    let Some(own) = own_member(header.eval.metadata.as_ref(), OWN) else { return Ok(None) };
    let place = |field: &str| format!("eval.metadata.{OWN}.{field}");
    match own.get("format").and_then(Value::as_u64) {
        Some(FORMAT) => {}
        Some(format) => {
            return Err(format!("{}: {format}, this program reads up to {FORMAT}", place("format")));
        }
        None => return Ok(None),
    }
    let manifest: Manifest = typed(own.get("manifest"), &place("manifest"))?;
    if manifest.format > FormatVersion::CURRENT {
        let current = FormatVersion::CURRENT;
        return Err(format!("{}: {}, this program reads up to {current}", place("manifest.format"), manifest.format));
    }
    if manifest.configurations.len() != 1 {
        return Err(format!("{}: there must be one", place("manifest.configurations")));
    }
    let configurations = typed(own.get("configurations"), &place("configurations"))?;
    Ok(Some(Own { manifest, configurations }))
}

fn typed<T: serde::de::DeserializeOwned>(value: Option<&Value>, place: &str) -> Result<T, String> {
    let value = value.cloned().unwrap_or_default();
    serde_path_to_error::deserialize(value).map_err(|error| {
        let reason = field_reason(&error);
        let field = error.path().to_string();
        if field == "." { format!("{place}: {reason}") } else { format!("{place}.{reason}") }
    })
}

/// A pass that came back.
pub(crate) struct Returned {
    pub(crate) earlier: Vec<PassRecord>,
    pub(crate) pass: PassRecord,
    pub(crate) outcome: Option<OutcomeRecord>,
}

/// A sample of ours as a pass; `None` when it does not say that it is one.
pub(crate) fn sample(sample: &Sample, configuration: &str) -> Result<Option<Returned>, String> {
    let Some(own) = own_member(sample.store.as_ref(), OWN) else { return Ok(None) };
    let case = sample.id.to_string();
    let mut pass = own.get("pass").cloned().unwrap_or_default();
    let members = pass.as_object_mut().ok_or_else(|| format!("store.{OWN}.pass: it is not there"))?;
    members.insert("case".to_owned(), json!(case));
    members.insert("pass".to_owned(), json!(sample.epoch));
    members.insert("configuration".to_owned(), json!(configuration));
    if members.get("played").is_none_or(Value::is_null) {
        let said = sample.output.as_ref().and_then(|output| Some(&output.choices.as_ref()?.first()?.message));
        let mut attachments = Attachments::new(sample.attachments.as_ref());
        let (text, thinking) = said.map(|said| attachments.content(&said.content)).unwrap_or_default();
        members.insert("text".to_owned(), json!(text));
        members.insert("thinking".to_owned(), json!(thinking));
    }
    let pass: PassRecord = typed(Some(&pass), &format!("store.{OWN}.pass"))?;
    let earlier = match own.get("earlier") {
        Some(earlier) => typed::<Vec<PassRecord>>(Some(earlier), &format!("store.{OWN}.earlier"))?,
        None => Vec::new(),
    };
    let outcome = outcome(sample, own, &pass)?;
    Ok(Some(Returned { earlier, pass, outcome }))
}

fn outcome(sample: &Sample, own: &Value, pass: &PassRecord) -> Result<Option<OutcomeRecord>, String> {
    let empty = Map::new();
    let scores = sample.scores.as_ref().unwrap_or(&empty);
    let Some(value) = scores.get(SCORER) else {
        return match own.get("outcome") {
            Some(outcome) => typed(Some(outcome), &format!("store.{OWN}.outcome")).map(Some),
            None => Ok(None),
        };
    };
    let Score { explanation, metadata, .. } = typed(Some(value), &format!("scores.{SCORER}"))?;
    let mut members = metadata.unwrap_or_default();
    members.insert("case".to_owned(), json!(pass.case));
    members.insert("configuration".to_owned(), json!(pass.configuration));
    members.insert("pass".to_owned(), json!(pass.pass));
    let judged = score::judge(scores, Some(SCORER), 1.0)?;
    members.insert("success".to_owned(), json!(judged.success));
    let mut outcome: OutcomeRecord = typed(Some(&Value::Object(members)), &format!("scores.{SCORER}.metadata"))?;
    // A person may have changed the verdict in Inspect: then the old reasons are not its reasons.
    let explanation = explanation.unwrap_or_default();
    if explanation != outcome.reasons.join("\n") {
        outcome.reasons = vec![explanation];
    }
    if judged.success == Some(true) {
        outcome.class = None;
    }
    if is_invalidated(sample) {
        outcome.success = None;
        outcome.class = Some(FailureClass::InvalidGrader);
        outcome.reasons.insert(0, INVALIDATED.to_owned());
    }
    Ok(Some(outcome))
}
