"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const kept = state => "identity:flow:" + state;
  const show = id => {
    for (const part of document.querySelectorAll("main > section")) part.hidden = part.id !== id;
  };

  /** Session storage, treated as empty where the browser forbids it. */
  const storage = {
    get: key => { try { return sessionStorage.getItem(key); } catch { return null; } },
    set: (key, value) => { try { sessionStorage.setItem(key, value); return true; } catch { return false; } },
    remove: key => { try { sessionStorage.removeItem(key); } catch { /* Nothing was stored. */ } },
  };

  /** `navigator.cookieEnabled` is true even where this page's cookies are refused. */
  const takesCookies = () => {
    document.cookie = "identity-probe=1; Max-Age=10; SameSite=Lax";
    return document.cookie.includes("identity-probe=");
  };

  /** Posts the fields to this page's URL; the response replaces the page. */
  const post = fields => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = location.pathname;
    for (const [name, value] of fields) {
      const input = document.createElement("input");
      input.type = "hidden";
      input.name = name;
      input.value = value;
      form.append(input);
    }
    document.body.append(form);
    // The form's own method, even if a field is named `submit`.
    HTMLFormElement.prototype.submit.call(form);
  };

  /** Sends the event to the SDK's iframe in the page that opened this window. */
  const sendToOpener = ({ apiKey, appName, event }) => {
    const message = {
      eventType: "sendAuthEvent",
      eventId: crypto.getRandomValues(new Uint32Array(2)).join(""),
      data: { storageKey: apiKey + ":" + appName, authEvent: event },
    };
    let sent = false;
    const frames = window.opener?.frames ?? [];
    for (let index = 0; index < frames.length; index++) {
      try {
        // Frames of other origins throw.
        const query = new URLSearchParams(frames[index].location.search);
        if (query.get("apiKey") !== apiKey || query.get("appName") !== appName) continue;
        frames[index].postMessage(message, location.origin);
        sent = true;
      } catch { /* Not ours. */ }
    }
    return sent;
  };

  const deliver = delivery => {
    if (delivery.link) return location.replace(delivery.link);
    if (!delivery.url) return show(sendToOpener(delivery) ? "done" : "lost");
    const key = "firebase:redirectEvent:" + delivery.apiKey + ":" + delivery.appName;
    if (!storage.set(key, JSON.stringify(delivery.event))) return show("blocked");
    location.replace(delivery.url);
  };

  const actions = {
    /** Continues to the provider. */
    start() {
      const isKept = storage.set(kept(data.state), data.browser);
      if (!isKept && !takesCookies()) return deliver(data.refusal);
      location.replace(data.url);
    },
    /** The provider's response is in the fragment, which the server cannot see. */
    fragment() {
      const fields = new URLSearchParams(location.hash.slice(1));
      if (!fields.get("state")) return show("failure");
      fields.append("identity.address", "fragment");
      history.replaceState(null, "", location.pathname);
      post(fields);
    },
    /** Without the cookie, the copy in session storage proves that this browser began the flow. */
    prove() {
      const browser = storage.get(kept(data.state));
      if (!browser) return show("failure");
      const fields = new URLSearchParams(data.fields ?? location.search);
      fields.append("identity.browser", browser);
      if (!data.isPosted) fields.append("identity.address", "query");
      history.replaceState(null, "", location.pathname);
      post(fields);
    },
    deliver() {
      if (data.state) storage.remove(kept(data.state));
      deliver(data);
    },
  };
  actions[data.action]();
})();
