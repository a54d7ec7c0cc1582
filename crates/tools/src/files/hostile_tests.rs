//! Attacks on the sandbox (the security table's path row), against a canary outside of it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::tests::{CANARY, World};
use super::*;

/// Every way to read or write a path, none of which may reach it.
async fn refused(world: &World, path: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    for (tool, arguments) in [
        ("read_file", json!({ "filename": path })),
        ("list_directory", json!({ "directory": path })),
        ("write_file", json!({ "filename": path, "content": "x" })),
        ("append_file", json!({ "filename": path, "content": "x" })),
        ("update_file", json!({ "filename": path, "old_text": "canary", "new_text": "x" })),
    ] {
        let inspection = world.inspect(tool, &arguments);
        assert!(inspection.reject.is_some() || inspection.preview.is_empty(), "{tool} {path:?}");
        let output = world.run(tool, arguments).await;
        assert!(!output.ok, "{tool} {path:?}: {}", output.text);
        assert!(!output.text.contains(CANARY), "{tool} {path:?}");
        assert!(inspection.preview.iter().all(|line| !line.contains(CANARY)), "{tool} {path:?}");
        reasons.push(output.text);
    }
    assert_eq!(fs::read_to_string(world.path("outside.txt")).unwrap(), CANARY);
    reasons
}

#[tokio::test]
async fn links_out_of_the_root_are_refused_for_everything() {
    let world = World::new();
    let work = world.path("work");
    fs::create_dir(world.path("elsewhere")).unwrap();
    fs::write(world.path("elsewhere/f.txt"), CANARY).unwrap();
    symlink("../outside.txt", work.join("leaf")).unwrap();
    symlink(world.path("outside.txt"), work.join("absolute")).unwrap();
    symlink("../elsewhere", work.join("folder")).unwrap();
    symlink("../not-yet.txt", work.join("dangling")).unwrap();
    symlink("loop", work.join("loop")).unwrap();
    for path in ["leaf", "absolute", "folder/f.txt", "folder/new.txt", "dangling", "loop", "folder/../../outside.txt"] {
        refused(&world, path).await;
    }
    assert!(!world.path("not-yet.txt").exists() && !world.path("elsewhere/new.txt").exists());
    assert!(refused(&world, "leaf").await[0].contains("symbolic link that leaves its folder"));
}

#[tokio::test]
async fn links_inside_the_root_are_read_and_never_written_through() {
    let world = World::new();
    world.put("real/a.txt", "inside");
    world.put(".env", "TOKEN=1");
    let work = world.path("work");
    symlink("real/a.txt", work.join("link.txt")).unwrap();
    symlink("real", work.join("linked")).unwrap();
    symlink("../work/real/a.txt", work.join("roundabout")).unwrap();
    symlink("absent/deep", work.join("dangling")).unwrap();
    symlink(".env", work.join("notes.txt")).unwrap();
    for path in ["link.txt", "linked/a.txt"] {
        assert!(world.run("read_file", json!({ "filename": path })).await.text.ends_with("inside"), "{path}");
    }
    // Up and back in is still up.
    refused(&world, "roundabout").await;
    let written = world.run("append_file", json!({ "filename": "link.txt", "content": "x" })).await;
    assert!(written.text.contains("links are never written through"), "{}", written.text);
    assert!(!world.run("write_file", json!({ "filename": "dangling/x/y.txt", "content": "x" })).await.ok);
    assert!(!world.path("work/absent").exists());
    assert_eq!(world.text("real/a.txt"), "inside");
    let secret = world.run("read_file", json!({ "filename": "notes.txt" })).await;
    assert!(secret.text.contains("is a symbolic link to environment secrets"), "{}", secret.text);
    assert!(world.inspect("read_file", &json!({ "filename": "notes.txt" })).reject.is_some());
}

