use serde_json::json;
use tenpass_trace::{Message, ToolDefinition};

use super::*;
use crate::cases::{CaseKind, Expect, Language, load_suite};

fn tool(name: &str) -> ToolDefinition {
    let schema = json!({ "type": "object", "properties": { "filename": { "type": "string" } } });
    ToolDefinition::new(name, "A tool.").with_parameters(schema)
}

fn case(id: &str, request: &str) -> Case {
    Case {
        id: id.to_owned(),
        family: "life".to_owned(),
        language: Language::English,
        kind: CaseKind::Target,
        messages: vec![Message::system("Rules."), Message::user(request)],
        tools: vec![tool("read_file"), tool("write_file")],
        provenance: "turn 1".to_owned(),
        expect: Expect { forbid: vec!["write_file".to_owned()], ..Expect::default() },
        source: String::new(),
        scenario: None,
    }
}

const WRITTEN: &str = "# Mine.\nfamily = \"life\"   # kept\n\n[[case]]\nid = \"mine\"\nlanguage = \"en\"\nprompt = \"Hi\"\nprovenance = \"me\"\ntool = [{ name = \"say\", description = \"Says.\" }]\nexpect = { no_call = true }";

#[test]
fn what_a_person_wrote_stays_to_the_byte() {
    for (old, ending) in
        [(WRITTEN.to_owned(), ""), (format!("{WRITTEN}\n"), "\n"), (WRITTEN.replace('\n', "\r\n"), "\r\n")]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.toml");
        std::fs::write(&path, &old).unwrap();
        let filed = file_case(case("new", "line one\nline two"), folder.path(), false, "seen\nlately").unwrap();
        assert_eq!(filed.path.file_name(), path.file_name(), "the file of the family, whatever its name");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&old) && text.contains("# seen"), "{ending:?}: {text}");
        let suite = load_suite(folder.path()).unwrap();
        assert_eq!(suite.cases.len(), 2);
        assert_eq!(Case { source: String::new(), ..suite.cases[1].clone() }, case("new", "line one\nline two"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    }
}

#[test]
fn a_folder_that_is_not_there_is_made_and_its_shared_tools_are_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("deep/cases");
    file_case(case("first", "Hi"), &folder, false, "").unwrap();
    std::fs::write(folder.join("prompt.md"), "Rules.\n").unwrap();
    std::fs::write(
        folder.join("tools.toml"),
        "[[tool]]\nname = \"read_file\"\ndescription = \"A tool.\"\nparameters = { type = \"object\", properties = { filename = { type = \"string\" } } }\n",
    )
    .unwrap();
    let filed = file_case(case("second", "Ho"), &folder, false, "").unwrap();
    assert!(filed.text.contains("tools = [\"read_file\"]") && !filed.text.contains("system"), "{}", filed.text);
    assert_eq!(load_suite(&folder).unwrap().cases.len(), 2);
}

#[test]
fn a_taken_id_gets_a_number_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<String> =
        (0..3).map(|_| file_case(case("same", "Hi"), folder.path(), false, "").unwrap().case.id).collect();
    assert_eq!(ids, ["same", "same-2", "same-3"]);
    let error = file_case(case("same", "Hi"), folder.path(), true, "").unwrap_err();
    assert!(matches!(&error, LifeError::Taken { .. }) && error.hint().contains("--id"), "{error}");
    assert!(matches!(file_case(case("Not An Id", "Hi"), folder.path(), true, ""), Err(LifeError::BadId { .. })));
    let odd = Case { family: "../up".to_owned(), ..case("x", "Hi") };
    assert!(matches!(file_case(odd, folder.path(), true, ""), Err(LifeError::BadFamily { .. })));
}

#[test]
fn nothing_is_changed_unless_the_case_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("life.toml");
    // A suite with a mistake is not touched.
    for broken in ["family = \"life\"\n[[case]]\n", "family = \"life\"\ncase = [{ id = \"a\" }]\n"] {
        std::fs::write(&path, broken).unwrap();
        assert!(matches!(file_case(case("x", "Hi"), folder.path(), false, ""), Err(LifeError::Cases(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
    }
    std::fs::write(&path, WRITTEN).unwrap();
    // An expectation that no call could meet.
    let bad = Case { expect: Expect { forbid: vec!["no_such".to_owned()], ..Expect::default() }, ..case("x", "Hi") };
    assert!(matches!(file_case(bad, folder.path(), false, ""), Err(LifeError::Cases(_))));
    // A case whose texts TOML does not give back.
    let mut odd = case("x", "Hi");
    odd.messages.push(Message { thinking: Some("hm".to_owned()), ..Message::user("more") });
    assert!(matches!(file_case(odd, folder.path(), false, ""), Err(LifeError::NotAsMeant { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), WRITTEN);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn one_file_takes_its_family_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, WRITTEN.replace("\"life\"", "\"mine\"")).unwrap();
    let error = file_case(case("x", "Hi"), &path, false, "").unwrap_err();
    assert!(matches!(&error, LifeError::OtherFamily { .. }) && error.hint().contains("mine"), "{error}");
    file_case(Case { family: "mine".to_owned(), ..case("x", "Hi") }, &path, false, "").unwrap();
    assert_eq!(load_suite(&path).unwrap().cases.len(), 2);
}

#[test]
fn those_who_file_together_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let threads: Vec<_> = (0..6)
        .map(|number| {
            let folder = folder.path().to_owned();
            std::thread::spawn(move || {
                for round in 0..3 {
                    file_case(case("same", &format!("{number} {round}")), &folder, false, "").unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let suite = load_suite(folder.path()).unwrap();
    let requests: std::collections::BTreeSet<&str> =
        suite.cases.iter().map(|case| case.messages[1].content.as_str()).collect();
    assert_eq!((suite.cases.len(), requests.len()), (18, 18));
}
