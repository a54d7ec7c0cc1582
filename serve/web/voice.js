// Voice on the page: push to talk, hands-free, what was heard, speech out, and the orb's state.
import { SpeechPlayer } from "./audio.js";
import { announce, byId } from "./dom.js";
import { t, word } from "./i18n.js";
import { Microphone } from "./microphone.js";

/** Everything with sound. */
export class Voice {
  /** @type {"off"|"push"|"hands_free"} */ mode = "off";
  #microphoneLevel = 0;
  #isHeld = false;

  /**
   * @param {import("./store.js").Store} store
   * @param {import("./socket.js").Socket} socket
   * @param {{changed: () => void, problem: (text: string) => void}} page
   */
  constructor(store, socket, page) {
    Object.assign(this, { store, socket, page });
    this.push = byId("push");
    this.handsFree = byId("hands-free");
    this.meter = byId("meter");
    this.microphone = new Microphone((samples, db) => {
      this.socket.sendSound(samples);
      this.#showLevel(db);
    });
    this.player = new SpeechPlayer({
      played: (utterance, samples) => this.socket.send({ type: "played", utterance, samples }),
      blocked: (isBlocked) => {
        if (isBlocked) this.caption(t("voice.blocked"));
      },
      started: (speech) => {
        this.caption(speech.text);
        this.refresh();
      },
      ended: () => {
        this.caption("");
        this.refresh();
      },
    });
    this.#buttons();
    this.#listen();
  }

  #buttons() {
    this.push.addEventListener("pointerdown", (event) => {
      if (event.button === 0) {
        this.push.setPointerCapture(event.pointerId);
        this.hold();
      }
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
      this.push.addEventListener(name, () => this.release());
    this.push.addEventListener("contextmenu", (event) => event.preventDefault());
    // With the keyboard the button is held like the pointer holds it.
    this.push.addEventListener("keydown", (event) => {
      if ([" ", "Enter"].includes(event.key)) {
        event.preventDefault();
        event.stopPropagation();
        if (!event.repeat) this.hold();
      }
    });
    this.push.addEventListener("keyup", (event) => {
      if ([" ", "Enter"].includes(event.key)) {
        event.preventDefault();
        this.release();
      }
    });
    this.push.addEventListener("blur", () => this.release());
    this.handsFree.addEventListener("click", () => this.setHandsFree(this.mode !== "hands_free"));
    for (const id of ["hush", "strip-hush"]) byId(id).addEventListener("click", () => this.hush());
    window.addEventListener("blur", () => this.release());
  }

  #listen() {
    const on = (name, handle) => this.store.on(name, handle);
    on("voice", ({ state, why }) => {
      if (why) this.caption(why);
      else if (state === "listening") this.caption("");
      this.refresh();
    });
    on("level", ({ db }) => {
      if (this.mode === "off") this.#showLevel(db);
    });
    on("wake", () => {
      this.caption(t("voice.woke"));
      announce(t("voice.woke"));
    });
    on("heard", ({ text }) => {
      this.caption(t("voice.heard", { text }));
      announce(t("voice.heard", { text }));
    });
    on("command", ({ text }) => {
      this.caption(t("voice.command", { text }));
      announce(t("voice.command", { text }));
    });
    on("speech", (message) => this.player.announce(message));
    on("spoken", ({ utterance, samples }) => this.player.end(utterance, samples));
    on("cut", ({ utterance }) => this.player.stop(utterance));
    on("duck", ({ on: isSoft }) => this.player.duck(isSoft));
    for (const name of ["turn", "state", "finished", "thread", "confirm", "confirmed", "session"])
      on(name, () => this.refresh());
  }

  /** Whether there is a microphone to hold a key for. */
  get isAvailable() {
    return !this.push.disabled;
  }

