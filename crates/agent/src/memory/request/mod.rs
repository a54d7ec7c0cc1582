//! Does the user literally ask to be remembered? (K63a) "Remember that …", "retiens que …": yes.
//! "Do you remember …?", "tu te souviens … ?", a quotation, a reminder at a time: no.
//!
//! A pure rule over folded sentences, French and English. A request is an imperative at the start of
//! a sentence or clause, or one behind "can you", "je veux que tu" and their like.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use regex::Regex;

use super::key_value::sentences;
use crate::words::fold;

/// Words that may stand before the imperative, in any number.
const OPENERS: &str = r"(?:
    please|pls|ok|okay|hey|hi|hello|thanks|thank\ you|also|just|always|now|then|yes|no|so|well|btw|by\ the\ way|and|
    let's|one\ more\ thing|for\ later|for\ next\ time|kindly|assistant|
    stp|svp|s'il\ te\ plait|s'il\ vous\ plait|bon|bonjour|salut|merci|oui|non|dis|aussi|et|puis|au\ fait|alors|donc|surtout|
    toujours|maintenant|est-ce\ que|pour\ la\ suite|pour\ la\ prochaine\ fois|du\ coup|bien|juste
)[\s,!]+";

/// What turns an infinitive or a subjunctive into a request, even in a question.
const MODALS: &str = r"(?:
    (?:can|could|would|will)\ you(?:\ please|\ also|\ just)?|would\ you\ mind|you\ (?:should|must|need\ to|have\ to|can|could)|
    i(?:\ want|\ need|'d\ like|\ would\ like)\ you\ to|(?:make|be)\ sure\ (?:to|you|that\ you)|
    (?:peux|pourrais|veux)[-\ ]tu|(?:pouvez|pourriez|voulez)[-\ ]vous|tu\ (?:peux|pourrais|pourras|dois|devrais)|vous\ (?:pouvez|devez)|
    (?:il\ )?fau(?:t|drait|dra)\ que\ (?:tu|vous)|(?:je\ veux|je\ voudrais|j'aimerais|je\ souhaite|j'ai\ besoin)\ que\ (?:tu|vous)|je\ (?:te|vous)\ demande\ de|merci\ de|pense\ a|essaie\ de
)\s+(?:please\s+|also\s+|just\s+|always\s+|aussi\s+|bien\s+|juste\s+|toujours\s+)?";

