//! The verbs that acts are told with, English and French, with all their forms.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::concept::Concept;

/// Bits of [`Form`].
pub(super) mod form {
    /// English base form; French present.
    pub(in super::super) const BASE: u16 = 1;
    /// English simple past.
    pub(in super::super) const PAST: u16 = 2;
    /// Past participle.
    pub(in super::super) const PARTICIPLE: u16 = 4;
    /// English -ing, French -ant.
    pub(in super::super) const GERUND: u16 = 8;
    /// English third person.
    pub(in super::super) const THIRD: u16 = 16;
    /// French infinitive.
    pub(in super::super) const INFINITIVE: u16 = 32;
    /// French simple future.
    pub(in super::super) const FUTURE: u16 = 64;
    /// French conditional.
    pub(in super::super) const CONDITIONAL: u16 = 128;
    /// French imperfect.
    pub(in super::super) const IMPERFECT: u16 = 256;
    /// A French participle written without its accent: only after an auxiliary.
    pub(in super::super) const LOOSE: u16 = 512;
}

/// A word as a form of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) concept: Concept,
    pub(super) bits: u16,
    /// Base form or infinitive, folded.
    pub(super) lemma: String,
}

use Concept as C;

/// `base`, or `base:past:participle:gerund` where a form is not regular.
const ENGLISH: &[(Concept, &str)] = &[
    (C::Save, "save store"),
    (C::Create, "create generate assemble build:built:built:building produce"),
    (C::Write, "write:wrote:written:writing rewrite:rewrote:rewritten:rewriting"),
    (C::Draft, "draft compose prepare"),
    (C::Add, "add append insert prepend include attach paste enter"),
    (
        C::Change,
        "update modify:modified:modified:modifying edit:edited:edited:editing change correct fix replace amend revise adjust customize apply flag:flagged:flagged:flagging label mark tag:tagged:tagged:tagging pin:pinned:pinned:pinning star:starred:starred:starring format:formatted:formatted:formatting resize crop:cropped:cropped:cropping merge populate fill sync tweak",
    ),
    (C::Rename, "rename"),
    (C::Delete, "delete erase trash throw:threw:thrown:throwing wipe:wiped:wiped:wiping discard purge"),
    (C::Remove, "remove clear"),
    (C::Clean, "clean tidy empty"),
    (C::Move, "move relocate organize organise sort archive"),
    (C::Copy, "copy:copied:copied:copying duplicate"),
    (
        C::Send,
        "send:sent:sent:sending forward email mail message text reply:replied:replied:replying deliver transmit:transmitted:transmitted:transmitting submit:submitted:submitted:submitting dispatch",
    ),
    (C::Tell, "notify:notified:notified:notifying tell:told:told:telling inform alert invite warn"),
    (C::Search, "search google research browse"),
    (C::Find, "find:found:found:finding locate discover"),
    (
        C::Check,
        "check skim:skimmed:skimmed:skimming study:studied:studied:studying view verify:verified:verified:verifying inspect examine review scan:scanned:scanned:scanning analyze analyse parse explore",
    ),
    (C::Look, "look go:went:gone:going"),
    (C::Read, "read:read:read:reading"),
    (C::List, "list"),
    (C::Open, "open:opened:opened:opening"),
    (C::Launch, "launch"),
    (C::Start, "start"),
    (C::Close, "close quit:quit:quit:quitting exit:exited:exited:exiting"),
    (C::Play, "play stream shuffle"),
    (C::Pause, "pause"),
    (C::Stop, "stop:stopped:stopped:stopping"),
    (C::Resume, "resume unpause"),
    (C::Skip, "skip:skipped:skipped:skipping"),
    (C::Mute, "mute silence"),
    (C::Raise, "raise increase"),
    (C::Lower, "lower decrease reduce"),
    (C::Turn, "turn switch"),
    (C::Set, "set:set:set:setting toggle dim:dimmed:dimmed:dimming configure enable disable activate deactivate"),
    (C::Put, "put:put:put:putting place"),
    (C::Take, "take:took:taken:taking"),
    (C::Light, "do:did:done:doing make:made:made:making perform carry:carried:carried:carrying conduct"),
    (
        C::Generic,
        "complete finish accomplish handle process fulfil:fulfilled:fulfilled:fulfilling fulfill:fulfilled:fulfilled:fulfilling implement execute",
    ),
    (C::Remember, "remember memorize memorise"),
    (C::Note, "note jot:jotted:jotted:jotting log:logged:logged:logging"),
    (C::Forget, "forget:forgot:forgotten:forgetting"),
    (C::Remind, "remind"),
    (C::Schedule, "schedule reschedule block"),
    (C::Delegate, "delegate hand"),
    (C::Give, "give:gave:given:giving pass"),
    (C::Ask, "ask"),
    (C::Consult, "consult query:queried:queried:querying contact"),
    (C::Download, "download"),
    (C::Upload, "upload"),
    (C::Install, "install"),
    (C::Uninstall, "uninstall"),
    (C::Print, "print"),
    (C::Call, "call phone dial:dialed:dialed:dialing ring:rang:rung:ringing"),
    (C::Buy, "buy:bought:bought:buying order:ordered:ordered:ordering purchase"),
    (C::Book, "book reserve"),
    (C::Pay, "pay:paid:paid:paying refund"),
    (C::Transfer, "transfer:transferred:transferred:transferring wire"),
    (C::Run, "run:ran:run:running trigger deploy"),
    (C::Use, "use invoke"),
    (C::Restart, "restart reboot"),
    (C::Shutdown, "shut:shut:shut:shutting"),
    (C::Lock, "lock unlock"),
    (C::Record, "record"),
    (C::Post, "post publish tweet:tweeted:tweeted:tweeting"),
    (C::Share, "share"),
    (C::Export, "export"),
    (C::Convert, "convert"),
    (C::Compress, "compress zip:zipped:zipped:zipping unzip:unzipped:unzipped:unzipping extract"),
    (C::Backup, "back backup"),
    (C::Connect, "connect disconnect"),
    (C::Register, "register subscribe unsubscribe sign"),
    (C::Cancel, "cancel:canceled:cancelled:cancelling cancel:cancelled:canceled:canceling dismiss snooze postpone"),
    (C::Undo, "undo:undid:undone:undoing restore revert recover"),
    (C::Draw, "draw:drew:drawn:drawing"),
    (C::Get, "get:got:gotten:getting fetch retrieve pull load gather collect obtain grab:grabbed:grabbed:grabbing"),
    (C::See, "see:saw:seen:seeing watch hear:heard:heard:hearing"),
    (C::Access, "access visit:visited:visited:visiting"),
    (C::Show, "show:showed:shown:showing display"),
    (C::Plan, "plan:planned:planned:planning"),
    (C::Measure, "measure"),
];

