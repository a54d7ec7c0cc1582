//! A suite on disk: a folder of case files with one `tools.toml` and one `prompt.md`, or one file of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenpass_trace::ToolDefinition;

use super::case::{Case, Suite, digest};
use super::error::CaseError;
use super::file::{self, Shared};
use super::source::Source;
use super::tools;

/// The file of shared tools in a suite's folder.
pub const TOOLS_FILE: &str = "tools.toml";
/// The file of the suite's system prompt.
pub const PROMPT_FILE: &str = "prompt.md";

/// The texts of a suite, each with the name that positions are reported under.
#[derive(Debug, Clone, Default)]
pub struct SuiteText {
    /// The case files: name and content, in the order of the suite.
    pub files: Vec<(String, String)>,
    /// `tools.toml`: name and content.
    pub tools: Option<(String, String)>,
    /// `prompt.md`.
    pub prompt: String,
}

/// Loads a suite: all `*.toml` of a folder except [`TOOLS_FILE`], sorted by name, or one file, to which
/// its folder's [`TOOLS_FILE`] and [`PROMPT_FILE`] apply. Reports every fault of every file.
pub fn load_suite(path: &Path) -> Result<Suite, Vec<CaseError>> {
    parse_suite(&read_suite(path)?)
}

/// Loads the tools of one `tools.toml`.
pub fn load_tools(path: &Path) -> Result<Vec<ToolDefinition>, Vec<CaseError>> {
    let name = path.display().to_string();
    let text = read(path).map_err(|error| vec![error])?;
    let source = Source::new(&name, &text);
    let tools = tools::file(&source);
    finish(tools, source.into_errors())
}

/// Parses a suite that is already in memory.
pub fn parse_suite(text: &SuiteText) -> Result<Suite, Vec<CaseError>> {
    let mut errors = Vec::new();
    let (shared_tools, tools_known) = match &text.tools {
        None => (Vec::new(), true),
        Some((name, content)) => {
            let source = Source::new(name, content);
            let tools = tools::file(&source);
            let faults = source.into_errors();
            let known = faults.is_empty();
            errors.extend(faults);
            (tools, known)
        }
    };
    let system = text.prompt.trim_end().to_owned();
    let shared = Shared { tools: &shared_tools, tools_known, system: &system };
    let mut cases: Vec<Case> = Vec::new();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    for (name, content) in &text.files {
        let source = Source::new(name, content);
        let found = file::cases(&source, &shared);
        errors.extend(source.into_errors());
        for case in &found {
            duplicate(name, case, &mut places, &mut errors);
        }
        cases.extend(found);
    }
    let digest = digest(&cases);
    finish(Suite { cases, system, digest }, errors)
}

fn finish<T>(value: T, errors: Vec<CaseError>) -> Result<T, Vec<CaseError>> {
    if errors.is_empty() { Ok(value) } else { Err(errors) }
}

/// The same id twice makes results ambiguous, in one file or over several.
fn duplicate(file: &str, case: &Case, places: &mut BTreeMap<String, String>, errors: &mut Vec<CaseError>) {
    let line = case.source.rsplit_once(':').and_then(|(_, line)| line.parse().ok()).unwrap_or(0);
    if let Some(first) = places.get(&case.id) {
        errors.push(CaseError {
            file: file.to_owned(),
            line,
            message: format!("duplicate id `{}`, first at {first}", case.id),
            hint: Some("rename one of them; ids are unique over the whole suite".to_owned()),
        });
    } else {
        places.insert(case.id.clone(), format!("{file}:{line}"));
    }
}

fn read_suite(path: &Path) -> Result<SuiteText, Vec<CaseError>> {
    let (folder, files) = if path.is_dir() {
        (path.to_owned(), toml_files(path, "case").map_err(|error| vec![error])?)
    } else {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (folder.to_owned(), vec![path.to_owned()])
    };
    let mut errors = Vec::new();
    let mut text = SuiteText::default();
    for file in &files {
        match read(file) {
            Ok(content) => text.files.push((name_of(file), content)),
            Err(error) => errors.push(error),
        }
    }
    let tools = folder.join(TOOLS_FILE);
    if tools.is_file() {
        match read(&tools) {
            Ok(content) => text.tools = Some((name_of(&tools), content)),
            Err(error) => errors.push(error),
        }
    }
    let prompt = folder.join(PROMPT_FILE);
    if prompt.is_file() {
        match read(&prompt) {
            Ok(content) => text.prompt = content,
            Err(error) => errors.push(error),
        }
    }
    finish(text, errors)
}

/// The files of a folder that hold cases or scenarios (`what`), sorted by name.
pub(crate) fn toml_files(folder: &Path, what: &str) -> Result<Vec<PathBuf>, CaseError> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let is_case = path.extension().is_some_and(|extension| extension == "toml")
            && path.file_name().is_some_and(|name| name != TOOLS_FILE)
            && path.is_file();
        if is_case {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(CaseError {
            file: folder.display().to_string(),
            line: 0,
            message: format!("the folder holds no {what} file"),
            hint: Some(format!("name a folder of *.toml {what} files, or one file")),
        });
    }
    Ok(files)
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

fn read(path: &Path) -> Result<String, CaseError> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map(|text| text.replace("\r\n", "\n")).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = String::from_utf8_lossy(&error.as_bytes()[..valid]).matches('\n').count() + 1;
        CaseError {
            file: path.display().to_string(),
            line,
            message: "not valid UTF-8".to_owned(),
            hint: Some("save the file as UTF-8".to_owned()),
        }
    })
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> CaseError {
    let missing = error.kind() == std::io::ErrorKind::NotFound;
    CaseError {
        file: path.display().to_string(),
        line: 0,
        message: if missing { "no such file or folder".to_owned() } else { format!("cannot be read: {error}") },
        hint: Some("--cases takes a folder of *.toml files or one file".to_owned()),
    }
}