  /** Push to talk begins. */
  async hold() {
    if (this.#isHeld || this.push.disabled) return;
    this.#isHeld = true;
    // Speaking into it means: be quiet now.
    this.player.stop();
    await this.#listenAs("push");
    if (!this.#isHeld) this.release();
  }

  /** The key or the button was let go. */
  release() {
    if (this.mode !== "push") {
      this.#isHeld = false;
      return;
    }
    this.#isHeld = false;
    this.socket.send({ type: "release" });
    this.microphone.stop();
    this.mode = "off";
    this.refresh();
  }

  /** @param {boolean} isOn */
  async setHandsFree(isOn) {
    if (isOn) return this.#listenAs("hands_free");
    this.socket.send({ type: "listen", mode: "off" });
    this.microphone.close();
    this.mode = "off";
    return this.refresh();
  }

  async #listenAs(mode) {
    this.mode = mode;
    this.refresh();
    try {
      this.socket.send({ type: "listen", mode });
      await this.microphone.start();
    } catch (error) {
      this.socket.send({ type: "listen", mode: "off" });
      this.mode = "off";
      this.#isHeld = false;
      this.page.problem(t("voice.no_microphone", { reason: error.message }));
    }
    this.refresh();
  }

  /** After a reconnect the server knows nothing of the microphone. */
  resume() {
    this.player.forget();
    if (this.mode === "hands_free") this.socket.send({ type: "listen", mode: "hands_free" });
    else if (this.mode === "push") this.release();
  }

  /** Stops the speech. */
  hush() {
    this.socket.send({ type: "hush" });
    this.player.stop();
  }

  /** 0..1 for the orb: the speech that is heard, else the microphone. */
  level() {
    if (this.player.isPlaying) return this.player.level();
    this.#microphoneLevel *= 0.985;
    return this.mode === "off" ? 0 : this.#microphoneLevel;
  }

  /** What the orb shows: sound before thought, thought before rest. */
  mood() {
    const { store } = this;
    if (store.connection !== "open" || store.session?.model_state === "failed") return "error";
    if (this.player.isPlaying) return "speaking";
    if (store.questions.size > 0) return "waiting";
    if (["listening", "transcribing", "waiting", "speaking"].includes(store.voice)) return store.voice;
    if (store.running) return store.state === "done" ? "thinking" : store.state;
    return store.voice;
  }

  /** @param {string} text under the orb */
  caption(text) {
    byId("caption").textContent = text;
    this.#showStrip();
  }

  /** Buttons and the line under the orb follow the state. */
  refresh() {
    const voice = this.store.session?.voice;
    const mood = this.mood();
    const isMissing = !voice?.available;
    this.push.disabled = isMissing;
    this.handsFree.disabled = isMissing || voice.hands_free === false;
    const why = isMissing && voice?.why ? t("voice.unavailable", { reason: voice.why }) : "";
    this.push.title = why || t("voice.push");
    this.handsFree.title = why || t("voice.hands_free");
    for (const [button, mode] of [
      [this.push, "push"],
      [this.handsFree, "hands_free"],
    ]) {
      button.setAttribute("aria-pressed", String(this.mode === mode));
      button.classList.toggle("recording", this.mode === mode);
    }
    this.meter.hidden = this.mode === "off";
    byId("hush").hidden = byId("strip-hush").hidden = !this.player.isPlaying;
    const name = ["generating", "acting", "error"].includes(mood)
      ? word("state", mood)
      : t(`voice.${mood}`, { wake: voice?.wake ?? "…" });
    byId("voice-name").textContent = mood === "error" && this.store.connection !== "open" ? t("net.lost") : name;
    this.#showStrip();
    this.page.changed();
  }

  // Where the side is closed, a line over the message box says what the voice does.
  #showStrip() {
    byId("strip").hidden = this.mode === "off" && !this.player.isPlaying;
    byId("strip-text").textContent = [byId("voice-name").textContent, byId("caption").textContent]
      .filter(Boolean)
      .join(" · ");
  }

  #showLevel(db) {
    const share = Math.min(Math.max((db + 60) / 54, 0), 1);
    this.#microphoneLevel = Math.max(share, this.#microphoneLevel * 0.9);
    this.meter.firstElementChild.style.setProperty("transform", `scaleX(${share.toFixed(3)})`);
  }
}