/// `infinitive`, or `infinitive:participle:present:future stem`.
const FRENCH: &[(Concept, &str)] = &[
    (C::Save, "enregistrer sauvegarder stocker sauver conserver"),
    (C::Create, "creer generer produire:produit:produis:produir"),
    (C::Write, "ecrire:ecrit:ecris:ecrir inscrire:inscrit:inscris:inscrir reecrire:reecrit:reecris:reecrir"),
    (C::Draft, "rediger preparer composer"),
    (C::Add, "ajouter rajouter joindre:joint:joins:joindr coller inserer completer inclure:inclus:inclus:inclur"),
    (
        C::Change,
        "modifier corriger remplacer changer editer adapter actualiser appliquer marquer etiqueter formater redimensionner fusionner synchroniser remplir:rempli:remplis:remplir",
    ),
    (C::Rename, "renommer"),
    (C::Delete, "supprimer effacer jeter detruire:detruit:detruis:detruir"),
    (C::Remove, "retirer enlever"),
    (C::Clean, "nettoyer:nettoye:nettoie:nettoier vider purger"),
    (C::Move, "deplacer ranger classer archiver trier organiser"),
    (C::Copy, "copier dupliquer recopier"),
    (
        C::Send,
        "envoyer:envoye:envoie:enverr expedier transmettre:transmis:transmets:transmettr repondre:repondu:reponds:repondr partir:parti:pars:partir soumettre:soumis:soumets:soumettr ",
    ),
    (
        C::Tell,
        "prevenir:prevenu:previens:previendr notifier avertir:averti:avertis:avertir informer alerter inviter relancer",
    ),
    (C::Search, "chercher rechercher googler"),
    (C::Find, "trouver retrouver localiser reperer"),
    (
        C::Check,
        "verifier consulter examiner parcourir:parcouru:parcours:parcourr analyser inspecter scanner controler explorer",
    ),
    (C::Look, "regarder"),
    (C::Read, "lire:lu:lis:lir relire:relu:relis:relir"),
    (C::List, "lister"),
    (C::Open, "ouvrir:ouvert:ouvre:ouvrir rouvrir:rouvert:rouvre:rouvrir"),
    (C::Launch, "lancer demarrer declencher"),
    (C::Close, "fermer quitter"),
    (C::Play, "jouer diffuser"),
    (C::Stop, "arreter stopper"),
    (C::Resume, "reprendre:repris:reprends:reprendr"),
    (C::Skip, "sauter passer"),
    (C::Mute, "couper"),
    (C::Raise, "monter augmenter"),
    (C::Lower, "baisser diminuer reduire:reduit:reduis:reduir"),
    (C::Turn, "allumer eteindre:eteint:eteins:eteindr"),
    (C::Set, "regler configurer activer desactiver definir:defini:definis:definir parametrer"),
    (C::Put, "mettre:mis:mets:mettr deposer placer remettre:remis:remets:remettr"),
    (C::Take, "prendre:pris:prends:prendr"),
    (C::Light, "faire:fait:fais:fer effectuer realiser proceder executer mener"),
    (
        C::Generic,
        "terminer accomplir:accompli:accomplis:accomplir finaliser traiter achever finir:fini:finis:finir occuper charger",
    ),
    (C::Remember, "memoriser retenir:retenu:retiens:retiendr"),
    (C::Note, "noter"),
    (C::Forget, "oublier"),
    (C::Remind, "rappeler:rappele:rappelle:rappeller"),
    (C::Schedule, "planifier programmer"),
    (C::Delegate, "deleguer confier"),
    (C::Give, "donner"),
    (C::Ask, "demander interroger"),
    (C::Consult, "contacter"),
    (C::Download, "telecharger"),
    (C::Upload, "televerser uploader"),
    (C::Install, "installer"),
    (C::Uninstall, "desinstaller"),
    (C::Print, "imprimer"),
    (C::Call, "appeler:appele:appelle:appeller telephoner"),
    (C::Buy, "acheter commander"),
    (C::Book, "reserver"),
    (C::Pay, "payer:paye:paie:paier regler virer rembourser"),
    (C::Transfer, "transferer"),
    (C::Use, "utiliser employer"),
    (C::Restart, "redemarrer"),
    (C::Lock, "verrouiller deverrouiller"),
    (C::Post, "publier poster"),
    (C::Share, "partager"),
    (C::Export, "exporter"),
    (C::Convert, "convertir:converti:convertis:convertir"),
    (C::Compress, "compresser zipper extraire:extrait:extrais:extrair"),
    (C::Connect, "connecter deconnecter"),
    (C::Register, "abonner desabonner"),
    (C::Cancel, "annuler decaler reporter"),
    (C::Undo, "restaurer retablir:retabli:retablis:retablir"),
    (C::Get, "recuperer rassembler collecter obtenir:obtenu:obtiens:obtiendr"),
    (C::Draw, "dessiner"),
    (C::See, "voir:vu:vois:verr entendre:entendu:entends:entendr"),
    (C::Access, "acceder visiter"),
    (C::Show, "afficher montrer"),
    (C::Measure, "mesurer"),
];

