//! Both steps of a cleanup on real folders, and the system's trash in a home of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use jiff::Zoned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenpass_agent::describe::findings;
use tenpass_agent::tool::{CallContext, Inspection, ToolOutput};
use tokio_util::sync::CancellationToken;

use super::*;

struct World {
    folder: TempDir,
    tools: Vec<Box<dyn Tool>>,
    cancel: CancellationToken,
}

impl World {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut CleanupOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Téléchargements")).unwrap();
        let mut options = CleanupOptions::new(vec![("downloads".to_owned(), folder.path().join("Téléchargements"))]);
        options.home = Some(folder.path().to_owned());
        options.protected = vec![folder.path().join("Téléchargements/journal.log")];
        change(&mut options);
        let trash = Arc::new(FolderTrash::new(folder.path().join("trash")));
        Self { tools: cleanup_tools(options, trash), folder, cancel: CancellationToken::new() }
    }

    fn downloads(&self) -> PathBuf {
        self.folder.path().join("Téléchargements")
    }

    /// A file that was last changed this many days before the world's clock.
    fn put(&self, name: &str, bytes: usize, days_old: u64) {
        let path = self.downloads().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        let time = SystemTime::from(now().timestamp()) - Duration::from_secs(days_old * 86_400);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.downloads())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    async fn plan(&self, arguments: Value) -> ToolOutput {
        self.call(0, arguments).await
    }

    async fn execute(&self, id: &str) -> ToolOutput {
        self.call(1, json!({ "plan_id": id })).await
    }

    fn inspect(&self, id: &str) -> Inspection {
        self.tools[1].inspect(json!({ "plan_id": id }).as_object().unwrap())
    }

    async fn call(&self, tool: usize, arguments: Value) -> ToolOutput {
        let context = CallContext {
            thread: String::new(),
            turn: String::new(),
            user_text: String::new(),
            recent: Vec::new(),
            tainted: false,
            now: now(),
            cancel: self.cancel.clone(),
        };
        self.tools[tool].run(arguments.as_object().unwrap(), &context).await
    }

    async fn planned(&self, filter: Value) -> String {
        let output = self.plan(json!({ "directory": "downloads", "filter": filter })).await;
        assert!(output.ok, "{}", output.text);
        output.text.split('"').nth(1).unwrap().to_owned()
    }
}

fn now() -> Zoned {
    "2024-06-01T12:00:00[UTC]".parse().unwrap()
}

#[test]
fn the_definitions_keep_to_the_rules_for_descriptions() {
    for tool in &World::new().tools {
        assert_eq!(findings(tool.definition()), []);
        assert!(tool.definition().parameters["required"].as_array().unwrap().contains(&json!("reason")));
    }
}

