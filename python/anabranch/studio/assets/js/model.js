// The scenario as the page has it: its text, its data, what is wrong with it, what came before; and who is told of changes.

import { GoneError } from "./server.js";

/** A run that has begun so long ago is replaced by the next one; a shorter one may end first, so that pictures follow a slider. */
const PATIENCE_MS = 250;
/** What takes longer says that it works, and can be stopped. */
const LONG_MS = 400;
const TYPING_PAUSE_MS = 250;
const MOST_STEPS_BACK = 200;

export class Model {
  /** @param {{ ask: (question: object, listener?: (part: Record<string, any>) => void) => Promise<any> }} answerer */
  constructor(answerer) {
    this.answerer = answerer;
    this.tab = crypto.getRandomValues(new Uint32Array(4)).join("-");
    this.file = null;
    this.stamp = "";
    this.text = "";
    this.saved = "";
    /** Whether its file was there and is not any more. */
    this.isGone = false;
    this.data = null;
    this.problems = [];
    this.mode = "run";
    this.pending = [];
    this.back = [];
    this.forth = [];
    this.merging = null;
    this.asked = 0;
    this.flying = null;
    this.timer = 0;
    this.typing = 0;
    this.isWanted = false;
    this.listeners = { load: [], change: [], text: [], answer: [], progress: [], told: [], state: [] };
  }

  on(event, listener) {
    this.listeners[event].push(listener);
  }

  tell(event, ...what) {
    for (const listener of this.listeners[event]) listener(...what);
  }

  get isChanged() {
    return this.isGone || this.text !== this.saved;
  }

  /** Another file, or another text of it. */
  load({ file, text, stamp }, { keepsHistory = false } = {}) {
    if (!keepsHistory) {
      this.tell("load");
      this.back = [];
      this.forth = [];
    } else if (text !== this.text) this.note(null);
    this.file = file;
    this.stamp = stamp;
    this.isGone = false;
    this.saved = text;
    this.pending = [];
    this.setText(text);
    this.show();
  }

  setText(text) {
    this.text = text;
    this.tell("text");
  }

  /** Remembers the text before a change. Changes that belong together, as of one slider, are one step back. */
  note(merging) {
    if (merging !== null && merging === this.merging) return;
    this.merging = merging;
    this.back.push(this.text);
    if (this.back.length > MOST_STEPS_BACK) this.back.shift();
    this.forth = [];
  }

  /** A change by typing into the text. */
  type(text) {
    if (text === this.text) return;
    this.note("typing");
    this.tell("change");
    this.pending = [];
    this.text = text;
    this.data = null;
    this.tell("state");
    clearTimeout(this.typing);
    this.typing = setTimeout(() => { this.merging = null; this.show(); }, TYPING_PAUSE_MS);
  }

  /**
   * Changes of fields, which the answerer makes in the text.
   * @param {Record<string, any>[]} changes each with its `place`, and what becomes of it
   * @param {string | null} merging a name that changes of one control share
   */
  change(changes, merging = null) {
    this.note(merging);
    this.tell("change");
    if (merging === null) this.merging = null;
    const places = new Set(changes.filter((each) => !("append" in each) && !each.remove).map(({ place }) => JSON.stringify(place)));
    this.pending = [...this.pending.filter(({ place }) => !places.has(JSON.stringify(place))), ...changes];
    this.show();
  }

  /** Waits until all changes are in the text. */
  async settled() {
    for (let tries = 0; this.pending.length; tries++) {
      if (tries > 200) throw new Error("a change is on its way; try again in a moment");
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  undo() {
    this.step(this.back, this.forth);
  }

  redo() {
    this.step(this.forth, this.back);
  }

  step(from, to) {
    if (!from.length) return;
    clearTimeout(this.typing);
    to.push(this.text);
    this.merging = null;
    this.pending = [];
    this.setText(from.pop());
    this.show();
  }

  setMode(mode) {
    this.mode = mode;
    this.show();
  }

  /** Shows the scenario as it is now, as soon as the picture before has had its time. */
  show() {
    this.tell("state");
    this.isWanted = true;
    clearTimeout(this.timer);
    if (!this.flying) this.send();
    else this.timer = setTimeout(() => this.send(), Math.max(0, PATIENCE_MS - (performance.now() - this.flying.since)));
  }

  /** Runs the scenario live, beside its simulation; the next change ends it. */
  goLive() {
    this.tell("state");
    return this.send("live");
  }

  /** @param {string} what a question that is answered by a picture */
  async send(what = "show") {
    this.isWanted = false;
    clearTimeout(this.timer);
    const number = ++this.asked;
    const flying = { since: performance.now() };
    this.flying = flying;
    setTimeout(() => { if (this.flying === flying) this.tell("progress", null); }, LONG_MS);
    const { text, pending } = this;
    const isLatest = () => number === this.asked;
    try {
      const answer = await this.answerer.ask(
        { what, tab: this.tab, file: this.file, text, changes: pending, mode: this.mode },
        (part) => { if (isLatest()) this.hear(part, text, pending); },
      );
      if (isLatest()) this.take(answer, flying);
    } catch (error) {
      if (isLatest()) this.fail(error, pending);
    }
    if (this.flying !== flying) return;
    this.flying = null;
    if (this.isWanted) this.send();
  }

  /** @param {Record<string, any>} part */
  hear({ edited, progress, ...more }, text, pending) {
    if (progress) this.tell("progress", progress);
    if (more.picture || more.beside) this.tell("told", more);
    // Somebody may have gone on typing.
    if (!edited || this.text !== text) return;
    this.pending = this.pending.filter((change) => !pending.includes(change));
    this.data = edited.data;
    if (edited.text === this.text) this.tell("state");
    else this.setText(edited.text);
  }

  take(answer, flying) {
    this.problems = answer.problems;
    if (this.text === answer.text) this.data = answer.data;
    this.tell("answer", answer, performance.now() - flying.since);
  }

  fail(error, pending) {
    if (error instanceof GoneError) return;
    // A change that leads nowhere is not asked for again.
    this.pending = this.pending.filter((change) => !pending.includes(change));
    this.problems = [{ place: "", message: error.message, line: null, column: null }];
    this.tell("answer", { text: this.text, data: this.data, problems: this.problems, picture: null, mode: this.mode }, 0);
  }
}