/// Subjunctives that are no other form: "que je mette".
const SUBJUNCTIVES: &[(&str, &str)] = &[
    ("mettre", "mette"),
    ("remettre", "remette"),
    ("faire", "fasse"),
    ("lire", "lise"),
    ("relire", "relise"),
    ("ecrire", "ecrive"),
    ("inscrire", "inscrive"),
    ("prendre", "prenne"),
    ("reprendre", "reprenne"),
    ("eteindre", "eteigne"),
    ("retenir", "retienne"),
    ("transmettre", "transmette"),
    ("repondre", "reponde"),
    ("prevenir", "previenne"),
    ("definir", "definisse"),
    ("reduire", "reduise"),
    ("produire", "produise"),
    ("convertir", "convertisse"),
    ("retablir", "retablisse"),
    ("extraire", "extraie"),
    ("voir", "voie"),
];

type Forms = HashMap<String, Vec<Form>>;

static ENGLISH_FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let mut forms = Forms::new();
    for (concept, verbs) in ENGLISH {
        for verb in verbs.split_whitespace() {
            for (word, bits) in conjugate_english(verb) {
                insert(&mut forms, word, *concept, bits, verb);
            }
        }
    }
    forms
});

static FRENCH_FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let mut forms = Forms::new();
    for (concept, verbs) in FRENCH {
        for verb in verbs.split_whitespace() {
            for (word, bits) in conjugate_french(verb) {
                insert(&mut forms, word, *concept, bits, verb);
            }
            let lemma = verb.split(':').next().unwrap_or(verb);
            if let Some((_, subjunctive)) = SUBJUNCTIVES.iter().find(|(infinitive, _)| *infinitive == lemma) {
                insert(&mut forms, (*subjunctive).to_owned(), *concept, form::BASE, verb);
            }
        }
    }
    forms
});