#[tokio::test]
async fn a_plan_takes_what_matches_and_nothing_that_must_stay() {
    let world = World::new();
    for (name, bytes, days) in [
        ("old.log", 10, 40),
        ("NEWER.LOG", 20, 31),
        ("new.log", 5, 2),
        ("a.txt", 5, 90),
        (".hidden.log", 5, 90),
        ("sub/deep.log", 5, 90),
        ("passwords.log", 5, 90),
        ("journal.log", 5, 90),
        ("log", 5, 90),
        ("hard.log", 5, 90),
    ] {
        world.put(name, bytes, days);
    }
    fs::hard_link(world.downloads().join("hard.log"), world.folder.path().join("other")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("old.log", world.downloads().join("link.log")).unwrap();
    let before = world.names();
    let output = world
        .plan(json!({ "directory": "~/Téléchargements/", "filter": { "extension": ".LOG", "older_than_days": 30 } }))
        .await;
    assert_eq!(output.untrusted.as_deref(), Some("file names of downloads"));
    let text = &output.text;
    assert!(text.contains("2 of 5 files in \"downloads\" could go to the trash (files ending in .log, at least 30 days old), 30 bytes in all. Nothing was moved."), "{text}");
    assert!(
        text.ends_with("\n\nold.log · 10 bytes · 2024-04-22 12:00\nNEWER.LOG · 20 bytes · 2024-05-01 12:00"),
        "{text}"
    );
    assert_eq!(world.names(), before);
    let nothing = world.plan(json!({ "directory": "downloads", "filter": { "extension": "iso" } })).await.text;
    assert!(
        nothing.starts_with("Nothing in \"downloads\" matches: files ending in .iso. 5 files were looked at"),
        "{nothing}"
    );
    let large = world
        .plan(json!({ "directory": "downloads", "filter": { "extension": "*", "larger_than_mb": 0.000_015 } }))
        .await
        .text;
    assert!(large.contains("1 of 5 files") && large.contains("NEWER.LOG"), "{large}");
}

#[tokio::test]
async fn only_the_named_folders_are_planned() {
    let world = World::new();
    world.put("sub/x.log", 1, 1);
    for directory in ["Téléchargements/sub", "..", "/", "", "documents", "~", "/etc"] {
        let output = world.plan(json!({ "directory": directory, "filter": { "extension": "log" } })).await;
        assert!(!output.ok && output.text.contains("These are: \"downloads\"."), "{directory}: {}", output.text);
        let arguments = json!({ "directory": directory });
        assert!(world.tools[0].inspect(arguments.as_object().unwrap()).reject.is_some());
    }
}

#[tokio::test]
async fn executing_moves_exactly_the_plan_and_says_what_changed() {
    let world = World::new();
    for name in ["a.log", "b.log", "c.log", "d.log", "e.log"] {
        world.put(name, 3, 10);
    }
    let id = world.planned(json!({ "extension": "log" })).await;
    let preview = world.inspect(&id).preview;
    assert_eq!(preview.len(), 6);
    assert!(preview[0].starts_with("moves 5 files to the trash, 15 bytes in all, from "), "{preview:?}");
    assert!(preview[1].starts_with("a.log · 3 bytes · "));
    // Grown, replaced by a twin, gone, and one more that nobody planned.
    world.put("b.log", 4, 10);
    fs::remove_file(world.downloads().join("c.log")).unwrap();
    fs::rename(world.downloads().join("d.log"), world.downloads().join("kept")).unwrap();
    world.put("d.log", 3, 10);
    world.put("z.log", 3, 10);
    let done = world.execute(&id).await;
    assert!(done.ok && done.untrusted.is_some());
    assert_eq!(
        done.text,
        "Moved 2 files (6 bytes) of \"downloads\" to the trash. Skipped because changed or gone since the plan: \"b.log\", \"c.log\", \"d.log\"."
    );
    assert_eq!(world.names(), ["b.log", "d.log", "kept", "z.log"]);
    let base = world.downloads().canonicalize().unwrap();
    let trash = FolderTrash::new(world.folder.path().join("trash"));
    assert_eq!(trash.origins().unwrap(), [base.join("a.log"), base.join("e.log")]);
    assert_eq!(fs::read(world.folder.path().join("trash/files/a.log")).unwrap(), b"xxx");
    let again = world.execute(&id).await;
    assert!(!again.ok && again.text.contains("was executed already"), "{}", again.text);
    assert!(world.inspect(&id).reject.unwrap().contains("was executed already"));
}

#[tokio::test]
async fn unknown_and_expired_plans_are_rejected_and_the_live_ones_named() {
    let world = World::new();
    world.put("a.log", 3, 10);
    assert!(world.inspect("nope").reject.unwrap().contains("There is none now"));
    let id = world.planned(json!({ "extension": "log" })).await;
    let reason = world.inspect("nope").reject.unwrap();
    assert!(reason.contains(&format!("There is: {id:?} (1 files of \"downloads\")")), "{reason}");
    let expired = World::with(|options| options.lifetime = Duration::ZERO);
    expired.put("a.log", 3, 10);
    let id = expired.planned(json!({ "extension": "log" })).await;
    assert!(expired.inspect(&id).reject.unwrap().contains("is too old"));
    assert!(!expired.execute(&id).await.ok);
    assert_eq!(expired.names(), ["a.log"]);
}

#[tokio::test]
async fn a_plan_stays_small_enough_to_be_shown_and_a_stop_ends_it() {
    let world = World::with(|options| options.most_files = 3);
    (0..5).for_each(|number| world.put(&format!("{number}.log"), 1, 10 + number));
    let text = world.plan(json!({ "directory": "downloads", "filter": { "extension": "log" } })).await.text;
    assert!(text.contains("2 more match; one plan takes the oldest ones.") && text.contains("\n\n4.log"), "{text}");
    let id = world.planned(json!({ "extension": "log" })).await;
    world.cancel.cancel();
    assert_eq!(
        world.execute(&id).await.text,
        "Moved 0 files (0 bytes) of \"downloads\" to the trash. Stopped before the last 3 files."
    );
    assert_eq!(world.names().len(), 5);
}

#[tokio::test]
async fn a_swapped_folder_loses_nothing() {
    let world = World::new();
    world.put("a.log", 3, 10);
    let id = world.planned(json!({ "extension": "log" })).await;
    fs::rename(world.downloads(), world.folder.path().join("before")).unwrap();
    world.put("a.log", 3, 10);
    let done = world.execute(&id).await;
    assert!(!done.ok && done.text.contains("is not the one of the plan any more"), "{}", done.text);
    assert_eq!(world.names(), ["a.log"]);
}

#[test]
fn a_folder_trash_keeps_files_of_one_name_apart() {
    let folder = tempfile::tempdir().unwrap();
    let trash = FolderTrash::new(folder.path().join("trash"));
    assert!(trash.origins().unwrap().is_empty());
    for place in ["one", "two %"] {
        fs::create_dir(folder.path().join(place)).unwrap();
        fs::write(folder.path().join(place).join("é.txt"), place).unwrap();
        trash.put(&folder.path().join(place).join("é.txt"), &now()).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.path().join("trash/files/é.txt")).unwrap(), "one");
    assert_eq!(fs::read_to_string(folder.path().join("trash/files/é.txt.2")).unwrap(), "two %");
    let info = fs::read_to_string(folder.path().join("trash/info/é.txt.2.trashinfo")).unwrap();
    assert!(
        info.starts_with("[Trash Info]\nPath=/")
            && info.contains("/two%20%25/%C3%A9.txt\nDeletionDate=2024-06-01T12:00:00\n"),
        "{info}"
    );
    assert_eq!(trash.origins().unwrap(), [folder.path().join("one/é.txt"), folder.path().join("two %/é.txt")]);
    let error = trash.put(&folder.path().join("none"), &now()).unwrap_err();
    assert!(error.to_string().contains("could not be moved to the trash"));
    assert_eq!(trash.origins().unwrap().len(), 2);
}

/// The variable that tells the test below that it is the child.
const CHILD: &str = "TENPASS_TRASHED_FILE";

/// The real trash, in a home of its own: the test starts itself again with that home, because a
/// process must not change its environment while other tests run.
#[cfg(target_os = "linux")]
#[test]
fn the_system_trash_takes_a_file_and_can_give_it_back() {
    if let Some(path) = std::env::var_os(CHILD) {
        SystemTrash.put(Path::new(&path), &now()).unwrap();
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("été 1.txt");
    fs::write(&file, "kept").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cleanup::tests::the_system_trash_takes_a_file_and_can_give_it_back"])
        .env(CHILD, &file)
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!file.exists());
    let trash = home.path().join("data/Trash");
    assert_eq!(fs::read_to_string(trash.join("files/été 1.txt")).unwrap(), "kept");
    // Our own reader understands the system's notes: the formats are one.
    assert_eq!(FolderTrash::new(trash).origins().unwrap(), [file]);
}
