//! The verbs of acting, in the forms that announcements use. Folded: lower case, no accents.

/// Acts of the tools: infinitives as they follow "I'll" and "let me".
pub(super) const ENGLISH_BASE: &str = "\
    open|reopen|launch|start|play|pause|resume|mute|unmute|skip|search|google|browse|find|locate|\
    look (?:it |that |this |them )?up|look (?:for|into|at|through|inside|in)|have a look|take a look|\
    dig (?:through|into|up)|jot|process|examine|track (?:it |that )?down|hunt|wipe|see what|check|verify|\
    inspect|scan|read|fetch|pull (?:it |that |this |them )?up|pull|retrieve|get|grab|download|list|save|store|\
    record|remember|note|memorize|memorise|log|delete|remove|erase|trash|clean|clear|tidy|empty|move|rename|\
    copy|append|add|insert|update|edit|modify|change|replace|overwrite|run|execute|perform|do a|do an|carry out|\
    invoke|call the|use the|query|consult|ask|delegate|forward|send|submit|pass|hand|schedule|set|remind|create|\
    put|turn|switch|close|proceed|go through|analy[sz]e|plot";

/// The same as participles: "I'm opening", "Opening the file now".
pub(super) const ENGLISH_ING: &str = "\
    opening|reopening|launching|starting|playing|pausing|resuming|muting|unmuting|skipping|searching|googling|\
    browsing|finding|locating|looking (?:it |that |this |them )?up|looking (?:for|into|at|through|inside|in)|\
    taking a look|digging (?:through|into|up)|processing|checking|verifying|inspecting|scanning|reading|\
    fetching|pulling|retrieving|getting|grabbing|downloading|listing|saving|storing|recording|noting|memorizing|\
    memorising|logging|deleting|removing|erasing|trashing|cleaning|clearing|tidying|emptying|moving|renaming|\
    copying|appending|adding|inserting|updating|editing|modifying|changing|replacing|overwriting|running|\
    executing|performing|invoking|querying|consulting|asking|delegating|forwarding|sending|submitting|passing|\
    scheduling|setting|creating|writing|putting|turning|switching|closing|proceeding|analy[sz]ing|plotting";

/// Verbs that produce words as well as files: acts only beside something a tool makes.
pub(super) const ENGLISH_TEXT: &str = "write|draft|compose|make|generate|prepare|produce|build";

/// What a tool makes: a file by its kind or its name.
pub(super) const MADE: &str = concat!(
    r"files?|documents?|docs?|folders?|spreadsheets?|pdf|docx|xlsx|csv|charts?|reminders?|memory|disk|note|notes|",
    r"fichiers?|dossiers?|rappels?|graphiques?|tableur|memoire|disque|[a-z0-9_-]+\.[a-z]{1,5}[0-9]?",
);

/// French infinitives, after "je vais", "laisse-moi", "en train de".
pub(super) const FRENCH_BASE: &str = "\
    ouvrir|rouvrir|lancer|demarrer|relancer|jouer|couper|monter|baisser|passer a la|passer au|m'occuper|voir|\
    retrouver|chercher|rechercher|trouver|regarder|consulter|verifier|controler|inspecter|examiner|parcourir|\
    explorer|scanner|analyser|lire|relire|recuperer|telecharger|afficher|lister|enregistrer|sauvegarder|noter|\
    retenir|memoriser|m'en souvenir|ajouter|inserer|supprimer|effacer|retirer|vider|nettoyer|ranger|deplacer|\
    renommer|copier|modifier|changer|remplacer|mettre|corriger le fichier|executer|effectuer|\
    faire une (?:\\S+ )?recherche|faire la recherche|faire un tour|faire le necessaire|faire le menage|\
    jeter un oeil|jeter un coup d'oeil|proceder|demander|deleguer|transmettre|envoyer|soumettre|interroger|\
    appeler|utiliser|programmer|planifier|creer|fermer|m'en occuper|m'en charger|m'y mettre|rappeler";

/// French first person, present and simple future: "j'ouvre", "je chercherai".
pub(super) const FRENCH_FIRST: &str = "\
    ouvre|ouvrirai|rouvre|lance|lancerai|demarre|demarrerai|relance|joue|jouerai|coupe|monte|baisse|cherche|\
    chercherai|recherche|rechercherai|regarde|regarderai|consulte|consulterai|verifie|verifierai|controle|\
    examine|parcours|explore|analyse|lis|lirai|relis|recupere|recupererai|telecharge|telechargerai|affiche|\
    liste|listerai|enregistre|enregistrerai|sauvegarde|sauvegarderai|note|noterai|retiens|retiendrai|memorise|\
    ajoute|ajouterai|supprime|supprimerai|efface|effacerai|retire|vide|nettoie|range|deplace|deplacerai|renomme|\
    copie|modifie|modifierai|change|remplace|remplacerai|mets|mettrai|execute|executerai|effectue|effectuerai|\
    passe (?:a la|au) (?:chanson|piste|morceau|video|suivante?)|retrouve|garde (?:\\S+ ){1,4}en memoire|\
    fais une (?:\\S+ )?recherche|fais la recherche|ferai une recherche|fais le necessaire|ferai le necessaire|\
    fais ca|fais cela|jette un oeil|jette un coup d'oeil|procede|demande|demanderai|delegue|transmets|\
    transmettrai|envoie|enverrai|soumets|interroge|programme|planifie|cree|creerai|ferme|fermerai|m'en occupe|\
    m'occupe|m'en occuperai|m'en charge|m'en chargerai|m'y mets|m'en souviendrai|rappellerai";

/// Verbs that produce words as well as files.
pub(super) const FRENCH_TEXT: &str =
    "ecrire|rediger|preparer|generer|faire|composer|ecris|ecrirai|redige|redigerai|prepare|genere|compose";