fn insert(forms: &mut Forms, word: String, concept: Concept, bits: u16, verb: &str) {
    let lemma = verb.split(':').next().unwrap_or(verb);
    let entries = forms.entry(word).or_default();
    match entries.iter_mut().find(|entry| entry.lemma == lemma && entry.concept == concept) {
        Some(entry) => entry.bits |= bits,
        None => entries.push(Form { concept, bits, lemma: lemma.to_owned() }),
    }
}

/// Every form of an English verb.
fn conjugate_english(verb: &str) -> Vec<(String, u16)> {
    let mut parts = verb.split(':');
    let base = parts.next().unwrap_or_default();
    let ends = |endings: &[&str]| endings.iter().any(|ending| base.ends_with(ending));
    let consonant_y = base.strip_suffix('y').filter(|root| !root.ends_with(['a', 'e', 'o', 'u']));
    let past = match (base.strip_suffix('e'), consonant_y) {
        (Some(root), _) => format!("{root}ed"),
        (None, Some(root)) => format!("{root}ied"),
        (None, None) => format!("{base}ed"),
    };
    let gerund = match base.strip_suffix('e').filter(|root| !root.ends_with(['e', 'o'])) {
        Some(root) => format!("{root}ing"),
        None => format!("{base}ing"),
    };
    let third = match consonant_y {
        Some(root) => format!("{root}ies"),
        None if ends(&["s", "x", "z", "ch", "sh", "o"]) => format!("{base}es"),
        None => format!("{base}s"),
    };
    let simple = parts.next().unwrap_or(&past).to_owned();
    let participle = parts.next().unwrap_or(&past).to_owned();
    let gerund = parts.next().unwrap_or(&gerund).to_owned();
    vec![
        (base.to_owned(), form::BASE),
        (third, form::THIRD),
        (simple, form::PAST),
        (participle, form::PARTICIPLE),
        (gerund, form::GERUND),
    ]
}

/// Every form of a French verb that a first person or a participle takes, folded.
fn conjugate_french(verb: &str) -> Vec<(String, u16)> {
    let mut parts = verb.split(':');
    let infinitive = parts.next().unwrap_or_default();
    let mut forms = vec![(infinitive.to_owned(), form::INFINITIVE)];
    let regular = infinitive.strip_suffix("er").filter(|_| !verb.contains(':') || verb.contains("er:"));
    let participle = parts.next().map(str::to_owned);
    let present = parts.next().map(str::to_owned);
    let future = parts.next().map_or_else(|| infinitive.to_owned(), str::to_owned);
    if let Some(stem) = regular {
        for ending in ["e", "ee", "es", "ees"] {
            forms.push((format!("{stem}{ending}"), form::PARTICIPLE));
        }
        let linking = if stem.ends_with('g') { format!("{stem}e") } else { stem.to_owned() };
        forms.push((present.unwrap_or_else(|| format!("{stem}e")), form::BASE));
        forms.push((format!("{linking}ons"), form::BASE));
        forms.push((format!("{stem}ez"), form::THIRD));
        forms.push((format!("{linking}ais"), form::IMPERFECT));
        forms.push((format!("{linking}ant"), form::GERUND));
    } else if let (Some(participle), Some(present)) = (participle, present) {
        for ending in ["", "e", "s", "es"] {
            forms.push((format!("{participle}{ending}"), form::PARTICIPLE));
        }
        forms.push((present, form::BASE));
    }
    for ending in ["ai", "as", "a", "ons", "ez", "ont"] {
        forms.push((format!("{future}{ending}"), form::FUTURE));
    }
    for ending in ["ais", "ait", "ions", "iez", "aient"] {
        forms.push((format!("{future}{ending}"), form::CONDITIONAL));
    }
    forms
}

