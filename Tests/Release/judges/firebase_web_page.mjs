// The page of firebase_web.mjs: what firebase_client.mjs has, popups, and redirects, each of which is two loads.
import { Calls } from './calls.mjs';
import { equal, ok, plainValues, uncalled, useFirebase } from './firebase_client.mjs';
import * as loaded from '/package/firebase-web.js';

const post = async (path, body) => {
  const answer = await (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json();
  if (answer.error) throw new Error(answer.error);
  return answer.value;
};
const backend = new Proxy({}, { get: (_, name) => (...values) => post('/backend', { name, values }) });
const { service, apiKey, project, isDev } = await post('/backend', { name: 'settings', values: [] });
const options = { apiKey, projectId: project, authDomain: new URL(service).host };
const connect = auth => loaded.auth.connectAuthEmulator(auth, service, { disableWarnings: true });
const password = 'correct horse';

const calls = new Calls({ uncalled: uncalled(true) });
const call = calls.call.bind(calls);
const redirects = ['signInWithRedirect', 'linkWithRedirect', 'reauthenticateWithRedirect'];
const part = location.hash.slice(1) || 'main';
try {
  await (part === 'main' ? main() : redirect(part));
} catch (error) {
  calls.fail(part, error);
  await end();
}

/** Reports what this page saw, and goes to the next one. */
async function end() {
  const next = redirects[redirects.indexOf(part) + 1];
  const { count, failures, surface, called } = calls;
  await post('/report', { count, failures, surface: [...surface], called: [...called], isLast: !next });
  if (next) {
    location.hash = next;
    location.reload();
  }
}

async function main() {
  await useFirebase({ loaded, calls, backend, connect, options, isDev, emulator: service, isBrowser: true });
  await backend.selfProvider();
  const sdk = calls.exports(loaded.auth, plainValues);
  const auth = sdk.getAuth();
  const provider = new sdk.OAuthProvider('oidc.self');
  const result = await call('signInWithPopup', () => sdk.signInWithPopup(auth, provider), it =>
    equal([it.providerId, it.operationType, it.user.providerData[0].uid], ['oidc.self', 'signIn', 'person']));
  await call('OAuthProvider.credentialFromResult, popup', () => sdk.OAuthProvider.credentialFromResult(result), it =>
    ok(it.idToken));
  await call('reauthenticateWithPopup', () => sdk.reauthenticateWithPopup(auth.currentUser, provider), it =>
    equal([it.operationType, it.user.uid], ['reauthenticate', result.user.uid]));
  const { user } = await sdk.createUserWithEmailAndPassword(auth, 'popup@example.com', password);
  const error = await call('linkWithPopup, in use', () => sdk.linkWithPopup(user, provider).catch(it => it), it =>
    equal(it.code, 'auth/credential-already-in-use'));
  const credential = await call('OAuthProvider.credentialFromError, popup', () =>
    sdk.OAuthProvider.credentialFromError(error), it => ok(it.idToken));
  await call('signInWithCredential, of the error', () => sdk.signInWithCredential(auth, credential), it =>
    equal(it.user.uid, result.user.uid));
  await sdk.deleteUser(auth.currentUser);
  await sdk.signInWithEmailAndPassword(auth, 'popup@example.com', password);
  await call('linkWithPopup', () => sdk.linkWithPopup(auth.currentUser, provider), it =>
    equal(it.user.providerData.map(info => info.providerId).sort(), ['oidc.self', 'password']));
  await sdk.deleteUser(auth.currentUser);
  await end();
}

/** The first load leaves, the second has the result. */
async function redirect(name) {
  const sdk = calls.exports(loaded.auth, plainValues);
  const auth = sdk.getAuth(loaded.app.initializeApp(options));
  connect(auth);
  const provider = new sdk.OAuthProvider('oidc.self');
  if (!sessionStorage[name]) {
    await auth.authStateReady();
    if (name === 'linkWithRedirect') {
      await sdk.deleteUser(auth.currentUser);
      await sdk.createUserWithEmailAndPassword(auth, 'redirect@example.com', password);
    }
    sdk[name](...(name === 'signInWithRedirect' ? [auth] : [auth.currentUser]), provider).catch(error => {
      calls.fail(name, error);
      end();
    });
    sessionStorage[name] = JSON.stringify([...calls.called]);
    return;
  }
  for (const earlier of JSON.parse(sessionStorage[name])) calls.called.add(earlier);
  await call(name, () => sdk.getRedirectResult(auth), it => {
    equal([it.operationType, it.providerId], [name.replace('WithRedirect', ''), 'oidc.self']);
    equal(auth.currentUser.uid, it.user.uid);
  });
  await end();
}
