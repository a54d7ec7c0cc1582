//! Known answers in both languages.

use super::spoken;

fn all(language: &str, table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(text, expected)| {
            let found = spoken(text, language);
            (found != *expected).then(|| format!("{text:?}\n  is     {found:?}\n  wanted {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

#[test]
fn english() {
    all(
        "en",
        &[
            ("I have 3 apples", "I have three apples."),
            ("It is 3.14!", "It is three point one four!"),
            ("1,234,567 people", "one million two hundred thirty-four thousand five hundred sixty-seven people."),
            ("the 1st, 2nd and 23rd", "the first, second and twenty-third."),
            ("in 1984 and since 2007", "in nineteen eighty-four and since two thousand seven."),
            ("the 1980s and '90s", "the nineteen eighties and nineties."),
            ("On 2024-03-15", "On March fifteenth, twenty twenty-four."),
            ("on March 1, 2025", "on March first, twenty twenty-five."),
            ("on the 15 March 2024", "on the fifteenth of March twenty twenty-four."),
            ("on 25/12/2023", "on December twenty-fifth, twenty twenty-three."),
            ("on 12/25/2023", "on December twenty-fifth, twenty twenty-three."),
            ("at 14:30", "at fourteen thirty."),
            ("at 9:05 am", "at nine oh five a m."),
            ("at 9:00", "at nine o'clock."),
            ("at 5pm", "at five p m."),
            ("$12.50", "twelve dollars and fifty cents."),
            ("$1 and $0.99", "one dollar and ninety-nine cents."),
            ("$3.5 million", "three point five million dollars."),
            ("€20 or 20 €", "twenty euros or twenty euros."),
            ("£1.01", "one pound and one penny."),
            ("50% off, 3.5 %", "fifty percent off, three point five percent."),
            ("5 km at 10 km/h", "five kilometers at ten kilometers per hour."),
            ("1 kg, 2 kg", "one kilogram, two kilograms."),
            ("21 °C or 70°F", "twenty-one degrees Celsius or seventy degrees Fahrenheit."),
            ("16 GB and 200 ms", "sixteen gigabytes and two hundred milliseconds."),
            ("call 555-123-4567", "call five five five, one two three, four five six seven."),
            ("call +1 555 123 4567", "call plus one, five five five, one two three, four five six seven."),
            ("World War II", "World War two."),
            ("Henry VIII and I", "Henry the eighth and I."),
            ("Paul I think", "Paul I think."),
            ("the XXth century", "the twentieth century."),
            ("Dr. Smith, e.g. me", "Doctor Smith, for example me."),
            ("mail joe@example.com", "mail joe at example dot com."),
            ("see https://www.example.com/a/b?c=1.", "see example dot com."),
            ("1/2 or 3/4 or 5/16", "one half or three quarters or five over sixteen."),
            ("24/7", "twenty-four seven."),
            ("10-20 items", "ten to twenty items."),
            ("-5 degrees", "minus five degrees."),
            ("version 1.2.3", "version one point two point three."),
            ("code 007", "code zero zero seven."),
            ("MP3 and 3D", "MP three and three D."),
            ("2 + 2 = 4", "two plus two equals four."),
            ("Great 🎉👍🏽 job 👨‍👩‍👧!", "Great job!"),
            ("R&D", "R and D."),
            ("# Plan\n- Buy **2** eggs\n- Call `mum`", "Plan.\nBuy two eggs.\nCall mum."),
            ("1. Open [it](http://x.y)\n2. Close", "one, Open it.\ntwo, Close."),
            ("It may 5 times", "It may five times."),
            ("🎉", ""),
            ("issue #42", "issue number forty-two."),
            ("0.5 s", "zero point five seconds."),
        ],
    );
}

#[test]
fn french() {
    all(
        "fr",
        &[
            ("J'ai 3 pommes", "J'ai trois pommes."),
            ("Il y a 71 chats", "Il y a soixante et onze chats."),
            ("80 et 81 et 91", "quatre-vingts et quatre-vingt-un et quatre-vingt-onze."),
            ("3,14 ou 3.14", "trois virgule quatorze ou trois virgule quatorze."),
            ("1 234 567 habitants", "un million deux cent trente-quatre mille cinq cent soixante-sept habitants."),
            ("1\u{202f}500 €", "mille cinq cents euros."),
            ("le 1er et le 2e, la 1re", "le premier et le deuxième, la première."),
            ("en 1984", "en mille neuf cent quatre-vingt-quatre."),
            ("le 15/03/2024", "le quinze mars deux mille vingt-quatre."),
            ("le 1er mai 2024", "le premier mai deux mille vingt-quatre."),
            ("le 2024-01-01", "le premier janvier deux mille vingt-quatre."),
            ("le 14 juillet", "le quatorze juillet."),
            ("à 14h30", "à quatorze heures trente."),
            ("à 14 h", "à quatorze heures."),
            ("à 1h05", "à une heure zéro cinq."),
            ("à 21:00", "à vingt et une heures."),
            ("12,50 €", "douze euros cinquante."),
            ("1 € et 2 €", "un euro et deux euros."),
            ("0,50 €", "cinquante centimes."),
            ("1 000 000 €", "un million d'euros."),
            ("3 millions €", "trois millions d'euros."),
            ("2,5 M€", "deux virgule cinq millions d'euros."),
            ("21 £", "vingt et une livres."),
            ("50 % de 20%", "cinquante pour cent de vingt pour cent."),
            ("5 km à 130 km/h", "cinq kilomètres à cent trente kilomètres à l'heure."),
            ("1 kg, 1,5 kg, 2 kg", "un kilogramme, un virgule cinq kilogramme, deux kilogrammes."),
            ("21 °C", "vingt et un degrés Celsius."),
            ("1 min 30 s", "une minute trente secondes."),
            ("16 Go", "seize gigaoctets."),
            ("au 06 12 34 56 78", "au zéro six, douze, trente-quatre, cinquante-six, soixante-dix-huit."),
            ("+33 6 12 34 56 78", "plus trente-trois, six, douze, trente-quatre, cinquante-six, soixante-dix-huit."),
            ("Louis XIV au XVIIe siècle", "Louis quatorze au dix-septième siècle."),
            ("François Ier", "François premier."),
            ("M. Dupont et Mme Durand", "monsieur Dupont et madame Durand."),
            ("p. ex. ici", "par exemple ici."),
            ("jean.dupont@mail.fr", "jean point dupont arobase mail point fr."),
            ("voir https://www.exemple.fr/page", "voir exemple point fr."),
            ("1/2 et 3/4", "un demi et trois quarts."),
            ("de 10-20", "de dix à vingt."),
            ("1 heure, 21 pages", "une heure, vingt et une pages."),
            ("n° 5", "numéro cinq."),
            ("-5 °C", "moins cinq degrés Celsius."),
            ("200 et 200 000 et 280", "deux cents et deux cent mille et deux cent quatre-vingts."),
            ("# Titre\n* Acheter **2** œufs ✅", "Titre.\nAcheter deux œufs."),
            ("L’été, c’est 30°", "L'été, c'est trente degrés."),
            ("le code 0042", "le code zéro zéro quatre deux."),
        ],
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_survived_and_has_no_digits_left(text: String) {
        for language in ["en", "fr"] {
            let found = spoken(&text, language);
            proptest::prop_assert!(!found.chars().any(|character| character.is_ascii_digit()), "{found}");
        }
    }

    #[test]
    fn numbers_in_any_company_become_words(text in "[0-9a-zA-Z€$%°.,:/ hH+-]{0,40}") {
        for language in ["en", "fr"] {
            proptest::prop_assert!(!spoken(&text, language).chars().any(|character| character.is_ascii_digit()));
        }
    }
}
