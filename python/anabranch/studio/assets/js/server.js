// Who answers: the server of this machine. Another answerer has the same `ask`, and the rest of the page knows no other word.

const BETWEEN_TRIES_MS = 1000;

/** What was asked could not be answered; the message is for people. */
export class AnswerError extends Error {}

/** Nobody answers. */
export class GoneError extends Error {}

export class Server {
  /** @param {string} token that the address of the page carries */
  constructor(token) {
    this.token = token;
    this.isGone = false;
    /** @type {(isGone: boolean) => void} */
    this.onGone = () => {};
  }

  /**
   * Asks, and waits for the answer.
   * @param {Record<string, any>} question `what`, and what belongs to it
   * @param {(part: Record<string, any>) => void} [listener] hears what there is before the answer
   * @returns {Promise<Record<string, any>>}
   */
  async ask(question, listener = () => {}) {
    let response;
    try {
      response = await fetch("ask", {
        method: "POST", headers: { "content-type": "application/json", "x-studio-token": this.token },
        body: JSON.stringify(question),
      });
    } catch {
      this.notice(true);
      throw new GoneError("the server does not answer");
    }
    if (!response.ok) {
      this.notice(false);
      throw new AnswerError((await response.json().catch(() => ({}))).error ?? response.statusText);
    }
    const last = await this.lines(response, listener);
    this.notice(false);
    if (last.error !== undefined) throw new AnswerError(last.error);
    return last.answer;
  }

  /** Reads the lines of an answer as they come; the last of them is what was asked for. */
  async lines(response, listener) {
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    let last = null;
    const take = (line) => {
      if (!line) return;
      const data = JSON.parse(line);
      if ("answer" in data || "error" in data) last = data;
      else listener(data);
    };
    try {
      for (;;) {
        const { value, done } = await reader.read();
        rest += decoder.decode(value, { stream: !done });
        const lines = rest.split("\n");
        rest = lines.pop();
        lines.forEach(take);
        if (done) break;
      }
    } catch {
      last = null;
    }
    if (last === null) {
      this.notice(true);
      throw new GoneError("the answer broke off");
    }
    return last;
  }

  notice(isGone) {
    if (isGone === this.isGone) return;
    this.isGone = isGone;
    this.onGone(isGone);
    if (isGone) this.tryAgain();
  }

  /** Asks until somebody answers again. */
  tryAgain() {
    setTimeout(() => {
      if (this.isGone) this.ask({ what: "welcome" }).catch((error) => { if (error instanceof GoneError) this.tryAgain(); });
    }, BETWEEN_TRIES_MS);
  }
}
