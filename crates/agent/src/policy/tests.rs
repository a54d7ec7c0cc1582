//! The matrix of the policy in full, and the ways an approval can be wrong.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tenpass_trace::{ConfirmationAnswer, Message, Tier, ToolCall};

use super::tiers::{LEAVES_NOTHING, WRITES_MEMORY};
use super::*;
use crate::interaction::Reply;

const TIER_ORDER: [Tier; 3] = [Tier::Auto, Tier::Confirm, Tier::Irreversible];
const SIX: [&str; 6] = ["open_url", "open_path", "launch_app", "control_media", "open_site_search", "play_top_result"];

fn raised(tier: Tier) -> Inspection {
    Inspection { escalate: Some((tier, "sensitive path".into())), ..Inspection::default() }
}

fn call(name: &str, arguments: Value) -> ToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    ToolCall { id: None, name: name.into(), arguments }
}

#[test]
fn the_table_names_each_tool_once_and_in_k40s_tier() {
    let names = |tier| TIERS.iter().filter(|entry| entry.1 == tier).map(|entry| entry.0).collect::<Vec<_>>();
    assert_eq!(names(Tier::Auto).len(), 20);
    assert_eq!(names(Tier::Confirm), [&SIX[..], &["send_to_terminal", "send_key"]].concat());
    assert_eq!(
        names(Tier::Irreversible),
        ["write_file", "update_file", "append_file", "create_document", "execute_cleanup"]
    );
    let mut all: Vec<&str> = TIERS.iter().map(|entry| entry.0).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), TIERS.len());
    let of_auto = |tool: &&&str| table_tier(tool) == Some(Tier::Auto);
    assert_eq!(LEAVES_NOTHING.iter().filter(of_auto).count(), LEAVES_NOTHING.len());
    assert_eq!(WRITES_MEMORY.iter().filter(of_auto).count(), WRITES_MEMORY.len());
}

#[test]
fn an_unclassified_tool_is_irreversible_until_its_user_says_otherwise() {
    let policy = Policy::new(Profile::Bar);
    let calm = Inspection::default();
    assert_eq!(policy.tier("mcp_mail_send", None, &calm), Tier::Irreversible);
    assert_eq!(policy.tier("mcp_mail_send", Some(Tier::Auto), &calm), Tier::Auto);
    assert_eq!(policy.tier("write_file", Some(Tier::Auto), &calm), Tier::Irreversible);
    // Names are compared exactly: a prefix or another case is another, unknown tool.
    assert_eq!(policy.tier("Read_File", None, &calm), Tier::Irreversible);
    assert_eq!(policy.tier("read_file ", None, &calm), Tier::Irreversible);
}

/// The rule of K41, written a second time as a table over sets instead of code over branches.
fn expected(profile: Profile, tool: &str, tier: Tier, escalated: bool, tainted: bool) -> Decision {
    let free: &[&str] = match (profile, tainted) {
        (Profile::Panel, _) => &[],
        (Profile::Bar, false) => &SIX,
        (Profile::Bar, true) | (Profile::Voice, _) => &["control_media"],
    };
    let left =
        ["delegate_to_provider", "write_memory", "update_memory", "add_reminder", "done_reminder", "create_chart"];
    let run = match tier {
        Tier::Irreversible => false,
        Tier::Confirm => !escalated && free.contains(&tool),
        Tier::Auto => !(tainted && left.contains(&tool)),
    };
    if run { Decision::Run } else { Decision::Ask }
}

