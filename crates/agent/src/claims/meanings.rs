//! The acts of each group of verbs, by what their object is.

use super::act::Act::{self, *};
use super::concept::Concept as C;
use super::nouns::class::{
    ACCOUNT, APP, CALENDAR, CHART, CLIPBOARD, COMMAND, DEVICE, FACT, FOLDER, FRESH, HISTORY, IDIOM, IMAGE, LIST, MAIL,
    MEDIA, MEMORY, MONEY, NETWORK, ORDER, PAGE, PART, PERSON, PROVIDER, REMINDER, SENSE, SETTING, SOUND, SYSTEM, TEXT,
    TRASH, UTTERANCE, WEB,
};
use super::objects::Objects;
use super::senses::{Sense, Wider};

const SAVED: [Act; 3] = [Create, Append, Update];

pub(super) fn making(concept: C, lemma: &str, objects: &Objects, some: bool, idiom: bool) -> Option<Sense> {
    let file = objects.file();
    if idiom && concept != C::Record {
        return None;
    }
    if objects.any(MEMORY) && concept != C::Draft {
        return Sense::firm(&[Remember]);
    }
    if objects.any(REMINDER) && !file {
        return Sense::firm(&[Remind]).also(&[Calendar]);
    }
    if objects.any(CALENDAR) && (!file || concept == C::Add) {
        return Sense::firm(&[Calendar]).also(&[Remind]);
    }
    match concept {
        // "I saved you some time", "I saved you the trouble".
        C::Save if objects.any(FACT) && !file => Sense::firm(&[Remember]).also(&SAVED).also(&[Contact]),
        C::Save if objects.pronoun && !file => Sense::firm(&SAVED).also(&[Remember, Download, Copy, Remind, Calendar]),
        C::Save => Sense::firm(&SAVED).also(&[Remember, Download, Copy, Convert]),
        C::Export => Sense::firm(&[Create]).also(&[Convert, Update, Chart]).when(some || objects.any(TEXT | LIST)),
        C::Backup => Sense::firm(&[Copy]).also(&[Create]).when(some),
        C::Copy if objects.any(CLIPBOARD) => Sense::firm(&[Clipboard]),
        C::Copy => Sense::firm(&[Copy]).also(&[Create, Append, Update]).when(file || objects.any(IMAGE | MEDIA)),
        C::Convert => file.then(|| Sense::firm(&[Convert]).also(&[Create])).flatten(),
        C::Compress => file.then(|| Sense::firm(&[Compress]).also(&[Create])).flatten(),
        C::Record if objects.any(SENSE | MEDIA | SOUND) => Sense::firm(&[Act::Record]),
        C::Record | C::Note => noting(objects),
        C::Create | C::Draft if objects.any(IMAGE) && !file => Sense::firm(&[Image]),
        C::Create | C::Draft if objects.any(CHART) => Sense::firm(&[Chart]).also(&SAVED).when(concept == C::Create),
        C::Create if objects.any(ACCOUNT) => Sense::firm(&[Register]),
        // "I generated a report" may be the one in the answer.
        C::Create if matches!(lemma, "generate" | "produce" | "generer" | "produire") && !named_or_disk(objects) => {
            Sense::weak(&[Create]).also(&[Update, Append])
        }
        C::Create if file || objects.pronoun => {
            Sense::firm(&[Create]).also(&[Copy, Convert, Image, Chart, Remind, Calendar])
        }
        C::Create if objects.any(MEDIA) && objects.says(&["playlist"]) => Sense::firm(&[Play]),
        C::Create => Sense::weak(&[Create]).also(&[Update, Append]),
        C::Write if file => Sense::firm(&SAVED).when(named_or_disk(objects)),
        C::Write | C::Draft => Sense::weak(&SAVED).also(&[SendMessage]).when(false),
        C::Put if file => Sense::firm(&SAVED).also(&[Copy, Move]),
        C::Put => None,
        C::Add if objects.any(ORDER) && objects.says(&["cart", "basket", "panier"]) => Sense::firm(&[Buy]),
        // "I added it to the list": the list at hand; "I added a point to the list" may be the one above.
        C::Add if file || objects.any(LIST) && (objects.possessed || objects.pronoun && objects.definite) => {
            Sense::firm(&[Append, Update]).also(&[Create, Remember, Remind, Calendar])
        }
        C::Add if objects.says(&["contacts", "contact"]) => Sense::firm(&[Contact]),
        C::Add => Sense::weak(&[Append, Update]).also(&[Create, Remember, Remind, Calendar]),
        _ => None,
    }
}

