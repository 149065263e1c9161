// Firefox, driven by WebDriver BiDi over its own port; Node 20 has WebSocket with --experimental-websocket.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Opens a URL; `script` runs first in every page and popup. Returns how to close the browser. */
export async function openFirefox(url, script) {
  const profile = mkdtempSync(path.join(tmpdir(), 'firefox-'));
  // Pages may open popups without a click, as those of chromium.mjs may.
  writeFileSync(path.join(profile, 'user.js'), 'user_pref("dom.disable_open_during_load", false);\n');
  const options = ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile];
  const env = { ...process.env, HOME: profile };
  const browser = spawn('firefox-esr', options, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const address = await new Promise((resolve, reject) => {
    let text = '';
    browser.once('exit', () => reject(new Error(`Firefox ended: ${text}`)));
    browser.stderr.setEncoding('utf8').on('data', part => {
      text += part;
      const found = /listening on (ws:\/\/\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
  });
  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
  const pending = new Map();
  socket.onmessage = ({ data }) => {
    const { id, type, result, error, message } = JSON.parse(data);
    if (type === 'error') pending.get(id).reject(new Error(`${error}: ${message}`));
    else if (id) pending.get(id).resolve(result);
  };
  const send = (method, params = {}) => new Promise((resolve, reject) => {
    pending.set(pending.size + 1, { resolve, reject });
    socket.send(JSON.stringify({ id: pending.size, method, params }));
  });
  await send('session.new', { capabilities: {} });
  await send('script.addPreloadScript', { functionDeclaration: `() => { ${script} }` });
  const { context } = await send('browsingContext.create', { type: 'tab' });
  await send('browsingContext.navigate', { context, url, wait: 'none' });
  return async () => {
    const ended = new Promise(resolve => { browser.once('exit', resolve); });
    browser.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
}
