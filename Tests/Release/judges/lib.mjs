// What the judges share: the service they are pointed at, a record of what was called, and the line at the end.
//
// `run` starts the service and says in the environment where it is and what opens it.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Calls } from './calls.mjs';

export const { MODE: mode, SERVICE: service, PROJECT: project, API_KEY: apiKey, ADMIN_TOKEN: adminToken } = process.env;
export const isDev = mode === 'dev';

export async function load(name) {
  const loaded = await import(pathToFileURL(path.join(process.env.JUDGES, name)));
  return loaded.default ?? loaded;
}

/** Runs `body` with a record of calls, prints what it amounts to, and ends the process. */
export async function judge(name, tables, body) {
  const calls = new Calls(tables);
  try {
    await body(calls);
    calls.finish();
  } catch (error) {
    calls.fail('the script', error);
  }
  report(name, calls);
  process.exit(calls.failures.length ? 1 : 0);
}

export function report(name, { count, failures, differing }) {
  for (const text of failures) console.error(`${name}, ${mode}: ${text}`);
  const known = differing.size ? `, ${differing.size} known to differ` : '';
  console.log(`${name}, ${mode}: ${count} calls, ${failures.length} failed${known}`);
}

/** JSON, or with `URLSearchParams` a form, to the service; the answer, which must be as good as `ok` says. */
export async function send(method, resource, body, headers = {}, ok = true) {
  const isForm = body instanceof URLSearchParams;
  const answer = await fetch(new URL(resource, service), {
    method,
    redirect: 'manual',
    headers: { ...(body && !isForm ? { 'Content-Type': 'application/json' } : {}), ...headers },
    body: isForm ? body : body && JSON.stringify(body),
  });
  const text = await answer.text();
  assert.equal(answer.ok, ok, `${method} ${resource}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : {};
}

export const admin = (method, resource, body) =>
  send(method, resource.replace('{p}', project), body, { Authorization: `Bearer ${adminToken}` });
/** What an app calls without an SDK. */
export const client = (operation, body, ok = true) =>
  send('POST', `/v1/accounts:${operation}?key=${apiKey}`, body, {}, ok);
/** Changes the project's settings: `{'signIn.anonymous.enabled': true}`. */
export async function configure(members) {
  const body = {};
  for (const [name, value] of Object.entries(members)) {
    const folders = name.split('.');
    const last = folders.pop();
    folders.reduce((place, folder) => (place[folder] ??= {}), body)[last] = value;
  }
  return admin('PATCH', `/v2/projects/{p}/config?updateMask=${Object.keys(members).join()}`, body);
}

/** The newest message that `wanted` wants and that was not returned before, as soon as there is one. */
export async function message(wanted) {
  for (;;) {
    const found = (isDev ? await devMessages() : received).findLast(it => wanted(it) && !returned.has(it.id));
    if (found) {
      returned.add(found.id);
      return found;
    }
    assert.ok(!isDev, 'no such message');
    await new Promise((resolve, reject) => {
      const end = setTimeout(() =>
        reject(new Error(`no such message among ${JSON.stringify(received.slice(-3))}`)), 30_000);
      waiting.push(() => { clearTimeout(end); resolve(); });
    });
  }
}

const returned = new Set();
/** A change of address is asked of the new one. */
const recipient = (mail, kind) => (/^verifyAndChange|^VERIFY_AND_CHANGE/.test(kind) ? mail.newEmail : mail.email);

async function devMessages() {
  const [{ oobCodes }, { verificationCodes }] = await Promise.all(['oobCodes', 'verificationCodes'].map(kind =>
    send('GET', `/emulator/v1/projects/${project}/${kind}`)));
  return [...oobCodes.map(mail => ({ id: mail.oobLink, email: recipient(mail, mail.requestType), link: mail.oobLink })),
    ...verificationCodes.map(sms => ({ id: sms.sessionInfo, ...sms }))];
}

const received = [];
const waiting = [];
/** Production sends mails and SMS: to this process, which is the project's endpoint for both. */
export async function receiveMessages() {
  if (isDev) return;
  const secret = Buffer.alloc(32, 7);
  const server = http.createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', part => { text += part; }).on('end', () => {
      const signed = `${request.headers['webhook-id']}.${request.headers['webhook-timestamp']}.${text}`;
      const signature = `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`;
      response.writeHead(signature === request.headers['webhook-signature'] ? 204 : 401).end();
      const { data } = JSON.parse(text);
      received.push({ ...data, id: request.headers['webhook-id'], email: recipient(data, data.template) });
      for (const resume of waiting.splice(0)) resume();
    });
  });
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve); });
  server.unref();
  await configure({ 'identity.webhook': {
    url: `http://127.0.0.1:${server.address().port}/`, types: ['mail.send', 'sms.send'],
    secrets: [`whsec_${secret.toString('base64')}`],
  } });
}
