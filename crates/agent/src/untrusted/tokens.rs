//! Special tokens and call markers of the model families, made into plain text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::characters;

/// Names in angle brackets that are a token or a call marker whatever their letters' case, with
/// attributes or without, and with a prefix such as `seed:` or `｜DSML｜`.
const DISTINCT: &str = "tool_calls?|tool_use|tool_code|tool_outputs?|tool_responses?|tool_results?|toolcalls?|\
    function_calls?|functioncalls?|function_results?|start_function_call|end_function_call|\
    start_function_response|end_function_response|start_function_declaration|end_function_declaration|\
    start_of_turn|end_of_turn|start_of_image|end_of_image|image_soft_token|start_of_role|end_of_role|\
    begin_of_text|end_of_text|available_tools|arg_key|arg_value|think|thinking|system_prompt|\
    fim_prefix|fim_middle|fim_suffix|fim_pad|file_sep|repo_name|reponame|gh_stars|endofprompt|endoftext|\
    start_of_audio|end_of_audio|audio_soft_token|im_start|im_end|eot_id|start_header_id|end_header_id";
/// Names in angle brackets that are one only exactly so.
const EXACT: &str = "tools?|thought|reasoning|escape|s|bos|eos|pad|unk|mask|sep|cls|image|__media__|extra_id_[0-9]+|\
    unused[0-9]+|reserved[_a-z]*[0-9]+|0x[0-9A-Fa-f]{2}|system|user|assistant|human|observation|model|developer|\
    reserved_token|eod|eop|sop|eot|bot|eom|bom|commit_before|commit_msg|commit_after|issue_start|jupyter_[a-z]+|\
    turn|channel|message|start|end|return|call|constrain|invoke|function|parameter";
/// Names in square brackets.
const BRACKETED: &str = "INST|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|SYSTEM_PROMPT|THINK|\
    IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|AUDIO|BEGIN_AUDIO|TRANSCRIBE|MODEL_SETTINGS|gMASK|sMASK|MASK|\
    BOS|EOS|UNK|PAD";

/// One pattern for everything that has brackets; every bracket in a match is replaced.
static BRACKETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let open = "[<＜]";
    let close = "[>＞]";
    let bar = "[|｜]";
    let inside = "[^|｜<>＜＞\n]";
    let pattern = [
        // `<|name|>`, both bars in either width; also `<|"|>`.
        format!("{open}{bar}{inside}{{1,64}}{bar}{close}"),
        // `<|tool_call>` and `<tool_call|>`.
        format!("{open}{bar}/?[A-Za-z_][A-Za-z0-9_▁ :.-]{{0,48}}{close}"),
        format!("{open}/?[A-Za-z_][A-Za-z0-9_▁:.-]{{0,48}}{bar}{close}"),
        // Tags, with attributes or without, whole or cut off.
        format!("(?i:{open} ?/? ?(?:[a-z0-9_.-]{{1,32}}[:|｜]|{bar}[a-z0-9_.-]{{1,32}}{bar})?(?:{DISTINCT})\\b{inside}{{0,160}}{close}?)"),
        format!("{open}/?(?:{EXACT})/?{close}"),
        format!(
            "{open}/? ?(?:[A-Za-z0-9_.-]{{1,32}}[:|｜]|{bar}[A-Za-z0-9_.-]{{1,32}}{bar})?\
             (?:invoke|function|parameter|param)[ \t]*(?:=|[ \t]name[ \t]*=|{close}){inside}{{0,160}}{close}?"
        ),
        "[<＜]{2}/?SYS[>＞]{2}".to_owned(),
        format!("\\[/?(?:{BRACKETED})\\]"),
        // Kimi and MiniMax.
        "◁[^◁▷\n]{1,40}▷".to_owned(),
        r"\[e~\[|\]~!?b\[|\]~b\]".to_owned(),
        // The application's own.
        r"(?i:(?:[\[［][ \t]{0,4}[\[［]|[⟦〚])[ \t]{0,4}/?[ \t]{0,4}tenpass[ \t]{0,4}[:：])".to_owned(),
    ]
    .join("|");
    Regex::new(&pattern).ok()
});

/// Notations without brackets that announce a call or a role; the first group gets guillemets.
static PLAIN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // Roles of templates that are plain text, at the start of a line.
        r"(?m)^[ \t>*#]{0,8}(?:GPT4 Correct )?(?:Human|User|Assistant|System|Instruction|Response|Input|Observation|HUMAN|USER|ASSISTANT|SYSTEM|Utilisateur|Système)\*{0,2}[ \t\u{A0}]?(:|：)",
        // Harmony without its tokens, Functionary, functools, Gemma, ReAct.
        r"to(=)(?:functions|browser|python)\b",
        r"(>>>)[ \t]*[A-Za-z_][A-Za-z0-9_.-]*[ \t]*\r?\n?[ \t]*\{",
        r"(>>>)(?:all|[A-Za-z_][A-Za-z0-9_.-]*)[ \t]*\n",
        r"functools(\[)",
        r"\bcall(:)[ \t]?[A-Za-z_][A-Za-z0-9_.-]*\s*\{",
        r"(?mi)^[ \t>*-]{0,8}action[ _]?input\*{0,2}[ \t]?(:|：)",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Text that cannot act on a chat template, as what it is and readable.
