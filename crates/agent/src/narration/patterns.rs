//! The rules, one sentence at a time.

use std::sync::LazyLock;

use regex::Regex;

use super::verbs::{ENGLISH_BASE, ENGLISH_ING, ENGLISH_TEXT, FRENCH_BASE, FRENCH_FIRST, FRENCH_TEXT, MADE};

/// Adverbs and helpers between the announcement and its verb. Negations and habits are not here.
const ENGLISH_BETWEEN: &str = "now|then|just|quickly|first|also|gladly|happily|immediately|right away|go ahead and|go and|try to|try and|\
    attempt to|start by|begin by|start|begin|proceed to|simply|briefly|carefully|double|re|have to|need to first|currently|actually|\
    already|help you|help|next";
const FRENCH_BETWEEN: &str = "maintenant|d'abord|tout de suite|donc|juste|simplement|rapidement|immediatement|aussi|alors|vite|ensuite|\
    essayer de|essayer d'|tenter de|tenter d'|commencer par|tout d'abord|de ce pas|bien|egalement|aller|proceder a|d'ici|deja|\
    te|t'|vous|l'|le |la |les|lui|y|en|me|m'|d'|de";

struct Rules {
    /// Announcements.
    announcing: Vec<Regex>,
    /// Announcements of writing, which are acts only beside something that a tool makes.
    writing: Vec<Regex>,
    made: Regex,
    /// Participles at the start of a sentence, and what makes such a sentence a statement instead.
    participle: Regex,
    statement: Regex,
    /// Sentences that depend on something, offer, ask, or tell the user what to do.
    conditional: Regex,
    /// "check if" asks nothing of the user.
    whether: Regex,
    /// Fillers at the start.
    opening: Regex,
}

/// Builds every rule; `None` only if a pattern of this file were invalid, which a test excludes.
fn build() -> Option<Rules> {
    let rule = |pattern: String| Regex::new(&pattern).ok();
    let english = |pattern: &str, verbs: &str| {
        rule(
            pattern
                .replace("SUBJECT", r"(?:i'?ll|i will|i shall|i am going to|i'?m going to|i'?m gonna|i am about to|i'?m about to|let me|lemme|allow me to|let's)")
                .replace("BETWEEN", &format!(r"(?:(?:{ENGLISH_BETWEEN})[ -])*"))
                .replace("VERB", &format!(r"(?:{verbs})\b")),
        )
    };
    let french = |pattern: &str, verbs: &str| {
        rule(
            pattern
                .replace("BETWEEN", &format!(r"(?:(?:{FRENCH_BETWEEN})\s*)*"))
                .replace("VERB", &format!(r"(?:{verbs})\b")),
        )
    };
    Some(Rules {
        announcing: vec![
            english(r"\bSUBJECT BETWEENVERB", ENGLISH_BASE)?,
            english(r"\bSUBJECT be VERB", ENGLISH_ING)?,
            english(r"\b(?:i'?m|i am) (?:(?:now|just|currently|already|also) )*VERB", ENGLISH_ING)?,
            rule(r"\b(?:i'?m on it|i am on it|on it!|i'?ll get (?:right )?(?:on|to) (?:it|that)|i'?ll take care of (?:it|that|this)|i'?ll handle (?:it|that|this)|i'?ll do (?:it|that|this|so) (?:now|right away)|i'?ll be right back)".to_owned())?,
            french(r"\bje (?:m'en )?(?:te |vous |l'|le |la |les |lui |y |en )?vais BETWEENVERB", FRENCH_BASE)?,
            french(r"\bje suis en train (?:de |d')BETWEENVERB", FRENCH_BASE)?,
            french(r"\b(?:laisse-moi|laissez-moi|laisse moi|laissez moi|permets-moi de|permettez-moi de|permets-moi d'|permettez-moi d'|je m'apprete a) ?BETWEENVERB", FRENCH_BASE)?,
            french(r"\bj(?:e |')(?:(?:te|vous|le|la|les|lui|leur|y|en|me) |t'|l'|m')*VERB", FRENCH_FIRST)?,
            rule(
                r"\b(?:(?:laisse|laissez)[- ]moi|allow me) (?:a|one|un|une|le|quelques|deux) (?:petit |petite )?(?:instant|seconde|secondes|moment|second|minute|minutes|temps)".to_owned(),
            )?,
            rule(r"^(?:recherche|lecture|ouverture|verification|creation|suppression|telechargement|enregistrement|analyse|lancement) (?:\S+ ){0,6}en cours\b".to_owned())?,
        ],
        writing: vec![
            english(r"\bSUBJECT BETWEENVERB", ENGLISH_TEXT)?,
            french(r"\bje (?:te |vous |l'|le |la |les )?vais BETWEENVERB", FRENCH_TEXT)?,
            french(r"\bj(?:e |')(?:(?:te|vous|le|la|les) |t'|l')*VERB", FRENCH_TEXT)?,
        ],
        made: rule(format!(r"\b(?:{MADE})\b"))?,
        participle: rule(format!(r"^(?:{ENGLISH_ING})\b"))?,
        statement: rule(r"\b(?:is|are|was|were|will|would|can|could|may|might|must|should|requires?|needs?|takes?|means|helps?|has|have|had|isn't|can't|won't|cannot)\b".to_owned())?,
        conditional: rule(
            concat!(
                r"\?\s*$|\b(?:if|unless|once (?:you|i have|i know|we)|as soon as|when(?:ever)? (?:you|i|we)|after you|until you|before (?:i|we|you)|would you|",
                r"do you want|want me to|like me to|shall i|should i|can i|may i|let me know|in case|whether (?:i|we)|(?:tell|send|show) me|give me (?:the|your|its|their|a name|a title|a link|a path)|provided|only with your|with your (?:permission|approval|confirmation|go-ahead)|",
                r"i can|i could|i would|i'd|you can|you could|you'?ll (?:need|have)|you (?:need|have|should|must|may)|i'?ll need you|so (?:that )?i'?ll|i was|asked me)\b|",
                r"\b(?:si|s'il|s'ils|au cas ou|des que|une fois (?:que|le|la|les)|quand|lorsque?|lorsqu'|avant (?:que|de)|apres que|a condition|a moins|veux-tu|voulez-vous|",
                r"tu veux que|vous voulez que|souhait\w*|dois-je|puis-je|faut-il|je peux|je pourrais|je pourrai|tu peux|vous pouvez|tu dois|vous devez|tu devras|vous devrez|",
                r"il faut|avec (?:ton|votre) accord|dis-moi|dites-moi|(?:donne|donnez|envoie|envoyez|indique|indiquez|precise|precisez)-moi (?:le|la|les|l'|ton|ta|tes|votre|vos|son|sa|juste|seulement|simplement)|j'allais|que je)\b",
            )
            .to_owned(),
        )?,
        whether: rule(
            r"\b(check|see|verify|find out|look|know|confirm|verifier|verifie|voir|regarder|regarde|savoir|controler) (?:if|whether|si|s'il|s'ils)\b"
                .to_owned(),
        )?,
        opening: rule(
            concat!(
                r"^(?:[\s>*_#-]|(?:ok|okay|sure|sure thing|alright|all right|of course|certainly|absolutely|great|perfect|got it|understood|yes|no problem|no worries|right away|right|will do|thanks|thank you|",
                r"d'accord|bien sur|certainement|parfait|entendu|tres bien|pas de probleme|oui|compris|bon|alors|hmm|merci|pas de souci)[\s,.!:;–—-]+)+",
            )
            .to_owned(),
        )?,
    })
}

