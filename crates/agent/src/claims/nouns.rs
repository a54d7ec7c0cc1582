//! What a sentence is about: the classes of its nouns, English and French.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokens::{Kind, Token};
use super::verbs::Concept;

/// A class of things. The numbers are bits.
pub(super) mod class {
    pub(in super::super) const FILE: u64 = 1;
    pub(in super::super) const FOLDER: u64 = 1 << 1;
    pub(in super::super) const PART: u64 = 1 << 2;
    pub(in super::super) const TEXT: u64 = 1 << 3;
    pub(in super::super) const MAIL: u64 = 1 << 4;
    pub(in super::super) const WEB: u64 = 1 << 5;
    pub(in super::super) const PAGE: u64 = 1 << 6;
    pub(in super::super) const APP: u64 = 1 << 7;
    pub(in super::super) const MEDIA: u64 = 1 << 8;
    pub(in super::super) const SOUND: u64 = 1 << 9;
    pub(in super::super) const MEMORY: u64 = 1 << 10;
    pub(in super::super) const REMINDER: u64 = 1 << 11;
    pub(in super::super) const CALENDAR: u64 = 1 << 12;
    pub(in super::super) const SYSTEM: u64 = 1 << 13;
    pub(in super::super) const TRASH: u64 = 1 << 14;
    pub(in super::super) const PROVIDER: u64 = 1 << 15;
    pub(in super::super) const FRESH: u64 = 1 << 16;
    pub(in super::super) const LIST: u64 = 1 << 17;
    pub(in super::super) const DEVICE: u64 = 1 << 18;
    pub(in super::super) const HISTORY: u64 = 1 << 19;
    pub(in super::super) const UTTERANCE: u64 = 1 << 20;
    pub(in super::super) const FACT: u64 = 1 << 21;
    pub(in super::super) const IMAGE: u64 = 1 << 22;
    pub(in super::super) const CHART: u64 = 1 << 23;
    pub(in super::super) const MONEY: u64 = 1 << 24;
    pub(in super::super) const ACCOUNT: u64 = 1 << 25;
    pub(in super::super) const COMMAND: u64 = 1 << 26;
    pub(in super::super) const SENSE: u64 = 1 << 27;
    pub(in super::super) const NETWORK: u64 = 1 << 28;
    pub(in super::super) const ORDER: u64 = 1 << 29;
    pub(in super::super) const TASK: u64 = 1 << 30;
    pub(in super::super) const PERSON: u64 = 1 << 31;
    pub(in super::super) const SETTING: u64 = 1 << 32;
    pub(in super::super) const IDIOM: u64 = 1 << 33;
    pub(in super::super) const CLIPBOARD: u64 = 1 << 34;
    pub(in super::super) const ALL: u64 = 1 << 35;
}

use class::{
    ACCOUNT, ALL, APP, CALENDAR, CHART, CLIPBOARD, COMMAND, DEVICE, FACT, FILE, FOLDER, FRESH, HISTORY, IDIOM, IMAGE,
    LIST, MAIL, MEDIA, MEMORY, MONEY, NETWORK, ORDER, PAGE, PART, PERSON, PROVIDER, REMINDER, SENSE, SETTING, SOUND,
    SYSTEM, TASK, TEXT, TRASH, UTTERANCE, WEB,
};

