//! Secrets of no one vendor: keys and values, headers, blocks, addresses.

use super::super::rule::Part::{Any, Around, Card, Text};
use super::super::rule::alphabet::{ALNUM, BASE64, HEX, URL};
use super::{Rule, code, pattern, token};

pub(super) const RULES: &[Rule] = &[
    code(
        "password",
        "the value of password, passwd, pwd, passphrase, mot de passe, mdp, code secret: KEY=value, key: value, JSON, XML, flags",
        &[Around("mot de passe : "), Any(ALNUM, 8), Text("!7x")],
    ),
    code(
        "api-key",
        "a random-looking value of api key, access key, private key, clé, clé API, clé secrète",
        &[Around("api_key: "), Any(ALNUM, 28), Text("4z")],
    ),
    code(
        "token",
        "a random-looking value of token, jeton, session id, otp",
        &[Around("jeton = "), Any(ALNUM, 28), Text("4z")],
    ),
    code(
        "secret",
        "a random-looking value of secret, client secret, credentials",
        &[Around("\"client_secret\": \""), Any(ALNUM, 28), Text("4z"), Around("\"")],
    ),
    code(
        "authorization",
        "credentials of an Authorization header, Bearer, Basic or other",
        &[Around("Authorization: Bearer "), Any(URL, 40)],
    ),
    code(
        "high-entropy",
        "a random run beside a word such as key or token: 32 or more at 4.2 bits each, or 40 hex digits",
        &[Around("the deployment key follows, keep it: "), Any(BASE64, 56)],
    ),
    code("card-number", "payment card numbers with a right check digit", &[Card("4", true)]),
    code(
        "private-key",
        "private keys in PEM, OpenSSH, PGP and PuTTY blocks, whole, also without their end",
        &[
            Text("-----BEGIN RSA PRIVATE "),
            Text("KEY-----\n"),
            Any(BASE64, 64),
            Text("\n"),
            Any(BASE64, 64),
            Text("\n"),
            Any(BASE64, 30),
            Text("==\n-----END RSA PRIVATE "),
            Text("KEY-----"),
        ],
    ),
    pattern(
        "private-key-body",
        "the body of an OpenSSH or DER private key without its header",
        &["b3BlbnNzaC1rZXkt", "IBADANBgk", "IBAAKC", "MC4CAQAwBQYDK2Vw", "MHcCAQEEI"],
        r"(?:^|[^A-Za-z0-9+/])((?:b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{2,3}IBA(?:DANBgk|AKC)|MC4CAQAwBQYDK2Vw|MHcCAQEEI)[A-Za-z0-9+/]{20,}={0,2})",
        &[Text("b3BlbnNzaC1rZXkt"), Text("djE"), Any(BASE64, 50), Text("\n"), Any(BASE64, 60)],
    ),
    token(
        "age-key",
        "age secret keys",
        &["AGE-SECRET-KEY-"],
        r"(AGE-SECRET-KEY-[A-Z0-9-]{40,})",
        &[Text("AGE-SECRET"), Text("-KEY-1"), Any(super::super::rule::alphabet::UPPER, 58)],
    ),
    token(
        "jwt",
        "JSON Web Tokens, signed or encrypted",
        &["eyJ"],
        r"(eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}))",
        &[Text("eyJ"), Any(ALNUM, 30), Text(".eyJ"), Any(ALNUM, 40), Text("."), Any(URL, 43)],
    ),
    pattern(
        "url-password",
        "the password of scheme://user:password@host",
        &["://"],
        r#"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@"'<>]{0,256}:([^\s/"'<>]{1,256})@[A-Za-z0-9._\[-]"#,
        &[Around("postgres://app:"), Any(ALNUM, 14), Around("@db.example.org:5432/app")],
    ),
    pattern(
        "basic-auth",
        "user and password of curl -u and its like",
        &["-u ", "-u\"", "--user", "--proxy-user"],
        r#"(?:^|\s)(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/]{1,64}:([^\s"']{3,256})"#,
        &[Around("curl -u admin:"), Any(ALNUM, 12), Text("!9")],
    ),
    pattern(
        "signed-url",
        "signatures in addresses: Azure SAS, AWS, Google",
        &["sig=", "Signature="],
        r"[?&;](?:amp;)?(?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=([A-Za-z0-9%+/=_~-]{30,})",
        &[Around("https://a.example.net/c?sv=2024-01-01&sig="), Any(HEX, 44), Text("%3D")],
    ),
];