/// A bare "document" may be the one in the answer; a named one, or one on a disk, is not.
fn named_or_disk(objects: &Objects) -> bool {
    objects.any(FOLDER) || objects.files().next().is_some() || objects.says(&["file", "fichier", "files", "fichiers"])
}

/// "I noted that you prefer tea" is kept; "I noted a mistake in line 2" is seen.
fn noting(objects: &Objects) -> Option<Sense> {
    let seen = objects.any(PART | UTTERANCE) && !objects.any(FACT)
        || objects.count.is_some() && objects.unknown && !objects.file();
    let kept = objects.pronoun || objects.possessed || objects.to_user || objects.file() || objects.any(FACT);
    let kept = kept || objects.says(&["that", "que", "qu'", "down"]);
    (kept && !seen).then(|| Sense::firm(&[Remember]).also(&[Create, Append, Update, Remind, Calendar])).flatten()
}

pub(super) fn changing(concept: C, objects: &Objects, some: bool) -> Option<Sense> {
    let file = objects.file();
    let part = objects.any(PART | TEXT) && !file;
    if concept == C::Undo {
        return Sense::firm(&[Act::Undo]).also(&[Update, Create, Move]).when(file || objects.pronoun);
    }
    if concept == C::Forget {
        return objects.any(MEMORY | FACT).then(|| Sense::firm(&[Act::Forget])).flatten();
    }
    let removing = matches!(concept, C::Delete | C::Remove | C::Clean | C::Cancel);
    if removing {
        if objects.any(REMINDER) {
            return Sense::firm(&[RemindOff]).also(&[Delete]);
        }
        if objects.any(CALENDAR) {
            return Sense::firm(&[CalendarOff]).also(&[RemindOff, Delete]);
        }
        if objects.any(MEMORY) {
            return Sense::firm(&[Act::Forget]).also(&[Delete]);
        }
    }
    match concept {
        C::Cancel if objects.any(ORDER | ACCOUNT) => Sense::firm(&[Act::Cancel]),
        C::Cancel => None,
        C::Delete | C::Remove if part => Sense::weak(&[Update]).also(&[Delete]),
        C::Remove if objects.any(PART) => Sense::firm(&[Update]).also(&[Delete]),
        C::Remove if objects.any(HISTORY) => Sense::firm(&[Delete]).also(&[Act::Forget]),
        C::Remove if objects.any(APP) => Sense::firm(&[Install]),
        C::Delete if objects.any(PART) && objects.files().next().is_some() => Sense::firm(&[Update]).also(&[Delete]),
        C::Delete | C::Clean => {
            let firm = some || objects.any(MAIL | TRASH | FOLDER | HISTORY | IMAGE | MEDIA | LIST | SYSTEM);
            Sense::firm(&[Delete]).also(&[Act::Forget, RemindOff, CalendarOff]).when(firm || concept == C::Delete)
        }
        C::Remove => Sense::firm(&[Delete])
            .also(&[Update, Act::Forget, RemindOff, CalendarOff])
            .when(file || objects.pronoun || objects.any(MAIL | IMAGE)),
        C::Rename => {
            Sense::firm(&[Move]).also(&[Update, Create]).when(file || objects.pronoun || objects.any(IMAGE | MEDIA))
        }
        C::Move => {
            (file || objects.pronoun || objects.any(MAIL | IMAGE)).then(|| Sense::firm(&[Move]).also(&[Copy])).flatten()
        }
        _ => {
            if objects.any(REMINDER) {
                return Sense::firm(&[Remind]);
            }
            if objects.any(CALENDAR) {
                return Sense::firm(&[Calendar]).also(&[Remind]);
            }
            if objects.any(MEMORY) || objects.any(SETTING) && objects.possessed && !file {
                return Sense::firm(&[Remember, Settings]);
            }
            if objects.any(SOUND) {
                return Sense::firm(&[Volume]).also(&[Mute]);
            }
            if objects.any(DEVICE) && !file {
                return Sense::firm(&[Home]);
            }
            let firm = file || objects.any(LIST) && objects.possessed;
            Sense::firm(&[Update]).also(&[Create, Append, Remember, Move]).when(firm)
        }
    }
}

