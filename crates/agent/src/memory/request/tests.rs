//! K63a on labelled sentences.

use super::*;

const REQUESTS: &[&str] = &[
    "Remember that I'm allergic to nuts.",
    "remember I take my coffee black",
    "Please remember that the meeting moved to Thursday",
    "Remember: the door code is 4512",
    "Remember my sister's birthday is May 3",
    "Remember this: I never work on Sundays.",
    "Ok, remember that we chose Rust.",
    "Can you remember that I prefer short answers?",
    "Could you please remember that my dog is called Nils?",
    "I want you to remember that I live in Lyon",
    "I'd like you to remember that I hate phone calls.",
    "Make sure you remember that the demo is on Monday.",
    "Thanks! And remember that I'm out on Friday.",
    "Don't forget that I am vegetarian",
    "do not forget that the server is in Frankfurt",
    "Don’t forget my daughter's name is Ada",
    "Note that I'm away until the 12th",
    "Make a note that the contract ends in June",
    "Take note: we are on version two now",
    "Keep in mind that I only have one screen",
    "Please keep that in mind for later",
    "Memorize that my accountant is Mrs Roy.",
    "Save this to your memory: I use metric units",
    "Add to your memory that I drive a Kangoo",
    "Store that in memory please",
    "You should remember that I don't drink",
    "Remember that I'm allergic to nuts, ok?",
    "We will go with Postgres. Remember that.",
    "Remember to always answer in French",
    "Would you mind remembering that I am left-handed?",
    "Retiens que je préfère le thé",
    "retiens bien que la livraison est jeudi",
    "Retiens ça : je ne travaille pas le mercredi",
    "Retiens : mon code postal est 69003",
    "Retenez que nous avons choisi l'option B.",
    "Note que je suis absent vendredi",
    "Notez que le budget est de 3000 euros",
    "Note ça quelque part",
    "Note bien que ma fille s'appelle Ada.",
    "N'oublie pas que je suis végétarien",
    "n’oublie pas que Paul est mon associé",
    "N'oublie jamais que je déteste le téléphone.",
    "Souviens-toi que j'habite à Lyon",
    "souviens toi de mon allergie aux noix",
    "Souvenez-vous que le rendu est le 12.",
    "Rappelle-toi que je n'ai qu'un écran",
    "Garde en tête que je suis débutant",
    "Garde ça en mémoire",
    "Garde à l'esprit que le client est pressé",
    "Mémorise que mon comptable est Mme Roy",
    "Ajoute à ta mémoire que je conduis une Kangoo",
    "Mets ça en mémoire",
    "Enregistre dans ta mémoire que je suis gaucher",
    "Je veux que tu te souviennes que je vis seul",
    "J'aimerais que tu retiennes que je suis du matin",
    "Peux-tu retenir que ma voiture est rouge ?",
    "Tu peux noter que je pars le 3 ?",
    "Il faut que tu retiennes que c'est Marie qui décide",
    "Merci ! Et retiens que je préfère les listes.",
    "Sache que je suis daltonien",
    "Pour la prochaine fois, note que je veux des réponses courtes",
    "Prends note : on passe à la version deux",
];

const OTHERS: &[&str] = &[
    "Do you remember that I'm allergic to nuts?",
    "do you remember what we said yesterday",
    "Don't you remember?",
    "Do you still remember my birthday?",
    "What do you remember about me?",
    "I remember that we talked about it.",
    "I don't remember the name of that file",
    "I can't remember where I put it",
    "Remember when we went to Rome?",
    "Remember that time in Rome?",
    "Remember that restaurant near the station?",
    "I always remember that day",
    "As I remember, the file was in Documents",
    "She asked whether you remember the code",
    "Remind me to call Ana tomorrow at 9",
    "Set a reminder for Monday",
    "Don't forget to include the totals",
    "Forget that I told you about the code",
    "Don't remember this",
    "Please don't keep this conversation",
    "You don't need to remember it",
    "Translate \"remember that I love you\" into Spanish",
    "Translate: remember that I love you",
    "The song says “remember that I was here”",
    "What does 'note that' mean in a contract?",
    "How do you say remember that I exist in Italian?",
    "How much memory does this computer have?",
    "Is the array stored in memory?",
    "Write a note to my landlord",
    "Open the note from yesterday",
    "Show me your memory",
    "What's the weather?",
    "> remember that I am quoted",
    "Tu te souviens que je suis allergique ?",
    "tu te souviens de ce qu'on a dit hier",
    "Te souviens-tu de mon anniversaire ?",
    "Est-ce que tu te rappelles mon nom ?",
    "Vous souvenez-vous du projet ?",
    "Je me souviens que c'était jeudi",
    "Je ne me souviens plus du nom du fichier",
    "J'ai noté que le prix a changé",
    "Il faut noter que ce texte est ancien",
    "La note que j'ai eue est mauvaise",
    "Quelle note mettrais-tu à ce texte ?",
    "On retient que la méthode est lente",
    "Rappelle-moi d'appeler Ana demain à 9 h",
    "Rappelle-moi ce qu'on a décidé",
    "N'oublie pas de joindre le fichier",
    "Oublie que je t'ai parlé du code",
    "Ne retiens pas ça",
    "Ne note pas ma réponse",
    "Inutile de retenir cela",
    "Traduis « retiens que je t'aime » en anglais",
    "Que veut dire souviens-toi que tu vas mourir ?",
    "Combien de mémoire a cet ordinateur ?",
    "Est-ce que ce tableau tient en mémoire ?",
    "Qu'est-ce que tu as retenu de notre discussion ?",
    "Montre-moi ta mémoire",
    "Écris une note pour mon propriétaire",
    "Quel temps fait-il ?",
];

#[test]
fn k63_literal_requests_are_told_from_the_rest() {
    assert!(REQUESTS.len() + OTHERS.len() >= 60);
    let missed: Vec<_> = REQUESTS.iter().filter(|text| !is_literal_request(text)).collect();
    let wrong: Vec<_> = OTHERS.iter().filter(|text| is_literal_request(text)).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "missed: {missed:#?}\nwrong: {wrong:#?}");
}

#[test]
fn the_asking_sentence_is_returned_as_typed() {
    let text = "Bonjour !\nRetiens que j'aime le thé. Quel temps fait-il ?";
    assert_eq!(literal_request(text), Some("Retiens que j'aime le thé."));
    assert_eq!(literal_request(""), None);
}

#[test]
fn a_long_message_is_read_in_linear_time() {
    let long = "remember ".repeat(20_000) + &"\"".repeat(999) + " keep in".repeat(5_000).as_str();
    assert!(!is_literal_request(&long));
}