/// Folded singular nouns of each class; plurals in -s and -x are found by themselves.
const CLASSES: &[(u64, &str)] = &[
    (
        FILE,
        "file document doc pdf spreadsheet workbook csv docx xlsx script attachment report invoice contract archive backup log fichier rapport facture contrat tableur classeur note journal sauvegarde piece presentation memo",
    ),
    (
        FOLDER,
        "folder directory desktop downloads download documents dossier repertoire bureau telechargements telechargement disk disque cle",
    ),
    (
        PART,
        "paragraph sentence line word typo mistake error comma title heading phrase mot ligne faute erreur paragraphe section virgule titre duplicate doublon bug chapter chapitre spelling orthographe bullet column row colonne",
    ),
    (
        TEXT,
        "poem letter story summary translation text draft answer table essay code resume lettre texte poeme histoire reponse brouillon traduction article plan outline idea suggestion idee explication explanation example exemple recipe recette speech discours paragraph recap synthese analysis analyse tip conseil option step etape instruction detail question thought reflexion",
    ),
    (
        MAIL,
        "email mail e-mail message sms courriel courrier invitation inbox mailbox newsletter whatsapp telegram slack",
    ),
    (WEB, "web internet online google net toile wikipedia bing duckduckgo"),
    (PAGE, "page url link site website article lien onglet tab webpage blog"),
    (
        APP,
        "app application program browser navigateur logiciel programme calculator calculatrice terminal editor editeur spotify firefox chrome chromium vlc excel word outlook thunderbird gimp libreoffice notepad vscode discord steam window fenetre youtube netflix deezer gmail",
    ),
    (
        MEDIA,
        "music song video track playlist film movie podcast album musique chanson morceau piste radio playback lecture audio jazz tune playlists speaker enceinte",
    ),
    (SOUND, "volume sound son"),
    (MEMORY, "memory memoire souvenir"),
    (REMINDER, "reminder alarm timer rappel alarme minuteur minuterie reveil countdown"),
    (CALENDAR, "calendar event appointment meeting agenda rendez-vous rdv reunion evenement calendrier schedule"),
    (
        SYSTEM,
        "battery cpu ram computer system batterie ordinateur systeme processeur processor gpu space espace uptime machine pc laptop",
    ),
    (TRASH, "trash bin corbeille poubelle recycle"),
    (PROVIDER, "claude chatgpt deepseek gpt openai anthropic gpt-4 gpt-5 mistral gemini"),
    (
        FRESH,
        "weather news price forecast meteo actualite prix cours headline nouvelle rate temperature score availability stock tarif horaire traffic trafic",
    ),
    (LIST, "list liste todo to-do"),
    (
        DEVICE,
        "light lamp thermostat heating lumiere lampe chauffage heater door lock shutter volet alarm-system printer imprimante radiator radiateur bulb ampoule tv television",
    ),
    (HISTORY, "conversation discussion history historique exchange echange chat"),
    (UTTERANCE, "request demande question message prompt query"),
    (
        FACT,
        "information info preference detail fact name birthday prenom nom anniversaire date address adresse number numero choice choix decision",
    ),
    (IMAGE, "image picture photo illustration drawing dessin logo"),
    (CHART, "chart graph plot graphique diagram diagramme courbe histogram histogramme"),
    (MONEY, "money euro dollar payment argent paiement virement eur usd"),
    (ACCOUNT, "account compte subscription abonnement profile profil"),
    (COMMAND, "command commande script code test program programme query requete"),
    (SENSE, "screen camera webcam microphone ecran micro location position gps"),
    (NETWORK, "wifi wi-fi bluetooth network reseau vpn server serveur"),
    (
        ORDER,
        "order ticket flight hotel restaurant taxi pizza train room seat billet vol chambre place product produit commande reservation booking cart panier book livre table appointment groceries courses item",
    ),
    (
        TASK,
        "task action job operation request tache demande necessaire work travail everything rien tout step process processus command procedure mission nothing anything requested all",
    ),
    (
        PERSON,
        "paul marie mom mum dad boss colleague friend maman papa patron chef collegue ami amie doctor medecin plumber plombier wife husband femme mari team equipe client customer landlord proprietaire police bank banque him her them lui leur someone quelqu'un person personne contact contacts restaurant",
    ),
    (
        SETTING,
        "setting settings parametre reglage configuration mode theme brightness luminosite wallpaper preference option fond notification",
    ),
    (
        IDIOM,
        "time temps life vie day care attention mind best mieux part role sense point way face trouble effort energy energie tone luck patience conclusion",
    ),
    (CLIPBOARD, "clipboard presse-papiers presse-papier"),
    (ALL, "all both everything tous toutes tout every each chaque"),
];

