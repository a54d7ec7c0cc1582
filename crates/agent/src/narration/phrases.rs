//! What stands around a verb of acting. Folded: lower case, no accents.

/// Who announces, in English.
pub(super) const SUBJECT: &str = concat!(
    r"(?:i'?ll|i will|i shall|i am going to|i'?m going to|i'?m gonna|i am about to|i'?m about to|",
    r"let me|lemme|allow me to|let's)",
);

/// Adverbs and helpers between the announcement and its verb. Negations and habits are not here.
pub(super) const ENGLISH_BETWEEN: &str = concat!(
    r"(?:(?:now|then|just|quickly|first|also|gladly|happily|immediately|right away|go ahead and|go and|try to|try and|",
    r"attempt to|start by|begin by|start|begin|proceed to|simply|briefly|carefully|double|re|have to|need to first|",
    r"currently|actually|already|help you|help|next)[ -])*",
);

/// The same in French, with the pronouns.
pub(super) const FRENCH_BETWEEN: &str = concat!(
    r"(?:(?:maintenant|d'abord|tout de suite|donc|juste|simplement|rapidement|immediatement|aussi|alors|vite|ensuite|",
    r"essayer de|essayer d'|tenter de|tenter d'|commencer par|tout d'abord|de ce pas|bien|egalement|aller|proceder a|",
    r"d'ici|deja|te|t'|vous|l'|le |la |les|lui|y|en|me|m'|d'|de)\s*)*",
);

/// English announcements that name no act.
pub(super) const ON_IT: &str = concat!(
    r"\b(?:i'?m on it|i am on it|on it!|i'?ll get (?:right )?(?:on|to) (?:it|that)|",
    r"i'?ll (?:take care of|handle) (?:it|that|this)|i'?ll do (?:it|that|this|so) (?:now|right away)|",
    r"i'?ll be right back)",
);

/// "Je vais", with the pronouns that older usage puts in front.
pub(super) const JE_VAIS: &str = r"\bje (?:m'en )?(?:te |vous |l'|le |la |les |lui |y |en )?vais ";

/// "Laisse-moi", "permets-moi de", "je m'apprête à".
pub(super) const LAISSE_MOI: &str = concat!(
    r"\b(?:laisse[- ]moi|laissez[- ]moi|permets-moi de|permettez-moi de|permets-moi d'|permettez-moi d'|",
    r"je m'apprete a) ?",
);

/// "Je l'", "j'", "je te".
pub(super) const JE: &str = r"\bj(?:e |')(?:(?:te|vous|le|la|les|lui|leur|y|en|me) |t'|l'|m')*";

/// A wait asked for by "laisse-moi".
pub(super) const LET_ME_HAVE_TIME: &str = concat!(
    r"\b(?:(?:laisse|laissez)[- ]moi|allow me) (?:a|one|un|une|le|quelques|deux) (?:petit |petite )?",
    r"(?:instant|seconde|secondes|moment|second|minute|minutes|temps)",
);

/// "Recherche en cours".
pub(super) const UNDER_WAY: &str = concat!(
    r"^(?:recherche|lecture|ouverture|verification|creation|suppression|telechargement|enregistrement|analyse|",
    r"lancement) (?:\S+ ){0,6}en cours\b",
);

/// A wait asked for at the start: "one moment", "un instant".
pub(super) const WAIT: &str = concat!(
    r"^(?:(?:just )?(?:one|a) (?:moment|second|sec|minute)|hold on|hang on|give me a (?:moment|second|sec|minute)|",
    r"bear with me|please wait|stand by|un instant|un moment|une seconde|une minute|deux secondes|",
    r"patiente\w*|attends|attendez)",
    r"(?:\s*[,.!:;…-]|\s+(?:to|please|while|s'il|stp|svp|je|pendant)\b|\s*$)",
);

/// What makes a sentence that starts with a participle a statement.
pub(super) const STATEMENT: &str = concat!(
    r"\b(?:is|are|was|were|will|would|can|could|may|might|must|should|requires?|needs?|takes?|means|helps?|has|have|",
    r"had|isn't|can't|won't|cannot)\b",
);

