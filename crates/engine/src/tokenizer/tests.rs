use std::sync::Arc;

use candle_core::quantized::gguf_file::Value;
use proptest::prelude::*;

use super::bpe::byte_to_char;
use super::pretokenizer::Pretokenizer;
use super::testing::{Golden, gguf, integers, sentencepiece, smollm2, strings};
use super::{Detokenizer, TokenKind, Tokenizer};

fn texts(tokenizer: &Tokenizer, ids: &[u32]) -> Vec<String> {
    ids.iter().map(|id| tokenizer.token_text(Some(*id))).collect()
}

fn written(tokenizer: &Tokenizer, ids: &[u32]) -> Vec<u8> {
    ids.iter().flat_map(|id| tokenizer.token_bytes(*id)).copied().collect()
}

#[test]
fn ids_equal_llama_servers() {
    let golden = Golden::smollm2();
    let (tokenizer, originals) = (smollm2(), golden.original_ids());
    for case in &golden.cases {
        let ids: Vec<u32> =
            tokenizer.encode(&case.text, case.special).into_iter().map(|id| originals[id as usize]).collect();
        assert_eq!(ids, case.ids, "{:?} special={}", case.text, case.special);
    }
}

#[test]
fn what_the_file_declares_is_kept() {
    let tokenizer = smollm2();
    assert_eq!(tokenizer.token_text(tokenizer.bos()), "<|im_start|>");
    assert_eq!(tokenizer.token_text(tokenizer.eos()), "<|im_end|>");
    assert_eq!(texts(&tokenizer, tokenizer.ends()), ["<|endoftext|>", "<|im_end|>"]);
    assert!(tokenizer.is_end(tokenizer.eos().unwrap()) && !tokenizer.is_end(tokenizer.bos().unwrap()));
    assert!(!tokenizer.adds_bos());
    assert_eq!(tokenizer.token_bytes(u32::MAX), b"");
    assert_eq!(tokenizer.kind(u32::MAX), TokenKind::Unused);
}

#[test]
fn sentencepiece_merges_by_score_with_byte_fallback() {
    let pieces = ["lo", "▁h", "he", "el", "▁he", "▁", "h", "e", "l", "o"];
    let tokenizer = sentencepiece(&pieces, vec![]);
    // `lo` first, then `▁h`; `he` can no longer form, `▁he` and `el` compete: `el` is better.
    let ids = tokenizer.encode("hello", false);
    assert_eq!(texts(&tokenizer, &ids), [" h", "el", "lo"]);
    // Unknown characters fall back to their bytes.
    let ids = tokenizer.encode("é", false);
    assert_eq!(ids.len(), 3);
    assert_eq!(written(&tokenizer, &ids), " é".as_bytes());
    // A space goes in front after every special token, unless the text continues.
    let ids = tokenizer.encode("<s>h<start_of_turn>h", true);
    assert_eq!(texts(&tokenizer, &ids), ["<s>", " h", "<start_of_turn>", " h"]);
    assert_eq!(texts(&tokenizer, &tokenizer.encode_continuation("h")), ["h"]);
    assert_eq!(tokenizer.encode("", true), [0; 0]);
    assert!(tokenizer.adds_bos());
    let without = sentencepiece(&pieces, vec![("tokenizer.ggml.add_space_prefix", Value::Bool(false))]);
    assert_eq!(texts(&without, &without.encode("hh", false)), ["h", "h"]);
}

#[test]
fn sentencepiece_text_never_becomes_a_special_token() {
    // Merging alone would reach `<s>`: its parts are pieces.
    let tokenizer = sentencepiece(&["▁", "<s", ">", "<", "s", "<0x41>"], vec![]);
    let ids = tokenizer.encode("<s> <0x41> <unk>", false);
    assert!(ids.iter().all(|id| !tokenizer.is_marker(*id)), "{:?}", texts(&tokenizer, &ids));
    assert_eq!(written(&tokenizer, &ids), b" <s> <0x41> <unk>");
}

#[test]
fn plain_user_defined_tokens_are_ordinary_text() {
    let tokenizer = sentencepiece(&["▁", "a"], vec![("tokenizer.chat_template", Value::String("{{ '<b>' }}".into()))]);
    // Two line ends are one token everywhere; `<b>` is in the template, so it is structure.
    let found = |special: bool| texts(&tokenizer, &tokenizer.encode("a\n\na<b>", special));
    assert!(found(false).contains(&"\n\n".to_owned()) && !found(false).contains(&"<b>".to_owned()));
    assert!(found(true).contains(&"\n\n".to_owned()) && found(true).contains(&"<b>".to_owned()));
}

