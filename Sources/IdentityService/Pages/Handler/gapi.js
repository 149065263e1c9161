"use strict";
// The part of Google's loader that Firebase's web SDK uses, for pages that load it before they sign in: the SDK then
// loads nothing from apis.google.com.
(() => {
  if (window.gapi?.iframes?.Iframe) return;
  const frames = new Set();
  // Google's loader does not let exceptions of callbacks escape, and the SDK relies on it: its check of the iframe's
  // storage throws `auth/internal-error` after each answer.
  const quietly = (callback, data) => { try { callback?.(data); } catch { /* as Google's loader */ } };

  class Iframe {
    #window;
    #origin;
    #element;
    #calls = new Map();
    #handlers = new Map();
    #early = [];
    #ready;

    constructor(element, origin) {
      this.#element = element;
      this.#origin = origin;
      this.#ready = new Promise(resolve => this.#handlers.set("", resolve));
      element.addEventListener("load", () => {
        this.#window = element.contentWindow;
        this.#post({ kind: "hello" });
      });
    }

    receives(source, origin, message) {
      if (source !== this.#element.contentWindow || origin !== this.#origin) return;
      if (message.kind === "ready") return this.#handlers.get("")();
      if (message.kind === "answer") {
        this.#calls.get(message.id)?.(message.data);
        return void this.#calls.delete(message.id);
      }
      if (message.kind !== "call") return;
      const handler = this.#handlers.get(message.type);
      if (handler) quietly(handler, message.data); else this.#early.push(message);
    }

    #post(message) { this.#window.postMessage({ identity: true, ...message }, this.#origin); }

    async send(type, data, done) {
      await this.#ready;
      const id = crypto.getRandomValues(new Uint32Array(2)).join("");
      const answer = new Promise(resolve => this.#calls.set(id, resolve));
      this.#post({ kind: "call", id, type, data });
      const answers = await answer;
      quietly(done, answers);
      return answers;
    }

    ping(done, data) { return this.send("ping", data, done); }

    register(type, handler) {
      this.#handlers.set(type, handler);
      for (const message of this.#early.splice(0)) {
        if (message.type === type) quietly(handler, message.data); else this.#early.push(message);
      }
    }

    unregister(type) { this.#handlers.delete(type); }
    async restyle() { return []; }
    getIframeEl() { return this.#element; }
  }

  addEventListener("message", ({ data, origin, source }) => {
    if (data?.identity !== true) return;
    for (const frame of frames) frame.receives(source, origin, data);
  });

  const context = {
    async open({ where, url, attributes }, opened) {
      const element = document.createElement("iframe");
      for (const [name, value] of Object.entries(attributes ?? {})) {
        if (name === "style") Object.assign(element.style, value); else element.setAttribute(name, value);
      }
      const frame = new Iframe(element, new URL(url, location.href).origin);
      frames.add(frame);
      element.src = url;
      (where ?? document.body).append(element);
      return await opened?.(frame) ?? frame;
    },
    getParentIframe: () => null,
  };
  const loaded = (_, then) => (typeof then === "function" ? then : then?.callback)?.();
  window.gapi = { ...window.gapi, load: loaded, iframes: { Iframe, CROSS_ORIGIN_IFRAMES_FILTER: () => true, getContext: () => context } };
})();
