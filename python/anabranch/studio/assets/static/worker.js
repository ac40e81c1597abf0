// The core in a worker: questions come as messages, answers go as such.

import start, * as core from "./anabranch_wasm.js";
import { Desk } from "./desk.js";

const fetched = (name) => fetch(new URL(encodeURI(name), import.meta.url));
const ready = Promise.all([start(), fetched("views.json").then((response) => response.json())])
  .then(([, views]) => new Desk(core, views, fetched));

self.onmessage = async ({ data: { number, question } }) => {
  const send = (message) => self.postMessage({ number, ...message });
  try {
    const desk = await ready;
    send({ answer: await desk.answer(question, (part) => send({ told: part })) });
  } catch (error) {
    send({ error: error.message });
  }
};