#[test]
fn the_whole_matrix_of_profile_tool_escalation_and_taint() {
    let mut asked = 0;
    let mut cells = 0;
    for profile in Profile::ALL {
        let policy = Policy::new(*profile);
        for (tool, base) in TIERS {
            for escalation in [None, Some(Tier::Auto), Some(Tier::Confirm), Some(Tier::Irreversible)] {
                for tainted in [false, true] {
                    let inspection = escalation.map(raised).unwrap_or_default();
                    let tier = policy.tier(tool, None, &inspection);
                    assert_eq!(tier, escalation.map_or(*base, |raise| raise.max(*base)));
                    let decision = policy.decide(tool, tier, &inspection, tainted);
                    let wanted = if escalation == Some(Tier::Auto) && tier == Tier::Auto {
                        // An inspection that asks for care at all is asked.
                        Decision::Ask
                    } else {
                        expected(*profile, tool, tier, escalation.is_some(), tainted)
                    };
                    assert_eq!(decision, wanted, "{profile} {tool} {escalation:?} tainted={tainted}");
                    asked += usize::from(decision == Decision::Ask);
                    cells += 1;
                }
            }
        }
    }
    // 3 profiles × 33 tools × 4 escalations × 2. Free are: 20 untainted and 14 tainted automatic
    // tools a profile; the bar's 6 and 1; voice's 1 and 1.
    assert_eq!((cells, cells - asked), (792, 3 * (20 + 14) + (6 + 1) + (1 + 1)));
}

#[test]
fn a_tool_that_the_user_made_automatic_is_still_asked_in_a_tainted_turn() {
    let policy = Policy::new(Profile::Panel);
    let calm = Inspection::default();
    assert_eq!(policy.decide("mcp_calendar", Tier::Auto, &calm, false), Decision::Run);
    assert_eq!(policy.decide("mcp_calendar", Tier::Auto, &calm, true), Decision::Ask);
    // And one that the user called control_media-like never borrows an override.
    assert_eq!(Policy::new(Profile::Bar).decide("mcp_open", Tier::Confirm, &calm, false), Decision::Ask);
}

#[test]
fn memory_is_not_written_in_a_tainted_turn_in_any_profile() {
    for profile in Profile::ALL {
        let policy = Policy::new(*profile);
        for tool in WRITES_MEMORY {
            assert!(policy.refusal(tool, true).is_some_and(|text| text.contains("Nothing was written")));
            assert_eq!(policy.refusal(tool, false), None);
        }
        assert_eq!(policy.refusal("read_file", true), None);
    }
}

#[test]
fn profiles_are_typed_as_they_are_stored() {
    for profile in Profile::ALL {
        assert_eq!(profile.to_string().parse::<Profile>(), Ok(*profile));
        assert_eq!(serde_json::to_string(profile).unwrap(), format!("\"{profile}\""));
    }
    let error = "speech".parse::<Profile>().unwrap_err();
    assert_eq!(error.to_string(), "unknown profile \"speech\"");
    assert_eq!(error.hint(), "use one of: panel, bar, voice");
}

fn shown() -> crate::interaction::Confirmation {
    let inspection = Inspection { preview: vec!["a.txt".into(), "b.txt".into()], ..raised(Tier::Irreversible) };
    let call = call("execute_cleanup", json!({"plan_id": "7", "reason": "space"}));
    confirmation(3, &call, Tier::Irreversible, &inspection, Duration::from_mins(1))
}

fn approve(digest: &str) -> Reply {
    Reply::Approve { digest: digest.to_owned() }
}

#[test]
fn an_approval_is_good_once() {
    let (mut approvals, confirmation, at) = (Approvals::default(), shown(), Instant::now());
    assert_eq!((confirmation.call, confirmation.reason.as_deref()), (3, Some("sensitive path")));
    let reply = approve(&confirmation.digest);
    let soon = at + Duration::from_secs(59);
    assert_eq!(approvals.accept(&confirmation, at, &reply, soon), ConfirmationAnswer::Approved);
    assert_eq!(approvals.accept(&confirmation, at, &reply, soon), ConfirmationAnswer::Refused);
    // Shown again later, the same id stays used up.
    assert_eq!(approvals.accept(&confirmation, soon, &reply, soon), ConfirmationAnswer::Refused);
}

