// The mock's blind votes and recording.

const PAIRS = [
  {
    prompt: "Explain why the sky is blue to a child.",
    left: {
      text: "Sunlight is made of many colours. The air scatters the blue ones most, so blue comes to your eyes from everywhere.",
    },
    right: {
      text: "Rayleigh scattering has a cross-section that goes with the inverse fourth power of the wavelength.",
    },
  },
  {
    prompt: "Say good morning.",
    left: { text: "Good morning! Did you sleep well?" },
    right: { text: "Good morning." },
  },
  {
    prompt: "Dis bonjour (écouté).",
    left: { text: "", audio: "/api/blind/s1/left.wav" },
    right: { text: "", audio: "/api/blind/s1/right.wav" },
  },
];

/** A sine as a WAV file, mono s16le. @param {number} rate @param {number} frequency @param {number} peak 0..1 @param {number} seconds */
export function toneWav(rate, frequency, peak, seconds) {
  const count = Math.round(rate * seconds),
    data = Buffer.alloc(44 + count * 2);
  data.write("RIFF", 0);
  data.writeUInt32LE(36 + count * 2, 4);
  data.write("WAVEfmt ", 8);
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(1, 22);
  data.writeUInt32LE(rate, 24);
  data.writeUInt32LE(rate * 2, 28);
  data.writeUInt16LE(2, 32);
  data.writeUInt16LE(16, 34);
  data.write("data", 36);
  data.writeUInt32LE(count * 2, 40);
  for (let index = 0; index < count; index += 1)
    data.writeInt16LE(Math.round(peak * 32767 * Math.sin((2 * Math.PI * frequency * index) / rate)), 44 + 2 * index);
  return data;
}

export function blind(request, path, body, state, json, fail) {
  if (path === "/api/blind")
    return json({
      sessions: [
        {
          id: "s1",
          title: "gemma4 against qwen3.5, greetings",
          pairs: PAIRS.length,
          votes: state.votes,
          done: state.votes >= PAIRS.length,
        },
        { id: "s2", title: "Three voices", pairs: 24, votes: 24, done: true },
      ],
    });
  if (path.endsWith(".wav")) return sendWav(path, json);
  if (path.endsWith("/votes")) {
    state.votes += 1;
    (state.log.votes ??= []).push(JSON.parse(body));
    return json({ ok: true });
  }
  if (path.endsWith("/next"))
    return json(
      state.votes >= PAIRS.length
        ? { done: true }
        : { pair: state.votes + 1, of: PAIRS.length, ...withHtml(PAIRS[state.votes]) },
    );
  if (path.endsWith("/result")) {
    if (path.includes("/s1/") && state.votes < PAIRS.length) return fail(409, "not every pair has a vote");
    return json({
      models: ["gemma4:12b", "qwen3.5:9b", "gpt-oss:20b"],
      pairs: [
        {
          a: "gemma4:12b",
          b: "qwen3.5:9b",
          wins_a: 14,
          wins_b: 4,
          ties: 6,
          p: 0.0309,
          verdict: "gemma4:12b is better",
        },
        { a: "gemma4:12b", b: "gpt-oss:20b", wins_a: 9, wins_b: 8, ties: 7, p: 1, verdict: "no difference shown" },
      ],
      position: { left: 19, right: 16, p: 0.7359 },
      consistency: { repeats: 6, same: 5 },
    });
  }
  return fail(404, "there is nothing here");
}

function sendWav(path, json) {
  json.response.writeHead(200, { "Content-Type": "audio/wav" });
  json.response.end(toneWav(16000, path.includes("left") ? 330 : 440, 0.2, 0.5));
}

const withHtml = (pair) => ({
  ...pair,
  left: { ...pair.left, html: `<p>${pair.left.text}</p>` },
  right: { ...pair.right, html: `<p>${pair.right.text}</p>` },
});

export function record(request, path, url, body, json, fail) {
  if (path === "/api/record/plan") {
    const word = url.searchParams.get("word") ?? "kora";
    return json({
      corpus: "user-2026-12",
      items: [
        { id: "i1", say: word, language: "en", intent: "wake" },
        { id: "i2", say: `${word}, what time is it?`, language: "en", intent: "clock" },
        { id: "i3", say: `${word}, mets la musique`, language: "fr", intent: "media.play" },
      ],
    });
  }
  if (path === "/api/record/clips" && request.method === "POST") {
    if (body.subarray(0, 4).toString() !== "RIFF" || body.readUInt32LE(24) !== 16000)
      return fail(400, "not a WAV of 16 kHz");
    const duration_ms = Math.round((body.length - 44) / 32);
    if (duration_ms < 300)
      return json({
        accepted: false,
        problems: ["too short: 0.2 s"],
        trimmed_ms: [0, duration_ms],
        duration_ms,
        level_db: -31.2,
        clip: "",
      });
    return json({
      accepted: true,
      problems: [],
      trimmed_ms: [Math.round(duration_ms * 0.15), Math.round(duration_ms * 0.85)],
      duration_ms,
      level_db: -22.4,
      clip: `c-${Date.now()}`,
    });
  }
  if (request.method === "DELETE") return json({ ok: true });
  return fail(404, "there is nothing here");
}
