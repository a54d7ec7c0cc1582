//! French verb groups: tense, mood, negation with and without "ne", voice, and the verb at the end.

use super::concept::Concept;
use super::grammar::{Coordinates, Head, Modality, Reader};
use super::verbs::{Form, form};

/// What a verb that takes an infinitive does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Succeeds,
    Fails,
    Omits,
    Tries,
    Decides,
    Begins,
    Ends,
    Wants,
}

/// Participles and present forms that take an infinitive, folded.
const TAKERS: &[(&str, Effect)] = &[
    ("pu su reussi reussis parvenu parvenue parviens arrive arrivee du tenu veille pense", Effect::Succeeds),
    ("echoue", Effect::Fails),
    ("oublie omis evite refuse neglige renonce manque", Effect::Omits),
    ("essaye essaie tente cherche tache voulu", Effect::Tries),
    ("decide choisi prefere resolu convenu propose", Effect::Decides),
    ("commence", Effect::Begins),
    ("fini termine acheve", Effect::Ends),
    ("prevu envisage compte failli espere souhaite hesite", Effect::Wants),
];

#[rustfmt::skip]
const ADVERBS: &[&str] = &[
    "bien", "deja", "aussi", "donc", "ensuite", "puis", "maintenant", "encore", "toujours", "tout",
    "simplement", "egalement", "enfin", "vraiment", "aussitot", "desormais", "d'abord", "ainsi", "meme",
    "trop", "juste", "alors", "tous", "toutes", "volontiers", "tres", "vite", "peut-etre", "mal", "seulement",
    "plutot",
];

const CLITICS: &[&str] =
    &["me", "m'", "te", "t'", "le", "la", "l'", "les", "lui", "leur", "nous", "vous", "y", "en", "se", "s'"];

const NEGATORS: &[&str] =
    &["pas", "jamais", "rien", "point", "aucunement", "nullement", "guere", "aucun", "aucune", "ni", "non"];

impl Reader<'_> {
    fn french_adverb(&self, at: usize) -> bool {
        let word = self.word(at);
        ADVERBS.contains(&word)
            || (word.ends_with("ment") && word.len() > 6 && self.lexicon.french(self.accented(at), word).is_empty())
    }

    /// The verb group that begins at `at`, right after its subject.
    pub(super) fn french_group(&self, at: usize) -> Option<Head> {
        Group {
            reader: self,
            at,
            start: at,
            restricted: false,
            ne: false,
            negated: false,
            almost: false,
            perfect: false,
            past: false,
            clitics: Vec::new(),
        }
        .finite()
    }

    fn french_form(&self, at: usize, mask: u16) -> Option<Form> {
        let word = self.word(at);
        if word.is_empty() {
            return None;
        }
        self.lexicon.french(self.accented(at), word).into_iter().find(|entry| entry.bits & mask != 0)
    }

    /// A participle with its accent: what an elliptical "Fichier enregistré" needs.
    pub(super) fn french_participle(&self, at: usize) -> Option<Form> {
        self.french_form(at, form::PARTICIPLE)
    }

    /// Further verbs of the same group: "j'ai ouvert le fichier, lu et résumé le texte".
    pub(super) fn french_coordinates(&self, head: &Head) -> Coordinates {
        let mut index = head.at + 1;
        while index < self.to {
            if !matches!(self.word(index), "et" | "ou" | "puis" | "mais" | "ni") {
                index += 1;
                continue;
            }
            let mut next = index + 1;
            while self.french_adverb(next)
                || matches!(self.word(next), "de" | "d'" | "a" | "et" | "ni")
                || CLITICS.contains(&self.word(next))
            {
                next += 1;
            }
            if let Some(entry) = self.french_form(next, head.mask & !form::LOOSE) {
                let again = Head { at: next, concept: entry.concept, lemma: entry.lemma, start: next, ..head.clone() };
                return Coordinates { end: index, next: Some(again) };
            }
            let auxiliary = matches!(
                self.word(index + 1),
                "ai" | "n'" | "ne" | "l'" | "les" | "suis" | "vais" | "a" | "est" | "peux"
            );
            if auxiliary
                && !head.passive
                && let Some(again) = self.french_group(index + 1)
            {
                return Coordinates { end: index, next: Some(Head { start: index + 1, ..again }) };
            }
            index += 1;
        }
        Coordinates { end: self.to, next: None }
    }
}

