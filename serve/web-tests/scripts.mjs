// What the mock answers, by the first word of the message.

/** Answers that are only text. @type {Record<string, string>} */
export const TEXTS = {
  hello:
    "The **meeting notes** are in your documents folder. I found three open points:\n\n- the budget for the second quarter\n- who writes the report\n- the date of the next review\n\nShall I put them on your list?",
  long: "## Comparison\n\nHere is what I found, shortest first. The figures come from the runs of last week, and each one is the median of ten passes.\n\n| Model | Tool choice | First token | Memory | Notes on how it behaves with long prompts |\n|---|---|---|---|---|\n| small-1b | 71 % | 180 ms | 1.1 GiB | forgets the earliest tools |\n| middle-4b | 88 % | 420 ms | 3.0 GiB | steady up to 16,000 tokens of context |\n| large-12b | 93 % | 910 ms | 8.4 GiB | slow when cold |\n\n### How to run it\n\n```bash\ntenpass bench tools --model middle-4b --passes 10 --configuration native,grammar --output runs/tools-comparison-of-strategies\n```\n\nTwo things matter more than the rest:\n\n1. Keep the prefix **stable**, so that the cache is warm.\n2. Count the tokens that the server reports, with `--weigh`.\n\n> One run cannot tell a fix from a coincidence.\n\nMore is in [the guide](https://example.org/guide/strategies?from=answer) and in the notes of each run.",
  french:
    "Voici ce que j’ai trouvé pour **aujourd’hui** :\n\n- à 9 h 30, l’appel avec l’équipe ;\n- à 14 h, la relecture du rapport ;\n- avant ce soir, répondre à Zoé au sujet du déménagement.\n\nJe peux en faire un rappel : dites-moi à quelle heure.",
  think: "The train at 8:12 gets you there in time, with eleven minutes to spare. The later one does not.",
  claims: "I have saved the file and sent it to Anna.",
};

export const THINKING =
  "The user asks about trains. The appointment is at ten. From the station it is a walk of twenty minutes. So the arrival must be before 9:40.\nThe 8:12 arrives at 9:29: eleven minutes to spare. The 8:42 arrives at 9:58, too late.\nI answer with the first and say why.";

export const QUESTIONS = {
  confirm: {
    tool: "open_url",
    tier: "confirm",
    arguments: { url: "https://example.org/tickets?day=2026-12-04", reason: "you asked for the ticket page" },
    preview: [],
    reason: null,
  },
  irreversible: {
    tool: "execute_cleanup",
    tier: "irreversible",
    arguments: { plan_id: "plan-7f3a", reason: "the user wants room on the disk" },
    preview: [
      "~/Downloads/ubuntu-25.10.iso  5.8 GiB",
      "~/Downloads/backup-old.tar.zst  2.1 GiB",
      "~/Downloads/video \\u{202E}gpj.exe  310 MiB",
    ],
    reason: "it moves files to the trash",
  },
  huge: {
    tool: "write_file",
    tier: "irreversible",
    arguments: {
      path: "notes/whole.txt",
      content: Array.from({ length: 400 }, (_, index) => `line ${index + 1} of the text`).join("\n"),
    },
    preview: ["a new file of 9,092 bytes"],
    reason: null,
  },
  alike: {
    tool: "open_path",
    tier: "confirm",
    arguments: { path: "~/Downloads/setup.ехе" },
    preview: [],
    reason: null,
  },
  bidi: {
    tool: "send_to_terminal",
    tier: "confirm",
    arguments: { text: "echo \u202Esafe\u202C\u200B; rm -r x" },
    preview: [],
    reason: "a page was read in this turn",
  },
};

const now = Date.now();
const ago = (hours) => new Date(now - hours * 3600e3).toISOString();

export const THREADS = [
  { id: "t1", title: "Meeting notes", updated: ago(0.2), messages: 4 },
  { id: "t2", title: "Trains to Lyon on Friday", updated: ago(2), messages: 12 },
  {
    id: "t3",
    title: "A very long title that cannot fit in the list and has to be cut somewhere sensible",
    updated: ago(27),
    messages: 3,
  },
  { id: "t4", title: "Nettoyage du dossier Téléchargements", updated: ago(70), messages: 8 },
  { id: "t5", title: "Which model for the old laptop?", updated: ago(400), messages: 31 },
];

const entries = (prefix, count, texts) =>
  Array.from({ length: count }, (_, index) => ({
    id: `${prefix}-${index}`,
    text: texts[index % texts.length],
    date: ago(24 * (index + 1)).slice(0, 10),
    uncertain: index % 7 === 3,
  }));

export const MEMORY = {
  portrait:
    "Lives in Grenoble, works on rivers. Prefers short answers and metric units.\nSpeaks French at home, English at work.",
  sections: [
    {
      name: "decisions",
      entries: entries("d", 34, [
        "Reports go out on Fridays, not Mondays.",
        "The old laptop keeps Debian.",
        "No cloud provider for anything about health.",
      ]),
    },
    {
      name: "patterns",
      entries: entries("p", 4, ["Asks for the weather before the bicycle.", "Reads long answers in the evening."]),
    },
    {
      name: "open_threads",
      entries: entries("o", 2, ["Zoé’s move: van not booked yet.", "Find out whether the boiler needs a part."]),
    },
    { name: "anomalies", entries: [] },
  ],
};

