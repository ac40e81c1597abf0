// Who answers in a page without a server: the core in a worker. Nothing leaves the browser.

import { fragmentOf, openedFragment } from "./links.js";

/** What was asked could not be answered; the message is for people. */
export class AnswerError extends Error {}

/** Nobody answers. */
export class GoneError extends Error {}

/** What the reader has saved in this browser, by name. */
const SAVED = "anabranch-scenario:";

export class Server {
  constructor() {
    this.isGone = false;
    this.onGone = () => {};
    this.asked = 0;
    /** @type {Map<number, { done: (answer: any) => void, fail: (error: Error) => void, listener: (part: any) => void }>} */
    this.waiting = new Map();
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => this.fall(event.message || "the core could not be loaded");
    /** Scenarios that came by a link, by name. */
    this.texts = new Map();
  }

  /**
   * Asks, and waits for the answer.
   * @param {Record<string, any>} question
   * @param {(part: Record<string, any>) => void} [listener] hears what there is before the answer
   * @returns {Promise<any>}
   */
  async ask(question, listener = () => {}) {
    if (question.what in this.own) return this.own[question.what](question);
    return this.work(question, listener);
  }

  /**
   * Asks the core.
   * @param {Record<string, any>} question
   * @param {(part: Record<string, any>) => void} [listener]
   * @returns {Promise<any>}
   */
  work(question, listener = () => {}) {
    return new Promise((done, fail) => {
      const number = ++this.asked;
      this.waiting.set(number, { done, fail, listener });
      this.worker.postMessage({ number, question });
    });
  }

  hear({ number, told: part, answer, error }) {
    const waiting = this.waiting.get(number);
    if (!waiting) return;
    if (part) {
      waiting.listener(part);
      return;
    }
    this.waiting.delete(number);
    if (error === undefined) waiting.done(answer);
    else waiting.fail(new AnswerError(error));
  }

  /** A worker that has fallen answers nothing any more. */
  fall(message) {
    for (const { fail } of this.waiting.values()) fail(new AnswerError(message));
    this.waiting.clear();
  }

  /** Questions that need no core. */
  own = {
    welcome: () => this.welcome(),
    open: ({ file }) => this.open(file),
    save: (question) => this.save(question),
    look: () => ({ state: "same" }),
    link: (question) => this.link(question),
    command: async (question) => this.work({ ...question, saved: stored(question.file) ?? await this.example(question.file) }),
  };

  async welcome() {
    const welcome = await (await fetch("welcome.json")).json();
    let message = "";
    // A link that does not hold is told, and leaves the page as it is without one.
    const opened = await openedFragment(location.hash.slice(1)).catch((error) => { message = error.message; return null; });
    if (opened?.text !== undefined) this.texts.set(opened.file, opened.text);
    this.examples = welcome.files;
    const files = this.files();
    const isThere = opened === null || files.includes(opened.file);
    if (!isThere) message = `${opened.file} is no example of this page; its examples are in the list of scenarios.`;
    return { ...welcome, files, first: isThere && opened ? opened.file : welcome.files[0], mode: opened?.mode, said: message };
  }

  /** The address that shows a scenario; an example as it is needs its name alone. */
  async link({ file, text, mode }) {
    const isExample = this.examples.includes(file) && text === await this.example(file);
    return { link: `${location.href.split("#")[0]}#${await fragmentOf(file, isExample ? null : text, mode)}` };
  }

  /** The text of an example; null where there is none of this name. */
  async example(file) {
    const response = this.examples.includes(file) ? await fetch(`examples/${encodeURI(file)}`) : null;
    return response?.ok ? response.text() : null;
  }

  files() {
    return [...new Set([...this.texts.keys(), ...saved(), ...this.examples])];
  }

  async open(file) {
    const keptText = this.texts.get(file) ?? stored(file);
    if (keptText !== null && keptText !== undefined) return { file, text: keptText, stamp: "" };
    const text = await this.example(file);
    if (text === null) throw new AnswerError(`${file} is not there`);
    return { file, text, stamp: "" };
  }

  /** Keeps the text in this browser, and gives it as a file. */
  save({ file, text }) {
    try {
      localStorage.setItem(`${SAVED}${file}`, text);
    } catch {
      this.texts.set(file, text);
    }
    const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
    const link = Object.assign(document.createElement("a"), { href: address, download: file.split("/").pop() });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    return { file, stamp: "", files: this.files() };
  }
}

function stored(file) {
  try {
    return localStorage.getItem(`${SAVED}${file}`);
  } catch {
    return null;
  }
}

function saved() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(SAVED)).map((key) => key.slice(SAVED.length));
  } catch {
    return [];
  }
}
