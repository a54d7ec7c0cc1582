//! The keyword router: one regular expression per category, French and English, no model.
//!
//! It fails open: a request that no rule recognises sees every tool. A rule that fires too often
//! costs a few tokens; one that misses hides the right tool, so the rules are broad.

use std::sync::LazyLock;

use regex::Regex;
use tenpass_trace::{ToolCategory, ToolDefinition};

use crate::words::fold;

struct Rule {
    category: ToolCategory,
    /// Matched against folded text: lower case, no accents.
    pattern: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        category: ToolCategory::Web,
        pattern: r"https?://|\bwww\.|\.(?:com|org|net|fr|io|dev)\b|\b(?:
            web|internet|online|en\ ligne|net|google\w*|wikipedia|url|links?|liens?|
            websites?|webpages?|sites?|pages?|articles?|blogs?|
            news|actus?|actualites?|nouvelles|headlines?|
            weather|forecast|meteo|prices?|prix|tarifs?|cours\ (?:de|du)|exchange\ rate|taux|
            search\w*|look\ up|looking\ up|find\ out|cherche\w*|recherche\w*|renseigne\w*|
            latest|newest|current|currently|dernieres?|derniers?|actuel\w*|recent\w*|score|results?|resultats?
        )\b",
    },
    Rule {
        category: ToolCategory::PcRead,
        pattern: r"\.(?:txt|md|csv|tsv|json|toml|ya?ml|pdf|docx?|xlsx?|odt|log|rs|py|js|html?|ini|conf|env)\b|(?:^|\s)[~/]\S*/|[a-z]:\\|\b(?:
            files?|fichiers?|documents?|docs?|folders?|dossiers?|director(?:y|ies)|repertoires?|
            lis|lire|lit|lisez|relis|relire|read|reading|reread|contents?|contenus?|
            lists?|listes?|lister|listez|shows?|montre\w*|affiche\w*|voir|
            downloads?|telechargements?|desktop|bureau|
            disks?|disques?|drives?|storage|stockage|space|espace|memory|memoire|ram|cpu|gpu|processeur|
            battery|batterie|system|systeme|computer|ordinateur|pc|machine|laptop|
            clean\w*|cleanup|tidy|nettoie\w*|nettoy\w*|menage|range\w*|
            notes?|reports?|rapports?|compte[\ -]rendus?|contrats?|contracts?|factures?|invoices?|summar\w*|resume\w*
        )\b",
    },
    Rule {
        category: ToolCategory::PcWrite,
        pattern: r"\b(?:
            write|writes|writing|written|ecris|ecrire|ecrit|ecrivez|redige\w*|draft\w*|
            create|creates|creating|cree|creer|creez|make|fais|faire|generate|genere\w*|
            save|saves|saving|sauve\w*|sauvegarde\w*|enregistre\w*|store|
            add|adds|adding|append\w*|ajoute\w*|rajoute\w*|insert\w*|insere\w*|put|mets|mettre|
            change\w*|changing|modifie\w*|modify|update\w*|updating|edit\w*|mets\ a\ jour|
            replace\w*|replacing|remplace\w*|correct\w*|corrige\w*|fix|
            rename\w*|renomme\w*|delete\w*|remove\w*|supprime\w*|efface\w*|note\w*|notez|jot
        )\b",
    },
    Rule {
        category: ToolCategory::PcAction,
        pattern: r"\b(?:
            open|opens|opening|ouvre\w*|ouvrir|launch\w*|lance\w*|start\w*|demarre\w*|run|
            play\w*|joue\w*|jouer|pause\w*|resume|reprend\w*|stop\w*|arrete\w*|
            next|suivant\w*|skip|saute\w*|previous|precedent\w*|back|
            volume|louder|quieter|loud|sound|(?:le|du|au|de)\ son|mute\w*|unmute|muet\w*|silence|
            turn\ (?:it\ |that\ |the\ \w+\ )?(?:up|down|off|on)|plus\ fort|moins\ fort|monte\w*|baisse\w*|coupe\w*|
            music|musique|songs?|chansons?|tracks?|pistes?|morceaux?|videos?|films?|movies?|podcasts?|
            browser|navigateur|apps?|applications?|programs?|programmes?|logiciels?|
            close|ferme\w*|show\ me|display|affiche\w*
        )\b",
    },
];