#[test]
fn raw_character_vocabularies_write_blanks_and_unknown_bytes() {
    let bytes: Vec<String> = (0..=255).map(|byte| format!("<0x{byte:02X}>")).collect();
    let pieces = ["<turn|>", "a", "b", "▁", "▁a", "\n", "\n\n"];
    let tokens = pieces.into_iter().chain(bytes.iter().map(String::as_str));
    let metadata = [
        ("tokenizer.ggml.model", Value::String("gemma4".into())),
        ("tokenizer.ggml.tokens", strings(tokens)),
        ("tokenizer.ggml.token_type", integers([3, 1, 1, 1, 1, 1, 1].into_iter().chain([6; 256]))),
        ("tokenizer.ggml.merges", strings(["▁ a"])),
    ];
    let tokenizer = Tokenizer::from_gguf(&gguf(&metadata)).unwrap();
    let ids = tokenizer.encode("b a\n\né<turn|>", true);
    assert_eq!(ids[..3], [2, 4, 6]);
    assert_eq!(written(&tokenizer, &ids), "b a\n\né<turn|>".as_bytes());
    assert!(tokenizer.is_end(0));
}

#[test]
fn damaged_vocabularies_are_refused_by_name() {
    let refused = |metadata: &[(&str, Value)], reason: &str| {
        let error = Tokenizer::from_gguf(&gguf(metadata)).err().unwrap().to_string();
        assert!(error.contains(reason), "{error}");
    };
    let model = |name: &str| ("tokenizer.ggml.model", Value::String(name.into()));
    let tokens = ("tokenizer.ggml.tokens", strings(["a", "b", "ab"]));
    refused(&[], "`tokenizer.ggml.tokens` is missing");
    refused(&[model("bert"), tokens.clone()], "`bert` is not supported");
    refused(&[model("gpt2"), tokens.clone()], "`tokenizer.ggml.merges` is missing");
    refused(&[model("llama"), tokens.clone()], "`tokenizer.ggml.scores` is missing");
    let merges = ("tokenizer.ggml.merges", strings(["ab"]));
    refused(&[model("gpt2"), tokens.clone(), merges], "merge 0 of");
    let pre = ("tokenizer.ggml.pre", Value::String("from-mars".into()));
    refused(&[model("gpt2"), tokens.clone(), pre], "`from-mars` is not known");
    refused(&[model("gpt2"), tokens, ("tokenizer.ggml.token_type", integers([1]))], "1 entries for 3 tokens");
}

#[test]
fn bytes_are_written_as_gpt2_writes_them() {
    // The table of OpenAI's encoder.py: printable bytes stand for themselves, the others follow U+0100.
    for (byte, character) in
        [(0, 'Ā'), (b'\n', 'Ċ'), (b' ', 'Ġ'), (b'!', '!'), (0x7f, 'ġ'), (0xa0, 'ł'), (0xad, 'Ń'), (0xff, 'ÿ')]
    {
        assert_eq!(byte_to_char(byte), character);
    }
}

fn words(name: &str, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    Pretokenizer::named(name).unwrap().unwrap().split(text, |word| words.push(word.to_owned()));
    words
}

#[test]
fn words_are_cut_as_published() {
    // Expected cuts come from the original patterns under Python's `regex`.
    assert_eq!(
        words("gpt-2", "I'll pay  12,50\n\n  now "),
        ["I", "'ll", " pay", " ", " 12", ",", "50", "\n\n ", " now", " "]
    );
    assert_eq!(words("smollm", "a 123 b"), ["a", " ", "1", "2", "3", " b"]);
    assert_eq!(words("llama-bpe", "I'LL 12345 x\n\n  y"), ["I", "'LL", " ", "123", "45", " x", "\n\n", " ", " y"]);
    assert_eq!(words("qwen2", "a=12;\n\n\tb"), ["a", "=", "1", "2", ";\n\n", "\tb"]);
    assert_eq!(words("gpt-4o", "HelloWorld don't"), ["Hello", "World", " don't"]);
    assert_eq!(words("deepseek-v3", "x=(y) 漢字かな 1234"), ["x", "=(", "y", ")", " ", "漢字かな", " ", "123", "4"]);
    assert_eq!(words("superbpe", "1234567 ab"), ["1", "234", "567", " ab"]);
    assert_eq!(words("default", "ab, 1234"), ["ab", ",", " ", "123", "4"]);
    assert_eq!(words("gpt-2", ""), [""; 0]);
}

