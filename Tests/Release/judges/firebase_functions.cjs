// Blocking functions written with firebase-functions: what they receive of every kind of sign-in, and that what they
// answer is applied.
//
// usage: [TOKENS=unsigned] FIREBASE_AUTH_EMULATOR_HOST=HOST:PORT JUDGES=FOLDER node firebase_functions.cjs PROJECT
'use strict';
const assert = require('node:assert');
const http = require('node:http');
const path = require('node:path');

const project = process.argv[2];
const host = `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`;
process.env.GCLOUD_PROJECT = project;
// Beside an emulator, the SDK verifies all of a JWT but its signature, and takes it only if it has none.
const unsigned = process.env.TOKENS === 'unsigned';
if (!unsigned) {
  process.env.FIREBASE_DEBUG_MODE = 'true';
  process.env.FIREBASE_DEBUG_FEATURES = '{"skipTokenVerification":true}';
}
const { beforeUserCreated, beforeUserSignedIn } = require(path.join(process.env.JUDGES, 'firebase-functions.cjs'));

const events = [];
const functions = {
  '/create': beforeUserCreated(event => {
    events.push(event);
    return { displayName: 'Ada' };
  }),
  '/sign-in': beforeUserSignedIn(event => {
    events.push(event);
    return { sessionClaims: { door: 'front' } };
  }),
};

/** An HTTP server that calls a function with the request and the response that Express would pass. */
const server = http.createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', part => { text += part; }).on('end', () => {
    request.body = JSON.parse(text);
    request.header = name => request.headers[name.toLowerCase()];
    response.status = status => {
      response.statusCode = status;
      return response;
    };
    response.send = body => response.end(typeof body === 'string' ? body : JSON.stringify(body));
    functions[request.url](request, response);
  });
});

async function call(method, resource, body, headers = {}) {
  const answer = await fetch(host + resource, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const result = await answer.json();
  assert.ok(answer.ok, `${method} ${resource}: ${JSON.stringify(result)}`);
  return result;
}
const admin = (method, resource, body) =>
  call(method, `/identitytoolkit.googleapis.com${resource}`, body, { Authorization: 'Bearer owner' });
const user = (operation, body) => call('POST', `/identitytoolkit.googleapis.com/v1/accounts:${operation}?key=any`, body);
const claims = reply => JSON.parse(Buffer.from(reply.idToken.split('.')[1], 'base64url').toString());
const taken = () => events.splice(0);

async function main() {
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve); });
  const triggers = {
    beforeCreate: { functionUri: `http://127.0.0.1:${server.address().port}/create` },
    beforeSignIn: { functionUri: `http://127.0.0.1:${server.address().port}/sign-in` },
  };
  // The SDK accepts only audiences of Google's hosts.
  if (unsigned) for (const trigger of Object.values(triggers)) trigger.audience = 'https://door-abc123.a.run.app/';
  const config = `/v2/projects/${project}/config?updateMask=blockingFunctions`;
  await admin('PATCH', config, { blockingFunctions: { triggers } });

  // What most functions do with the email would fail for these.
  await user('signUp', {});
  assert.deepEqual(taken(), []);

  const credentials = { email: 'ada@example.com', password: 'correct horse' };
  const made = await user('signUp', credentials);
  assert.equal(claims(made).name, 'Ada');
  assert.equal(claims(made).door, 'front');
  const [created, signedIn] = taken();
  assert.ok(created.eventType.endsWith('user.beforeCreate:password'), created.eventType);
  assert.ok(signedIn.eventType.endsWith('user.beforeSignIn:password'), signedIn.eventType);
  assert.equal(created.data.uid, made.localId);
  assert.ok(created.data.email.endsWith('@example.com'));
  assert.equal(created.data.emailVerified, false);
  assert.deepEqual(created.data.customClaims, {});
  assert.equal(created.additionalUserInfo.isNewUser, true);
  for (const text of [created.ipAddress, created.userAgent, created.locale]) assert.equal(typeof text, 'string');

  const google = { sub: '7', email: 'ada@gmail.com', email_verified: true, name: 'Ada' };
  const postBody = `providerId=google.com&id_token=${encodeURIComponent(JSON.stringify(google))}`;
  await user('signInWithIdp', { idToken: made.idToken, postBody, requestUri: 'http://localhost' });
  const [linked] = taken();
  assert.ok(linked.eventType.endsWith('user.beforeSignIn:google.com'), linked.eventType);
  assert.equal(linked.additionalUserInfo.profile.id, '7');
  assert.equal(linked.additionalUserInfo.profile.verified_email, true);
  assert.ok(linked.additionalUserInfo.profile.granted_scopes.includes('openid'));
  assert.deepEqual(linked.data.providerData.map(info => info.providerId), ['google.com', 'password']);
  assert.ok(!Number.isNaN(Date.parse(linked.data.metadata.lastSignInTime)), linked.data.metadata.lastSignInTime);

  const enrollments = [{ mfaEnrollmentId: 'phone-1', phoneInfo: '+15555550144', displayName: 'Own' }];
  await admin('POST', `/v1/projects/${project}/accounts:update`, {
    localId: made.localId, emailVerified: true, mfa: { enrollments },
  });
  const { mfaPendingCredential } = await user('signInWithPassword', credentials);
  assert.deepEqual(taken(), []);
  const second = '/identitytoolkit.googleapis.com/v2/accounts/mfaSignIn';
  const { phoneResponseInfo: { sessionInfo } } = await call('POST', `${second}:start?key=any`, {
    mfaPendingCredential, mfaEnrollmentId: 'phone-1', phoneSignInInfo: { recaptchaToken: 'x' },
  });
  const codes = await (await fetch(`${host}/emulator/v1/projects/${project}/verificationCodes`)).json();
  const { code } = codes.verificationCodes.find(sent => sent.sessionInfo === sessionInfo);
  await call('POST', `${second}:finalize?key=any`, {
    mfaPendingCredential, phoneVerificationInfo: { sessionInfo, code },
  });
  const finished = taken();
  assert.equal(finished.length, 1);
  const [factor] = finished[0].data.multiFactor.enrolledFactors;
  assert.equal(factor.uid, 'phone-1');
  assert.equal(factor.factorId, 'phone');
  assert.equal(factor.phoneNumber, '+15555550144');
  assert.ok(!Number.isNaN(Date.parse(factor.enrollmentTime)), factor.enrollmentTime);
  console.log(`firebase-functions: two functions, four sign-ins${unsigned ? ', unsigned' : ''}`);
}

main().then(() => process.exit(0), error => {
  console.error(error);
  process.exit(1);
});
