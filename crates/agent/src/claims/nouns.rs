//! What a sentence is about: the classes of its nouns, English and French.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::concept::Concept;

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
        "folder directory drive desktop downloads download documents dossier repertoire bureau telechargements telechargement disk disque cle",
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
