// The mock's turns: what happens on a socket after a message, in the order of PROTOCOL.md.
import { render } from "./markdown.mjs";
import { POINTS, QUESTIONS, TEXTS, THINKING } from "./scripts.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const shownPairs = (values) =>
  Object.entries(values)
    .concat(
      Object.values(values).some((value) => String(value).includes("ехе"))
        ? [["!", "file: letters of different alphabets that look alike"]]
        : [],
    )
    .map(([name, value]) => [
      name,
      String(value).replace(/[\u202a-\u202e\u200b]/g, (c) => `\\u{${c.codePointAt(0).toString(16).toUpperCase()}}`),
    ]);

/** One thread with its messages and the sockets that follow it. */
export class Thread {
  seq = 0;
  messages = [];
  turn = null;
  seen = new Set();
  turns = 0;
  queue = [];
  sockets = new Set();
  title = "";
  utterance = 0;

  constructor(id, title, log) {
    this.id = id;
    this.title = title;
    this.log = log;
  }

  emit(message) {
    this.seq += 1;
    for (const socket of this.sockets) socket.send({ thread: this.id, seq: this.seq, ...message });
  }

  all(message) {
    for (const socket of this.sockets) socket.send(message);
  }

  snapshot() {
    return {
      type: "thread",
      thread: this.id,
      seq: this.seq,
      title: this.title,
      messages: this.messages,
      turn: this.turn,
      waiting: this.queue.map(({ id, text }) => ({ id, text })),
    };
  }

