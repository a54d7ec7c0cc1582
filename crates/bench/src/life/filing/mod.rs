//! A case put into a suite: the file keeps every byte that a person wrote, the suite is read again as a
//! whole, and nothing is changed unless the case comes back as it was meant.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::LifeError;
use crate::cases::{
    Case, PROMPT_FILE, Suite, SuiteShared, SuiteText, TOOLS_FILE, case_text, load_tools, parse_suite, toml_files,
};

/// A case that was filed.
#[derive(Debug, Clone, PartialEq)]
pub struct Filed {
    /// The file it is in.
    pub path: PathBuf,
    /// The case as the suite has it.
    pub case: Case,
    /// Its lines.
    pub text: String,
}

/// Puts a case into the suite at `suite`: a folder, or one file of it.
///
/// In a folder it goes to the file of its family, which is made where there is none. With `keep_id` an id
/// that is taken is an error; otherwise a number is put behind it. `comment` stands above the case.
pub fn file_case(mut case: Case, suite: &Path, keep_id: bool, comment: &str) -> Result<Filed, LifeError> {
    check_names(&case)?;
    let (folder, is_folder) = folder_of(suite)?;
    let _lock = lock(&folder)?;
    let (files, mut text) = read(suite, &folder, is_folder)?;
    let before = if files.is_empty() {
        Suite { cases: Vec::new(), system: text.prompt.trim_end().to_owned(), digest: String::new() }
    } else {
        parse_suite(&text).map_err(LifeError::Cases)?
    };
    free_id(&mut case, &before, keep_id)?;
    let (path, place) = target(&case, suite, is_folder, &folder, &files, &text)?;
    let tools = if folder.join(TOOLS_FILE).is_file() {
        load_tools(&folder.join(TOOLS_FILE)).map_err(LifeError::Cases)?
    } else {
        Vec::new()
    };
    let block = case_text(&case, &SuiteShared { tools: &tools, system: &before.system });
    let old = match place {
        Some(_) => fs::read_to_string(&path).map_err(|source| LifeError::Read { path: path.clone(), source })?,
        None => String::new(),
    };
    let new = appended(&old, &case.family, &commented(comment, &block));
    let name = path.display().to_string();
    let read_as = new.replace("\r\n", "\n");
    match place {
        Some(place) => text.files[place].1 = read_as,
        None => text.files.push((name, read_as)),
    }
    let after = parse_suite(&text).map_err(LifeError::Cases)?;
    let case = as_meant(&case, &before, &after, &path)?;
    write_whole(&path, &new)?;
    Ok(Filed { path, case, text: block })
}

fn check_names(case: &Case) -> Result<(), LifeError> {
    let plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    if !plain(&case.id) {
        return Err(LifeError::BadId { id: case.id.clone() });
    }
    if !plain(&case.family) || case.family == "tools" {
        return Err(LifeError::BadFamily { family: case.family.clone() });
    }
    Ok(())
}

/// The folder of a suite, made where it is a folder that is not there; and whether that is what was named.
fn folder_of(suite: &Path) -> Result<(PathBuf, bool), LifeError> {
    if suite.is_file() || suite.extension().is_some_and(|extension| extension == "toml") {
        let folder = suite.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok((folder.to_owned(), false));
    }
    fs::create_dir_all(suite).map_err(|source| LifeError::Write { path: suite.to_owned(), source })?;
    Ok((suite.to_owned(), true))
}

