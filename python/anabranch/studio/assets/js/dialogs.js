// Questions and long answers in front of the page.

import { byId, h } from "./page.js";

/**
 * A button: what it does, which is told how to say how far it is, and what ends that, where it can be ended.
 * @typedef {{ label: string, act?: (tell: (words: string) => void) => any, onStop?: () => void }} Action
 */

/**
 * Shows a dialog until it is closed.
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {Action[]} actions buttons; the last one is "Close" by itself
 */
export function showDialog(title, content, actions = []) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
  const wrong = h("p", { class: "wrong", role: "alert" });
  const progress = h("p", { role: "status", class: "told" });
  /** @type {() => void} */
  let end = () => {};
  const stop = h("button", { type: "button", hidden: true, onclick: () => end() }, "Stop");
  /** @param {Action} action */
  const button = ({ label, act, onStop }) => h("button", {
    type: "button",
    onclick: async () => {
      wrong.textContent = "";
      end = onStop ?? (() => {});
      rest(true, Boolean(onStop));
      try {
        // Another dialog may be there by the end.
        if ((await act?.((words) => { progress.textContent = words; })) !== false && bar.isConnected) dialog.close();
      } catch (error) {
        wrong.textContent = error.message;
      }
      progress.textContent = "";
      rest(false, false);
    },
  }, label);
  const buttons = /** @type {HTMLButtonElement[]} */ ([...actions.map(button), button({ label: "Close" })]);
  const bar = h("div", { class: "bar" }, ...buttons, stop);
  /** Nothing is begun twice, and what goes on can be stopped. */
  const rest = (isBusy, canStop) => {
    for (const each of buttons) each.disabled = isBusy;
    stop.hidden = !canStop;
    if (canStop) stop.focus();
  };
  // Escape leaves what goes on as a button would.
  dialog.oncancel = () => end();
  dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), ...content, progress, wrong, bar);
  if (!dialog.open) dialog.showModal();
  return dialog;
}

/**
 * A text of one line that somebody is asked for.
 * @param {string} title
 * @param {string} label
 * @param {string} value
 * @param {(text: string, tell: (words: string) => void) => any} done
 * @param {() => void} [onStop] ends what is done with it
 */
export function askText(title, label, value, done, onStop) {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", value, id: "dialog-text" }));
  /** @param {(words: string) => void} tell */
  const act = (tell) => done(input.value.trim(), tell);
  const dialog = showDialog(title, [h("label", {}, label, " ", input)], [{ label: "OK", act, onStop }]);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); /** @type {HTMLButtonElement} */ (dialog.querySelector(".bar button")).click(); }
  });
  input.select();
}

/** A dialog in which something is made from the beginning, and which it then takes the place of. */
export function showWork(title, words, act, onStop) {
  const dialog = showDialog(title, [h("p", {}, words)], [{ label: "Again", act, onStop }]);
  /** @type {HTMLButtonElement} */ (dialog.querySelector(".bar button")).click();
}

/**
 * A dialog with a text to take along.
 * @param {string} title
 * @param {Node[]} content
 * @param {string} text
 */
export function showText(title, content, text) {
  const shown = h("pre", { class: "link" }, text);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // In a frame, and in a page that came over HTTP from elsewhere, there is no clipboard.
      getSelection().selectAllChildren(shown);
      throw new Error("The browser keeps its clipboard from this page. The text is selected: Ctrl+C takes it.");
    }
  };
  showDialog(title, [...content, shown], [{ label: "Copy", act: copy }]);
}

/**
 * A message above the page, with buttons; empty words take it away.
 * @param {string} words
 * @param {{ label: string, act?: () => any }[]} actions
 */
export function banner(words, actions = []) {
  const element = byId("banner");
  element.hidden = !words;
  /** @param {{ label: string, act?: () => any }} action */
  const button = ({ label, act }) => h("button", { type: "button", onclick: () => { element.hidden = true; act?.(); } }, label);
  element.replaceChildren(...(words ? [h("span", {}, words), ...actions.map(button)] : []));
}
