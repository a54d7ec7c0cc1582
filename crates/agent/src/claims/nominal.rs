//! Acts told without a verb of their own: "the deletion failed", "unable to save", "according to my
//! search", "Claude suggests", "échec de l'envoi", and the stock phrases for "done".

use super::act::Acts;
use super::clause::Clause;
use super::concept::Concept;
use super::extract::{Passage, Standing};
use super::grammar::Modality;
use super::language::Language;
use super::nouns::{self, class};
use super::objects;
use super::senses::{Sense, sense};
use super::tokens::{Kind, Token};
use super::verbs::form;

/// Reads a clause in which no verb group was found.
pub(super) fn read(passage: &mut Passage<'_>, clause: &Clause, standing: Standing) {
    let tokens: Vec<Token> = passage.tokens()[clause.from..clause.to].to_vec();
    let found = stock_phrase(&tokens)
        .or_else(|| unable(passage, &tokens))
        .or_else(|| outcome(passage, &tokens))
        .or_else(|| trouble(passage, clause))
        .or_else(|| own_search(&tokens))
        .or_else(|| provider(&tokens))
        .or_else(|| resting_place(passage, &tokens))
        .or_else(|| holds_now(&tokens));
    let Some((sense, modality)) = found else { return };
    let objects = objects::named_in(&tokens);
    let language = passage.language();
    passage.state(sense, modality, standing.apply(modality, true, language), objects, (clause.from, clause.to), false);
}

type Told = Option<(Sense, Modality)>;

fn words(tokens: &[Token]) -> Vec<&str> {
    tokens
        .iter()
        .filter(|token| token.kind != Kind::Mark('…'))
        .map(Token::word)
        .filter(|word| !word.is_empty())
        .collect()
}

/// Whole clauses that say "done" without saying what.
fn stock_phrase(tokens: &[Token]) -> Told {
    #[rustfmt::skip]
    const DONE: &[&str] = &[
        "all set", "you are all set", "you're all set", "job done", "mission accomplished", "success", "it worked",
        "that worked", "that is it done", "good to go", "you are good to go", "everything is set",
        "everything is ready", "everything is in place", "it is all set", "c' est fait", "voila qui est fait",
        "c' est chose faite", "c' est regle", "tout est pret", "tout est en place", "tout est regle",
        "chose faite", "mission accomplie", "ca a marche", "ca y est", "cela a fonctionne", "ca a fonctionne",
        "succes", "operation reussie", "action reussie", "the operation was successful",
        "the action was successful", "the task was successful", "it was successful", "operation successful",
        "everything went well", "tout s' est bien passe", "everything worked", "tout a fonctionne",
    ];
    #[rustfmt::skip]
    const FAILED: &[&str] = &[
        "it failed", "that failed", "it did not work", "that did not work", "this did not work",
        "something went wrong", "ca a echoue", "cela a echoue", "ca n' a pas marche", "cela n' a pas fonctionne",
        "ca n' a pas fonctionne", "ca a pas marche", "no luck", "echec", "cela n' a pas marche",
    ];
    let said = words(tokens).join(" ");
    let said =
        ["and ", "et ", "so ", "but ", "mais ", "unfortunately ", "malheureusement ", "voila ", "yes ", "ok ", "okay "]
            .iter()
            .fold(said.as_str(), |said, lead| said.strip_prefix(lead).unwrap_or(said));
    let said = ["successfully", "now", "maintenant", "avec succes", "for you", "pour vous", "pour toi"]
        .iter()
        .fold(said, |said, tail| said.strip_suffix(tail).map_or(said, str::trim_end));
    if DONE.contains(&said) {
        Some((Sense::anything(), Modality::Done))
    } else if FAILED.contains(&said) {
        Some((Sense::anything(), Modality::Failed))
    } else {
        None
    }
}