#[tokio::test]
async fn hard_links_devices_pipes_and_sockets_are_refused_without_waiting() {
    let world = World::new();
    let work = world.path("work");
    fs::hard_link(world.path("outside.txt"), work.join("hard.txt")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(work.join("pipe")).status().unwrap();
    assert!(made.success());
    let started = Instant::now();
    assert!(refused(&world, "hard.txt").await[0].contains("has 2 hard links"));
    for path in ["pipe", "socket"] {
        assert!(refused(&world, path).await[0].contains("a device, pipe or socket"), "{path}");
    }
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn the_application_s_own_files_are_out_of_reach_whether_they_exist_or_not() {
    let world = World::new();
    let work = world.path("work");
    for path in ["memory.md", "MEMORY.md", ".tenpass/config.toml", ".tenpass/config.toml/x"] {
        assert!(
            refused(&world, path).await.iter().all(|reason| reason.contains("belongs to this application")),
            "{path}"
        );
    }
    // A file where a protected folder will be would be in its way.
    assert!(!world.run("write_file", json!({ "filename": ".tenpass", "content": "x" })).await.ok);
    assert!(world.run("write_file", json!({ "filename": ".tenpass-notes", "content": "x" })).await.ok);
    world.put("memory.md", CANARY);
    symlink("memory.md", work.join("alias.md")).unwrap();
    for path in ["memory.md", "./memory.md", "alias.md"] {
        refused(&world, path).await;
    }
    assert_eq!(world.text("memory.md"), CANARY);
    assert!(!world.run("list_directory", json!({ "directory": "." })).await.text.contains("memory.md"));
}

#[test]
fn a_protected_folder_is_known_by_what_it_is_under_another_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("work/data")).unwrap();
    fs::create_dir(folder.path().join("app")).unwrap();
    symlink(folder.path().join("work/data"), folder.path().join("app/journal")).unwrap();
    let mut options = SandboxOptions::new(folder.path().join("work"));
    options.protected = vec![folder.path().join("app/journal")];
    let sandbox = Sandbox::open(options.clone()).unwrap();
    assert!(matches!(sandbox.plan_new("data/x.txt", ""), Err(FileError::Protected { .. })));
    // The link appears after the sandbox was opened.
    fs::create_dir(folder.path().join("work/late")).unwrap();
    options.protected = vec![folder.path().join("app/late")];
    let sandbox = Sandbox::open(options.clone()).unwrap();
    symlink(folder.path().join("work/late"), folder.path().join("app/late")).unwrap();
    assert!(matches!(sandbox.plan_new("late/x.txt", ""), Err(FileError::Protected { .. })));
    options.protected = vec![folder.path().to_owned()];
    assert!(Sandbox::open(options).is_err());
}

#[tokio::test]
async fn a_read_only_folder_is_never_written_not_even_through_the_working_folder() {
    let world = World::new();
    for (tool, path) in [
        ("write_file", "documents/new.txt"),
        ("append_file", "documents/letter.txt"),
        ("update_file", "documents/letter.txt"),
    ] {
        let output =
            world.run(tool, json!({ "filename": path, "content": "x", "old_text": "Zoé", "new_text": "x" })).await;
        assert!(output.text.contains("is in the read-only folder \"documents\""), "{}", output.text);
    }
    assert_eq!(fs::read_to_string(world.path("documents/letter.txt")).unwrap(), "Chère Zoé");
    let mut options = SandboxOptions::new(world.folder.path());
    options.read_only = vec![("papers".to_owned(), world.path("documents"))];
    let wide = Sandbox::open(options).unwrap();
    assert!(matches!(wide.plan_new("documents/2024/x.txt", ""), Err(FileError::ReadOnly { .. })));
    assert!(wide.plan_new("other/x.txt", "").is_ok());
}

#[tokio::test]
async fn paths_in_every_disguise_are_refused() {
    let world = World::new();
    let absolute = world.path("outside.txt").display().to_string();
    for path in [
        "../outside.txt",
        "work/../../outside.txt",
        absolute.as_str(),
        "~/outside.txt",
        "%2e%2e/outside.txt",
        "..%2foutside.txt",
        "..\\outside.txt",
        "\u{ff0e}\u{ff0e}/outside.txt",
        "./.. /outside.txt",
        "documents/../outside.txt",
        "/proc/self/cwd",
        "/dev/zero",
        "file:///etc/passwd",
        "outside.txt\0.txt",
        "\u{202e}txt.edistuo",
    ] {
        refused(&world, path).await;
    }
}

