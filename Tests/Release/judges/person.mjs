// Somebody at the pages of the service, in a browser without scripts: signs in, allows what is asked, and goes on.
import assert from 'node:assert/strict';

const entities = { '&amp;': '&', '&quot;': '"', '&#39;': '\'', '&lt;': '<', '&gt;': '>' };
const text = value => value.replace(/&(amp|quot|#39|lt|gt);/g, entity => entities[entity]);
const attributes = tag => Object.fromEntries([...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) =>
  [name, text(value)]));

export class Person {
  /** `choice` is what they press where an application asks: `allow` or `deny`. */
  constructor(email, password, choice = 'allow') {
    Object.assign(this, { email, password, choice, cookies: new Map(), acts: [] });
  }

  /** Goes on until another host, which is not asked: its URL. Or until there is nothing to do: the page's heading. */
  async visit(url, init = {}) {
    const own = new URL(url).host;
    let answer = await this.#get(url, init);
    for (let steps = 0; steps < 20; steps += 1) {
      let next = answer.headers.get('location');
      if (!next) {
        const html = await answer.text();
        const refresh = html.match(/<meta http-equiv="refresh" content="[^"]*?url=([^"]*)"/i);
        if (refresh) {
          next = text(refresh[1]);
        } else {
          const form = this.#form(html);
          if (!form) return html.match(/<h1[^>]*>([^<]*)/)?.[1] ?? html;
          answer = await this.#get(new URL(form.action, answer.url), {
            method: 'POST', body: new URLSearchParams(form.fields) });
          continue;
        }
      }
      next = new URL(next, answer.url);
      if (next.host !== own) return next;
      answer = await this.#get(next);
    }
    return assert.fail(`no end: ${this.acts}`);
  }

  /** What to do on a page, and what that posts. */
  #form(html) {
    const forms = [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, tag, inside]) => ({
      action: attributes(tag).action ?? '',
      fields: Object.fromEntries([...inside.matchAll(/<input\b[^>]*>/g)].map(([input]) => attributes(input))
        .filter(({ name }) => name).map(({ name, value = '' }) => [name, value])),
      buttons: [...inside.matchAll(/<button\b[^>]*>/g)].map(([button]) => attributes(button).value),
    }));
    const acts = { [this.choice]: {}, signOut: {}, signIn: { email: this.email, password: this.password } };
    for (const [act, typed] of Object.entries(acts)) {
      const form = forms.find(({ buttons }) => buttons.includes(act));
      if (!form) continue;
      this.acts.push(act);
      return { action: form.action, fields: { ...form.fields, ...typed, do: act } };
    }
    return null;
  }

  async #get(url, init) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    // Of a form, as the page's browser says it; `fetch` names its own mode, which is none of a page.
    const headers = { ...(init?.method === 'POST' ? { 'Sec-Fetch-Site': 'same-origin' } : {}), ...(cookie ? { cookie } : {}) };
    const answer = await fetch(url, { redirect: 'manual', ...init, headers });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
      if (/max-age=0/i.test(line) || !value) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}