/// "Unable to save the file", "Impossible d'ouvrir la page", "Échec de la suppression".
fn unable(passage: &Passage<'_>, tokens: &[Token]) -> Told {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let at = tokens
        .iter()
        .position(|token| matches!(token.word(), "unable" | "impossible" | "incapable" | "echec" | "failure"))?;
    let human = (0..at).any(|at| matches!(word(at), "you" | "vous" | "tu" | "not" | "pas"));
    if human {
        return None;
    }
    for next in at + 1..tokens.len().min(at + 8) {
        let entry = passage
            .lexicon()
            .english(word(next))
            .iter()
            .find(|entry| entry.bits & form::BASE != 0 && word(next - 1) == "to")
            .cloned()
            .or_else(|| {
                passage
                    .lexicon()
                    .french(&tokens[next].text, word(next))
                    .into_iter()
                    .find(|entry| entry.bits & form::INFINITIVE != 0)
            });
        let objects = objects::named_in(&tokens[next + 1..]);
        let told = match entry {
            Some(entry) => sense(entry.concept, &entry.lemma, &objects),
            None => nouns::action_of(word(next)).and_then(|concept| sense(concept, "", &with_pronoun(objects))),
        };
        if told.is_some() {
            return told.map(|sense| (sense, Modality::Failed));
        }
    }
    None
}

/// A noun of action alone is definite enough: "the deletion" is the one at hand.
fn with_pronoun(objects: objects::Objects) -> objects::Objects {
    objects::Objects { pronoun: true, definite: true, ..objects }
}

/// "The deletion failed", "l'envoi n'a pas abouti", "the download is complete".
fn outcome(passage: &Passage<'_>, tokens: &[Token]) -> Told {
    #[rustfmt::skip]
    const FAILURE: &[&str] = &[
        "failed", "fails", "echoue", "unsuccessful", "rejected", "refused", "declined", "denied", "blocked",
        "cancelled", "canceled", "interrupted", "aborted", "refuse", "refusee", "annulee", "annule", "bloquee",
        "bloque", "rejetee", "rejete", "interrompue", "interrompu", "infructueuse",
    ];
    #[rustfmt::skip]
    const SUCCESS: &[&str] = &[
        "succeeded", "worked", "successful", "through", "complete", "reussi", "reussie", "marche", "fonctionne",
        "abouti", "terminee", "termine",
    ];
    let at = tokens.iter().position(|token| {
        FAILURE.contains(&token.word())
            || SUCCESS.contains(&token.word())
            || matches!(token.word(), "work" | "succeed" | "go")
    })?;
    let subject = &tokens[..at];
    let has = |words: &[&str]| subject.iter().any(|token| words.contains(&token.word()));
    if has(&["you", "vous", "tu", "i", "je", "j'", "qui", "who", "he", "she"])
        || has(&["will", "can", "could", "would", "may", "might", "should", "va", "peut", "pourrait", "sera"])
    {
        return None;
    }
    let negated = has(&["not", "never", "pas", "jamais"]);
    let failed = FAILURE.contains(&tokens[at].word());
    let modality = match (failed, negated) {
        (true, false) | (false, true) => Modality::Failed,
        _ => Modality::Done,
    };
    let objects = objects::named_in(tokens);
    let concept = subject.iter().find_map(|token| nouns::action_of(token.word()));
    let doing = subject.first().and_then(|token| {
        passage.lexicon().english(token.word()).iter().find(|entry| entry.bits & form::GERUND != 0).cloned()
    });
    let told = match (doing, concept) {
        (Some(doing), _) => sense(doing.concept, &doing.lemma, &objects::named_in(&subject[1..]))?,
        (None, Some(concept)) => sense(concept, "", &with_pronoun(objects))?,
        (None, None)
            if has(&[
                "operation",
                "action",
                "task",
                "tache",
                "tentative",
                "attempt",
                "everything",
                "tout",
                "command",
                "commande",
            ]) || subject.len() <= 4 && has(&["it", "that", "this", "ca", "cela"]) =>
        {
            Sense::anything()
        }
        (None, None) => return None,
    };
    Some((told, modality))
}

