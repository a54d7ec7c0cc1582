//! Which paths hold secrets, so that a mere read of them needs a confirmation.
//!
//! The judgement is by name alone: the content must not have been read to know that reading it
//! needs to be asked for. A false alarm costs one question, a miss costs a secret, so names that
//! usually mean secrets count even where a file may turn out harmless.

use std::path::Path;

/// Folders whose whole content is sensitive, in lower case.
const FOLDERS: &[(&str, &str)] = &[
    (".ssh", "SSH keys and hosts"),
    (".gnupg", "GnuPG keys"),
    (".aws", "cloud credentials"),
    (".azure", "cloud credentials"),
    (".oci", "cloud credentials"),
    ("gcloud", "cloud credentials"),
    (".kube", "cluster credentials"),
    (".docker", "registry credentials"),
    (".terraform.d", "cloud credentials"),
    (".password-store", "a password store"),
    ("keepassxc", "a password store"),
    ("1password", "a password store"),
    ("bitwarden", "a password store"),
    ("keyrings", "a keyring"),
    ("keychains", "a keyring"),
    (".pki", "certificates and keys"),
    (".mozilla", "a browser profile"),
    ("firefox", "a browser profile"),
    ("google-chrome", "a browser profile"),
    ("chromium", "a browser profile"),
    ("bravesoftware", "a browser profile"),
    ("microsoft-edge", "a browser profile"),
    ("vivaldi", "a browser profile"),
    (".thunderbird", "a mail profile"),
    (".electrum", "a wallet"),
    (".bitcoin", "a wallet"),
    (".ethereum", "a wallet"),
    (".monero", "a wallet"),
    (".secrets", "secrets"),
    ("secrets", "secrets"),
];

/// Whole file names, in lower case.
const FILES: &[(&str, &str)] = &[
    (".netrc", "credentials"),
    ("_netrc", "credentials"),
    (".git-credentials", "credentials"),
    (".npmrc", "registry credentials"),
    (".pypirc", "registry credentials"),
    (".pgpass", "database credentials"),
    (".my.cnf", "database credentials"),
    (".htpasswd", "passwords"),
    (".vault-token", "a token"),
    (".boto", "cloud credentials"),
    (".s3cfg", "cloud credentials"),
    ("authorized_keys", "SSH keys and hosts"),
    ("known_hosts", "SSH keys and hosts"),
    ("shadow", "system passwords"),
    ("shadow-", "system passwords"),
    ("gshadow", "system passwords"),
    ("master.passwd", "system passwords"),
    ("sudoers", "system privileges"),
    ("environ", "a process environment"),
    ("login data", "a browser profile"),
    ("web data", "a browser profile"),
    ("cookies", "a browser profile"),
    ("cookies.sqlite", "a browser profile"),
    ("key3.db", "a browser profile"),
    ("key4.db", "a browser profile"),
    ("logins.json", "a browser profile"),
    ("signons.sqlite", "a browser profile"),
    ("places.sqlite", "a browser profile"),
    ("formhistory.sqlite", "a browser profile"),
    ("consolehost_history.txt", "a shell history"),
    ("fish_history", "a shell history"),
];

/// File name extensions, in lower case.
const EXTENSIONS: &[(&str, &str)] = &[
    ("pem", "a key or certificate"),
    ("key", "a key or certificate"),
    ("p8", "a key or certificate"),
    ("p12", "a key or certificate"),
    ("pfx", "a key or certificate"),
    ("ppk", "a key or certificate"),
    ("jks", "a key or certificate"),
    ("keystore", "a key or certificate"),
    ("kdb", "a password store"),
    ("kdbx", "a password store"),
    ("agilekeychain", "a password store"),
    ("opvault", "a password store"),
    ("keychain", "a keyring"),
    ("keychain-db", "a keyring"),
    ("keyring", "a keyring"),
    ("wallet", "a wallet"),
    ("ovpn", "VPN credentials"),
    ("env", "environment secrets"),
];