  /** @param {any} message `say` @param {any} socket */
  async say(message, socket) {
    const again = this.seen.has(message.id);
    this.seen.add(message.id);
    socket.send({ type: "accepted", client_id: message.id, thread: this.id, again });
    if (again) return;
    const word = message.text.split(/\s/)[0].toLowerCase();
    if (word.startsWith("/")) {
      this.emit({
        type: "note",
        text: "Commands: /help, /undo, /memory",
        html: "<p>Commands: <code>/help</code>, <code>/undo</code>, <code>/memory</code></p>",
        client_id: message.id,
      });
      return;
    }
    if (word === "refuse-me") {
      socket.send({
        type: "error",
        message: "a turn is running already",
        hint: "stop it first",
        client_id: message.id,
      });
      return;
    }
    this.queue.push(message);
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.queue.length) {
      const next = this.queue[0];
      await this.run(next.text.split(/\s/)[0].toLowerCase(), next.text, next.id, false, next.think);
    }
    this.isBusy = false;
  }

  begin(user, client_id, voice) {
    this.queue = this.queue.filter(({ id }) => id !== client_id);
    this.turns += 1;
    const turn = `${this.id}-u${this.turns}`;
    this.title ||= user.slice(0, 40);
    this.turn = { turn, user, state: "thinking", text: "", thinking: "", calls: [], confirmation: null };
    this.stopped = false;
    this.emit({ type: "turn", turn, user, client_id, voice });
    return turn;
  }

  async run(word, text, client_id, voice, think) {
    const turn = this.begin(text, client_id, voice);
    this.think = think;
    await sleep(word === "slow" ? 900 : 60);
    if (word === "think") await this.stream(turn, "thinking", THINKING, 8);
    if (["tools", "drop"].includes(word)) await this.tools(turn);
    if (QUESTIONS[word]) {
      const approved = await this.ask(turn, word);
      if (this.stopped) return this.finish(turn, "stopped", "");
      return this.answer(turn, approved ? "Done as you confirmed." : "All right, I leave it as it is.");
    }
    if (word === "memory") {
      this.emit({
        type: "memory",
        turn,
        section: "decisions",
        text: "Reports go out on Fridays, not Mondays.",
        id: "d-0",
      });
      this.all({
        type: "positions",
        points: [...POINTS, { id: "new", kind: "memory", x: 0.1, y: -0.3, z: 0.6, text: "Reports go out on Fridays" }],
      });
      return this.answer(turn, "I will remember that reports go out on Fridays.");
    }
    if (word === "fail") {
      this.emit({ type: "state", turn, state: "error" });
      return this.finish(turn, "failed", "");
    }
    if (word === "drop") {
      setTimeout(() => {
        for (const socket of this.sockets) socket.destroy();
      }, 250);
      return this.answer(turn, TEXTS.long, 18);
    }
    if (word === "speak") return this.speak(turn, "The meeting starts at half past nine. You have time for a coffee.");
    if (word === "alert")
      this.all({ type: "alert", rule: "refusals_in_a_row", level: "alarm", text: "3 refusals in a row" });
    return this.answer(
      turn,
      TEXTS[word] ?? TEXTS.hello,
      word === "forever" ? 400 : 14,
      word === "claims" ? [{ text: "I have saved the file", why: "no call wrote a file" }] : [],
    );
  }

  async stream(turn, type, text, pace) {
    let lastHtml = Date.now();
    for (const piece of text.match(/\S+\s*|\s+/g)) {
      if (this.stopped) return;
      this.turn[type] += piece;
      this.emit({ type, turn, text: piece });
      this.log.pieces.push({ text: piece, at: Date.now() });
      if (type === "text" && Date.now() - lastHtml >= 200) {
        lastHtml = Date.now();
        this.emit({ type: "html", turn, html: render(this.turn.text) });
      }
      await sleep(pace);
    }
  }

  async tools(turn) {
    await this.stream(turn, "text", "I look for it now and tell you ", 10);
    this.emit({ type: "discard", turn });
    this.turn.text = "";
    this.emit({ type: "state", turn, state: "acting" });
    const calls = [
      ["list_directory", "auto", { path: "~/Documents" }, "ok", "14 entries"],
      [
        "read_file",
        "auto",
        { path: "~/Documents/notes.md", reason: "to find the open points" },
        "ok",
        "# Meeting\n- budget\n- report",
      ],
      ["web_search", "auto", { query: "quarter dates" }, "error", "no key for the search provider is set"],
      ["open_path", "confirm", { path: "/etc/shadow" }, "rejected", "a sensitive path"],
      ["send_key", "confirm", { key: "enter" }, "refused", "the person said no"],
    ];
    for (const [index, [tool, tier, values, outcome, summary]] of calls.entries()) {
      const call = { call: index + 1, tool, tier, arguments: values };
      this.turn.calls.push(call);
      this.emit({ type: "call", turn, ...call });
      await sleep(80);
      Object.assign(call, { outcome, summary });
      this.emit({ type: "called", turn, call: call.call, outcome, summary });
    }
  }

  async ask(turn, word) {
    const question = QUESTIONS[word];
    const id = `q-${turn}`;
    this.emit({ type: "state", turn, state: "acting" });
    const full = {
      id,
      digest: `digest-of-${id}`,
      call: 1,
      ...question,
      shown: shownPairs(question.arguments),
      expires_s: 60,
    };
    this.turn.calls.push({ call: 1, tool: question.tool, tier: question.tier, arguments: question.arguments });
    this.emit({ type: "call", turn, call: 1, tool: question.tool, tier: question.tier, arguments: question.arguments });
    this.turn.confirmation = full;
    this.emit({ type: "confirm", turn, ...full });
    const { approve, by } = await new Promise((resolve) => {
      this.answerQuestion = resolve;
    });
    this.turn.confirmation = null;
    if (approve === null) {
      this.emit({ type: "confirmed", turn, id, how: "stopped", by: "stop" });
      return false;
    }
    this.emit({ type: "confirmed", turn, id, how: approve ? "approved" : "refused", by: by ?? "click" });
    this.emit({
      type: "called",
      turn,
      call: 1,
      outcome: approve ? "ok" : "refused",
      summary: approve ? "done" : "the person said no",
    });
    return approve;
  }

  confirm(message) {
    const isRight = message.digest === `digest-of-${message.id}`;
    this.log.confirms.push(message);
    this.answerQuestion?.({ approve: message.approve && isRight });
  }

  stop() {
    this.stopped = true;
    this.answerQuestion?.({ approve: null });
    this.cutSpeech?.();
  }

  async answer(turn, text, pace = 14, claims = []) {
    this.emit({ type: "state", turn, state: "generating" });
    await this.stream(turn, "text", text, pace);
    this.finish(turn, this.stopped ? "stopped" : "natural", this.turn.text, claims);
  }

  finish(turn, end, text, claims = [], latency) {
    const { user, thinking, calls } = this.turn;
    const done = { turn, end, text, html: render(text), thinking, author: "gemma4:12b", ms: 812, claims, latency };
    const time = new Date().toISOString();
    this.messages.push(
      { turn, role: "user", text: user, time, undone: false },
      { ...done, role: "assistant", time, calls, undone: false },
    );
    this.turn = null;
    this.emit({ type: "finished", ...done });
  }

  /** A voice turn: real PCM with its envelope, cut when it is stopped. */
  async speak(turn, text) {
    this.emit({ type: "state", turn, state: "generating" });
    await this.stream(turn, "text", text, 6);
    this.utterance += 1;
    const utterance = this.utterance,
      rate = 24000,
      seconds = 3,
      samples = rate * seconds;
    const loud = (second) => Math.max(0, Math.sin(second * 9)) * (0.5 + 0.5 * Math.sin(second * 2.1) ** 2);
    const values = Array.from({ length: seconds * 50 }, (_, index) => loud(index / 50));
    this.all({ type: "voice", state: "speaking" });
    this.all({ type: "speech", utterance, turn, rate, text, envelope: { step_ms: 20, values } });
    let isCut = false;
    this.cutSpeech = () => {
      if (!isCut) this.all({ type: "cut", utterance, samples: 30000, heard: "The meeting starts at" });
      isCut = true;
    };
    for (let first = 0; first < samples && !isCut; first += 2400) {
      const piece = Buffer.alloc(8 + 4800);
      piece.writeUInt32LE(utterance, 0);
      piece.writeUInt32LE(first, 4);
      for (let index = 0; index < 2400; index += 1)
        piece.writeInt16LE(
          Math.round(9000 * loud((first + index) / rate) * Math.sin((2 * Math.PI * 210 * (first + index)) / rate)),
          8 + 2 * index,
        );
      for (const socket of this.sockets) socket.sendBinary(piece);
      await sleep(30);
    }
    const latency = {
      total_ms: 941,
      parts: [
        { part: "endpoint wait", ms: 350 },
        { part: "STT", ms: 182 },
        { part: "route", ms: 4 },
        { part: "first clause", ms: 240 },
        { part: "TTS first chunk", ms: 141 },
        { part: "device", ms: 24 },
      ],
    };
    if (!isCut) this.all({ type: "spoken", utterance, samples });
    this.finish(turn, "natural", isCut ? "The meeting starts at" : text, [], latency);
    this.all({ type: "latency", turn, ...latency });
    this.all({ type: "voice", state: "idle" });
  }
}