#[test]
fn every_known_pretokenizer_compiles_and_loses_nothing() {
    let names = [
        "",
        "default",
        "gpt-2",
        "smollm",
        "llama-bpe",
        "qwen2",
        "qwen35",
        "ufakzeka",
        "laguna",
        "minicpm5",
        "bailingmoe",
        "seed-coder",
        "exaone-moe",
        "deepseek-v3",
        "afmoe",
        "deepseek-llm",
        "deepseek-coder",
        "falcon",
        "tekken",
        "gpt-4o",
        "tiny_aya",
        "kimi-k2",
        "superbpe",
        "bloom",
        "viking",
        "gemma4",
    ];
    let text = "  L'été 2026: 12345 €, \t\r\n\n漢字かな, HelloWorld's (x+y)  ͏́ 😀 end  ";
    for name in names {
        assert_eq!(words(name, text).concat(), text, "{name}");
        assert!(words(name, text).iter().all(|word| !word.is_empty()), "{name}");
    }
    assert!(Pretokenizer::named("from-mars").unwrap().is_none());
}

/// Text that likes to come close to markers.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<|im_end|>",
        "<|im_start|>",
        "<|im_",
        "end|>",
        "<",
        "|>",
        "<|",
        "<reponame>",
        "a",
        " ",
        "\n",
        "é",
        "😀",
        "\u{fdd0}",
        "<|endoftext|>",
        ">",
        "text",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_written_back(text in any::<String>()) {
        let tokenizer = smollm2();
        let ids = tokenizer.encode(&text, false);
        prop_assert_eq!(written(&tokenizer, &ids), text.as_bytes());
        prop_assert!(ids.iter().all(|id| !tokenizer.is_marker(*id)));
    }

    #[test]
    fn guarded_text_never_becomes_a_marker(left in hostile(), right in hostile()) {
        let tokenizer = smollm2();
        let guard = '\u{fdd1}';
        // Two texts side by side, as templates may put them, between markers of the program's own.
        let guarded = format!("<|im_start|>{}{}<|im_end|>", tokenizer.guard(&left, guard), tokenizer.guard(&right, guard));
        let ids = tokenizer.encode_guarded(&guarded, guard);
        let markers: Vec<String> =
            ids.iter().filter(|id| tokenizer.is_marker(**id)).map(|id| tokenizer.token_text(Some(*id))).collect();
        prop_assert_eq!(markers, ["<|im_start|>", "<|im_end|>"]);
        prop_assert_eq!(written(&tokenizer, &ids), format!("<|im_start|>{left}{right}<|im_end|>").into_bytes());
    }

    #[test]
    fn pieces_of_an_answer_are_whole_characters(text in any::<String>(), broken in prop::collection::vec(any::<u8>(), 0..6)) {
        let tokenizer = smollm2();
        let bytes: Vec<u8> = text.bytes().chain(broken).collect();
        let ids: Vec<u32> = bytes
            .iter()
            .map(|byte| (0..tokenizer.vocab_size() as u32).find(|id| tokenizer.token_bytes(*id) == [*byte]))
            .collect::<Option<_>>()
            .unwrap_or_default();
        prop_assume!(ids.len() == bytes.len());
        let mut detokenizer = Detokenizer::new(Arc::clone(&tokenizer));
        let mut read: String = ids.iter().map(|id| detokenizer.push(*id)).collect();
        read.push_str(&detokenizer.finish());
        prop_assert_eq!(read, String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_character_cut_in_two_waits_for_its_rest() {
    let tokenizer = smollm2();
    let ids = tokenizer.encode("😀", false);
    assert!(ids.len() > 1);
    let mut detokenizer = Detokenizer::new(Arc::clone(&tokenizer));
    let (last, first) = ids.split_last().unwrap();
    assert!(first.iter().all(|id| detokenizer.push(*id).is_empty()));
    assert_eq!(detokenizer.push(*last), "😀");
    detokenizer.push(ids[0]);
    assert_eq!(detokenizer.finish(), "\u{fffd}");
}
