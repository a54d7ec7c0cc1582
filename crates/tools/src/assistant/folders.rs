//! Folders of the settings: which can be used, and under which name.

use std::path::PathBuf;

/// The folders that exist; each other one becomes a note.
pub(super) fn usable<'a>(setting: &str, folders: &'a [PathBuf], notes: &mut Vec<String>) -> Vec<&'a PathBuf> {
    let is_folder = |folder: &&PathBuf| {
        let found = std::fs::metadata(folder);
        let reason = match &found {
            Ok(metadata) if metadata.is_dir() => return true,
            Ok(_) => "it is no folder".to_owned(),
            Err(error) => error.to_string(),
        };
        notes.push(format!("{setting}: {} is left out: {reason}", folder.display()));
        false
    };
    folders.iter().filter(is_folder).collect()
}

/// Each folder with the name that a model uses for it: its last component, of letters, digits, `-`
/// and `_`, with a number where two are alike.
pub(super) fn named(folders: Vec<&PathBuf>) -> Vec<(String, PathBuf)> {
    let mut names: Vec<(String, PathBuf)> = Vec::new();
    for folder in folders {
        let last = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plain =
            |character: char| if character.is_alphanumeric() || "-_".contains(character) { character } else { '_' };
        let base: String = last.chars().map(plain).collect();
        let base =
            if base.trim_matches('_').is_empty() { "folder".to_owned() } else { base.trim_matches('_').to_owned() };
        let is_taken = |name: &str| names.iter().any(|(taken, _)| taken.to_lowercase() == name.to_lowercase());
        let mut name = base.clone();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{base}-{number}");
            number += 1;
        }
        names.push((name, folder.clone()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_apart() {
        let folders = ["/a/Archive", "/b/archive", "/c/my.docs 2024", "/"].map(PathBuf::from);
        let names: Vec<String> = named(folders.iter().collect()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Archive", "archive-2", "my_docs_2024", "folder"]);
    }

    #[test]
    fn what_is_no_folder_is_said_and_left_out() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let folders = [place.path().to_owned(), file, place.path().join("absent")];
        let mut notes = Vec::new();
        assert_eq!(usable("files.read", &folders, &mut notes), [&folders[0]]);
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("files.read: ") && notes[0].ends_with("it is no folder"), "{notes:?}");
    }
}