/// Single words of a file name, in lower case, without plural.
const WORDS: &[(&str, &str)] = &[
    ("password", "passwords"),
    ("passwd", "passwords"),
    ("passphrase", "passwords"),
    ("motdepasse", "passwords"),
    ("mdp", "passwords"),
    ("credential", "credentials"),
    ("identifiant", "credentials"),
    ("secret", "secrets"),
    ("token", "a token"),
    ("apikey", "a key"),
    ("privatekey", "a key"),
];

/// Runs of words, joined by single spaces.
const PHRASES: &[(&str, &str)] = &[
    ("mot de passe", "passwords"),
    ("mots de passe", "passwords"),
    ("api key", "a key"),
    ("private key", "a key"),
    ("secret key", "a key"),
    ("access key", "a key"),
    ("clé privée", "a key"),
    ("cle privee", "a key"),
    ("clé api", "a key"),
    ("recovery code", "a recovery code"),
    ("recovery phrase", "a recovery code"),
    ("seed phrase", "a wallet"),
];

/// What makes reading this path sensitive; `None` when nothing does.
///
/// The path may be absolute or relative, with `/` or `\`; it is never opened. Case is ignored.
pub fn sensitive(path: impl AsRef<Path>) -> Option<&'static str> {
    let lower = path.as_ref().to_string_lossy().to_lowercase();
    let parts: Vec<&str> = lower.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let name = parts.last()?;
    parts.iter().find_map(|part| whole(FOLDERS, part)).or_else(|| of_name(name))
}

fn of_name(name: &str) -> Option<&'static str> {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    // The public half of a key pair is made to be shown.
    if extension == Some("pub") {
        return None;
    }
    whole(FILES, name)
        .or_else(|| name.starts_with(".env").then_some("environment secrets"))
        .or_else(|| {
            ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"]
                .iter()
                .any(|key| name.starts_with(key))
                .then_some("SSH keys and hosts")
        })
        .or_else(|| (name.starts_with('.') && name.ends_with("history")).then_some("a shell history"))
        .or_else(|| name.starts_with("wallet.").then_some("a wallet"))
        .or_else(|| whole(EXTENSIONS, extension?))
        .or_else(|| of_words(name))
}

fn of_words(name: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        name.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let joined = format!(" {} ", words.join(" "));
    words.iter().find_map(|word| whole(WORDS, word).or_else(|| whole(WORDS, &singular(word)))).or_else(|| {
        PHRASES
            .iter()
            .find(|(phrase, _)| joined.contains(&format!(" {phrase} ")) || joined.contains(&format!(" {phrase}s ")))
            .map(|(_, what)| *what)
    })
}

fn whole(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(entry, _)| *entry == name).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::sensitive;

    #[test]
    fn secrets_are_known_by_name_whatever_the_case_or_separator() {
        for path in [
            "/home/u/.ssh/config",
            "~/.SSH/id_ed25519",
            ".ssh",
            "project/.env",
            ".env.local",
            "prod.env",
            ".envrc",
            "C:\\Users\\u\\.aws\\credentials",
            "notes/credentials.json",
            "server.pem",
            "tls/site.KEY",
            "backup/id_rsa.bak",
            "vault.kdbx",
            "/etc/shadow",
            ".bash_history",
            ".local/share/fish/fish_history",
            "wallet.dat",
            ".netrc",
            ".config/google-chrome/Default/Cookies",
            "mots de passe.txt",
            "mot_de_passe.md",
            "api-keys.txt",
            "my passwords 2024.xlsx",
            "github_token.txt",
            "/proc/self/environ",
            ".local/share/keyrings/login.keyring",
            "clé privée.txt",
            "secrets/prod.yaml",
        ] {
            assert!(sensitive(path).is_some(), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in [
            "notes.txt",
            "tokenizer.json",
            "secretary.md",
            "history.md",
            "budget/keys to success.docx",
            "environment.yml",
            "id_rsa.pub",
            "keyboard.pdf",
            "password_policy_review/agenda.md",
            "",
            ".",
            "monkey.png",
            "cookies recipe.txt",
            "wallets.md",
            "Envoi.txt",
        ] {
            assert_eq!(sensitive(path), None, "{path}");
        }
    }
}
