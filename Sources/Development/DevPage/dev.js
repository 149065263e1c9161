// Requests the page every second and replaces the parts that changed: the service alone formats and escapes values.
"use strict";
const parts = ["mails", "sms", "accounts", "state"];
const lost = "The service does not respond.";
let waiting = false;

function put(fresh) {
  for (const id of parts) {
    const old = document.getElementById(id);
    const next = fresh.getElementById(id);
    if (!next || old.innerHTML === next.innerHTML) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    old.replaceChildren(...next.childNodes);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

async function look() {
  if (waiting || document.hidden) return;
  waiting = true;
  const state = document.getElementById("state");
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    // Without the head: the policy does not allow another response's style.
    const [main] = /<main>[^]*<\/main>/.exec(await answer.text());
    put(new DOMParser().parseFromString(main, "text/html"));
    state.classList.remove("lost");
  } catch {
    if (state.textContent !== lost) state.textContent = lost;
    state.classList.add("lost");
  }
  waiting = false;
}

setInterval(look, 1000);
document.addEventListener("visibilitychange", look);
