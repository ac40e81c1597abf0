// Questions and long answers in front of the page.

import { byId, h } from "./page.js";

/**
 * Shows a dialog until it is closed.
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {{ label: string, act?: () => any }[]} actions buttons; the last one is "Close" by itself
 */
export function showDialog(title, content, actions = []) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
  const wrong = h("p", { class: "wrong", role: "alert" });
  /** @param {{ label: string, act?: () => any }} action */
  const button = ({ label, act }) => h("button", {
    type: "button",
    onclick: async () => {
      try {
        if ((await act?.()) !== false) dialog.close();
      } catch (error) {
        wrong.textContent = error.message;
      }
    },
  }, label);
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, title), ...content, wrong,
    h("div", { class: "bar" }, ...actions.map(button), button({ label: "Close" })),
  );
  if (!dialog.open) dialog.showModal();
  return dialog;
}

/** A text of one line that somebody is asked for. */
export function askText(title, label, value, done) {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "text", value, id: "dialog-text" }));
  const act = () => done(input.value.trim());
  const dialog = showDialog(title, [h("label", {}, label, " ", input)], [{ label: "OK", act }]);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); /** @type {HTMLButtonElement} */ (dialog.querySelector(".bar button")).click(); }
  });
  input.select();
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
