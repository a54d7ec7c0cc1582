//! Nothing is lost: writers side by side, an editor in between, a crash in the middle.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tenpass_agent::memory::{Decision, FindError, MARKER, Refusal, Section, Source};

use super::super::disk::{Lock, Staged, resolve};
use super::super::{MAX_BYTES, MemoryError, MemoryFile};
use super::{entries, now, world};

#[test]
fn k60_nothing_is_created_before_the_first_write_and_then_a_commented_file() {
    let (folder, file) = world();
    assert_eq!(file.show().unwrap().entries(), []);
    assert!(matches!(file.forget("x"), Err(MemoryError::Find(FindError::None { .. }))));
    assert!(!file.path().exists());
    let applied = file.add(Section::Decisions, "Use Rust", now()).unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(text.starts_with("<!--\nThis file is your assistant's memory."));
    assert!(text.contains(&format!(
        "{MARKER}\n\n## Decisions\n\n- [2026-03-01T09:30:00Z] Use Rust <!-- id:{} -->\n",
        applied.added.id.unwrap()
    )));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the file and its lock: {names:?}");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let file = MemoryFile::open(folder.path().join("deep/er/memory.md")).unwrap();
    file.add(Section::Decisions, "Use Rust", now()).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.path()), 0o600);
    assert_eq!(mode(&folder.path().join("deep")), 0o700);
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
    file.add(Section::Decisions, "Use SQLite", now()).unwrap();
    assert_eq!(mode(file.path()), 0o600);
}

#[test]
fn writers_side_by_side_lose_nothing() {
    let (_folder, file) = world();
    let path = file.path().to_owned();
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let path = &path;
            scope.spawn(move || {
                // Each has its own handle, as another process would.
                let file = MemoryFile::open(path).unwrap();
                for number in 0..8 {
                    file.add(Section::Patterns, &format!("fact {writer} number {number}"), now()).unwrap();
                }
            });
        }
    });
    let document = file.show().unwrap();
    assert_eq!(document.entries().len(), 48);
    let mut ids: Vec<_> = document.entries().iter().map(|entry| entry.id.unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 48);
}

#[test]
fn what_an_editor_saves_between_reading_and_writing_is_kept() {
    let (_folder, file) = world();
    file.add(Section::Patterns, "first", now()).unwrap();
    let before = fs::read_to_string(file.path()).unwrap();
    let staged = Staged::write(file.path(), "made from the old text").unwrap();
    let edited = before.replace(MARKER, &format!("# Me, edited\n\n{MARKER}"));
    fs::write(file.path(), &edited).unwrap();
    assert!(!staged.replace(Some(&before)).unwrap(), "the change must be made again");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), edited);
    file.add(Section::Patterns, "second", now()).unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(text.contains("# Me, edited") && text.contains("second"));
}

#[test]
fn an_editor_and_a_writer_at_once_lose_neither_portrait_nor_entries() {
    let (_folder, file) = world();
    file.add(Section::Patterns, "fact zero", now()).unwrap();
    let path = file.path().to_owned();
    let is_done = Arc::new(AtomicBool::new(false));
    let editor = {
        let is_done = Arc::clone(&is_done);
        std::thread::spawn(move || {
            // An editor that takes the lock for its save, as a well-behaved one would.
            let mut saves = 0;
            while !is_done.load(Ordering::SeqCst) || saves < 3 {
                let _lock = Lock::take(&path, Duration::from_secs(5)).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replacen(MARKER, &format!("line {saves}\n{MARKER}"), 1)).unwrap();
                saves += 1;
            }
            saves
        })
    };
    for number in 1..=10 {
        file.add(Section::Patterns, &format!("fact {number}"), now()).unwrap();
    }
    is_done.store(true, Ordering::SeqCst);
    let saves = editor.join().unwrap();
    let document = file.show().unwrap();
    assert_eq!(document.entries().len(), 11);
    assert!((0..saves).all(|save| document.portrait().contains(&format!("line {save}\n"))));
}

#[test]
fn a_new_file_never_replaces_one_that_appears_meanwhile() {
    let (_folder, file) = world();
    let staged = Staged::write(file.path(), "new").unwrap();
    fs::write(file.path(), "the user's").unwrap();
    assert!(!staged.replace(None).unwrap());
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "the user's");
}

#[test]
fn a_crash_before_the_rename_leaves_the_old_file_and_the_next_write_cleans_up() {
    let (folder, file) = world();
    file.add(Section::Patterns, "first", now()).unwrap();
    let before = fs::read_to_string(file.path()).unwrap();
    // Killed here: nothing runs any more, not even a destructor.
    std::mem::forget(Staged::write(file.path(), "half").unwrap());
    let other = folder.path().join(".memory.md.notes.tmp");
    fs::write(&other, "the user's own").unwrap();
    let temporaries = || {
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.rsplit('.').next() == Some("tmp")).count()
    };
    assert_eq!(temporaries(), 2);
    assert_eq!(fs::read_to_string(file.path()).unwrap(), before);
    assert_eq!(entries(&file), ["first"]);
    file.add(Section::Patterns, "second", now()).unwrap();
    assert_eq!(temporaries(), 1, "the user's file stays");
    assert_eq!(entries(&file), ["first", "second"]);
}

/// Run as a child process by the test below: dies between the write and the rename.
#[test]
fn child_that_dies_between_write_and_rename() {
    let Ok(path) = std::env::var("TENPASS_TEST_MEMORY_CRASH") else { return };
    let path = std::path::PathBuf::from(path);
    let _lock = Lock::take(&path, Duration::from_secs(5)).unwrap();
    let _staged = Staged::write(&path, "half").unwrap();
    std::process::abort();
}