export const POINTS = Array.from({ length: 22 }, (_, index) => {
  const angle = index * 2.4,
    y = 1 - (2 * (index + 0.5)) / 22,
    radius = Math.sqrt(1 - y * y) * (0.45 + (0.5 * ((index * 7) % 10)) / 10);
  return {
    id: `pt-${index}`,
    kind: index % 3 === 0 ? "memory" : "thought",
    x: Math.cos(angle) * radius,
    y: y * 0.8,
    z: Math.sin(angle) * radius,
    text: index % 3 === 0 ? "Reports go out on Fridays" : "the budget for the second quarter",
  };
});

export const GETS = {
  "/api/session": {
    version: "0.5.0",
    model: {
      spec: "ollama:gemma4:12b",
      name: "gemma4:12b",
      digest: "sha256:1f2e",
      context: 32768,
      thinks: true,
      tools: true,
    },
    model_state: "ready",
    profile: "panel",
    language: "auto",
    voice: {
      available: true,
      voice: "kokoro:af_heart",
      stt: "whisper.cpp:whisper-base",
      wake: "kora",
      hands_free: true,
    },
    csrf: "X-Tenpass",
  },
  "/api/journals": {
    trace: { records: 12873, intact: true },
    intentions: { records: 144, intact: true },
    entries: Array.from({ length: 50 }, (_, index) => ({
      seq: 12873 - index,
      time: ago(index / 6),
      kind: ["final", "round", "call", "confirmation", "request"][index % 5],
      thread: "t1",
      turn: "u1",
      summary: [
        "natural, 812 ms",
        "gemma4:12b, 6,114 tokens in, 212 out",
        "read_file auto ok",
        "write_file irreversible approved",
        "what is on my list",
      ][index % 5],
    })),
  },
  "/api/watchdog": {
    alerts: [
      {
        rule: "refusals_in_a_row",
        level: "warning",
        text: "3 refusals in a row: send_to_terminal",
        since: ago(1),
        count: 2,
      },
      {
        rule: "acts_after_injection",
        level: "alarm",
        text: "open_url was asked for after a page that gives orders was read",
        since: ago(3),
        count: 1,
      },
      { rule: "calls_per_hour", level: "notice", text: "61 calls in one hour", since: ago(20), count: 1 },
    ],
  },
  "/api/spend": {
    day: ago(0).slice(0, 10),
    usd: 0.84,
    cap_usd: 1,
    searches: 12,
    cap_searches: 100,
    by_provider: [
      { name: "claude", usd: 0.81, calls: 9 },
      { name: "deepseek", usd: 0.03, calls: 2 },
    ],
    fail_open: false,
  },
  "/api/capabilities": {
    tools: [
      {
        name: "read_file",
        tier: "auto",
        status: "seen_working",
        note: "Reads a text, docx, xlsx or pdf, up to 8,000 characters.",
      },
      { name: "open_url", tier: "confirm", status: "seen_working", note: "Opens an address in the browser." },
      {
        name: "write_file",
        tier: "irreversible",
        status: "seen_working",
        note: "Makes a new file; never over an old one.",
      },
      { name: "control_media", tier: "confirm", status: "never_rechecked", note: "Play, pause, next and four more." },
      { name: "create_chart", tier: "irreversible", status: "known_limit", note: "At most 10,000 points." },
      { name: "web_search", tier: "auto", status: "missing", note: "No key is set." },
    ],
  },
  "/api/runtime": {
    rows: [
      {
        part: "model",
        engine: "Ollama 0.14",
        device: "gpu",
        state: "resident",
        memory_bytes: 8.6e9,
        note: "gemma4:12b, 32,768 tokens",
      },
      { part: "stt", engine: "whisper.cpp base", device: "cpu", state: "warm", memory_bytes: 2.1e8 },
      { part: "tts", engine: "Kokoro", device: "cpu", state: "warm", memory_bytes: 3.4e8 },
      { part: "wake", engine: "kora, 2 heads", device: "cpu", state: "listening" },
      { part: "vad", engine: "Silero 5", device: "cpu", state: "listening" },
      { part: "embeddings", engine: "bge-m3", device: "remote", state: "reachable", note: "192.0.2.4" },
    ],
    gpu: {
      name: "RTX 5060 Ti",
      memory_bytes: 17.1e9,
      used_bytes: 11.9e9,
      processes: [
        { pid: 2204, name: "ollama", bytes: 8.6e9 },
        { pid: 1411, name: "gnome-shell", bytes: 1.9e9 },
      ],
    },
    process: { rss_bytes: 7.1e8, threads: 23, uptime_s: 93784 },
  },
};
