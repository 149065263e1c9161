// A login as next-firebase-auth-edge's middleware for Next.js does it: the ID token that the browser sends becomes a
// custom token with its claims, and that becomes the tokens of the cookies.
//
// usage: FIREBASE_AUTH_EMULATOR_HOST=HOST:PORT JUDGES=FOLDER node next_firebase.mjs PROJECT
import assert from 'node:assert';
import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const { getFirebaseAuth } = await import(pathToFileURL(path.join(process.env.JUDGES, 'next-firebase-auth-edge.mjs')));
const host = `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`;
const project = process.argv[2];
const apiKey = 'any';
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const serviceAccount = { projectId: project, clientEmail: `app@${project}.example`, privateKey };
const auth = getFirebaseAuth({ apiKey, serviceAccount, useEmulator: true });

async function call(method, resource, body) {
  const answer = await fetch(host + resource, {
    method,
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer owner' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${resource}: ${answer.status}`);
  return answer.json();
}

const email = 'ada@example.com';
const { localId } = await call('POST', `/identitytoolkit.googleapis.com/v1/projects/${project}/accounts`, {
  email,
  password: 'correct horse',
  displayName: 'Ada',
  photoUrl: 'https://example.com/ada.png',
  emailVerified: true,
});
await call('POST', `/identitytoolkit.googleapis.com/v1/projects/${project}/accounts:update`, {
  localId,
  customAttributes: '{"role":"admin"}',
});
const body = JSON.stringify({ email, password: 'correct horse', returnSecureToken: true });
const signIn = await fetch(`${host}/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=${apiKey}`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body,
});
const { idToken } = await signIn.json();

const login = await auth.getCustomIdAndRefreshTokens(idToken, {});
assert.ok(login.idToken && login.refreshToken && login.customToken);
const claims = await auth.verifyIdToken(login.idToken);
assert.equal(claims.uid, localId);
assert.equal(claims.role, 'admin');
assert.equal(claims.source_sign_in_provider, 'password');
const refreshed = await auth.handleTokenRefresh(login.refreshToken);
assert.ok(refreshed.idToken);
console.log('next-firebase-auth-edge: a login and a refresh');