/// "An error occurred while saving the file", "j'ai rencontré une erreur lors de la suppression".
fn trouble(passage: &Passage<'_>, clause: &Clause) -> Told {
    let tokens = &passage.tokens()[clause.from..];
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let at = tokens.iter().take(clause.to - clause.from).position(|token| {
        matches!(token.word(), "error" | "problem" | "issue" | "erreur" | "probleme" | "trouble" | "souci")
    })?;
    let none = (0..at).any(|at| {
        matches!(word(at), "no" | "without" | "sans" | "aucun" | "aucune" | "not" | "pas" | "fixed" | "corrige")
    });
    let happened = tokens.iter().any(|token| {
        matches!(
            token.word(),
            "occurred"
                | "happened"
                | "there"
                | "encountered"
                | "ran"
                | "got"
                | "hit"
                | "produite"
                | "survenue"
                | "eu"
                | "rencontre"
                | "survenu"
                | "produit"
        )
    }) || at <= 1;
    if none || !happened {
        return None;
    }
    for next in at + 1..tokens.len().min(at + 10) {
        let entry =
            passage.lexicon().english(word(next)).iter().find(|entry| entry.bits & form::GERUND != 0).cloned().or_else(
                || {
                    passage
                        .lexicon()
                        .french(&tokens[next].text, word(next))
                        .into_iter()
                        .find(|entry| entry.bits & (form::INFINITIVE | form::GERUND) != 0)
                },
            );
        let objects = objects::named_in(&tokens[next + 1..]);
        let told = match entry {
            Some(entry) => sense(entry.concept, &entry.lemma, &objects),
            None => nouns::action_of(word(next)).and_then(|concept| sense(concept, "", &with_pronoun(objects))),
        };
        if told.is_some() {
            return told.map(|sense| (sense, Modality::Failed));
        }
    }
    None
}

/// "According to my search", "d'après les résultats de la recherche", "based on what I found online".
fn own_search(tokens: &[Token]) -> Told {
    let said = words(tokens);
    let first = said.first().copied().unwrap_or_default();
    let second = said.get(1).copied().unwrap_or_default();
    let led = matches!(first, "according" | "selon" | "per")
        || first == "based"
        || (first == "d'" && second == "apres")
        || (first == "from" && second == "my");
    let searched = said.iter().any(|word| matches!(*word, "search" | "searches" | "recherche" | "recherches"));
    let owned = said.iter().any(|word| {
        matches!(*word, "my" | "ma" | "mes" | "web" | "results" | "resultats" | "online" | "internet" | "google")
    });
    // "My search returned nothing", "les résultats de la recherche montrent …"
    let shows = said.iter().any(|word| {
        matches!(
            *word,
            "returned"
                | "returns"
                | "show"
                | "shows"
                | "showed"
                | "revealed"
                | "found"
                | "indicate"
                | "indicates"
                | "gave"
                | "donne"
                | "montre"
                | "montrent"
                | "indique"
                | "indiquent"
                | "retourne"
                | "renvoie"
        )
    });
    let subject = said.iter().take(5).any(|word| matches!(*word, "search" | "recherche" | "recherches"));
    let others = said.iter().any(|word| {
        matches!(*word, "you" | "your" | "vous" | "votre" | "if" | "can" | "will" | "would" | "not" | "engine")
    });
    if (led && searched && owned) || (shows && subject && owned && !others) {
        return sense(Concept::Search, "search", &objects::Objects::default()).map(|sense| (sense, Modality::Done));
    }
    None
}

/// "Claude suggests …", "ChatGPT a répondu que …".
fn provider(tokens: &[Token]) -> Told {
    #[rustfmt::skip]
    const SAYS: &[&str] = &[
        "said", "says", "answered", "answers", "replied", "replies", "responded", "suggests", "suggested",
        "recommends", "recommended", "wrote", "advises", "advised", "told", "thinks", "thought", "confirmed",
        "proposes", "proposed", "repondu", "repond", "dit", "suggere", "recommande", "propose", "conseille",
        "redige", "ecrit", "confirme", "estime", "indique",
    ];
    let at = tokens.iter().position(|token| nouns::classes_of(token.word()) & class::PROVIDER != 0)?;
    let first = tokens[..at].iter().all(|token| matches!(token.word(), "and" | "et" | "but" | "mais" | "" | "then"));
    let next = tokens.get(at + 1)?;
    // "Claude Monet said": a name of two words is a person's.
    let said = tokens[at + 1..].iter().take(3).find(|token| SAYS.contains(&token.word()))?;
    let negated = tokens[at..].iter().any(|token| {
        matches!(token.word(), "not" | "pas" | "would" | "could" | "can" | "peut" | "if" | "si" | "n'" | "ne")
    });
    if !first || next.capital || negated || said.capital {
        return None;
    }
    sense(Concept::Ask, "ask", &objects::named_in(&tokens[at..=at])).map(|sense| (sense, Modality::Done))
}