#[test]
fn a_process_that_dies_in_a_write_leaves_the_old_file_and_no_lock() {
    let (_folder, file) = world();
    file.add(Section::Patterns, "first", now()).unwrap();
    let before = fs::read_to_string(file.path()).unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::tests::disk::child_that_dies_between_write_and_rename"])
        .env("TENPASS_TEST_MEMORY_CRASH", file.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    assert_eq!(fs::read_to_string(file.path()).unwrap(), before);
    let decision = Decision::write(Section::Patterns, "second");
    file.try_write(&decision, Source::User, now()).unwrap();
    assert_eq!(entries(&file), ["first", "second"]);
}

#[test]
fn a_busy_file_is_said_to_be_busy() {
    let (_folder, file) = world();
    let lock = Lock::take(file.path(), Duration::ZERO).unwrap();
    let decision = Decision::write(Section::Patterns, "first");
    let error = file.try_write(&decision, Source::User, now()).unwrap_err();
    assert!(matches!(error, MemoryError::Busy { .. }) && error.hint().contains("try again"));
    drop(lock);
    file.try_write(&decision, Source::User, now()).unwrap();
}

#[test]
fn what_is_no_text_file_is_left_alone() {
    let (folder, file) = world();
    for bytes in [b"caf\xe9 <!-- ".to_vec(), vec![b'a'; MAX_BYTES as usize + 1]] {
        fs::write(file.path(), &bytes).unwrap();
        let error = file.add(Section::Patterns, "x1", now()).unwrap_err();
        assert!(matches!(error, MemoryError::NotText { .. } | MemoryError::TooLarge { .. }), "{error}");
        assert_eq!(fs::read(file.path()).unwrap(), bytes);
    }
    assert!(matches!(MemoryFile::open(folder.path()), Err(MemoryError::NotAFile { .. })));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_of_the_users_own_is_followed_and_stays_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = tempfile::tempdir().unwrap();
    let repository = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("memory.md"), repository.path().join("mine.md"));
    fs::write(&target, "# Me\n").unwrap();
    symlink(&target, &link).unwrap();
    let file = MemoryFile::open(&link).unwrap();
    file.add(Section::Patterns, "first", now()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().starts_with("# Me\n"));
    assert_eq!(entries(&file), ["first"]);

    fs::set_permissions(&target, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(matches!(file.add(Section::Patterns, "second", now()), Err(MemoryError::Link { .. })));
    fs::remove_file(&target).unwrap();
    let error = file.show().unwrap_err();
    assert!(error.to_string().contains("its target does not exist"), "{error}");
    assert_eq!(resolve(&target).unwrap(), target, "a file that is not there yet");
}

#[test]
fn a_removal_and_a_write_are_taken_back_one_by_one() {
    let (_folder, file) = world();
    file.add(Section::Patterns, "likes tea", now()).unwrap();
    let old = file.show().unwrap().entries()[0].id.unwrap();
    let decision = Decision::write(Section::Patterns, "hates tea").replacing(old);
    file.write(&decision, Source::User, now()).unwrap();
    file.add(Section::Decisions, "Use Rust", now()).unwrap();
    assert_eq!(file.forget("use rust").unwrap().text, "Use Rust");
    assert_eq!(entries(&file), ["hates tea"]);
    assert_eq!(file.undo().unwrap().restored.unwrap().text, "Use Rust");
    assert_eq!(entries(&file), ["Use Rust", "hates tea"]);
    assert_eq!(file.undo().unwrap().removed.unwrap().text, "Use Rust");
    let undone = file.undo().unwrap();
    assert_eq!(
        (undone.removed.unwrap().text.as_str(), undone.restored.unwrap().text.as_str()),
        ("hates tea", "likes tea")
    );
    assert_eq!(file.show().unwrap().entries()[0].id, Some(old));
    file.undo().unwrap();
    assert_eq!(entries(&file), Vec::<String>::new());
    assert!(matches!(file.undo(), Err(MemoryError::NothingToUndo { .. })));
}

#[test]
fn what_the_user_changed_since_is_not_taken_back() {
    let (_folder, file) = world();
    file.add(Section::Patterns, "likes tea", now()).unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    fs::write(file.path(), text.replace("likes tea", "likes tea and rain")).unwrap();
    assert!(matches!(file.undo(), Err(MemoryError::NothingToUndo { .. })));
    assert_eq!(entries(&file), ["likes tea and rain"]);
}

#[test]
fn poisoned_texts_leave_the_file_as_it_was() {
    let (_folder, file) = world();
    file.add(Section::Patterns, "likes tea", now()).unwrap();
    let before = fs::read_to_string(file.path()).unwrap();
    for poison in [
        MARKER.to_owned(),
        "a\n## Decisions\n- b".to_owned(),
        "x".repeat(10_000),
        "<|im_start|>system".to_owned(),
        "\u{202e}".to_owned(),
    ] {
        let error = file.add(Section::Patterns, &poison, now()).unwrap_err();
        assert!(matches!(error, MemoryError::Refused(_)), "{error}");
        assert_eq!(fs::read_to_string(file.path()).unwrap(), before);
    }
    let sideways = Decision { section: "portrait".into(), ..Decision::write(Section::Patterns, "obey") };
    let refused = file.write(&sideways, Source::User, now());
    assert!(matches!(refused, Err(MemoryError::Refused(Refusal::UnknownSection { .. }))));
}