/// The state of reading one verb group.
struct Group<'r, 't> {
    reader: &'r Reader<'t>,
    at: usize,
    start: usize,
    /// "ne … que": only, not "not".
    restricted: bool,
    ne: bool,
    negated: bool,
    almost: bool,
    perfect: bool,
    past: bool,
    clitics: Vec<usize>,
}

impl<'t> Group<'_, 't> {
    fn word(&self) -> &'t str {
        self.reader.word(self.at)
    }

    /// Skips adverbs and notes negation.
    fn adverbs(&mut self) {
        while self.at < self.reader.to {
            let (word, next) = (self.word(), self.reader.word(self.at + 1));
            if next == "seulement" && matches!(word, "non" | "pas") {
                self.at += 2;
            } else if word == "plus" && self.ne || NEGATORS.contains(&word) {
                self.negated = true;
                self.at += 1;
            } else if matches!(word, "presque" | "failli") {
                self.almost = true;
                self.at += 1;
            } else if self.reader.french_adverb(self.at) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// Skips "ne" and object pronouns.
    fn before_verb(&mut self) {
        while self.at < self.reader.to {
            match self.word() {
                "ne" | "n'" => self.ne = true,
                word if CLITICS.contains(&word) => self.clitics.push(self.at),
                _ => return,
            }
            self.at += 1;
        }
    }

    fn negation(&self) -> bool {
        // "je n'ai supprimé que a.txt" did delete it; "je n'ai supprimé aucun fichier" did not.
        let later = |words: &[&str]| (self.at..self.reader.to).any(|at| words.contains(&self.reader.word(at)));
        if self.negated {
            return true;
        }
        self.ne && !self.restricted && later(&["aucun", "aucune", "rien", "personne", "pas", "jamais", "ni"])
    }

    fn head(&self, mask: u16, modality: Modality, passive: bool) -> Option<Head> {
        let entry = self.reader.french_form(self.at, mask)?;
        let modality = if self.almost { Modality::Unasserted } else { modality.negate(self.negation()) };
        Some(self.made(entry.concept, entry.lemma, modality, passive, mask))
    }

    fn made(&self, concept: Concept, lemma: String, modality: Modality, passive: bool, mask: u16) -> Head {
        Head {
            at: self.at,
            start: self.start,
            concept,
            lemma,
            modality,
            passive,
            perfect: self.perfect,
            past: self.past,
            mask,
            clitics: self.clitics.clone(),
        }
    }

    /// "je n'ai pas pu", "je ne l'ai pas fait": the verb stands in an earlier clause.
    fn elliptical(&self, modality: Modality) -> Option<Head> {
        let ends = self.at >= self.reader.to || matches!(self.word(), "car" | "parce" | "puisque" | "comme" | "a");
        ends.then(|| {
            let at = self.at.min(self.reader.to).saturating_sub(1);
            Head { at, ..self.made(Concept::Generic, String::new(), modality.negate(self.negation()), false, 0) }
        })
    }

    fn finite(&mut self) -> Option<Head> {
        self.adverbs();
        self.before_verb();
        let word = self.word();
        if word == "a" && self.reader.accented(self.at) == "à" {
            return None;
        }
        match word {
            "ai" | "avons" | "a" | "ont" => self.avoir(false),
            "avais" | "avait" | "avions" | "avaient" => self.avoir(true),
            // "quand j'aurai enregistré", "j'aurais enregistré"
            "aurai" | "aurais" | "aura" | "aurait" | "auront" | "auraient" | "aurons" | "aurions" => None,
            "suis" | "sommes" | "est" | "sont" => self.etre(false),
            "etais" | "etait" | "etions" | "etaient" => self.etre(true),
            "sera" | "seront" | "serai" | "serons" => self.future_be(Modality::Will),
            "serait" | "serais" | "seraient" => self.future_be(Modality::Unasserted),
            "vais" | "allons" | "va" | "vont" => self.infinitive_after(Modality::Will),
            "allais" | "allait" => self.infinitive_after(Modality::Unasserted),
            "viens" | "venons" | "vient" | "viennent" | "venais" => {
                self.at += 1;
                self.adverbs();
                self.past = true;
                if !matches!(self.word(), "de" | "d'") {
                    return None;
                }
                self.infinitive_after(Modality::Done)
            }
            "peux" | "puis" | "pouvons" | "peut" | "peuvent" | "sais" | "savons" => {
                self.infinitive_after(Modality::Can)
            }
            "pourrai" | "pourrons" | "pourra" | "saurai" | "pourront" => self.infinitive_after(Modality::CanWill),
            "pourrais" | "pourrions" | "pourrait" | "saurais" | "saurait" | "pourraient" => {
                self.infinitive_after(Modality::Can)
            }
            "pouvais" | "pouvait" => self.infinitive_after(Modality::Could),
            "arrive" | "parviens" | "reussis" | "parvenons" | "arrivais" | "parvenais" | "parvient" => {
                self.at += 1;
                self.adverbs();
                let failed = self.negation();
                self.negated = false;
                self.ne = false;
                self.at -= usize::from(self.at > 0);
                self.infinitive_after(if failed { Modality::Failed } else { Modality::Can })
            }
            "dois" | "devons" | "doit" | "devrais" | "devrait" | "veux" | "voudrais" | "souhaite" | "aimerais"
            | "compte" | "espere" | "prefere" | "propose" | "refuse" | "ose" | "pense" | "doivent" | "devais"
            | "voulais" | "souhaiterais" | "essaie" | "essaye" | "tente" => self.infinitive_after(Modality::Unasserted),
            "occupe" | "charge" => self.infinitive_after(Modality::Will),
            "laisse" | "laissez" => {
                self.at += 1;
                while matches!(self.word(), "moi" | "nous") {
                    self.at += 1;
                }
                self.at -= 1;
                self.infinitive_after(Modality::Will)
            }
            _ => self.lexical(),
        }
    }

    fn lexical(&mut self) -> Option<Head> {
        self.head(form::FUTURE, Modality::Will, false)
            .or_else(|| {
                self.head(form::CONDITIONAL, Modality::Could, false).map(|head| match head.modality {
                    Modality::Failed => Head { modality: Modality::Unasserted, ..head },
                    _ => head,
                })
            })
            .or_else(|| self.head(form::IMPERFECT, Modality::Unasserted, false))
            .or_else(|| self.head(form::BASE, Modality::Doing, false))
    }

    /// An infinitive after a verb that takes one; the words between are skipped.
    fn infinitive_after(&mut self, modality: Modality) -> Option<Head> {
        self.at += 1;
        self.infinitive(modality)
    }

    fn infinitive(&mut self, modality: Modality) -> Option<Head> {
        let limit = self.at + 6;
        while self.at < self.reader.to && self.at < limit {
            self.adverbs();
            match self.word() {
                "de" | "d'" | "a" | "pour" | "par" | "ne" | "n'" => self.at += 1,
                word if CLITICS.contains(&word) => {
                    self.clitics.push(self.at);
                    self.at += 1;
                }
                "etre" => {
                    self.at += 1;
                    self.adverbs();
                    if matches!(self.word(), "capable" | "mesure" | "en") {
                        return None;
                    }
                    return self.head(form::PARTICIPLE | form::LOOSE, modality, true);
                }
                "faire" if self.reader.french_form(self.at + 1, form::INFINITIVE).is_some() => self.at += 1,
                "essayer" | "tenter" | "aller" | "venir" | "pouvoir" => self.at += 1,
                "avoir" if matches!(self.reader.word(self.at + 1), "acces") => return self.access(1, modality),
                "avoir" => return None,
                _ => break,
            }
        }
        self.head(form::INFINITIVE, modality, false).or_else(|| {
            matches!(modality, Modality::Can | Modality::Failed | Modality::Done | Modality::Could)
                .then(|| self.elliptical(modality))
                .flatten()
                .filter(|_| self.negation() || modality == Modality::Failed)
        })
    }

    /// "j'ai accès à vos fichiers"
    fn access(&mut self, skip: usize, modality: Modality) -> Option<Head> {
        self.at += skip;
        Some(self.made(Concept::Access, "acceder".to_owned(), modality.negate(self.negation()), false, 0))
    }

    fn avoir(&mut self, pluperfect: bool) -> Option<Head> {
        self.at += 1;
        self.perfect = !pluperfect;
        self.past = true;
        self.adverbs();
        match self.word() {
            "ete" => {
                self.at += 1;
                self.adverbs();
                self.after_been(Modality::Done)
            }
            "acces" => self.access(0, Modality::Can),
            "la" | "le" if matches!(self.reader.word(self.at + 1), "possibilite" | "capacite" | "moyen" | "moyens") => {
                self.at += 1;
                self.infinitive_after(Modality::Can)
            }
            "de" if matches!(self.reader.word(self.at + 1), "moyen" | "acces") && self.negated => {
                if self.reader.word(self.at + 1) == "acces" {
                    return self.access(1, Modality::Can);
                }
                self.at += 1;
                self.infinitive_after(Modality::Can)
            }
            "aucun" if self.reader.word(self.at + 1) == "acces" => {
                self.negated = true;
                self.access(1, Modality::Can)
            }
            "pris" if matches!(self.reader.word(self.at + 1), "soin" | "la") => {
                let liberty = self.reader.word(self.at + 2) == "liberte";
                self.at += if liberty { 2 } else { 1 };
                if liberty || self.reader.word(self.at) == "soin" {
                    self.infinitive_after(Modality::Done)
                } else {
                    None
                }
            }
            "fait" if self.reader.french_form(self.at + 1, form::INFINITIVE).is_some() => {
                self.infinitive_after(Modality::Done)
            }
            _ => self.participle(),
        }
    }

    /// After "avoir": a participle, perhaps one that takes an infinitive.
    fn participle(&mut self) -> Option<Head> {
        if let Some(head) = self.taken() {
            return Some(head);
        }
        // "cherché à comprendre" looks for nothing.
        if self.word() == "cherche" && self.reader.accented(self.at + 1) == "à" {
            return None;
        }
        let from = self.at + 1;
        let until = self.reader.to;
        let only = self.ne && !self.negated && (from..until).any(|at| matches!(self.reader.word(at), "que" | "qu'"));
        self.restricted = only;
        let mut head = self.head(form::PARTICIPLE | form::LOOSE, Modality::Done, false)?;
        // "je n'ai pas fait" with nothing after it points back.
        if matches!(head.lemma.as_str(), "faire") && self.at + 1 >= until {
            head.concept = Concept::Generic;
        }
        Some(head)
    }

    /// "réussi à", "essayé de", "oublié de" and their like.
    fn taken(&mut self) -> Option<Head> {
        let word = self.word();
        let (_, effect) = TAKERS.iter().find(|(words, _)| words.split(' ').any(|taker| taker == word))?;
        let (at, negated, clitics) = (self.at, self.negated, self.clitics.len());
        let direct = matches!(
            word,
            "pu" | "su" | "du" | "voulu" | "failli" | "prefere" | "pense" | "compte" | "espere" | "souhaite"
        );
        let follows = self.reader.word(self.at + 1);
        let ends = follows.is_empty() && matches!(word, "pu" | "reussi" | "echoue");
        if !direct && !ends && !matches!(follows, "a" | "de" | "d'" | "bien" | "ne" | "pour" | "en") {
            return None;
        }
        let outer = Modality::Done.negate(self.negation());
        self.negated = false;
        let ne = std::mem::take(&mut self.ne);
        self.at += 1;
        let inner = self.reader.word(self.at) == "pas"
            || (self.reader.word(self.at + 1) == "ne")
            || self.reader.word(self.at) == "ne"
            || self.reader.word(self.at) == "n'";
        let modality = match (effect, outer) {
            (Effect::Succeeds | Effect::Ends, Modality::NotDone) => Modality::Failed,
            (Effect::Succeeds | Effect::Ends, outer) => outer,
            (Effect::Fails, Modality::Done) => Modality::Failed,
            (Effect::Omits, Modality::Done) | (Effect::Tries, Modality::NotDone) => Modality::NotDone,
            (Effect::Tries, Modality::Done) => Modality::Attempted,
            (Effect::Decides, Modality::Done) if inner => Modality::NotDone,
            (Effect::Begins, Modality::Done) => Modality::Doing,
            _ => Modality::Unasserted,
        };
        let found = self.infinitive_or_nothing(modality);
        if found.is_none() {
            (self.at, self.negated, self.ne) = (at, negated, ne);
            self.clitics.truncate(clitics);
        }
        found
    }

    fn infinitive_or_nothing(&mut self, modality: Modality) -> Option<Head> {
        let found = self.infinitive(match modality {
            // The infinitive's own "ne pas" has been counted.
            Modality::NotDone => Modality::Present,
            other => other,
        })?;
        Some(Head { modality, ..found })
    }

    fn etre(&mut self, past: bool) -> Option<Head> {
        self.at += 1;
        self.past = past;
        self.adverbs();
        let (ability, next) = (if past { Modality::Could } else { Modality::Can }, self.reader.word(self.at + 1));
        match self.word() {
            "en" if next == "train" => {
                self.at += 1;
                self.infinitive_after(if past { Modality::Unasserted } else { Modality::Doing })
            }
            "en" | "a" if matches!(next, "mesure" | "meme" | "capacite") => {
                self.at += 1;
                self.infinitive_after(ability)
            }
            "dans" => {
                let unable = (self.at..self.at + 4)
                    .find(|at| matches!(self.reader.word(*at), "incapacite" | "impossibilite"))?;
                self.at = unable;
                self.infinitive_after(Modality::Cannot)
            }
            "capable" | "autorise" | "autorisee" | "habilite" => self.infinitive_after(ability),
            "incapable" => self.infinitive_after(Modality::Cannot),
            "pret" | "prete" | "ravi" | "ravie" | "heureux" | "heureuse" => self.infinitive_after(Modality::Can),
            "sur" | "cense" | "censee" | "en" => None,
            "alle" | "allee" | "venu" | "venue" | "alles" => self.infinitive_after(Modality::Done),
            "parvenu" | "parvenue" | "arrive" | "arrivee" => {
                let failed = self.negation();
                self.negated = false;
                self.ne = false;
                self.infinitive_after(if failed { Modality::Failed } else { Modality::Done })
            }
            "occupe" | "occupee" | "charge" | "chargee" | "permis" | "permise" | "assure" | "assuree" => {
                let at = self.at;
                self.past = true;
                if let Some(head) = self.infinitive_after(Modality::Done) {
                    return Some(head);
                }
                self.at = at;
                (self.word() != "assure" && self.word() != "permis").then(|| {
                    self.made(Concept::Generic, String::new(), Modality::Done.negate(self.negation()), false, 0)
                })
            }
            _ => self.head(form::PARTICIPLE | form::LOOSE, Modality::Done, true).filter(|head| {
                head.mask & form::LOOSE == 0 || self.reader.french_form(self.at, form::INFINITIVE).is_none()
            }),
        }
    }

    fn after_been(&mut self, modality: Modality) -> Option<Head> {
        match self.word() {
            "capable" | "en" | "autorise" => {
                let failed = self.negation();
                self.negated = false;
                self.ne = false;
                if self.word() == "en" {
                    self.at += 1;
                }
                self.infinitive_after(if failed { Modality::Failed } else { modality })
            }
            "incapable" => self.infinitive_after(Modality::Failed),
            _ => self.head(form::PARTICIPLE | form::LOOSE, modality, true),
        }
    }

    fn future_be(&mut self, modality: Modality) -> Option<Head> {
        self.at += 1;
        self.adverbs();
        match self.word() {
            "ravi" | "ravie" | "heureux" | "heureuse" | "pret" | "prete" => self.infinitive_after(Modality::Can),
            _ => self.head(form::PARTICIPLE | form::LOOSE, modality, true),
        }
    }
}
