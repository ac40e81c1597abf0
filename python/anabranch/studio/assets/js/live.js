// A live run: real hosts of this machine, shown as it happens, over the lines of its simulation.

import { byId } from "./page.js";

export class Live {
  constructor(model, picture) {
    this.model = model;
    this.picture = picture;
    /** The simulation of the scenario that runs live. @type {{ name: string, document: Record<string, any> } | null} */
    this.simulation = null;
    this.why = "";
    this.button = byId("live");
    this.button.addEventListener("click", () => this.begin());
    model.on("told", (part) => this.hear(part));
    model.answerer.ask({ what: "machine" }).then(({ live }) => this.allow(live)).catch(() => {});
  }

  /** @param {string} why there are no live runs here; empty where there are */
  allow(why) {
    this.why = why;
    this.button.setAttribute("aria-disabled", String(Boolean(why)));
    this.button.title = why || "Between real hosts of this machine, beside the simulation: anabranch live FILE --against simulation";
  }

  begin() {
    byId("said").textContent = this.why;
    if (this.why) return;
    this.simulation = null;
    this.model.goLive();
  }

  /** @param {Record<string, any>} part a picture of the simulation, or of the live run until now */
  hear({ beside, picture }) {
    if (beside) this.simulation = { name: "simulated", document: beside };
    if (picture) this.picture.draw(picture, this.simulation);
  }
}