static COMPILED: LazyLock<Vec<(ToolCategory, Option<Regex>)>> = LazyLock::new(|| {
    RULES.iter().map(|rule| (rule.category, Regex::new(&format!("(?x){}", rule.pattern)).ok())).collect()
});

/// The categories whose rule fires on this request, in the order of the rules. Writing and acting
/// need to look first, so a write brings the reads along.
pub fn matched_categories(query: &str) -> Vec<ToolCategory> {
    let folded = fold(query);
    let mut matched: Vec<ToolCategory> = COMPILED
        .iter()
        .filter(|(_, rule)| rule.as_ref().is_some_and(|rule| rule.is_match(&folded)))
        .map(|(category, _)| *category)
        .collect();
    if matched.contains(&ToolCategory::PcWrite) && !matched.contains(&ToolCategory::PcRead) {
        matched.push(ToolCategory::PcRead);
    }
    matched
}

/// The tools of the matched categories and the core; every tool when no rule fires or when the
/// matched categories have no tool here.
pub fn route(tools: &[ToolDefinition], query: &str) -> Vec<ToolDefinition> {
    let matched = matched_categories(query);
    if !tools.iter().any(|tool| matched.contains(&tool.category)) {
        return tools.to_vec();
    }
    tools
        .iter()
        .filter(|tool| tool.category == ToolCategory::Core || matched.contains(&tool.category))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tool(name: &str, category: ToolCategory) -> ToolDefinition {
        ToolDefinition { category, ..ToolDefinition::new(name, "") }
    }

    fn tools() -> Vec<ToolDefinition> {
        vec![
            tool("web_search", ToolCategory::Web),
            tool("read_file", ToolCategory::PcRead),
            tool("write_file", ToolCategory::PcWrite),
            tool("open_url", ToolCategory::PcAction),
            tool("write_memory", ToolCategory::Core),
        ]
    }

    #[test]
    fn every_rule_compiles() {
        assert!(COMPILED.iter().all(|(_, rule)| rule.is_some()));
    }

    #[test]
    fn each_category_is_recognised_in_both_languages() {
        for (category, requests) in [
            (ToolCategory::Web, ["What is the weather in Lyon?", "Cherche les dernières actualités"]),
            (ToolCategory::PcRead, ["Read notes.txt to me", "Qu'est-ce qu'il y a dans le répertoire projets ?"]),
            (ToolCategory::PcWrite, ["Append milk to it", "Écris-le dans un nouveau"]),
            (ToolCategory::PcAction, ["Turn it up a bit", "OUVRE le navigateur"]),
        ] {
            for request in requests {
                assert!(matched_categories(request).contains(&category), "{request}: {category:?}");
            }
        }
    }

    #[test]
    fn a_routed_turn_keeps_the_core_and_drops_the_rest() {
        let names = |query: &str| route(&tools(), query).into_iter().map(|tool| tool.name).collect::<Vec<_>>();
        assert_eq!(names("mets la musique plus fort"), ["read_file", "write_file", "open_url", "write_memory"]);
        assert_eq!(names("what is the weather tomorrow?"), ["web_search", "write_memory"]);
    }

    #[test]
    fn a_category_without_tools_fails_open() {
        let only_core = vec![tool("a", ToolCategory::Core), tool("b", ToolCategory::PcRead)];
        assert_eq!(route(&only_core, "weather in Paris"), only_core);
    }

    proptest! {
        #[test]
        fn no_keyword_means_every_tool(query in "[xzk0-9 ?!]{0,30}") {
            prop_assert_eq!(matched_categories(&query), vec![]);
            prop_assert_eq!(route(&tools(), &query), tools());
        }

        #[test]
        fn routing_is_pure_and_ignores_case_and_accents(query in ".{0,60}") {
            let first = matched_categories(&query);
            prop_assert_eq!(&first, &matched_categories(&query));
            prop_assert_eq!(&first, &matched_categories(&fold(&query)));
        }
    }
}