pub(super) fn looking(concept: C, objects: &Objects) -> Option<Sense> {
    let page = objects.any(PAGE) || objects.address();
    let file = objects.file();
    let about = if objects.any(WEB) {
        Sense::firm(&[SearchWeb]).also(&[ReadPage, OpenPage, Delegate])
    } else if objects.any(MEMORY | HISTORY) && !file {
        Sense::firm(&[History]).also(&[Remember, ProviderRecall])
    } else if objects.any(CALENDAR) {
        Sense::firm(&[CalendarRead]).also(&[RemindList, Calendar])
    } else if objects.any(REMINDER) {
        Sense::firm(&[RemindList])
    } else if page {
        Sense::firm(&[ReadPage]).also(&[SearchWeb, OpenPage])
    } else if objects.any(MAIL) && !objects.any(UTTERANCE) {
        Sense::firm(&[MailRead])
    } else if file {
        Sense::firm(&[ReadFile, ListFolder]).also(&[OpenPath])
    } else if objects.any(SYSTEM) {
        Sense::firm(&[SystemInfo])
    } else if objects.any(FRESH) {
        Sense::firm(&[SearchWeb]).also(&[ReadPage])
    } else if objects.any(SENSE) {
        Sense::firm(&[Screen])
    } else {
        None
    };
    let own = objects.possessed && objects.any(UTTERANCE | TEXT) && !file && !objects.any(MEMORY | HISTORY);
    match concept {
        C::Search if objects.any(MEMORY | HISTORY) || file || page => about.reads(),
        C::Search => Sense::firm(&[SearchWeb]).reads().also(&[OpenPage, Delegate]),
        C::Find => about.reads().undeniable(),
        C::Read if objects.pronoun && about.is_none() => Sense::weak(&[ReadFile, ReadPage]).reads(),
        C::Check if objects.any(PROVIDER) && !file => Sense::firm(&[Delegate]).also(&[ProviderRecall]),
        C::Read | C::Check | C::Access if own => None,
        // "I checked the spelling of the report" reads; "I reviewed your plan" is done in words.
        C::Read | C::Check | C::Measure => about.reads(),
        C::Access if objects.any(SENSE) => about,
        C::Access => about.also(&[OpenPage, OpenPath, Update, Create]),
        // "listed above" is shown in the answer.
        C::List if objects.says(&["above", "below", "haut", "bas", "here", "ici", "ci-dessous", "ci-dessus"]) => None,
        C::List => (file || objects.any(FOLDER)).then(|| Sense::firm(&[ListFolder]).reads()).flatten(),
        C::Get if objects.any(PROVIDER) => Sense::firm(&[Delegate]).also(&[ProviderRecall]),
        C::Get => (objects.any(FRESH | WEB) || file || page).then_some(()).and(about).reads().also(&[Download]),
        C::See if objects.any(WEB | PAGE) => about.reads(),
        C::See => objects.any(SENSE).then(|| Sense::firm(&[Screen])).flatten(),
        C::Plan => objects.says(&["cleanup", "nettoyage"]).then(|| Sense::firm(&[PlanCleanup])).flatten(),
        _ => None,
    }
}