/// Nouns that stand for an act: "the deletion failed", "j'ai effectué une recherche".
const ACTION_NOUNS: &[(&str, Concept)] = &[
    ("deletion", Concept::Delete),
    ("suppression", Concept::Delete),
    ("removal", Concept::Delete),
    ("effacement", Concept::Delete),
    ("cleanup", Concept::Clean),
    ("clean-up", Concept::Clean),
    ("cleaning", Concept::Clean),
    ("nettoyage", Concept::Clean),
    ("menage", Concept::Clean),
    ("saving", Concept::Save),
    ("save", Concept::Save),
    ("enregistrement", Concept::Save),
    ("sauvegarde", Concept::Save),
    ("backup", Concept::Backup),
    ("creation", Concept::Create),
    ("writing", Concept::Write),
    ("ecriture", Concept::Write),
    ("redaction", Concept::Draft),
    ("update", Concept::Change),
    ("modification", Concept::Change),
    ("change", Concept::Change),
    ("changement", Concept::Change),
    ("edit", Concept::Change),
    ("correction", Concept::Change),
    ("replacement", Concept::Change),
    ("remplacement", Concept::Change),
    ("ajout", Concept::Add),
    ("addition", Concept::Add),
    ("look", Concept::Check),
    ("glance", Concept::Check),
    ("search", Concept::Search),
    ("recherche", Concept::Search),
    ("research", Concept::Search),
    ("lookup", Concept::Search),
    ("check", Concept::Check),
    ("verification", Concept::Check),
    ("reading", Concept::Read),
    ("lecture", Concept::Read),
    ("opening", Concept::Open),
    ("ouverture", Concept::Open),
    ("launch", Concept::Launch),
    ("lancement", Concept::Launch),
    ("sending", Concept::Send),
    ("envoi", Concept::Send),
    ("delivery", Concept::Send),
    ("download", Concept::Download),
    ("telechargement", Concept::Download),
    ("upload", Concept::Upload),
    ("installation", Concept::Install),
    ("purchase", Concept::Buy),
    ("achat", Concept::Buy),
    ("order", Concept::Buy),
    ("commande", Concept::Buy),
    ("reservation", Concept::Book),
    ("booking", Concept::Book),
    ("payment", Concept::Pay),
    ("paiement", Concept::Pay),
    ("virement", Concept::Pay),
    ("call", Concept::Call),
    ("appel", Concept::Call),
    ("copy", Concept::Copy),
    ("copie", Concept::Copy),
    ("move", Concept::Move),
    ("deplacement", Concept::Move),
    ("renaming", Concept::Rename),
    ("screenshot", Concept::Screenshot),
    ("capture", Concept::Screenshot),
    ("printing", Concept::Print),
    ("impression", Concept::Print),
    ("reminder", Concept::RemindSet),
    ("rappel", Concept::RemindSet),
    ("appointment", Concept::Schedule),
    ("rendez-vous", Concept::Schedule),
    ("delegation", Concept::Delegate),
    ("export", Concept::Export),
    ("conversion", Concept::Convert),
    ("note", Concept::Note),
    ("restart", Concept::Restart),
    ("redemarrage", Concept::Restart),
];

static CLASS_OF: LazyLock<HashMap<&'static str, u64>> = LazyLock::new(|| {
    let mut classes: HashMap<&'static str, u64> = HashMap::new();
    for (bit, nouns) in CLASSES {
        for noun in nouns.split_whitespace() {
            *classes.entry(noun).or_default() |= bit;
        }
    }
    classes
});

static ACTION_OF: LazyLock<HashMap<&'static str, Concept>> = LazyLock::new(|| ACTION_NOUNS.iter().copied().collect());

/// A folded word without its plural ending.
fn singular(word: &str) -> Option<&str> {
    word.strip_suffix('s').or_else(|| word.strip_suffix('x')).filter(|root| root.len() > 2)
}

/// The classes of a folded word, 0 for a word of none.
pub(super) fn classes_of(word: &str) -> u64 {
    let found = |word: &str| CLASS_OF.get(word).copied();
    if let Some(bits) = found(word) {
        return bits;
    }
    if let Some(root) = word.strip_suffix("ies")
        && let Some(bits) = found(&format!("{root}y"))
    {
        return bits;
    }
    if let Some(root) = word.strip_suffix("aux")
        && let Some(bits) = found(&format!("{root}al"))
    {
        return bits;
    }
    singular(word).and_then(|root| found(root).or_else(|| root.strip_suffix('e').and_then(found))).unwrap_or(0)
}

/// The act that a folded noun stands for.
pub(super) fn action_of(word: &str) -> Option<Concept> {
    let found = |word: &str| ACTION_OF.get(word).copied();
    found(word).or_else(|| word.strip_suffix("es").and_then(found)).or_else(|| singular(word).and_then(found))
}

/// What the words around a verb name.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    /// Bits of [`class`].
    pub(super) classes: u64,
    /// A pronoun stands for the thing.
    pub(super) pronoun: bool,
    /// A capitalised word that is no known noun.
    pub(super) proper: Vec<String>,
    /// Those of them that stand behind "to": who it was for.
    pub(super) recipients: Vec<String>,
    /// Names of files, addresses and the like, folded.
    pub(super) names: Vec<String>,
    /// A quotation stands among them.
    pub(super) quote: bool,
    /// "your", "votre": the user's thing.
    pub(super) possessed: bool,
    /// The user is the one it is done for or sent to.
    pub(super) to_user: bool,
    /// A content word of no known class.
    pub(super) unknown: bool,
    /// An article, a demonstrative or a possessive: a definite thing, not a kind of things.
    pub(super) definite: bool,
    /// "no", "nothing", "aucun": there is no such thing.
    pub(super) none: bool,
    /// A number of things.
    pub(super) count: Option<u64>,
    /// The acts that nouns stand for, in order.
    pub(super) actions: Vec<Concept>,
    /// Every folded word, for phrases.
    pub(super) words: Vec<String>,
}