/// Verbs of the tools in hand that no table knows: "water_plants" makes "watered" a verb.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    english: Forms,
    french: Forms,
}

impl Lexicon {
    /// The words of tool names and keywords that could be verbs.
    pub(super) fn with(verbs: &[String]) -> Self {
        let mut lexicon = Self::default();
        for verb in verbs.iter().filter(|verb| verb.len() > 2) {
            for (word, bits) in conjugate_english(verb) {
                insert(&mut lexicon.english, word, Concept::Other, bits, verb);
            }
            if verb.ends_with("er") {
                for (word, bits) in conjugate_french(verb) {
                    insert(&mut lexicon.french, word, Concept::Other, bits, verb);
                }
            }
        }
        lexicon
    }

    /// The English forms that a folded word can be.
    pub(super) fn english(&self, word: &str) -> &[Form] {
        ENGLISH_FORMS.get(word).or_else(|| self.english.get(word)).map_or(&[], Vec::as_slice)
    }

    /// The French forms that a word can be; `text` keeps its accents, which tell "enregistré" from
    /// "enregistre".
    pub(super) fn french(&self, text: &str, folded: &str) -> Vec<Form> {
        let found = FRENCH_FORMS.get(folded).or_else(|| self.french.get(folded)).map_or(&[][..], Vec::as_slice);
        let accented = ["é", "ée", "és", "ées"].iter().any(|ending| text.ends_with(ending));
        let mut forms = found.to_vec();
        for entry in &mut forms {
            let first_group = entry.lemma.ends_with("er");
            if first_group && entry.bits & form::PARTICIPLE != 0 {
                entry.bits = if accented { form::PARTICIPLE } else { (entry.bits & !form::PARTICIPLE) | form::LOOSE };
            } else if first_group && entry.bits & form::INFINITIVE != 0 {
                entry.bits |= form::LOOSE;
            }
        }
        forms
    }
}

/// The concept of a word that stands in a tool's name or description, in any form.
pub(super) fn concept_of(word: &str) -> Option<Concept> {
    let english = ENGLISH_FORMS
        .get(word)
        .and_then(|forms| forms.iter().find(|entry| entry.bits & (form::BASE | form::THIRD) != 0));
    english.or_else(|| FRENCH_FORMS.get(word).and_then(|forms| forms.first())).map(|entry| entry.concept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_forms() {
        let lexicon = Lexicon::default();
        let bits = |word: &str| lexicon.english(word).iter().fold(0, |bits, entry| bits | entry.bits);
        assert_eq!(bits("saved"), form::PAST | form::PARTICIPLE);
        assert_eq!(bits("sent"), form::PAST | form::PARTICIPLE);
        assert_eq!(bits("wrote"), form::PAST);
        assert_eq!(bits("saving"), form::GERUND);
        assert_eq!(bits("modifies"), form::THIRD);
        assert_ne!(bits("read") & form::PAST, 0);
    }

    #[test]
    fn french_accents_tell_the_participle() {
        let lexicon = Lexicon::default();
        let bits = |text: &str| {
            lexicon.french(text, &crate::words::fold(text)).iter().fold(0, |bits, entry| bits | entry.bits)
        };
        assert_eq!(bits("enregistré"), form::PARTICIPLE);
        assert_eq!(bits("enregistre"), form::BASE | form::LOOSE);
        assert_ne!(bits("supprimées") & form::PARTICIPLE, 0);
        assert_ne!(bits("enverrai") & form::FUTURE, 0);
        assert_ne!(bits("ouvert") & form::PARTICIPLE, 0);
        assert_eq!(bits("supprimerais"), form::CONDITIONAL);
    }

    #[test]
    fn the_tools_own_verbs() {
        let lexicon = Lexicon::with(&["water".to_owned(), "arroser".to_owned()]);
        assert_eq!(lexicon.english("watered")[0].concept, Concept::Other);
        assert_ne!(lexicon.french("arrosé", "arrose")[0].bits & form::PARTICIPLE, 0);
    }
}
