//! `/api/settings`: what the page may change about itself, kept beside the journals. Nothing in here
//! changes what the agent may do.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenpass_tools::assistant::AgentFolder;

use super::blocking;
use crate::application::Application;
use crate::error::{ApiError, Body};
use crate::state_file::replace;

/// The name of the file.
const FILE: &str = "page.json";

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// `en`, `fr` or `auto`.
    pub language: String,
    /// Answers are spoken.
    pub speak: bool,
    /// The microphone listens for the wake word.
    pub hands_free: bool,
    /// `auto`, `dark` or `light`.
    pub theme: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self { language: "auto".to_owned(), speak: true, hands_free: false, theme: "auto".to_owned() }
    }
}

/// What a client may send: any of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Change {
    language: Option<String>,
    speak: Option<bool>,
    hands_free: Option<bool>,
    theme: Option<String>,
    /// Shown, and not the page's to change.
    profile: Option<String>,
}

/// The settings and their file.
#[derive(Debug)]
pub struct PageSettings {
    path: PathBuf,
    settings: Mutex<Settings>,
}

impl PageSettings {
    /// Reads them; a file that cannot be read is as none.
    pub fn open(folder: &AgentFolder) -> Self {
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        Self { path, settings: Mutex::new(serde_json::from_str(&text).unwrap_or_default()) }
    }

    /// The settings now. The microphone is off at every start (K80).
    pub fn get(&self) -> Settings {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: Change) -> Result<Settings, ApiError> {
        let mut settings = self.get();
        let allowed = |value: &str, all: &[&str]| all.contains(&value);
        if let Some(language) = change.language {
            if !allowed(&language, &["en", "fr", "auto"]) {
                return Err(ApiError::field("language", "it is none that the page speaks", "en, fr or auto"));
            }
            settings.language = language;
        }
        if let Some(theme) = change.theme {
            if !allowed(&theme, &["auto", "dark", "light"]) {
                return Err(ApiError::field("theme", "there is no such theme", "auto, dark or light"));
            }
            settings.theme = theme;
        }
        settings.speak = change.speak.unwrap_or(settings.speak);
        settings.hands_free = change.hands_free.unwrap_or(settings.hands_free);
        let text = serde_json::to_string_pretty(&settings).map_err(|error| ApiError::internal(error, "report this"))?;
        replace(&self.path, &text).map_err(|error| ApiError::internal(error, "check the agent's folder"))?;
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings.clone();
        Ok(settings)
    }
}

/// `GET /api/settings`.
pub(crate) async fn show(State(application): State<Arc<Application>>) -> Json<serde_json::Value> {
    Json(shown(&application, &application.settings.get()))
}

fn shown(application: &Application, settings: &Settings) -> serde_json::Value {
    let mut value = serde_json::to_value(settings).unwrap_or_default();
    value["profile"] = serde_json::json!(application.options.profile);
    value
}

/// `PUT /api/settings`.
pub(crate) async fn change(
    State(application): State<Arc<Application>>,
    Body(change): Body<Change>,
) -> Result<Json<serde_json::Value>, ApiError> {
    if change.profile.as_ref().is_some_and(|profile| *profile != application.options.profile) {
        let hint = "set agent.confirm, or start with --profile: it is not a page's to change";
        return Err(ApiError::field("profile", "how confirmations work is set where the server is started", hint));
    }
    blocking(move || {
        let settings = application.settings.change(change)?;
        Ok(Json(shown(&application, &settings)))
    })
    .await
}