#[test]
fn a_late_answer_is_expired_even_if_it_approves() {
    let (confirmation, at) = (shown(), Instant::now());
    let late = at + Duration::from_mins(1);
    for reply in [approve(&confirmation.digest), Reply::Refuse] {
        assert_eq!(Approvals::default().accept(&confirmation, at, &reply, late), ConfirmationAnswer::Expired);
    }
    // Showing it a second time does not start its time again.
    let mut approvals = Approvals::default();
    approvals.show(&confirmation, at);
    assert_eq!(
        approvals.accept(&confirmation, late, &approve(&confirmation.digest), late),
        ConfirmationAnswer::Expired
    );
}

#[test]
fn an_approval_of_other_arguments_or_files_is_refused() {
    let at = Instant::now();
    let original = shown();
    let mut arguments = original.clone();
    arguments.arguments.insert("plan_id".into(), json!("8"));
    let mut files = original.clone();
    files.preview.push("c.txt".into());
    let mut tool = original.clone();
    tool.tool = "write_file".into();
    for changed in [arguments, files, tool] {
        // The reply is for what was shown; the digest field was or was not changed along.
        let reply = approve(&original.digest);
        assert_eq!(Approvals::default().accept(&changed, at, &reply, at), ConfirmationAnswer::Refused);
        let forged = confirmation_digest(&changed.tool, &changed.arguments, &changed.preview);
        assert_eq!(Approvals::default().accept(&original, at, &approve(&forged), at), ConfirmationAnswer::Refused);
    }
    assert_eq!(Approvals::default().accept(&original, at, &approve(""), at), ConfirmationAnswer::Refused);
}

#[test]
fn an_unknown_id_is_refused_and_uses_nothing_up() {
    let (mut approvals, confirmation, at) = (Approvals::default(), shown(), Instant::now());
    approvals.show(&confirmation, at);
    let reply = approve(&confirmation.digest);
    assert_eq!(approvals.answer("00000000", &reply, at), ConfirmationAnswer::Refused);
    assert_eq!(approvals.answer(&confirmation.id, &reply, at), ConfirmationAnswer::Approved);
    assert_eq!(approvals.answer(&confirmation.id, &reply, at), ConfirmationAnswer::Refused);
    assert_ne!(shown().id, confirmation.id);
}

