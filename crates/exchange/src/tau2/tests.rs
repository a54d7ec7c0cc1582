use proptest::prelude::*;
use serde_json::json;
use tenpass_bench::cases::load_suite;

use super::*;
use crate::ExchangeError;

const TOOLS: &str = r#"
class ShopTools(ToolKitBase):
    db: ShopDB

    def _get_order(self, order_id: str) -> Order:
        """Not a tool."""

    @is_tool(ToolType.READ)
    def get_order(self, order_id: str) -> Order:
        """Get an order.
        It says what was bought.

        Args:
            order_id: The id, such as '#W1'. Mind the
                '#' before it.

        Returns:
            Order: the order.
        """
        return self.db.orders[order_id]

    @is_tool(ToolType.WRITE)
    def exchange(
        self,
        order_id: str,
        items: List[str],
        how: Literal["post", "shop"] = "post",
        note: Optional[str] = None,
        address: Address | None = None,
    ) -> Order:
        """Exchange items (once, and only once)."""
        ...
"#;

const TASKS: &str = r##"[
  {"id": "0", "user_scenario": {"instructions": {"reason_for_call": "You want to know what is in order #W123.", "known_info": "You are Ada."}},
   "evaluation_criteria": {"actions": [
     {"action_id": "0_0", "name": "get_order", "arguments": {"order_id": "#W123"}},
     {"action_id": "0_1", "name": "exchange", "arguments": {"order_id": "#W123", "items": ["77"]}}]}},
  {"id": "1", "user_scenario": {"instructions": {"reason_for_call": "You want your money back without a reason.", "known_info": null}},
   "evaluation_criteria": {"actions": []}},
  {"id": "2", "user_scenario": {"instructions": {"reason_for_call": "You forgot your order's number.", "known_info": "You are Bob."}},
   "evaluation_criteria": {"actions": [{"action_id": "2_0", "name": "get_order", "arguments": {"order_id": "#W9"}}]}},
  {"id": "3", "user_scenario": {"instructions": "Your phone is broken, order #W5."},
   "evaluation_criteria": {"actions": [
     {"action_id": "3_0", "name": "reboot", "requestor": "user", "arguments": {}},
     {"action_id": "3_1", "name": "exchange", "requestor": "assistant", "arguments": {"order_id": "#W5", "items": ["1"]}, "compare_args": ["order_id"]}]}}
]"##;

fn domain(tasks: &str, tools: &str) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("shop").tempdir().unwrap();
    std::fs::write(folder.path().join("tasks.json"), tasks).unwrap();
    std::fs::write(folder.path().join("tools.py"), tools).unwrap();
    std::fs::write(folder.path().join("policy.md"), "# Policy\nRefuse what is not allowed.\n").unwrap();
    folder
}

#[test]
fn tools_are_read_from_signatures_and_docstrings() {
    let tools = python::tools(TOOLS);
    let names: Vec<(&str, bool)> = tools.iter().map(|tool| (tool.name.as_str(), tool.reads)).collect();
    assert_eq!(names, [("get_order", true), ("exchange", false)]);
    assert_eq!(tools[0].description, "Get an order. It says what was bought.");
    assert_eq!(
        tools[0].parameters,
        json!({ "type": "object", "required": ["order_id"], "properties": {
            "order_id": { "type": "string", "description": "The id, such as '#W1'. Mind the '#' before it." } } })
    );
    assert_eq!(
        tools[1].parameters,
        json!({ "type": "object", "required": ["order_id", "items"], "properties": {
            "order_id": { "type": "string" },
            "items": { "type": "array", "items": { "type": "string" } },
            "how": { "enum": ["post", "shop"] },
            "note": { "type": "string" },
            "address": { "type": "object" } } })
    );
}

#[test]
fn tasks_become_cases_about_their_first_call_or_are_left_out() {
    let folder = domain(TASKS, TOOLS);
    let converted = import(folder.path()).unwrap();
    let cases = &converted.cases;
    assert_eq!(cases.len(), 3, "{:?}", converted.notes);
    assert!(cases[0].id.starts_with("tau2-shop") && cases[0].id.ends_with("-0"), "{}", cases[0].id);
    assert_eq!(cases[0].messages[0].content, "# Policy\nRefuse what is not allowed.");
    assert_eq!(cases[0].messages[1].content, "You want to know what is in order #W123.\n\nYou are Ada.");
    let called = |place: usize| {
        let alternatives = &cases[place].expect.alternatives;
        alternatives.iter().map(|calls| calls[0].tool.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((called(0), called(2)), (vec!["get_order"], vec!["exchange"]));
    assert_eq!(cases[2].expect.alternatives[0][0].arguments.len(), 1, "compare_args names one");
    assert_eq!(cases[1].expect.forbid, ["exchange"]);
    assert_eq!(converted.notes, ["task 2: left out: the arguments of its calls are not in what the customer says"]);

    let out = tempfile::tempdir().unwrap();
    std::fs::write(out.path().join("tau2.toml"), tenpass_bench::cases::to_toml(&cases[0].family, "", cases)).unwrap();
    let again = load_suite(out.path()).unwrap().cases;
    assert_eq!(again.len(), 3);
    assert!(again.iter().zip(cases).all(|(again, case)| again.expect == case.expect && again.tools == case.tools));
}

#[test]
fn a_fault_is_named_with_its_place() {
    let error = |tasks: &str, tools: &str| import(domain(tasks, tools).path()).unwrap_err().to_string();
    assert!(error("[\n{]", TOOLS).contains("tasks.json:2: "));
    let missing = error("[{\"id\": \"0\"}]", TOOLS);
    assert!(missing.ends_with("tasks.json, task 0: missing field `user_scenario`"), "{missing}");
    assert!(error("[]", "x = 1").ends_with("tools.py is not a file of tools: no method is under @is_tool(…)"));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(import(folder.path()), Err(ExchangeError::Read { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_sources_are_never_a_panic(at in 0..TOOLS.len(), byte in any::<u8>(), task in 0..TASKS.len()) {
        let mut tools = TOOLS.as_bytes().to_vec();
        tools[at] = byte;
        let _ = python::tools(&String::from_utf8_lossy(&tools));
        let mut tasks = TASKS.as_bytes().to_vec();
        tasks[task] = byte;
        let _ = import(domain(&String::from_utf8_lossy(&tasks), TOOLS).path());
    }
}
