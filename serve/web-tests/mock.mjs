// A mock of the server: serves the page under its real CSP and plays PROTOCOL.md with scripts.
// node mock.mjs [PORT] prints its address. Test hooks: GET /test/log, POST /test/drop.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { basename, extname } from "node:path";
import { blind, record } from "./other-pages.mjs";
import { render } from "./markdown.mjs";
import { GETS, MEMORY, POINTS, TEXTS, THREADS } from "./scripts.mjs";
import { Thread } from "./session.mjs";
import { acceptSocket } from "./websocket.mjs";

const WEB = fileURLToPath(new URL("../web/", import.meta.url));
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; worker-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};
const PAGES = { "/": "index.html", "/blind": "blind.html", "/record": "record.html" };

/** @param {number} port @param {{language?: string}} [options] @returns {Promise<{url: string, log: any, close: () => void}>} */
export function startMock(port = 0, options = {}) {
  const log = { pieces: [], confirms: [], played: [], frames: 0, samples: 0, messages: [], writes: [], badWrites: [] };
  const threads = new Map(THREADS.map(({ id, title }) => [id, new Thread(id, title, log)]));
  const memory = structuredClone(MEMORY);
  const settings = {
    language: options.language ?? "auto",
    profile: "panel",
    speak: true,
    hands_free: false,
    theme: "auto",
  };
  fillThread(threads.get("t1"));
  const state = { log, threads, memory, settings, sockets: new Set(), votes: 0, refuse: false };
  const server = createServer((request, response) =>
    serve(request, response, state).catch((error) => {
      response.writeHead(500);
      response.end(String(error));
    }),
  );
  server.on("upgrade", (request, socket) => {
    if (state.refuse) socket.destroy();
    else follow(acceptSocket(request, socket), state);
  });
  return new Promise((resolve) =>
    server.listen(port, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}`,
        log,
        state,
        close: () => {
          for (const socket of state.sockets) socket.destroy();
          server.close();
          server.closeAllConnections();
        },
      }),
    ),
  );
}

function fillThread(thread) {
  const time = new Date(Date.now() - 7e5).toISOString();
  thread.messages.push(
    { turn: "old-1", role: "user", text: "What was open after the meeting?", time, undone: false },
    {
      turn: "old-1",
      role: "assistant",
      text: TEXTS.hello,
      html: render(TEXTS.hello),
      time,
      end: "natural",
      author: "gemma4:12b",
      thinking: "The notes name three points.",
      calls: [
        {
          call: 1,
          tool: "read_file",
          tier: "auto",
          arguments: { path: "~/Documents/notes.md" },
          outcome: "ok",
          summary: "3 points",
        },
      ],
      verdict: "good",
      undone: false,
    },
  );
}

function follow(socket, state) {
  state.sockets.add(socket);
  let thread = null;
  const open = (id) => {
    thread?.sockets.delete(socket);
    thread = state.threads.get(id) ?? state.threads.get("t1");
    socket.send(thread.snapshot());
    thread.sockets.add(socket);
  };
  socket.on("close", () => {
    state.sockets.delete(socket);
    thread?.sockets.delete(socket);
  });
  socket.on("binary", (data) => {
    state.log.frames += 1;
    state.log.samples += data.length / 2;
    (state.log.sound ??= []).push(data);
    if (state.log.sound.length > 400) state.log.sound.shift();
  });
  socket.on("text", (text) => {
    const message = JSON.parse(text);
    if (message.type === "played") {
      state.log.played.push({ ...message, at: Date.now() });
      return;
    }
    state.log.messages.push(message);
    const say = {
      open: () => {
        open(message.thread);
        socket.send({ type: "positions", points: POINTS });
      },
      say: () => (state.threads.get(message.thread) ?? thread).say(message, socket),
      stop: () => thread.stop(),
      confirm: () => thread.confirm(message),
      hush: () => thread.cutSpeech?.(),
      listen: () => listen(message.mode, socket),
      release: () => release(thread),
      retry: () => {
        const last = thread.messages.at(-1);
        last.undone = true;
        thread.emit({ type: "undone", turn: last.turn });
        thread.run("hello", thread.messages.at(-2).text);
      },
    };
    say[message.type]?.();
  });
}

function listen(mode, socket) {
  socket.send({ type: "voice", state: mode === "off" ? "off" : mode === "push" ? "listening" : "idle" });
}

function release(thread) {
  thread.all({ type: "voice", state: "transcribing" });
  setTimeout(() => {
    thread.all({ type: "heard", text: "when does the meeting start", language: "en" });
    thread.run("speak", "when does the meeting start", undefined, true);
  }, 120);
}

async function serve(request, response, state) {
  const url = new URL(request.url, "http://mock");
  const path = url.pathname;
  const json = (value, status = 200) => {
    response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
    response.end(JSON.stringify(value));
  };
  json.response = response;
  const fail = (status, message, hint) => json({ error: { message, hint } }, status);
  if (PAGES[path] || path.startsWith("/assets/")) return sendFile(PAGES[path] ?? basename(path), response);
  const body = await read(request);
  if (state.delay_ms) await new Promise((resolve) => setTimeout(resolve, state.delay_ms));
  if (request.method !== "GET" && !path.startsWith("/test/")) {
    state.log.writes.push(`${request.method} ${path}`);
    const isPlain =
      ["/api/files", "/api/record/clips"].includes(path) || request.headers["content-type"] === "application/json";
    if (request.headers["x-tenpass"] !== "1" || !isPlain) {
      state.log.badWrites.push(`${request.method} ${path}`);
      return fail(403, "the header is missing");
    }
  }
  if (path === "/test/log") return json(state.log);
  if (path === "/test/drop") {
    for (const socket of state.sockets) socket.destroy();
    return json({});
  }
  if (path === "/api/settings") {
    if (request.method === "PUT") {
      const change = JSON.parse(body);
      if ("profile" in change) return fail(400, "it is not a page's to change");
      Object.assign(state.settings, change);
    }
    return json(state.settings);
  }
  if (path === "/api/threads" && request.method === "POST") {
    const id = `n${state.threads.size}`;
    state.threads.set(id, new Thread(id, "", state.log));
    return json({ id });
  }
  if (path === "/api/threads") return json({ threads: search(url.searchParams.get("query")) });
  if (path === "/api/memory")
    return json({
      portrait: state.memory.portrait,
      sections: state.memory.sections.map((section) => ({
        name: section.name,
        total: section.entries.length,
        entries: section.entries.slice(0, 30),
      })),
    });
  if (path.startsWith("/api/memory/")) return memoryRequest(request, path, url, state, json, fail);
  if (path === "/api/files") {
    const name = /filename="([^"]*)"/.exec(body.toString("latin1"))?.[1] ?? "file";
    return json({ name, bytes: body.length, kind: "text", path: `files/${name}` });
  }
  if (/^\/api\/turns\/.*\/verdict$/.test(path)) return json({ ok: true });
  if (/^\/api\/turns\/.*\/undo$/.test(path)) {
    for (const thread of state.threads.values())
      if (path.includes(`/${thread.id}-u`)) thread.emit({ type: "undone", turn: path.split("/")[3] });
    return json({ memory: ["Reports go out on Fridays, not Mondays."] });
  }
  if (path.startsWith("/api/blind")) return blind(request, path, body, state, json, fail);
  if (path.startsWith("/api/record")) return record(request, path, url, body, json, fail);
  return GETS[path] ? json(GETS[path]) : fail(404, "there is nothing here");
}

function memoryRequest(request, path, url, state, json, fail) {
  const name = path.split("/")[3];
  if (request.method === "DELETE") {
    const section = state.memory.sections.find((one) => one.entries.some((entry) => entry.id === name));
    if (!section) return fail(404, "gone already");
    section.entries = section.entries.filter((entry) => entry.id !== name);
    return json({ ok: true });
  }
  const section = state.memory.sections.find((one) => one.name === name),
    offset = Number(url.searchParams.get("offset"));
  return json({ name, total: section.entries.length, entries: section.entries.slice(offset, offset + 30) });
}

function search(query) {
  if (!query) return THREADS;
  return THREADS.filter(({ title }) => title.toLowerCase().includes(query.toLowerCase())).map((thread) => ({
    ...thread,
    match: `… the notes of the \u2068${query}\u2069 name three open points …`,
  }));
}

async function sendFile(name, response) {
  try {
    const content = await readFile(WEB + name);
    response.writeHead(200, {
      "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
      "Content-Security-Policy": CSP,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
    });
    response.end(content);
  } catch {
    response.writeHead(404);
    response.end("not found");
  }
}

function read(request) {
  return new Promise((resolve) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => resolve(Buffer.concat(parts)));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log((await startMock(Number(process.argv[2] ?? 0))).url);
