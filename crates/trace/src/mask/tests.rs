//! Every rule in every place; any chunking; idempotence; what must stay as it is.

use proptest::prelude::*;

use super::*;

/// Seeds of the samples: a few of each rule.
const SEEDS: [u64; 4] = [1, 20, 300, 4000];

/// Places a sample can stand in.
fn places(text: &str) -> Vec<(&'static str, String)> {
    let json = serde_json::json!({ "note": text, "n": 1 }).to_string();
    vec![
        ("alone", text.to_owned()),
        ("in a sentence", format!("Here is what you asked for: {text} and that is all.")),
        ("in a French sentence", format!("Voici l'élément demandé : {text} et c'est « tout ».")),
        ("in JSON", json),
        ("in an assignment", format!("export SOME_VALUE={text}\nnext line")),
        ("at the start", format!("{text} is where it starts")),
        ("at the end", format!("it ends with\n{text}")),
        ("in quotes", format!("x = '{text}'; y = \"{text}\"")),
        ("in Markdown", format!("- a list\n- `{text}`\n\n| a | {text} |")),
    ]
}

fn in_pieces(text: &str, cuts: &[usize]) -> (String, Vec<&'static str>) {
    let mut masker = Masker::new();
    let (mut masked, mut at) = (String::new(), 0);
    for cut in cuts {
        masked.push_str(&masker.push(&text[at..*cut]));
        at = *cut;
    }
    masked.push_str(&masker.push(&text[at..]));
    masked.push_str(&masker.finish());
    (masked, masker.found().to_vec())
}

#[test]
fn every_rule_masks_its_sample_everywhere() {
    for rule in RULES.iter() {
        for seed in SEEDS {
            let sample = rule.sample(seed);
            assert_eq!(rule.sample(seed), sample);
            assert!(!sample.pieces.is_empty(), "{}", rule.name);
            for (place, text) in places(&sample.text) {
                let masked = mask(&text);
                for piece in &sample.pieces {
                    assert!(
                        !masked.text.contains(piece.as_str()),
                        "{} {place}: {text:?} became {:?}",
                        rule.name,
                        masked.text
                    );
                }
                assert!(!masked.found.is_empty(), "{} {place}", rule.name);
                assert_eq!(mask(&masked.text).text, masked.text, "{} {place}", rule.name);
                if place == "alone" {
                    assert!(masked.found.contains(&rule.name), "{}: {text:?} gave {:?}", rule.name, masked.found);
                }
            }
        }
    }
}

#[test]
fn every_sample_is_masked_alike_when_it_is_split_anywhere() {
    for rule in RULES.iter() {
        let sample = rule.sample(7);
        for (place, text) in places(&sample.text).into_iter().take(5) {
            let whole = mask(&text);
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                assert_eq!(
                    in_pieces(&text, &[cut]),
                    (whole.text.clone(), whole.found.clone()),
                    "{} {place} {cut}",
                    rule.name
                );
            }
        }
    }
}

#[test]
fn names_of_rules_are_unique_and_fit_a_replacement() {
    for (index, rule) in RULES.iter().enumerate() {
        assert!(RULES[index + 1..].iter().all(|other| other.name != rule.name), "{}", rule.name);
        let replacement = Rule::replacement(rule.name);
        assert_eq!(replacement_end(&replacement), Some(replacement.len()), "{}", rule.name);
        assert!(!rule.covers.is_empty());
    }
    assert!(RULES.len() >= 100, "{}", RULES.len());
}

#[test]
fn ordinary_text_stays_as_it_is() {
    let corpus = include_str!("false_positives.txt");
    let lines: Vec<&str> = corpus.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 120, "{}", lines.len());
    let wrong: Vec<String> = lines
        .iter()
        .map(|line| (line, mask(line)))
        .filter(|(line, masked)| masked.text != **line)
        .map(|(line, masked)| format!("{line}\n  -> {}", masked.text))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
    assert_eq!(mask(corpus).text, corpus);
}