/// Sentences that depend on something, offer, ask, or tell the user what to do.
pub(super) const CONDITIONAL: &str = concat!(
    r"\?\s*$|\b(?:if|unless|once (?:you|i have|i know|we)|as soon as|when(?:ever)? (?:you|i|we)|after you|until you|",
    r"before (?:i|we|you)|would you|do you want|want me to|like me to|shall i|should i|can i|may i|let me know|in case|",
    r"whether (?:i|we)|(?:tell|send|show) me|give me (?:the|your|its|their|a name|a title|a link|a path)|provided|",
    r"only with your|with your (?:permission|approval|confirmation|go-ahead)|i can|i could|i would|i'd|you can|",
    r"you could|you'?ll (?:need|have)|you (?:need|have|should|must|may)|i'?ll need you|so (?:that )?i'?ll|i was|",
    r"asked me)\b|",
    r"\b(?:si|s'il|s'ils|au cas ou|des que|une fois (?:que|le|la|les)|quand|lorsque?|lorsqu'|avant (?:que|de)|",
    r"apres que|a condition|a moins|veux-tu|voulez-vous|tu veux que|vous voulez que|souhait\w*|dois-je|puis-je|",
    r"faut-il|je peux|je pourrais|je pourrai|tu peux|vous pouvez|tu dois|vous devez|tu devras|vous devrez|il faut|",
    r"avec (?:ton|votre) accord|dis-moi|dites-moi|",
    r"(?:donne|donnez|envoie|envoyez|indique|indiquez|precise|precisez)-moi ",
    r"(?:le|la|les|l'|ton|ta|tes|votre|vos|son|sa|juste|seulement|simplement)|j'allais|que je)\b",
);

/// "Check if" asks nothing of the user: the verb stays, the condition goes.
pub(super) const WHETHER: &str = concat!(
    r"\b(check|see|verify|find out|look|know|confirm|verifier|verifie|voir|regarder|regarde|savoir|controler) ",
    r"(?:if|whether|si|s'il|s'ils)\b",
);

/// Fillers at the start.
pub(super) const OPENING: &str = concat!(
    r"^(?:[\s>*_#-]|(?:ok|okay|sure|sure thing|alright|all right|of course|certainly|absolutely|great|perfect|got it|",
    r"understood|yes|no problem|no worries|right away|right|will do|thanks|thank you|d'accord|bien sur|certainement|",
    r"parfait|entendu|tres bien|pas de probleme|oui|compris|bon|alors|hmm|merci|pas de souci)[\s,.!:;–—-]+)+",
);

/// Announcements of words, which the answer itself carries out, and figures of speech.
pub(super) const TALK: &str = concat!(
    r"\b(?:get back to you|get straight to|get to the point|put (?:it|this) (?:simply|another|differently)|",
    r"start with|start from|start by (?:saying|explaining)|ask you|add that|note that|ask for|note que|ajoute que|",
    r"ajouter que|noter que|mettre en (?:garde|avant|evidence)|passer en revue|point d'honneur|",
    r"(?:reading|read|lis dans|relis) (?:this|your|ta|ton|votre|tes|vos) (?:question|message|request|demande)|",
    r"te demander|vous demander|te demande|vous demande|te rappeler que|vous rappeler que|",
    r"cherche (?:a|toujours|encore)|regarde (?:bien|toujours)|read you|te lire|",
    r"analyse (?:ta|votre) (?:question|demande)|set the record|pass on (?:this|that)|change the subject|",
    r"change de sujet|changer de sujet|play (?:along|devil)|run through|go through (?:the|this|it) (?:with you|step)|",
    r"switch to|clear up|break|clos(?:e|ing) with|",
    r"(?:list|listing|add|adding|lister|liste|ajoute|ajouter) (?:\S+ ){0,2}",
    r"(?:reasons?|points?|steps?|options?|ideas?|examples?|arguments?|questions?|things?|",
    r"raisons?|etapes?|idees?|exemples?|choses?))\b",
);