pub(super) fn desktop(concept: C, objects: &Objects) -> Option<Sense> {
    let page = objects.any(PAGE | WEB) || objects.address();
    let file = objects.file();
    let app = objects.any(APP | PROVIDER) || !objects.proper.is_empty();
    match concept {
        C::Open | C::Launch | C::Start if objects.any(MEDIA) && !file && concept != C::Open => {
            Sense::firm(&[Play]).also(&[LaunchApp, OpenPage])
        }
        C::Start if objects.any(REMINDER) => Sense::firm(&[Remind]),
        C::Open if page => Sense::firm(&[OpenPage]).also(&[ReadPage, OpenPath, LaunchApp]),
        C::Open if file => Sense::firm(&[OpenPath, ReadFile]).also(&[ListFolder, LaunchApp, OpenPage, ReadPage]),
        C::Open if app => Sense::firm(&[LaunchApp]).also(&[OpenPage, OpenPath]),
        C::Open if objects.pronoun => {
            Sense::firm(&[OpenPath, OpenPage, LaunchApp]).also(&[ReadFile, ReadPage, ListFolder, Play])
        }
        C::Open if objects.any(MAIL | DEVICE | MEDIA) => {
            Sense::firm(&[OpenPath, Home, MailRead, Play]).also(&[OpenPage])
        }
        C::Launch | C::Start if app => Sense::firm(&[LaunchApp]).also(&[OpenPage, OpenPath, Run, Play]),
        C::Launch if objects.any(COMMAND) => Sense::firm(&[Act::Run]).also(&[Terminal, LaunchApp]),
        C::Launch if objects.pronoun => Sense::firm(&[LaunchApp, Act::Run]).also(&[OpenPage, OpenPath, Play, Terminal]),
        C::Close if app || file || page => Sense::firm(&[CloseApp]),
        C::Show if page => Sense::firm(&[OpenPage]).also(&[OpenPath, LaunchApp]).when(!objects.to_user),
        C::Run if objects.any(COMMAND) || file => Sense::firm(&[Act::Run]).also(&[Terminal, LaunchApp]),
        C::Run if app => Sense::firm(&[LaunchApp]).also(&[Act::Run, Terminal]),
        C::Restart if objects.any(SYSTEM | APP | NETWORK | DEVICE) => Sense::firm(&[Power]).also(&[LaunchApp]),
        C::Shutdown if objects.any(SYSTEM) => Sense::firm(&[Power]),
        C::Connect if objects.any(NETWORK | ACCOUNT | DEVICE) => Sense::firm(&[Act::Connect]).also(&[Settings]),
        C::Install | C::Uninstall => Sense::firm(&[Act::Install]),
        C::Lock if objects.any(SYSTEM | DEVICE | SENSE) => Sense::firm(&[Settings, Home, Power]),
        C::Screenshot => Sense::firm(&[Screen]),
        C::Draw if !objects.any(TEXT | LIST | IDIOM) => {
            if objects.any(CHART) {
                Sense::firm(&[Chart])
            } else {
                Sense::firm(&[Image]).when(objects.any(IMAGE))
            }
        }
        _ => None,
    }
}

pub(super) fn media(concept: C, objects: &Objects) -> Option<Sense> {
    let media = objects.any(MEDIA);
    let sound = objects.any(SOUND);
    let heard = media || sound;
    match concept {
        C::Play if media || !objects.proper.is_empty() || objects.quote || objects.pronoun => {
            (!objects.any(IDIOM)).then(|| Sense::firm(&[Play]).also(&[OpenPage, LaunchApp])).flatten()
        }
        C::Pause if media || objects.pronoun => Sense::firm(&[Pause]),
        C::Stop if objects.any(REMINDER) => Sense::firm(&[RemindOff]),
        C::Stop if heard => Sense::firm(&[Pause]).also(&[Mute]),
        C::Resume if media => Sense::firm(&[Play]),
        C::Skip if media => Sense::firm(&[Next]),
        C::Put | C::Move if media && objects.says(&["back", "previous", "precedent"]) => Sense::firm(&[Previous]),
        C::Mute if heard || objects.any(SYSTEM) => Sense::firm(&[Mute]).also(&[Volume, Pause]),
        C::Raise | C::Lower if heard => Sense::firm(&[Volume]).also(&[Mute]),
        C::Raise | C::Lower | C::Turn | C::Set if objects.any(DEVICE) => Sense::firm(&[Home]),
        C::Raise | C::Lower if objects.pronoun && objects.says(&["up", "down"]) => Sense::firm(&[Volume, Home]),
        C::Turn | C::Set if objects.any(REMINDER) => Sense::firm(&[Remind]),
        C::Set if sound => Sense::firm(&[Volume]).also(&[Mute]),
        C::Set if objects.any(CALENDAR) => Sense::firm(&[Calendar]).also(&[Remind]),
        C::Turn if objects.any(SYSTEM | APP) => Sense::firm(&[Power, LaunchApp, CloseApp]),
        C::Turn | C::Set | C::Raise | C::Lower if objects.any(NETWORK | SETTING) => Sense::firm(&[Settings]),
        _ => None,
    }
}

/// Places where a text is posted.
#[rustfmt::skip]
const SOCIAL: &[&str] = &[
    "twitter", "x", "linkedin", "facebook", "instagram", "reddit", "mastodon", "bluesky", "blog", "online",
    "ligne", "site", "discord", "slack", "tiktok", "forum",
];