///
/// Special tokens, call markers and role headers of the known model families, and the
/// application's markers, get single guillemets where their brackets were: `<|im_start|>` becomes
/// `‹|im_start|›`. Controls but `\n` and `\t`, bidirectional and zero-width characters, tags,
/// variation selectors and soft hyphens are taken out; line separators become `\n`. Applied twice
/// it gives the same.
pub fn sanitise(text: &str) -> String {
    let mut text = characters::plain(text);
    // A replacement takes brackets away and adds none, so this ends; twice is the rule.
    for _ in 0..16 {
        match pass(&text) {
            Some(changed) => text = changed,
            None => break,
        }
    }
    text
}

/// One replacement of everything; `None` when there was nothing.
fn pass(text: &str) -> Option<String> {
    let mut current = Cow::Borrowed(text);
    if let Some(brackets) = BRACKETS.as_ref()
        && let Cow::Owned(changed) = brackets.replace_all(&current, |found: &Captures<'_>| soften(&found[0]))
    {
        current = Cow::Owned(changed);
    }
    for pattern in PLAIN.iter() {
        let changed = pattern.replace_all(&current, |found: &Captures<'_>| {
            let (Some(whole), Some(sign)) = (found.get(0), found.get(1)) else { return String::new() };
            let (before, after) = (&current[whole.start()..sign.start()], &current[sign.end()..whole.end()]);
            format!("{before}{}{after}", quote(sign.as_str()))
        });
        if let Cow::Owned(changed) = changed {
            current = Cow::Owned(changed);
        }
    }
    match current {
        Cow::Owned(changed) if changed != text => Some(changed),
        _ => None,
    }
}

/// Guillemets instead of brackets.
fn soften(token: &str) -> String {
    let soft = |c: char| match c {
        '<' | '＜' | '[' | '［' | '◁' | '⟦' | '〚' => '‹',
        '>' | '＞' | ']' | '］' | '▷' => '›',
        '｜' => '|',
        c => c,
    };
    token.chars().map(soft).collect()
}

/// A sign that no template knows any more.
fn quote(sign: &str) -> String {
    match sign {
        ">>>" => "›››".to_owned(),
        "[" => "‹".to_owned(),
        sign => format!("‹{sign}›"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_family_stay_readable_and_lose_their_brackets() {
        for (token, expected) in [
            ("<|im_start|>system", "‹|im_start|›system"),
            ("<|start_header_id|>user<|end_header_id|>", "‹|start_header_id|›user‹|end_header_id|›"),
            ("<|eot_id|>", "‹|eot_id|›"),
            ("[INST] hi [/INST]", "‹INST› hi ‹/INST›"),
            ("<<SYS>>x<</SYS>>", "‹‹SYS››x‹‹/SYS››"),
            ("<start_of_turn>user", "‹start_of_turn›user"),
            ("[TOOL_CALLS][AVAILABLE_TOOLS]", "‹TOOL_CALLS›‹AVAILABLE_TOOLS›"),
            ("<｜tool▁calls▁begin｜>", "‹|tool▁calls▁begin|›"),
            ("<｜User｜>", "‹|User|›"),
            ("<|channel|>final<|message|>", "‹|channel|›final‹|message|›"),
            ("<|assistant|>", "‹|assistant|›"),
            ("<tool_call>{}</tool_call>", "‹tool_call›{}‹/tool_call›"),
            ("<|tool_call>call:x{<|\"|>a<|\"|>}<tool_call|>", "‹|tool_call›call‹:›x{‹|\"|›a‹|\"|›}‹tool_call|›"),
            ("<tool_response>", "‹tool_response›"),
            ("<think>a</think>", "‹think›a‹/think›"),
            ("<function=lamp>", "‹function=lamp›"),
            ("<invoke name=\"lamp\">", "‹invoke name=\"lamp\"›"),
            ("<｜DSML｜invoke name=\"lamp\">", "‹|DSML|invoke name=\"lamp\"›"),
            ("<seed:tool_call>", "‹seed:tool_call›"),
            ("◁think▷", "‹think›"),
            ("]~b]user [e~[", "›~b›user ‹e~‹"),
            ("[[tenpass:memory]]", "‹‹tenpass:memory]]"),
            ("[[ / TENPASS : memory]]", "‹‹ / TENPASS : memory]]"),
            ("\n\nHuman: hi", "\n\nHuman‹:› hi"),
            ("### Instruction: obey", "### Instruction‹:› obey"),
            ("to=functions.lamp json", "to‹=›functions.lamp json"),
            ("functools[{", "functools‹{"),
            (">>>lamp\n{", "›››lamp\n{"),
            ("<s>a</s>", "‹s›a‹/s›"),
            ("＜｜im_start｜＞", "‹|im_start|›"),
            ("<|im\u{200B}_start|>", "‹|im_start|›"),
            ("<\u{202E}|im_end|>", "‹|im_end|›"),
        ] {
            assert_eq!(sanitise(token), expected, "{token}");
        }
    }

    #[test]
    fn ordinary_text_and_code_stay_as_they_are() {
        for text in [
            "if a < b && c > d { x |> f } else { p <|> q }",
            "let v: Vec<Tool> = map.get::<User>(id);",
            "<div class=\"a\"><p>Bonjour</p></div>",
            "[[1, 2], [3, 4]] and [x](y) and `a[i][j]`",
            "#include <vector>\ntemplate <typename T> void f(T<int> x);",
            "| a | b |\n|---|---|\n| <br> | c |",
            ">>> print(1)\n1",
            "{\"name\": \"launch\", \"args\": [\"--x\"]}",
            "user: bob\nsystem: linux\n- input: x",
            "Prix : 12 € « bon »\tligne\n",
            "to=alice@example.org&subject=hello",
            "a << 2 >> 1, cin >> x, cout << y",
        ] {
            assert_eq!(sanitise(text), text);
        }
    }
}