static RULES: LazyLock<Option<Rules>> = LazyLock::new(build);

/// A wait asked for: "one moment", "un instant".
static WAIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:(?:just )?(?:one|a) (?:moment|second|sec|minute)|hold on|hang on|give me a (?:moment|second|sec|minute)|",
        r"bear with me|please wait|stand by|un instant|un moment|une seconde|une minute|deux secondes|",
        r"patiente\w*|attends|attendez)",
        r"(?:\s*[,.!:;…-]|\s+(?:to|please|while|s'il|stp|svp|je|pendant)\b|\s*$)",
    ))
    .ok()
});

/// True when this folded sentence announces an act.
pub(super) fn announces(sentence: &str) -> bool {
    let Some(rules) = RULES.as_ref() else { return false };
    let sentence = rules.opening.replace(sentence, "");
    let sentence = sentence.trim();
    let asked = rules.whether.replace_all(sentence, "$1");
    if rules.conditional.is_match(&asked) {
        return false;
    }
    WAIT.as_ref().is_some_and(|wait| wait.is_match(sentence))
        || rules
            .announcing
            .iter()
            .any(|rule| rule.find(&asked).is_some_and(|found| !delivers(&asked[found.end()..])) && !is_talk(&asked))
        || (rules.made.is_match(&asked) && rules.writing.iter().any(|rule| rule.is_match(&asked)))
        || (rules.participle.is_match(sentence) && !rules.statement.is_match(sentence))
}

/// True when a colon and some words follow the announcement: it is carried out in the sentence.
fn delivers(rest: &str) -> bool {
    rest.split_once(": ").is_some_and(|(_, said)| said.split_whitespace().count() > 1)
}

/// Announcements of words, which the answer itself carries out, and figures of speech.
fn is_talk(sentence: &str) -> bool {
    static TALK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            concat!(
                r"\b(?:get back to you|get straight to|get to the point|put it (?:simply|another|this|differently)|put this (?:simply|another)|start with|start from|start by (?:saying|explaining)|ask you|add that|note that|ask for|",
                r"note que|ajoute que|ajouter que|noter que|mettre en (?:garde|avant|evidence)|passer en revue|",
                r"(?:reading|read|lis dans|relis) (?:this|your|ta|ton|votre|tes|vos) (?:question|message|request|demande)|point d'honneur|",
                r"te demander|vous demander|te demande|vous demande|te rappeler que|vous rappeler que|cherche (?:a|toujours|encore)|regarde (?:bien|toujours)|read you|te lire|analyse (?:ta|votre) (?:question|demande)|",
                r"set the record|pass on (?:this|that)|change the subject|change de sujet|changer de sujet|play (?:along|devil)|run through|go through (?:the|this|it) (?:with you|step)|switch to|clear up|break|clos(?:e|ing) with|",
                r"(?:list|listing|add|adding|lister|liste|ajoute|ajouter) (?:\S+ ){0,2}(?:reasons?|points?|steps?|options?|ideas?|examples?|arguments?|questions?|things?|raisons?|etapes?|idees?|exemples?|choses?))\b",
            ),
        )
        .ok()
    });
    TALK.as_ref().is_some_and(|talk| talk.is_match(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        assert!(build().is_some());
        assert!(WAIT.is_some());
    }
}