/// What leaves the machine: people, shops, providers.
pub(super) fn outside(concept: C, lemma: &str, objects: &Objects, idiom: bool) -> Option<Sense> {
    let file = objects.file();
    let someone = objects.any(PERSON) || !objects.proper.is_empty();
    match concept {
        C::Send if idiom && !objects.any(MAIL) => None,
        C::Send | C::Delegate | C::Give if objects.any(PROVIDER) => Sense::firm(&[Act::Delegate]).also(&[SendMessage]),
        C::Send if objects.to_user && !objects.any(MAIL) && !matches!(lemma, "text" | "email" | "mail" | "message") => {
            None
        }
        C::Send if objects.any(UTTERANCE) && !objects.any(MAIL) && !someone => {
            Sense::weak(&[SendMessage, Act::Delegate, SearchWeb])
        }
        C::Send if objects.any(MONEY) => Sense::firm(&[Act::Pay]),
        // "I told Paul": someone who is not here; "I told you" is this conversation.
        C::Tell => {
            let other = (!objects.proper.is_empty() || someone && !objects.to_user) && !objects.any(IDIOM);
            other.then(|| Sense::firm(&[SendMessage]).also(&[Act::Call, Calendar, Act::Share])).flatten()
        }
        C::Send => Sense::firm(&[SendMessage]).also(&[Terminal, Act::Share, Act::Post, Act::Upload]),
        C::Delegate => Sense::firm(&[Act::Delegate]).when(objects.definite),
        C::Ask | C::Consult if objects.any(PROVIDER) => Sense::firm(&[Act::Delegate]).also(&[ProviderRecall]),
        C::Consult if someone => Sense::firm(&[SendMessage, Act::Call]),
        // "I remembered that you like tea" recalls it.
        C::Remember if !idiom => Sense::firm(&[Act::Remember]).also(&[Create, Append]).when(lemma != "remember"),
        C::Remind if objects.to_user => Sense::firm(&[Act::Remind]).also(&[Calendar]),
        // French "rappeler" is to remind and to call back.
        C::Remind if someone => Sense::firm(&[Act::Call, Act::Remind]),
        C::RemindSet => Sense::firm(&[Act::Remind]).also(&[Calendar]),
        C::Schedule if objects.any(REMINDER) => Sense::firm(&[Act::Remind]).also(&[Calendar]),
        C::Schedule => {
            let planned = objects.any(CALENDAR) || objects.pronoun && lemma != "block";
            Sense::firm(&[Calendar]).also(&[Act::Remind]).when(planned)
        }
        C::Download => Sense::firm(&[Act::Download]).also(&[Create, ReadPage]),
        C::Upload => Sense::firm(&[Act::Upload]).also(&[SendMessage, Act::Share]),
        C::Print => Sense::firm(&[Act::Print]),
        C::Call if lemma == "appeler" && objects.pronoun && objects.proper.is_empty() && !objects.quote => {
            Sense::firm(&[Act::Call])
        }
        C::Call if !objects.to_user && (someone || objects.any(ORDER | FACT | MAIL)) && !objects.any(UTTERANCE) => {
            Sense::firm(&[Act::Call])
        }
        C::Buy if objects.any(LIST | TEXT | FACT) || objects.says(&["alphabetically", "by", "par"]) => None,
        C::Buy => Sense::firm(&[Act::Buy]).also(&[Act::Book, Act::Pay]),
        C::Book => Sense::firm(&[Act::Book]).also(&[Calendar, Act::Buy]),
        C::Pay if idiom => None,
        C::Pay => Sense::firm(&[Act::Pay]).also(&[Act::Buy]).when(objects.definite || someone || objects.any(MONEY)),
        C::Transfer if objects.any(MONEY) => Sense::firm(&[Act::Pay]),
        C::Transfer => Sense::firm(&[SendMessage]).also(&[Move, Copy, Act::Upload]).when(file || objects.any(MAIL)),
        C::Post if objects.any(TEXT | LIST) && !objects.says(SOCIAL) => Sense::weak(&[Act::Post]),
        C::Post if !objects.any(IDIOM) => Sense::firm(&[Act::Post]).also(&[SendMessage]),
        C::Share if file || objects.any(PAGE) || someone => Sense::firm(&[Act::Share]).also(&[SendMessage, Act::Post]),
        C::Register if objects.any(ACCOUNT | MAIL) || objects.to_user && lemma != "sign" => {
            Sense::firm(&[Act::Register])
        }
        _ => None,
    }
}