/// Waits until no other process files a case in this folder. The folder itself is what is locked, so that
/// nothing of it stays behind; where a folder cannot be, a file of the system's temporary folder is.
fn lock(folder: &Path) -> Result<File, LifeError> {
    let failed = |source| LifeError::Write { path: folder.to_owned(), source };
    if let Ok(file) = File::open(folder)
        && file.lock().is_ok()
    {
        return Ok(file);
    }
    let whole = folder.canonicalize().map_err(failed)?;
    let name = format!("tenpass-suite-{}.lock", &crate::store::sha256_hex(whole.as_os_str().as_encoded_bytes())[..16]);
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// The suite's texts. A folder without a case file is an empty suite.
fn read(suite: &Path, folder: &Path, is_folder: bool) -> Result<(Vec<PathBuf>, SuiteText), LifeError> {
    let files = if is_folder {
        toml_files(folder, "case").or_else(|error| {
            let is_empty = fs::read_dir(folder).is_ok();
            if is_empty && error.message.contains("holds no") {
                Ok(Vec::new())
            } else {
                Err(LifeError::Cases(vec![error]))
            }
        })?
    } else if suite.is_file() {
        vec![suite.to_owned()]
    } else {
        Vec::new()
    };
    let mut text = SuiteText::default();
    for file in &files {
        text.files.push((file.display().to_string(), read_text(file)?));
    }
    let tools = folder.join(TOOLS_FILE);
    if tools.is_file() {
        text.tools = Some((tools.display().to_string(), read_text(&tools)?));
    }
    let prompt = folder.join(PROMPT_FILE);
    if prompt.is_file() {
        text.prompt = read_text(&prompt)?;
    }
    Ok((files, text))
}

fn read_text(path: &Path) -> Result<String, LifeError> {
    let text = fs::read_to_string(path).map_err(|source| LifeError::Read { path: path.to_owned(), source })?;
    Ok(text.replace("\r\n", "\n"))
}

/// Makes the id unique in the suite.
fn free_id(case: &mut Case, suite: &Suite, keep_id: bool) -> Result<(), LifeError> {
    let taken = |id: &str| suite.cases.iter().find(|other| other.id == id);
    if let (true, Some(other)) = (keep_id, taken(&case.id)) {
        return Err(LifeError::Taken { id: case.id.clone(), place: other.source.clone() });
    }
    let base = case.id.clone();
    let mut number = 1_u32;
    while taken(&case.id).is_some() {
        number += 1;
        case.id = format!("{base}-{number}");
    }
    Ok(())
}

/// The file for the case, and its place among the suite's; `None` for one that is to be made.
fn target(
    case: &Case,
    suite: &Path,
    is_folder: bool,
    folder: &Path,
    files: &[PathBuf],
    text: &SuiteText,
) -> Result<(PathBuf, Option<usize>), LifeError> {
    let families: Vec<Option<String>> = text.files.iter().map(|(_, content)| family_of(content)).collect();
    if !is_folder {
        return match families.first() {
            Some(Some(found)) if *found != case.family => Err(LifeError::OtherFamily {
                path: suite.to_owned(),
                found: found.clone(),
                wanted: case.family.clone(),
            }),
            Some(_) => Ok((resolved(suite), Some(0))),
            None => Ok((suite.to_owned(), None)),
        };
    }
    let of_family = families.iter().position(|family| family.as_deref() == Some(case.family.as_str()));
    if let Some(place) = of_family {
        return Ok((resolved(&files[place]), Some(place)));
    }
    let path = folder.join(format!("{}.toml", case.family));
    match files.iter().position(|file| *file == path) {
        Some(place) => Err(LifeError::OtherFamily {
            path,
            found: families[place].clone().unwrap_or_default(),
            wanted: case.family.clone(),
        }),
        None => Ok((path, None)),
    }
}

/// What a link points to: a file put in its place would be another one.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn family_of(content: &str) -> Option<String> {
    let table: toml::Table = content.parse().ok()?;
    table.get("family")?.as_str().map(str::to_owned)
}

/// The old text, untouched, with the block behind it.
fn appended(old: &str, family: &str, block: &str) -> String {
    if old.is_empty() {
        return format!("family = \"{family}\"\n\n{block}");
    }
    let is_windows = old.contains("\r\n");
    let gap = if old.ends_with('\n') { "\n" } else { "\n\n" };
    let added = format!("{gap}{block}");
    format!("{old}{}", if is_windows { added.replace('\n', "\r\n") } else { added })
}

fn commented(comment: &str, block: &str) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        let plain: String = line.chars().filter(|c| !c.is_control()).collect();
        text.push_str(format!("# {plain}").trim_end());
        text.push('\n');
    }
    text + block
}

/// The new case of the suite: the only change, and equal to what was meant.
fn as_meant(meant: &Case, before: &Suite, after: &Suite, path: &Path) -> Result<Case, LifeError> {
    let differs = |reason: &str| LifeError::NotAsMeant { path: path.to_owned(), reason: reason.to_owned() };
    let bare = |case: &Case| Case { source: String::new(), ..case.clone() };
    let others: Vec<Case> = after.cases.iter().filter(|case| case.id != meant.id).map(bare).collect();
    if others.len() + 1 != after.cases.len() {
        return Err(differs("it is not there once"));
    }
    let old: Vec<Case> = before.cases.iter().map(bare).collect();
    if !others.iter().all(|case| old.contains(case)) || others.len() != old.len() {
        return Err(differs("another case would change"));
    }
    let found = after.cases.iter().find(|case| case.id == meant.id).ok_or_else(|| differs("it is not there"))?;
    if bare(found) != bare(meant) {
        return Err(differs("its texts differ"));
    }
    Ok(found.clone())
}

/// The whole file or nothing: another name first, then this one.
fn write_whole(path: &Path, text: &str) -> Result<(), LifeError> {
    let failed = |source| LifeError::Write { path: path.to_owned(), source };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let unfinished = path.with_file_name(format!(".{name}.{}", uuid::Uuid::new_v4().simple()));
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        if let Ok(old) = fs::metadata(path) {
            fs::set_permissions(&unfinished, old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written.map_err(failed)
}

#[cfg(test)]
mod tests;