/// A folder that becomes a link and a folder again, thousands of times, while tools use it: what
/// is outside is never read, changed or created.
#[test]
fn a_racing_thread_never_leads_out() {
    let world = World::new();
    let (work, outside) = (world.path("work"), world.path("elsewhere"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f.txt"), CANARY).unwrap();
    world.put("real/f.txt", "inside and harmless");
    fs::rename(work.join("real"), work.join("swap")).unwrap();
    symlink(&outside, work.join("evil-absolute")).unwrap();
    symlink("../elsewhere", work.join("evil-relative")).unwrap();
    let (done, swaps, ok) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for evil in ["evil-absolute", "evil-relative"] {
                    let (swap, kept) = (work.join("swap"), work.join("kept"));
                    fs::rename(&swap, &kept).unwrap();
                    if fs::rename(work.join(evil), &swap).is_ok() {
                        fs::rename(&swap, work.join(evil)).unwrap();
                    }
                    // A tool may have made a folder of this name in the gap.
                    while fs::rename(&kept, &swap).is_err() {
                        let _ = fs::remove_dir_all(&swap);
                    }
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let started = Instant::now();
        let mut number = 0;
        while (swaps.load(Ordering::Relaxed) < 4_000 || number < 2_000) && started.elapsed() < Duration::from_mins(1) {
            number += 1;
            if let Ok((_, content)) = world.sandbox.read("swap/f.txt") {
                let text = String::from_utf8(content.bytes).unwrap();
                assert!(text.starts_with("inside and harmless"), "{text}");
                ok.fetch_add(1, Ordering::Relaxed);
            }
            let _ = world.sandbox.append("swap/f.txt", "!");
            let _ = world.sandbox.create(&format!("swap/new-{number}.txt"), "x");
            if let Ok((_, listing)) = world.sandbox.list("swap", true) {
                assert!(listing.items.iter().all(|item| item.name != "canary"));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(swaps.load(Ordering::Relaxed) >= 4_000, "the race has to be run");
    assert!(ok.load(Ordering::Relaxed) > 0, "some reads have to get through");
    assert_eq!(names(&outside), ["f.txt"]);
    assert_eq!(fs::read_to_string(outside.join("f.txt")).unwrap(), CANARY);
}

/// A file that becomes a link to the canary and a file again.
#[test]
fn a_racing_leaf_never_leads_out() {
    let world = World::new();
    let work = world.path("work");
    world.put("leaf.txt", "inside");
    symlink("../outside.txt", work.join("evil")).unwrap();
    fs::hard_link(world.path("outside.txt"), work.join("evil-hard")).unwrap();
    let (done, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for evil in ["evil", "evil-hard"] {
                    // The tools may replace the leaf meanwhile, so a step may fail.
                    let (leaf, kept) = (work.join("leaf.txt"), work.join("kept"));
                    let _ = fs::rename(&leaf, &kept);
                    let _ = fs::rename(work.join(evil), &leaf);
                    let _ = fs::rename(&leaf, work.join(evil));
                    let _ = fs::rename(&kept, &leaf);
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let started = Instant::now();
        let mut number = 0;
        while (swaps.load(Ordering::Relaxed) < 4_000 || number < 2_000) && started.elapsed() < Duration::from_mins(1) {
            number += 1;
            if let Ok((_, content)) = world.sandbox.read("leaf.txt") {
                assert!(!String::from_utf8(content.bytes).unwrap().contains("canary"));
            }
            let _ = world.sandbox.append("leaf.txt", "!");
            if let Ok(mut change) = world.sandbox.existing("leaf.txt") {
                assert!(!change.before.text.contains("canary"));
                change.text = "changed".to_owned();
                let _ = world.sandbox.replace("leaf.txt", &change);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(swaps.load(Ordering::Relaxed) >= 4_000, "the race has to be run");
    assert_eq!(fs::read_to_string(world.path("outside.txt")).unwrap(), CANARY);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Pieces that traversals are made of.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("..".to_owned()),
        2 => Just("/".to_owned()),
        2 => Just("\\".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just("~".to_owned()),
        1 => Just("%2e%2e".to_owned()),
        1 => Just("%2f".to_owned()),
        1 => Just("\u{2024}\u{2024}".to_owned()),
        1 => Just("\u{ff0f}".to_owned()),
        1 => Just("\0".to_owned()),
        1 => Just("WORLD".to_owned()),
        2 => Just("outside.txt".to_owned()),
        2 => Just("work".to_owned()),
        1 => Just("documents".to_owned()),
        1 => Just("up".to_owned()),
        1 => Just("down".to_owned()),
        1 => "[a-zA-Z0-9 .:_-]{1,6}",
        1 => "\\PC{1,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_path_reads_or_changes_the_canary(pieces in proptest::collection::vec(piece(), 1..10)) {
        let world = world_with_links();
        let path = pieces.concat().replace("WORLD", &world.folder.path().display().to_string());
        if let Ok((_, content)) = world.sandbox.read(&path) {
            prop_assert!(!String::from_utf8_lossy(&content.bytes).contains(CANARY), "{path:?}");
        }
        if let Ok((_, listing)) = world.sandbox.list(&path, true) {
            prop_assert!(listing.items.iter().all(|item| item.name != "outside.txt"), "{path:?}");
        }
        let _ = world.sandbox.create(&path, "x");
        let _ = world.sandbox.append(&path, "x");
        if let Ok(change) = world.sandbox.existing(&path) {
            let _ = world.sandbox.replace(&path, &change);
        }
        prop_assert_eq!(fs::read_to_string(world.path("outside.txt")).unwrap(), CANARY);
        prop_assert_eq!(names(world.folder.path()), ["documents", "outside.txt", "work"]);
        prop_assert_eq!(names(&world.path("documents")), ["2024", "letter.txt"]);
    }
}

fn world_with_links() -> World {
    let world = World::new();
    symlink("..", world.path("work/up")).unwrap();
    symlink(".", world.path("work/down")).unwrap();
    world
}