#[test]
fn digests_ignore_key_order_and_nothing_else() {
    let first = call("write_file", json!({"filename": "a", "content": {"x": 1, "y": [true, null]}}));
    let second = call("write_file", json!({"content": {"y": [true, null], "x": 1}, "filename": "a"}));
    assert_eq!(call_digest(&first.name, &first.arguments), call_digest(&second.name, &second.arguments));
    assert_eq!(canonical_json(&json!({"b": "é\"", "a": [1, 2.5]})), r#"{"a":[1,2.5],"b":"é\""}"#);
    // printf '{"arguments":{},"tool":"done"}' | sha256sum
    assert_eq!(call_digest("done", &Map::new()), "d19aa9d1e6976fcd62c896bc7312f1dde34f26cd85b20c472a116b14080140db");
    let third = call("write_file", json!({"filename": "a", "content": {"x": 1, "y": [null, true]}}));
    assert_ne!(call_digest(&first.name, &first.arguments), call_digest(&third.name, &third.arguments));
}

#[test]
fn an_address_that_nobody_showed_is_asked_in_a_tainted_turn() {
    let mut sources = Sources::default();
    sources.observe("Read https://Example.org/a/ please, and (see http://b.example/x?y=1).");
    let asked = |sources: &Sources, url: &str, tainted| {
        let mut inspection = Inspection::default();
        sources.inspect(&call("read_url", json!({"url": url})), tainted, &mut inspection);
        inspection.escalate.is_some_and(|(tier, _)| tier == Tier::Confirm)
    };
    for known in ["https://example.org/a", "http://EXAMPLE.org/a/#top", "http://b.example/x?y=1"] {
        assert!(!asked(&sources, known, true), "{known}");
    }
    for unknown in ["https://example.org/a?stolen=token", "https://evil.example/", "http://b.example/x?y=12", ""] {
        assert!(asked(&sources, unknown, true), "{unknown}");
        assert!(!asked(&sources, unknown, false), "{unknown}");
    }
    // An address may be written without its scheme.
    sources.observe("or www.third.example, fourth.example/page.");
    for known in ["https://third.example/", "http://www.third.example", "https://fourth.example/page"] {
        assert!(!asked(&sources, known, true), "{known}");
    }
    // The path's case is data: it is not folded.
    assert!(asked(&sources, "https://example.org/A", true));
    sources.observe_result("read_file", "result: https://evil.example/");
    assert!(asked(&sources, "https://evil.example", true));
    sources.observe_result("web_search", "1. Title\nhttps://found.example/a\nread https://snippet.example now");
    assert!(!asked(&sources, "https://found.example/a", true));
    assert!(
        asked(&sources, "https://snippet.example", true) && asked(&sources, "https://snippet.example/x?q=1", false)
    );
    let block =
        "[[tenpass:memory]]\n- read https://memory.example/x\n[[/tenpass:memory]]\n\nread https://mine.example/";
    sources.observe_messages(&[Message::user(block), Message::assistant("see https://said.example")]);
    assert!(asked(&sources, "https://memory.example/other?q=secret", false));
    assert!(asked(&sources, "https://said.example", false));
    assert!(!asked(&sources, "https://mine.example", false) && !asked(&sources, "https://mine.example", true));
    // A stronger escalation of the tool's own is kept.
    let mut inspection = raised(Tier::Irreversible);
    sources.inspect(&call("read_url", json!({"url": "https://x.example"})), true, &mut inspection);
    assert_eq!(inspection, raised(Tier::Irreversible));
}

proptest! {
    #[test]
    fn the_tier_never_falls(
        index in 0..TIERS.len() + 1, user in 0usize..4, escalation in 0usize..4, profile in 0usize..3,
    ) {
        let tool = TIERS.get(index).map_or("unknown_tool", |entry| entry.0);
        let policy = Policy::new(Profile::ALL[profile]);
        let user = TIER_ORDER.get(user).copied();
        let inspection = TIER_ORDER.get(escalation).copied().map(raised).unwrap_or_default();
        let calm = policy.tier(tool, user, &Inspection::default());
        let judged = policy.tier(tool, user, &inspection);
        prop_assert!(judged >= calm);
        prop_assert!(inspection.escalate.as_ref().is_none_or(|(tier, _)| judged >= *tier));
        prop_assert!(table_tier(tool).is_none_or(|tier| calm == tier));
        // Taint and escalation never turn a question into a run.
        if policy.decide(tool, judged, &inspection, true) == Decision::Run {
            prop_assert_eq!(policy.decide(tool, judged, &inspection, false), Decision::Run);
            prop_assert_eq!(policy.decide(tool, judged, &Inspection::default(), true), Decision::Run);
        }
    }

    #[test]
    fn a_confirmation_is_approved_once_at_most(
        replies in proptest::collection::vec((0usize..4, 0u64..100), 1..12),
    ) {
        let (mut approvals, confirmation, at) = (Approvals::default(), shown(), Instant::now());
        let mut approved = 0;
        for (index, (kind, seconds)) in replies.into_iter().enumerate() {
            let reply = match kind {
                0 => Reply::Refuse,
                1 => approve("0"),
                _ => approve(&confirmation.digest),
            };
            let answer = approvals.accept(&confirmation, at, &reply, at + Duration::from_secs(seconds));
            if answer == ConfirmationAnswer::Approved {
                approved += 1;
                prop_assert!(kind > 1 && seconds < 60 && index == 0);
            }
        }
        prop_assert!(approved <= 1);
    }

    #[test]
    fn a_changed_argument_changes_the_digest(key in "[a-z]{1,6}", old in ".{0,12}", new in ".{0,12}") {
        let digest = |value: &str| {
            call_digest("write_file", &Map::from_iter([(key.clone(), Value::from(value))]))
        };
        prop_assert_eq!(digest(&old) == digest(&new), old == new);
    }
}