#[test]
fn a_block_is_masked_whole_with_or_without_its_end() {
    let body = concat!("MIIEow", "IBAAKCAQEA7bq3Zk1x9QfVx2m5sYp8tRwZ4kLh6nJcGdTeUvXyAbCdEfGh");
    let header = format!("-----BEGIN RSA PRIVATE {}", "KEY-----");
    let footer = format!("-----END RSA PRIVATE {}", "KEY-----");
    for (text, expected) in [
        (format!("a\n{header}\n{body}\n{body}\nqQ==\n{footer}\nb"), "a\n[secret:private-key]\nb"),
        (format!("a\n{header}\n{body}\n{body}\nqQ==\n\nand more text"), "a\n[secret:private-key]\n\nand more text"),
        (
            format!("{header}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00AA\n\n{body}\n{footer}"),
            "[secret:private-key]",
        ),
        (
            format!("{{\"k\": \"{header}\\n{body}\\n{footer}\\n\", \"n\": 1}}"),
            "{\"k\": \"[secret:private-key]\\n\", \"n\": 1}",
        ),
        (format!("KEY='{header} {body} {footer}' x"), "KEY='[secret:private-key]' x"),
        (format!("{header}{body}"), "[secret:private-key]"),
        (
            format!("Private-Lines: 2\n{body}\n{body}\nPrivate-MAC: 00ff"),
            "Private-Lines: 2\n[secret:private-key]\nPrivate-MAC: 00ff",
        ),
        (format!("a file starts with {header} and so on"), "a file starts with HEADER and so on"),
    ] {
        assert_eq!(mask(&text).text, expected.replace("HEADER", &header), "{text}");
    }
}

#[test]
fn what_is_held_back_is_bounded() {
    for endless in
        ["a", "password=\"x y ", "eyJhbGciOiJI", "token ", "1234 ", "-----BEGIN ", "a,b", "[", "mot de ", "é"]
    {
        let mut masker = Masker::new();
        let (mut given, mut got) = (0, 0);
        while given < 40_000 {
            given += endless.len();
            got += masker.push(endless).len();
            // A swallowed secret gives nothing, and keeps nothing.
            assert!(masker.held() <= 4_200, "{endless}");
        }
        got += masker.finish().len();
        assert!(got > 0, "{endless}");
    }
}

