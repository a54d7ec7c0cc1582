//! Providers of models, search and speech.

use super::super::rule::Part::{Any, Around, Text};
use super::super::rule::alphabet::{ALNUM, HEX, LOWER, URL};
use super::{Rule, code, token};

pub(super) const RULES: &[Rule] = &[
    token(
        "openai-key",
        "OpenAI keys, project, service and admin ones, and what has the same form",
        &["sk-"],
        r"(sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,})",
        &[Text("sk"), Text("-proj-"), Any(URL, 74), Text("T3Blbk"), Text("FJ"), Any(URL, 74)],
    ),
    token(
        "deepseek-key",
        "DeepSeek keys",
        &["sk-"],
        r"(sk-[a-f0-9]{32})(?:$|[^A-Za-z0-9])",
        &[Text("sk"), Text("-"), Any(HEX, 32)],
    ),
    token(
        "anthropic-key",
        "Anthropic keys",
        &["sk-ant-"],
        r"(sk-ant-[a-z0-9]{2,10}-[A-Za-z0-9_-]{20,})",
        &[Text("sk"), Text("-ant-"), Text("api03-"), Any(URL, 93), Text("AA")],
    ),
    token(
        "openrouter-key",
        "OpenRouter keys",
        &["sk-or-"],
        r"(sk-or-(?:v[0-9]-)?[A-Za-z0-9]{30,})",
        &[Text("sk"), Text("-or-v1-"), Any(HEX, 64)],
    ),
    token(
        "huggingface-token",
        "Hugging Face tokens",
        &["hf_", "api_org_"],
        r"((?:hf_|api_org_)[A-Za-z0-9]{30,})",
        &[Text("h"), Text("f_"), Any(ALNUM, 34)],
    ),
    token("groq-key", "Groq keys", &["gsk_"], r"(gsk_[A-Za-z0-9]{40,})", &[Text("gs"), Text("k_"), Any(ALNUM, 52)]),
    token("xai-key", "xAI keys", &["xai-"], r"(xai-[A-Za-z0-9_]{60,})", &[Text("xa"), Text("i-"), Any(ALNUM, 80)]),
    token(
        "perplexity-key",
        "Perplexity keys",
        &["pplx-"],
        r"(pplx-[A-Za-z0-9]{40,})",
        &[Text("pp"), Text("lx-"), Any(ALNUM, 48)],
    ),
    token(
        "replicate-token",
        "Replicate tokens",
        &["r8_"],
        r"(r8_[A-Za-z0-9]{30,})",
        &[Text("r"), Text("8_"), Any(ALNUM, 37)],
    ),
    token(
        "fireworks-key",
        "Fireworks and Cerebras keys",
        &["fw_", "csk-"],
        r"(fw_[A-Za-z0-9]{22,}|csk-[a-z0-9]{40,})",
        &[Text("cs"), Text("k-"), Any(LOWER, 48)],
    ),
    code(
        "provider-key",
        "keys without a form of their own (Mistral, Cohere, Together …), by their key",
        &[Around("MISTRAL_API_KEY="), Any(ALNUM, 32)],
    ),
    token(
        "langchain-key",
        "LangSmith and Langfuse keys",
        &["lsv2_", "sk-lf-"],
        r"(lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{10}|sk-lf-[a-f0-9-]{36})",
        &[Text("lsv"), Text("2_pt_"), Any(HEX, 32), Text("_"), Any(HEX, 10)],
    ),
    token(
        "elevenlabs-key",
        "ElevenLabs keys",
        &["sk_"],
        r"(sk_[a-f0-9]{48})(?:$|[^A-Za-z0-9])",
        &[Text("sk"), Text("_"), Any(HEX, 48)],
    ),
    token(
        "tavily-key",
        "Tavily keys",
        &["tvly-"],
        r"(tvly-[A-Za-z0-9_-]{20,})",
        &[Text("tv"), Text("ly-dev-"), Any(ALNUM, 32)],
    ),
    token(
        "brave-search-key",
        "Brave Search keys",
        &["BSA"],
        r"(BSA[A-Za-z0-9_-]{28})(?:$|[^A-Za-z0-9_-])",
        &[Text("BS"), Text("A"), Any(URL, 28)],
    ),
    token(
        "voyage-key",
        "Voyage and Jina keys",
        &["pa-", "jina_"],
        r"(pa-[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{30,}|jina_[A-Za-z0-9_-]{40,})",
        &[Text("jin"), Text("a_"), Any(ALNUM, 60)],
    ),
];