/// The imperatives.
const CUES: &str = r"(?:
    remember(?:ing)?(?:\s*[:,]|\s+(?:that|this|these|it|my|our|his|her|their|i|i'm|i've|we|we're|for\ (?:next|later)|
        to\ (?:always|never))\b)|
    (?:make|take|making|keep|keeping)\s+(?:a\s+)?(?:mental\s+)?note\b|
    note(?:\s*:|\s+(?:that|this|down|my|to\ self)\b)|jot\ down\ (?:in\ your\ memory|that)\b|
    (?:keep|keeping|bear)\s+(?:\w+\s+){0,8}?in\s+mind\b|
    (?:don't|do\ not|dont|never)\s+(?:ever\s+)?forget(?:\s*:|\s+(?:that|this|my|our|i|i'm|we|about\ my)\b)|
    memori[sz](?:e|ing)\b|
    (?:save|store|put|add|write|keep|record|commit)\s+(?:.{1,120}?\s)?(?:in|to|into)\s+your\s+(?:long[-\ ]term\s+)?memor(?:y|ies)\b|
    (?:save|store|put|add|keep|record|commit)\s+(?:this|that|it|the\ following)\s+(?:in|to|into)\s+(?:the\ )?memory\b|
    (?:save|store|add|commit)\s+(?:.{1,120}?\s)?to\s+memory\s*(?::|that\b)|update\s+your\s+memory\b|

    (?:retiens|retenez|retenir|retiennes|reteniez|tu\s+retiendras|vous\s+retiendrez)(?:-l[ea]s?\b|\s*[:,]|\s+(?:(?:bien|aussi|donc|surtout)\s+)?(?:que|qu'|ca|ceci|cela|mon|ma|mes|notre|nos|le|la|les|l'|pour))|
    a\s+(?:retenir|noter|memoriser)\s*:|
    (?:note|notes|notez|noter|notiez|tu\s+noteras)(?:-l[ea]s?\b|\s*:|\s+(?:(?:bien|aussi|donc|quelque\ part)\s+)?(?:que|qu'|ca|ceci|cela|mon|ma|mes|dans\ ta\ memoire)\b)|
    (?:souviens[-\ ]toi|souvenez[-\ ]vous|te\ souvenir|te\ souviennes|vous\ souveniez|rappelle[-\ ]toi|rappelez[-\ ]vous|te\ rappeler|te\ rappelles)
        (?:\s*[:,]|\s+(?:(?:bien|toujours|aussi)\s+)?(?:que|qu'|de|du|des|d'|ca|mon|ma|mes))|
    (?:n'oublie[sz]?|ne\ pas\ oublier|n'oublier)\s+(?:pas\s+|jamais\s+|surtout\s+pas\s+|plus\s+)?(?:que|qu'|mon|ma|mes|ca|ceci|:)|
    (?:t')?oublie[sz]?\s+(?:surtout\s+)?(?:pas|jamais)\s+(?:que|qu'|mon|ma|mes|ca|ceci|:)|
    (?:garde|gardes|gardez|garder)\s+(?:\w+\s+){0,8}?(?:en\s+(?:tete|memoire)|a\s+l'esprit)\b|
    memorise[rsz]?\b|
    (?:mets|mettez|mettre|ajoute[rz]?|enregistre[rz]?|stocke[rz]?|inscris|ecris|range|garde[rz]?)\s+(?:.{1,120}?\s)?(?:dans|en|a)\s+(?:ta|votre|la)\s+memoire\b(?:\s*[:,]|\s+que\b|$|\W)|
    (?:mets|mettez|mettre)\s+(?:en\s+memoire|a\s+jour\s+(?:ta|votre)\s+memoire)\b|enregistre[rz]?\s+(?:que|qu'|le\s+fait)|
    (?:mets|mettez|mettre|enregistre[rz]?|stocke[rz]?|garde[rz]?)(?:\s+|-)(?:ca|ceci|cela|le|la)\s+en\s+memoire\b|
    sache[zs]?\s+qu[e']|(?:prends|prenez|prendre|prennes)\s+(?:bien\s+)?note\b
)";

/// "Remember" and a statement: "remember the code is 4512", "remember Paul is my boss".
const STATEMENT: &str = r"remember\s+[a-z0-9]";

/// "Remember" and something that is no statement: reminiscing, a chore, a person.
const NO_STATEMENT: &str = r"(?x)\bremember\s+(?:to|when|how|why|who|whose|where|whether|if|me|us|him|them|you|back|
    correctly|right|anything|something|nothing|everything|vaguely|clearly|well|the\ (?:time|day|good)|those|as|and|or|but)\b";

/// Reminiscing, and sentences about a sentence.
const NOT: &str = r"(?x)
    \bremember(?:ing)?\s+(?:when|how|the\ (?:time|day)|that\ (?:time|day|night|one\ time|evening|summer|trip|song|movie|film|guy))\b|
    \bsouviens[-\ ]toi\s+(?:de\ )?(?:quand|comment|la\ fois)\b|
    ^\W*(?:translate|tradui\w*|how\ (?:do|would)\ (?:you|i)\ say|comment\ (?:dit|dirait)|what\ does|what\ is\ the\ meaning|que\ (?:veut|signifie)|
        paraphrase|rephrase|reformule\w*|corrige\w*|proofread|spell|conjugue\w*|explain|explique\w*)\b|
    # A mark for a piece of work.
    \bnote[rsz]?\s+(?:mon|ma|mes|ce|cette)\b.*(?:\bsur\s+(?:5|10|20|100)\b|/\s?(?:5|10|20|100)\b)|
    # A note in a file or a calendar.
    \b(?:(?:make|take|keep)\s+a\s+note|note\s+(?:this|that|it|down|ca|ceci|cela)|jot|write|save|store|add|ajoute\w*|
        enregistre\w*|mets|inscris|ecris)\b.*\b(?:in|to|into|on|dans|sur|a)\s+(?:(?:a|the|my|this|that|le|la|un|une|mon|ma|ce|cette)\s+)?
        (?:files?|fichiers?|documents?|calendar|agenda|calendrier|spreadsheet|tableur|to-?do\s+list|[\w-]+\.(?:txt|md|docx?|csv|xlsx?))\b";

struct Rules {
    imperative: Regex,
    asked: Regex,
    statement: Regex,
    no_statement: Regex,
    not: Regex,
    tag: Regex,
}

static RULES: LazyLock<Option<Rules>> = LazyLock::new(|| {
    let start = r"(?:^[\W\d]*|[.!;:,(]\s*|\s-\s|\b(?:and|et|puis|then|so|donc|alors|but|mais)\s+)";
    Some(Rules {
        imperative: Regex::new(&format!(r"(?x){start}(?:{OPENERS})*{CUES}")).ok()?,
        asked: Regex::new(&format!(r"(?x){start}(?:{OPENERS})*{MODALS}{CUES}")).ok()?,
        statement: Regex::new(&format!(r"(?x){start}(?:{OPENERS})*{STATEMENT}")).ok()?,
        no_statement: Regex::new(NO_STATEMENT).ok()?,
        not: Regex::new(NOT).ok()?,
        tag: Regex::new(r"[,\s]+(?:ok|okay|d'accord|hein|please|compris|got it|right|will you|tu veux bien|stp|svp|s'il te plait)\s*\?+\s*$").ok()?,
    })
});

/// True when the text holds a request to remember something.
pub fn is_literal_request(text: &str) -> bool {
    literal_request(text).is_some()
}

/// The sentence that asks to remember something, as typed.
pub fn literal_request(text: &str) -> Option<&str> {
    let rules = RULES.as_ref()?;
    sentences(text).into_iter().map(str::trim).find(|sentence| asks(rules, sentence))
}

fn asks(rules: &Rules, sentence: &str) -> bool {
    if sentence.starts_with('>') {
        return false;
    }
    let folded = fold(&without_quotations(sentence));
    let spoken = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    if rules.not.is_match(&spoken) {
        return false;
    }
    let told = rules.tag.replace(&spoken, "");
    let is_question = told.trim_end().ends_with('?');
    let states = || rules.statement.is_match(&told) && !rules.no_statement.is_match(&told);
    rules.asked.is_match(&told) || (!is_question && (rules.imperative.is_match(&told) || states()))
}

/// The sentence without what stands between quotation marks or backticks.
fn without_quotations(sentence: &str) -> String {
    let mut kept = String::with_capacity(sentence.len());
    let mut closing: Option<char> = None;
    for (index, character) in sentence.char_indices() {
        match closing {
            Some(end) if character == end => closing = None,
            Some(_) => {}
            None => {
                let end = match character {
                    '"' | '`' => Some(character),
                    '“' => Some('”'),
                    '«' => Some('»'),
                    _ => None,
                };
                // A mark that nothing closes quotes nothing.
                closing = end.filter(|end| sentence[index + character.len_utf8()..].contains(*end));
                kept.push(if closing.is_some() { ' ' } else { character });
            }
        }
    }
    kept
}