#[test]
fn a_secret_of_any_length_is_masked_to_its_end() {
    for length in [100, 3_000, 4_090, 4_096, 5_000, 20_000] {
        let body = "aB3dE6gH9j".repeat(length / 10);
        for text in
            [format!("x gh{}_{body} y", 'p'), format!("password=\"{body} {body}\" y"), format!("API_TOKEN={body} y")]
        {
            let masked = mask(&text).text;
            assert!(!masked.contains("gH9j"), "{length}: {masked}");
            assert!(masked.ends_with(" y"), "{length}: {masked}");
        }
        let run = format!("{}/gh{}_{body} y", "zQ".repeat(length / 2), 'p');
        assert!(!mask(&run).text.contains("gH9j"), "{length}");
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let sample = (0..RULES.len(), 0_u64..8).prop_map(|(rule, seed)| RULES[rule].sample(seed).text);
    let cut = (0..RULES.len(), any::<prop::sample::Index>()).prop_map(|(rule, cut)| {
        let text = RULES[rule].sample(3).text;
        let at = text.floor_char_boundary(cut.index(text.len() + 1));
        text[..at].to_owned()
    });
    let part = prop::sample::select(vec![
        " ",
        "\n",
        "\"",
        "'",
        ":",
        "=",
        ",",
        ";",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "/",
        "\\",
        "\\n",
        "-",
        "_",
        "é",
        "password",
        "mot de passe",
        "token",
        "clé",
        "api key",
        "Authorization",
        "Bearer",
        "Basic",
        "is",
        "est",
        "secret",
        "[secret:password]",
        "[secret:jwt]",
        "[secret:",
        "hunter2",
        "tulip",
        "abc123DEF456ghi",
        "https://u:",
        "@host",
        "-----BEGIN ",
        "RSA PRIVATE KEY-----",
        "4111 ",
        "1111",
        "-u ",
        "--password ",
        "|",
        "=>",
        "A",
        "7",
        "  ",
        "**",
    ])
    .prop_map(str::to_owned);
    let one = prop_oneof![8 => part, 2 => sample, 1 => cut, 1 => "\\PC{0,6}"];
    prop::collection::vec(one, 0..20).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn masking_twice_is_masking_once(text in fragments()) {
        let once = mask(&text);
        let twice = mask(&once.text);
        prop_assert_eq!(&twice.text, &once.text, "{:?}", text);
        prop_assert!(twice.found.is_empty());
    }

    #[test]
    fn any_chunking_gives_the_same(text in fragments(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.sort_unstable();
        let whole = mask(&text);
        prop_assert_eq!(in_pieces(&text, &cuts), (whole.text, whole.found));
    }

    #[test]
    fn any_text_is_masked_once(text in any::<String>()) {
        let once = mask(&text).text;
        prop_assert_eq!(mask(&once).text, once);
    }

    #[test]
    fn json_is_masked_once(key in fragments(), text in fragments()) {
        let mut value = serde_json::json!({key.clone(): text, "list": [key]});
        mask_value(&mut value);
        let once = value.clone();
        prop_assert_eq!(mask_value(&mut value), Vec::<&str>::new());
        prop_assert_eq!(value, once);
    }
}

/// Files and messages as they come, `@` being a random secret of 24 characters.
const REAL_LIFE: &[&str] = &[
    "DATABASE_URL=postgres://app:@@db.internal:5432/app?sslmode=require",
    "DB_PASSWORD=@\nDB_HOST=localhost",
    "export MISTRAL_API_KEY='@'",
    "MYSQL_ROOT_PASSWORD: @",
    "      - POSTGRES_PASSWORD=@",
    "//registry.npmjs.org/:_authToken=@",
    "machine api.example.com\n  login ada password @",
    "machine api.example.com login ada\n  password @",
    "https://ada:@@github.com/example/repo.git",
    "[default]\naws_access_key_id = x\naws_secret_access_key = @AbCdEf0123456789",
    "Server=tcp:db.example.net,1433;User ID=ada;Password=@;Encrypt=True;",
    "mongodb+srv://ada:@@cluster0.example.net/?retryWrites=true",
    "curl -u ada:@ https://api.example.com",
    "curl -H 'Authorization: Bearer @' https://api.example.com",
    "curl -H \"X-Api-Key: @\" https://api.example.com",
    "GET /v1?api_key=@&q=paris HTTP/1.1",
    "Authorization: Token @\r\nHost: example.com",
    "Cookie: theme=dark; session_id=@; lang=fr",
    "{\"access_token\":\"@\",\"token_type\":\"bearer\",\"expires_in\":3600}",
    "{\"arguments\":\"{\\\"password\\\":\\\"@\\\"}\"}",
    "{'client_secret': '@', 'client_id': 'abc'}",
    "client_secret = \"@\"",
    "const apiKey = '@';",
    "let token = String::from(\"@\");",
    "private final String dbPassword = \"@\";",
    "config.password := \"@\"",
    "$config['db_password'] = '@';",
    "<add key=\"ApiKey\" value=\"x\" /><password>@</password>",
    "spring.datasource.password=@",
    "Mon mot de passe est @, ne le dis à personne.",
    "Le mdp du wifi : @",
    "Mot de passe :\n@\n",
    "clé API : @",
    "Voici le jeton : @",
    "The password is @.",
    "Wi-Fi password: @",
    "Password - see below\npassword: @",
    "| service | login |\n| password | @ |",
    "- **Mot de passe** : `@`",
    "--password @ --user ada",
    "--api-key=@",
    "sqlcmd -S host -U sa --password \"@\"",
    "PrivateKey = @AbCdEf0123456789AbCd=",
    "token: \"@\" # expires in May",
    "otp: @",
    "passphrase => «\u{a0}@\u{a0}»",
];

#[test]
fn secrets_in_real_files_and_messages_are_masked() {
    let secret = concat!("q7Rz", "2Kv9", "Xw4T", "b8Ny", "5Lm3", "Hj6P");
    let mut leaks = Vec::new();
    for template in REAL_LIFE {
        let text = template.replacen('@', secret, 1);
        let masked = mask(&text);
        if masked.text.contains(secret) || masked.found.is_empty() {
            leaks.push(masked.text.clone());
        }
        let cuts: Vec<usize> = (0..text.len()).filter(|cut| text.is_char_boundary(*cut)).collect();
        assert_eq!(in_pieces(&text, &cuts), (masked.text, masked.found), "{text}");
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}