impl Objects {
    /// True when one of these classes is named.
    pub(super) fn any(&self, classes: u64) -> bool {
        self.classes & classes != 0
    }

    /// True when one of these folded words is there.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    /// A file, by noun or by name.
    pub(super) fn file(&self) -> bool {
        self.any(FILE | FOLDER) || self.files().next().is_some()
    }

    /// Names that are no addresses.
    pub(super) fn files(&self) -> impl Iterator<Item = &String> {
        self.names.iter().filter(|name| !is_address(name) && !name.contains('@'))
    }

    /// A page's address.
    pub(super) fn address(&self) -> bool {
        self.names.iter().any(|name| is_address(name))
    }
}

/// An address on the web, by its scheme or the ending of its host.
pub(super) fn is_address(name: &str) -> bool {
    const HOSTS: [&str; 10] = [".com", ".org", ".net", ".fr", ".io", ".dev", ".eu", ".gov", ".edu", ".example"];
    if name.contains('@') {
        return false;
    }
    let host = name.split("://").last().unwrap_or(name).split('/').next().unwrap_or(name);
    name.contains("://") || name.starts_with("www.") || HOSTS.iter().any(|ending| host.ends_with(ending))
}

/// Words that stand for a thing named before.
const PRONOUNS: &[&str] = &[
    "it",
    "them",
    "this",
    "that",
    "these",
    "those",
    "they",
    "l'",
    "ca",
    "cela",
    "ceci",
    "il",
    "elle",
    "ils",
    "elles",
    "c'",
    "ce",
    "one",
    "ones",
    "celui-ci",
    "ceux-ci",
    "tous",
    "toutes",
    "all",
    "both",
    "everything",
    "tout",
];

const DEFINITE: &[&str] = &[
    "the", "your", "my", "this", "that", "these", "those", "le", "la", "les", "l'", "votre", "vos", "ton", "ta", "tes",
    "mon", "ma", "mes", "ce", "cet", "cette", "ces", "it", "them", "du", "au", "its", "their",
];

/// Words after which a name is what was not done, or only where something came from.
const INSTEAD: [&str; 6] = ["instead", "rather", "lieu", "plutot", "except", "sauf"];

/// What these tokens name.
pub(super) fn objects(tokens: &[Token]) -> Objects {
    let mut found = Objects::default();
    let mut named = true;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Name => {
                if named {
                    found.names.push(token.folded.clone());
                }
                found.definite = true;
                found.words.push(token.folded.clone());
            }
            Kind::Quote => found.quote = true,
            Kind::Number => {
                if let Ok(count) = token.folded.parse::<u64>() {
                    found.count.get_or_insert(count);
                }
            }
            Kind::Mark(_) => {}
            Kind::Word => {
                named &= !INSTEAD.contains(&token.word());
                word(&mut found, tokens, index);
            }
        }
    }
    found
}

fn word(found: &mut Objects, tokens: &[Token], index: usize) {
    let token = &tokens[index];
    let word = token.word();
    found.words.push(word.to_owned());
    let next = tokens.get(index + 1);
    let before = index.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", Token::word);
    let last = next.is_none_or(|next| matches!(next.kind, Kind::Mark(_)) || PREPOSITIONS.contains(&next.word()));
    match word {
        "your" | "yours" | "votre" | "vos" | "ton" | "ta" | "tes" => found.possessed = true,
        // "le son" is the sound; "son" before a noun is a possessive.
        "son" if !last => return,
        "you" | "te" | "t'" | "vous" => found.to_user = true,
        "no" | "nothing" | "none" | "aucun" | "aucune" | "rien" | "neither" => found.none = true,
        _ => {}
    }
    if DEFINITE.contains(&word) {
        found.definite = true;
    }
    if let Some(count) = numeral(word) {
        found.count.get_or_insert(count);
    }
    let alone = last || matches!(before, "" | "of");
    if PRONOUNS.contains(&word) && (alone || matches!(word, "it" | "them" | "l'" | "ca" | "cela")) {
        found.pronoun = true;
    }
    let classes = classes_of(word);
    found.classes |= classes;
    if let Some(action) = action_of(word) {
        found.actions.push(action);
    }
    let known = found.proper.len();
    if classes & !(ALL | IDIOM) == 0 && token.text.chars().count() > 2 && !FUNCTION.contains(&word) {
        if token.capital {
            found.proper.push(word.to_owned());
        } else {
            found.unknown = true;
        }
    } else if token.capital && classes & PERSON != 0 || classes & (APP | PROVIDER) != 0 && !KINDS.contains(&word) {
        found.proper.push(word.to_owned());
    }
    if found.proper.len() > known && matches!(before, "to" | "a") {
        found.recipients.push(word.to_owned());
    }
}

