// Chromium, driven through two pipes by its DevTools protocol.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const options = [
  '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-popup-blocking',
  '--lang=en-US', '--remote-debugging-pipe', 'about:blank',
];

/** Opens a URL; `script` runs first in every page and popup. Returns how to close the browser. */
export async function openChromium(url, script) {
  const find = 'command -v chromium-headless-shell || command -v chromium';
  const program = execFileSync('sh', ['-c', find]).toString().trim();
  const profile = mkdtempSync(path.join(tmpdir(), 'chromium-'));
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
  const browser = spawn(program, [`--user-data-dir=${profile}`, ...options], { stdio });
  const [, , , input, output] = browser.stdio;
  const pending = new Map();
  const send = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    pending.set(pending.size + 1, { resolve, reject });
    input.write(`${JSON.stringify({ id: pending.size, method, params, sessionId })}\0`);
  });
  const prepare = async ({ sessionId, targetInfo }) => {
    if (targetInfo.type === 'page') {
      await send('Page.enable', {}, sessionId);
      await send('Page.addScriptToEvaluateOnNewDocument', { source: script }, sessionId);
      prepared.get(targetInfo.targetId)?.(sessionId);
    }
    await send('Runtime.runIfWaitingForDebugger', {}, sessionId);
  };
  const prepared = new Map();
  let rest = '';
  output.setEncoding('utf8').on('data', part => {
    const messages = (rest + part).split('\0');
    rest = messages.pop();
    for (const { id, method, params, result, error } of messages.map(text => JSON.parse(text))) {
      if (error) pending.get(id).reject(new Error(error.message));
      else if (id) pending.get(id).resolve(result);
      // A page may be gone before it is prepared.
      else if (method === 'Target.attachedToTarget') prepare(params).catch(() => {});
    }
  });
  await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const sessionId = await new Promise(resolve => prepared.set(targetId, resolve));
  assert.ok(sessionId);
  await send('Page.navigate', { url }, sessionId);
  return async () => {
    const ended = new Promise(resolve => browser.once('exit', resolve));
    browser.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
}