/// A word that can be a past participle, whatever stands before it.
fn participle(passage: &Passage<'_>, token: &Token) -> bool {
    let participle = |entry: &super::verbs::Form| entry.bits & form::PARTICIPLE != 0;
    match passage.language() {
        Language::English => passage.lexicon().english(token.word()).iter().any(participle),
        Language::French => passage.lexicon().french(&token.text, token.word()).iter().any(participle),
    }
}

/// "Your calendar now has the meeting", "votre liste contient désormais le lait": it was put there.
fn holds_now(tokens: &[Token]) -> Told {
    let says = |token: &Token, words: &[&str]| words.contains(&token.word());
    let at = tokens.iter().position(|token| {
        says(token, &["has", "contains", "includes", "contient", "comporte", "comprend", "inclut"])
    })?;
    let near = &tokens[at.saturating_sub(1)..tokens.len().min(at + 2)];
    let now = near.iter().any(|token| says(token, &["now", "maintenant", "desormais"]));
    let negated = tokens.iter().any(|token| says(token, &["not", "no", "pas", "plus", "aucun", "aucune"]));
    let subject = objects::named_in(&tokens[..at]);
    if !now || negated || !subject.possessed || subject.file() || !subject.any(class::CALENDAR | class::LIST) {
        return None;
    }
    let concept = if subject.any(class::CALENDAR) { Concept::Schedule } else { Concept::Add };
    sense(concept, "add", &subject)
        .map(|sense| (Sense { also: sense.also.or(Acts::READS), deniable: false, ..sense }, Modality::Done))
}

/// "The file is now in the trash", "le fichier est dans la corbeille".
fn resting_place(passage: &Passage<'_>, tokens: &[Token]) -> Told {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let be = tokens.iter().position(|token| matches!(token.word(), "is" | "are" | "est" | "sont"))?;
    if be == 0 || (0..be).any(|at| matches!(word(at), "you" | "what" | "which")) {
        return None;
    }
    let negated = tokens[be..].iter().any(|token| matches!(token.word(), "not" | "pas"));
    let subject = objects::named_in(&tokens[..be]);
    // "Les fichiers supprimés sont dans la corbeille", "deleted files are in the trash": a kind of
    // things and where it stays, unless they are the user's or counted.
    let plural = matches!(word(be), "are" | "sont");
    let kind = plural && !subject.possessed && !subject.pronoun && subject.count.is_none() && subject.names.is_empty();
    if kind && tokens[..be].iter().any(|token| participle(passage, token)) {
        return None;
    }
    let rest = objects::named_in(&tokens[be + 1..]);
    if !(subject.file() || subject.pronoun || subject.any(class::DEVICE | class::MEDIA)) || negated {
        return None;
    }
    let state = tokens[be + 1..]
        .iter()
        .map(Token::word)
        .find(|word| !matches!(*word, "now" | "all" | "back" | "currently" | "already"));
    if subject.any(class::DEVICE) && matches!(state, Some("on" | "off")) {
        return sense(Concept::Turn, "turn", &subject)
            .map(|sense| (Sense { also: sense.also.or(Acts::READS), ..sense }, Modality::Done));
    }
    if subject.any(class::MEDIA) && tokens[be..].iter().any(|token| token.word() == "pause") {
        return sense(Concept::Pause, "pause", &subject).map(|sense| (sense, Modality::Done));
    }
    let gone = matches!(word(tokens.len() - 1), "gone");
    (rest.any(class::TRASH) || gone)
        .then(|| sense(Concept::Delete, "delete", &with_pronoun(subject)))
        .flatten()
        .map(|sense| (sense, Modality::Done))
}
