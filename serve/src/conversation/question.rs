//! A confirmation that stands open: shown to every follower, answered once, by any of them.

use serde_json::{Value, json};
use tenpass_agent::interaction::{Confirmation, Reply};
use tenpass_agent::untrusted::{mixed_scripts, visible};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::text::clean_value;

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// It was taken.
    Taken,
    /// It was an approval of something else: a refusal.
    WrongDigest,
    /// There is no such question: answered before, expired, or never asked.
    Unknown,
}

/// The open question of a turn.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) confirmation: Confirmation,
    expires_at: Instant,
    reply: Option<oneshot::Sender<Reply>>,
    /// Who answered, for the followers.
    pub(crate) by: Option<&'static str>,
    pub(crate) approved: bool,
}

impl Question {
    pub(crate) fn new(confirmation: Confirmation) -> (Self, oneshot::Receiver<Reply>) {
        let (sender, receiver) = oneshot::channel();
        let expires_at = Instant::now() + confirmation.expires_in;
        (Self { confirmation, expires_at, reply: Some(sender), by: None, approved: false }, receiver)
    }

    /// Hands the answer to the loop, which judges it again by the digest of what is about to run.
    pub(crate) fn answer(&mut self, digest: &str, approve: bool, by: &'static str) -> Answered {
        let Some(sender) = self.reply.take() else { return Answered::Unknown };
        if Instant::now() >= self.expires_at {
            return Answered::Unknown;
        }
        let is_same = digest == self.confirmation.digest;
        let reply = if approve { Reply::Approve { digest: digest.to_owned() } } else { Reply::Refuse };
        (self.by, self.approved) = (Some(by), approve && is_same);
        if sender.send(reply).is_err() {
            return Answered::Unknown;
        }
        if approve && !is_same { Answered::WrongDigest } else { Answered::Taken }
    }

    /// Q of the protocol.
    pub(crate) fn to_json(&self) -> Value {
        let left = self.expires_at.saturating_duration_since(Instant::now());
        let Confirmation { id, call, tool, tier, arguments, preview, reason, digest, .. } = &self.confirmation;
        json!({
            "id": id,
            "digest": digest,
            "call": call,
            "tool": visible(tool),
            "tier": tier.as_str(),
            "arguments": clean_value(&Value::Object(arguments.clone())),
            "shown": shown(&self.confirmation),
            "preview": preview.iter().map(|line| visible(line)).collect::<Vec<_>>(),
            "reason": reason.as_ref().map(|reason| visible(reason)),
            "expires_s": left.as_secs_f64().ceil() as u64,
        })
    }
}

/// Name and value of every argument, complete, every character visible; look-alikes are pointed at.
fn shown(confirmation: &Confirmation) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    for (name, value) in &confirmation.arguments {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        rows.push([visible(name), visible(&text)]);
        if mixed_scripts(&text) {
            rows.push(["!".to_owned(), format!("{}: letters of different alphabets that look alike", visible(name))]);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tenpass_agent::policy::confirmation_digest;
    use tenpass_trace::Tier;

    use super::*;

    fn question(arguments: &Value) -> (Question, oneshot::Receiver<Reply>) {
        let arguments = arguments.as_object().unwrap().clone();
        Question::new(Confirmation {
            id: "q".into(),
            call: 1,
            tool: "write_file".into(),
            tier: Tier::Irreversible,
            digest: confirmation_digest("write_file", &arguments, &[]),
            arguments,
            preview: Vec::new(),
            reason: None,
            expires_in: Duration::from_mins(1),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_counts_once_and_in_time() {
        let (mut asked, mut reply) = question(&json!({ "filename": "a" }));
        let digest = asked.confirmation.digest.clone();
        assert_eq!(asked.answer(&digest, true, "click"), Answered::Taken);
        assert_eq!(asked.answer(&digest, false, "click"), Answered::Unknown);
        assert_eq!(reply.try_recv().unwrap(), Reply::Approve { digest: digest.clone() });
        let (mut late, _reply) = question(&json!({}));
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(late.answer("", true, "click"), Answered::Unknown);
    }

    #[tokio::test]
    async fn a_wrong_digest_is_handed_on_and_cannot_approve() {
        let (mut asked, mut reply) = question(&json!({ "filename": "a" }));
        assert_eq!(asked.answer("00", true, "click"), Answered::WrongDigest);
        assert!(!asked.approved);
        assert_eq!(reply.try_recv().unwrap(), Reply::Approve { digest: "00".into() });
    }

    #[tokio::test]
    async fn everything_is_shown_and_nothing_hides() {
        let long = "x".repeat(10_000);
        let (asked, _reply) = question(&json!({ "url": "https://pаypal.com", "content": format!("a\u{202e}b{long}") }));
        let value = asked.to_json();
        let rows = value["shown"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1][0], "!");
        assert!(
            rows[2][1].as_str().unwrap().starts_with("a\\u{202E}b") && value.to_string().matches('x').count() > 10_000
        );
    }
}
