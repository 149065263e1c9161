// Every function of firebase/auth in a browser, with the emulator's switch in development and in production, as
// docs/guide/firebase-sdks.md has it for web apps. Serves the page, and what it asks its own server.
//
// usage: Tests/Release/judges/run firebase_chromium.mjs firebase_firefox.mjs
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { backend } from './backend.mjs';
import { uncalled } from './firebase_client.mjs';
import { apiKey, isDev, judge, project, service } from './lib.mjs';

const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,">
<script src="${service}/__/auth/gapi.js"></script>
<script type="module" src="/judges/firebase_web_page.mjs"></script></html>`;
// Who sits at the browser: signs in and allows it, at the service's own pages.
const person = `addEventListener('DOMContentLoaded', () => {
  const button = ['allow', 'signIn'].map(value => document.querySelector('button[value=' + value + ']')).find(it => it);
  if (location.origin !== ${JSON.stringify(service)} || !button) return;
  const typed = { email: 'person@provider.example', password: 'correct horse' };
  for (const [name, value] of Object.entries(typed)) {
    const input = button.form.elements[name];
    if (input) input.value = value;
  }
  button.click();
})`;

/** Serves the page to a browser that `open` opens, until it has ended. */
export const judgeBrowser = (name, open) => judge(`firebase in ${name}`, { uncalled: uncalled(true) }, async calls => {
  let finished;
  const end = new Promise((resolve, reject) => {
    finished = resolve;
    setTimeout(() => reject(new Error('the page did not end within three minutes')), 180_000);
  });
  const handlers = {
    async '/backend'({ name, values }) {
      if (name === 'settings') return { service, apiKey, project, isDev };
      return backend[name](...values);
    },
    '/report'({ count, failures, surface, called, isLast }) {
      calls.count += count;
      calls.failures.push(...failures);
      for (const name of surface) calls.surface.add(name);
      for (const name of called) calls.called.add(name);
      if (isLast) finished();
    },
  };
  const server = http.createServer(async (request, response) => {
    const handler = handlers[request.url];
    if (handler) {
      let text = '';
      for await (const part of request.setEncoding('utf8')) text += part;
      const answer = await Promise.resolve(JSON.parse(text)).then(handler)
        .then(value => ({ value }), error => ({ error: error.stack }));
      response.setHeader('Content-Type', 'application/json');
      return response.end(JSON.stringify(answer));
    }
    const [, folder, file] = request.url.split('/');
    if (!file) return response.setHeader('Content-Type', 'text/html').end(html);
    response.setHeader('Content-Type', 'text/javascript');
    const place = folder === 'package' ? process.env.JUDGES : import.meta.dirname;
    return response.end(readFileSync(path.join(place, path.basename(file))));
  });
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve); });
  const close = await open(`http://127.0.0.1:${server.address().port}/`, person);
  try {
    await end;
  } finally {
    await close();
  }
});