/// Nouns for kinds of applications, not for one of them.
const KINDS: &[&str] = &[
    "app",
    "apps",
    "application",
    "applications",
    "program",
    "programs",
    "browser",
    "navigateur",
    "logiciel",
    "logiciels",
    "programme",
    "programmes",
    "calculator",
    "calculatrice",
    "terminal",
    "editor",
    "editeur",
    "window",
    "windows",
    "fenetre",
    "fenetres",
    "word",
];

/// A number in words, English and French.
fn numeral(word: &str) -> Option<u64> {
    let position = [
        &["zero", "zero"][..],
        &["one"],
        &["two", "deux"],
        &["three", "trois"],
        &["four", "quatre"],
        &["five", "cinq"],
        &["six"],
        &["seven", "sept"],
        &["eight", "huit"],
        &["nine", "neuf"],
        &["ten", "dix"],
    ]
    .iter()
    .position(|words| words.contains(&word))?;
    Some(position as u64)
}

const PREPOSITIONS: &[&str] = &[
    "to",
    "in",
    "into",
    "on",
    "at",
    "for",
    "from",
    "of",
    "with",
    "by",
    "as",
    "and",
    "or",
    "but",
    "a",
    "dans",
    "sur",
    "pour",
    "de",
    "du",
    "avec",
    "par",
    "en",
    "et",
    "ou",
    "mais",
    "sous",
    "vers",
    "chez",
    "under",
    "now",
    "successfully",
    "yet",
    "again",
    "already",
    "using",
    "before",
    "after",
];

/// Words that name nothing.
const FUNCTION: &[&str] = &[
    "the",
    "and",
    "for",
    "with",
    "from",
    "into",
    "onto",
    "your",
    "you",
    "this",
    "that",
    "these",
    "those",
    "they",
    "them",
    "there",
    "here",
    "now",
    "just",
    "successfully",
    "already",
    "also",
    "then",
    "too",
    "all",
    "any",
    "some",
    "new",
    "called",
    "named",
    "under",
    "again",
    "yet",
    "using",
    "via",
    "per",
    "our",
    "its",
    "their",
    "his",
    "her",
    "him",
    "she",
    "has",
    "have",
    "had",
    "was",
    "were",
    "been",
    "are",
    "not",
    "but",
    "out",
    "off",
    "back",
    "away",
    "down",
    "over",
    "les",
    "des",
    "une",
    "dans",
    "sur",
    "pour",
    "avec",
    "par",
    "vers",
    "chez",
    "sous",
    "votre",
    "vos",
    "ton",
    "tes",
    "mon",
    "mes",
    "ses",
    "leur",
    "leurs",
    "cet",
    "cette",
    "ces",
    "qui",
    "que",
    "dont",
    "bien",
    "deja",
    "aussi",
    "maintenant",
    "ensuite",
    "puis",
    "tous",
    "tout",
    "toutes",
    "toute",
    "nouveau",
    "nouvelle",
    "nomme",
    "intitule",
    "appele",
    "ici",
    "pas",
    "plus",
    "jamais",
    "est",
    "ont",
    "ete",
    "avez",
    "comme",
    "afin",
    "correctement",
    "who",
    "which",
    "what",
    "when",
    "where",
    "please",
    "today",
    "tomorrow",
    "demain",
    "until",
    "about",
    "more",
    "other",
    "only",
    "quickly",
    "carefully",
    "safely",
    "possible",
    "vous",
    "nous",
    "elle",
    "elles",
    "ils",
    "succes",
    "instead",
    "rather",
    "aucun",
    "aucune",
    "nothing",
    "rien",
    "none",
    "directly",
    "directement",
    "automatiquement",
    "automatically",
    "asked",
    "demande",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::tokens::sentences;

    fn of(text: &str) -> Objects {
        objects(&sentences(text)[0].tokens)
    }

    #[test]
    fn classes_and_names() {
        assert!(of("your reports").file());
        assert_eq!(of("`a.txt` instead of b.txt").names, ["a.txt"]);
        assert!(of("https://example.org/x").address());
        assert!(of("Il monte le son").any(SOUND) && !of("son fichier").any(SOUND));
        assert_eq!(of("trois fichiers").count, Some(3));
        assert!(of("la suppression").actions.contains(&Concept::Delete));
    }
}
