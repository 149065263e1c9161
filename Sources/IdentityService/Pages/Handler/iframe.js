"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const storageKey = data.apiKey + ":" + data.appName;

  /** Web SDKs wait for a result even if there was no redirect. */
  const nothing = {
    type: "unknown", eventId: null, urlResponse: null, sessionId: null, postBody: null, tenantId: null,
    error: { code: "auth/no-auth-event", message: "There is no result of a redirect." },
  };
  const stored = () => {
    const key = "firebase:redirectEvent:" + storageKey;
    try {
      const text = sessionStorage.getItem(key);
      sessionStorage.removeItem(key);
      return text ? JSON.parse(text) : null;
    } catch { return null; /* The browser forbids storage. */ }
  };
  /** The service's copy, for browsers that hide from a frame what a page of its origin stored. */
  const kept = async origin => {
    if (!data.kept) return null;
    try {
      const answer = await fetch(data.kept, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ apiKey: data.apiKey, appName: data.appName, origin }),
        // The page waits for it.
        signal: AbortSignal.timeout?.(10_000),
      });
      return answer.status === 200 ? await answer.json() : null;
    } catch { return null; }
  };
  /** Returns the result of a redirect once: both copies are taken. */
  const takeResult = async origin => {
    const own = stored();
    const copy = await kept(origin);
    return own ?? copy ?? nothing;
  };

  /** Sends an event to the surrounding page; null until that page has made contact. */
  let tell = null;
  const waiting = [];
  const relay = event => tell ? tell(event) : waiting.push(event);
  let isConnected = false;
  const connect = async (way, origin) => {
    if (isConnected) return;
    isConnected = true;
    way(await takeResult(origin));
    tell = way;
    for (const event of waiting.splice(0)) tell(event);
  };
  const answers = {
    ping: () => ({ status: "ACK" }),
    // SDKs ask before popups, which do not use this frame's storage.
    webStorageSupport: () => ({ status: "ACK", webStorageSupport: true }),
  };

  /** The surrounding page uses the service's gapi.js. */
  const isLoopback = host => host === "localhost" || host.endsWith(".localhost") || host === "[::1]"
    || /^127(\.[0-9]{1,3}){3}$/.test(host);
  const isApp = origin => {
    let url;
    try { url = new URL(origin); } catch { return false; }
    if (isLoopback(url.hostname) && data.anyLoopback) return true;
    if (data.origins.includes(origin)) return true;
    const isListed = data.hosts.includes(url.hostname) || data.parents.some(name => url.hostname.endsWith("." + name));
    return (url.protocol === "https:" || isLoopback(url.hostname)) && isListed;
  };
  const speak = (message, origin) => {
    const send = answer => parent.postMessage({ identity: true, ...answer }, origin);
    if (message.kind === "hello") {
      send({ kind: "ready" });
      connect(authEvent => send({ kind: "call", type: "authEvent", data: { type: "authEvent", authEvent } }), origin);
    } else if (message.kind === "call" && Object.hasOwn(answers, message.type)) {
      send({ kind: "answer", id: message.id, data: [answers[message.type]()] });
    }
  };

  addEventListener("message", ({ data: message, origin, source }) => {
    if (message === null || typeof message !== "object") return;
    if (origin === location.origin && message.eventType === "sendAuthEvent") {
      if (message.data?.storageKey === storageKey) relay(message.data.authEvent);
    } else if (message.identity === true && source === parent && parent !== window && isApp(origin)) {
      speak(message, origin);
    }
  });

  /** The surrounding page uses Google's loader. */
  if (data.loader) {
    const script = document.createElement("script");
    script.src = data.loader;
    script.onload = () => window.gapi.load("gapi.iframes", () => {
      const page = gapi.iframes.getContext().getParentIframe();
      if (!page) return;
      const filter = gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER;
      page.register("webStorageSupport", answers.webStorageSupport, filter);
      const tell = authEvent => page.send("authEvent", { type: "authEvent", authEvent }, () => {}, filter);
      connect(tell, location.ancestorOrigins?.[0] ?? document.referrer.replace(/\/$/, ""));
    });
    document.head.append(script);
  }
})();
