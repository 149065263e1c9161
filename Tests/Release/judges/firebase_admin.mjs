// Every method of firebase-admin/auth: with the emulator's switch in development, and with a service account and
// Google's host names in production.
//
// usage: Tests/Release/judges/run firebase_admin.mjs
import assert from 'node:assert/strict';
import { createCipheriv, createHash, createHmac, pbkdf2Sync, scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { admin, client, configure, isDev, judge, load, project, service } from './lib.mjs';

const differences = {
  'the code of a reset link, after a sign-in by link': 'A sign-in by email link ends the account’s other codes.',
  'the code of a reset link, after a sign-in by link in a tenant': 'The same.',
};
const uncalled = {
  'private in the package’s types': [
    'BaseAuth#verifyDecodedJWTNotRevokedOrDisabled', 'MultiFactorInfo#initFromServerResponse',
    'PhoneMultiFactorInfo#getFactorId', 'MultiFactorInfo.initMultiFactorInfo', 'ProjectConfig.validate',
    'ProjectConfig.buildServerRequest', 'Tenant.buildServerRequest', 'Tenant.getTenantIdFromResourceName',
    'Tenant.validate',
    'FirebaseAuthError.fromServerError',
  ],
  'hidden by the error’s own member': ['FirebaseAuthError#message'],
};

const password = 'correct horse';
const settings = { url: 'http://localhost/done', handleCodeInApp: true };
const pem = readFileSync(new URL('../certificate.pem', import.meta.url), 'utf8');
const hash = (name, ...parts) => createHash(name).update(Buffer.concat(parts.map(part => Buffer.from(part)))).digest();
/** Without the classes of the SDK. */
const plain = value => JSON.parse(JSON.stringify(value));
const salt = Buffer.from('salt');
const key = Buffer.from('secret');
const signer = Buffer.alloc(64, 3);
/** What Firebase makes of passwords: the signer's key, encrypted with what scrypt derives. */
function firebaseScrypt() {
  const cost = { N: 2 ** 14, r: 8, p: 1, maxmem: 2 ** 26 };
  const derived = scryptSync(password, Buffer.concat([salt, Buffer.from('-')]), 64, cost);
  return createCipheriv('aes-256-ctr', derived.subarray(0, 32), Buffer.alloc(16)).update(signer);
}
// What each algorithm makes of the password. As in firebase-admin's own tests, salts are last with HMAC, else first.
const hashes = {
  HMAC_SHA512: [{ key }, createHmac('sha512', key).update(password).update(salt).digest()],
  HMAC_SHA256: [{ key }, createHmac('sha256', key).update(password).update(salt).digest()],
  HMAC_SHA1: [{ key }, createHmac('sha1', key).update(password).update(salt).digest()],
  HMAC_MD5: [{ key }, createHmac('md5', key).update(password).update(salt).digest()],
  MD5: [{ rounds: 0 }, hash('md5', salt, password)],
  SHA1: [{ rounds: 1 }, hash('sha1', salt, password)],
  SHA256: [{ rounds: 1 }, hash('sha256', salt, password)],
  SHA512: [{ rounds: 1 }, hash('sha512', salt, password)],
  PBKDF_SHA1: [{ rounds: 1000 }, pbkdf2Sync(password, salt, 1000, 64, 'sha1')],
  PBKDF2_SHA256: [{ rounds: 1000 }, pbkdf2Sync(password, salt, 1000, 32, 'sha256')],
  STANDARD_SCRYPT: [
    { memoryCost: 1024, parallelization: 1, blockSize: 8, derivedKeyLength: 64 },
    scryptSync(password, salt, 64, { N: 1024, p: 1, r: 8 }),
  ],
  SCRYPT: [{ key: signer, saltSeparator: Buffer.from('-'), rounds: 8, memoryCost: 14 }, firebaseScrypt()],
  // From the tests of Openwall's implementation.
  BCRYPT: [{}, Buffer.from('$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'), 'U*U'],
};

/** Where an API of Google leads in production: private DNS and a proxy, as a process of Node can have them. */
class ToService extends https.Agent {
  createConnection() {
    return net.connect(new URL(service).port, new URL(service).hostname);
  }
}

await judge('firebase-admin', { differences, uncalled }, async calls => {
  const { call, refused } = { call: calls.call.bind(calls), refused: calls.refused.bind(calls) };
  const loaded = await load('firebase-admin-auth.cjs');
  const sdk = calls.exports(loaded.auth);
  const { app: apps } = loaded;
  if (!isDev) https.globalAgent = new ToService();
  const app = apps.initializeApp(isDev ? { projectId: project } : { credential: apps.cert(process.env.ACCOUNT_FILE) });
  const auth = sdk.getAuth(app);
  await call('getAuth', () => auth, () => assert.ok(auth instanceof sdk.Auth && auth instanceof sdk.BaseAuth));
  await call('Auth.app', () => auth.app, found => assert.equal(found, app));

  const tenants = await call('tenantManager', () => auth.tenantManager(), it =>
    assert.ok(it instanceof sdk.TenantManager));
  await configure({ 'multiTenant.allowTenants': true, 'signIn.email.passwordRequired': false });
  const tenant = await tenantManagement(tenants);
  const inTenant = await call('authForTenant', () => tenants.authForTenant(tenant.tenantId), it => {
    assert.ok(it instanceof sdk.TenantAwareAuth);
    assert.equal(it.tenantId, tenant.tenantId);
  });
  const tenantId = of => (of ? { tenantId: tenant.tenantId } : {});
  const signIn = (of, email, password) =>
    client('signInWithPassword', { email, password, returnSecureToken: true, ...tenantId(of) });
  await projectConfig();
  for (const place of [auth, inTenant]) {
    const of = place === auth ? '' : ' in a tenant';
    await users(place, of);
    await tokens(place, of);
    await links(place, of);
    await providers(place, of);
    await imports(place, of);
    await listing(place, of);
  }
  await refused('a tenant’s user in the project', 'auth/user-not-found', () => auth.getUser('tenant-ada'));
  await call('deleteTenant', () => tenants.deleteTenant(tenant.tenantId), found => assert.equal(found, undefined));
  await refused('getTenant, gone', 'auth/tenant-not-found', () => tenants.getTenant(tenant.tenantId));
  await refused('getUser of a tenant that is gone', 'auth/tenant-not-found', () => inTenant.getUser('ada'));
  await call('FirebaseAuthError', () => auth.getUser('nobody').catch(error => error), error => {
    assert.ok(error instanceof sdk.FirebaseAuthError);
    assert.ok(error.hasCode('user-not-found') && !error.hasCode('invalid-uid'));
    assert.deepEqual(error.toJSON(), { code: 'auth/user-not-found', message: error.message });
  });
  await call('AuthClientErrorCode', () => sdk.AuthClientErrorCode, codes =>
    assert.equal(codes.USER_NOT_FOUND.code, 'user-not-found'));

  // --- Configuration

  async function tenantManagement(tenants) {
    const made = await call('createTenant', () => tenants.createTenant({
      displayName: 'northwind',
      emailSignInConfig: { enabled: true, passwordRequired: false },
      anonymousSignInEnabled: true,
      multiFactorConfig: {
        state: 'ENABLED', factorIds: ['phone'],
        providerConfigs: [{ state: 'ENABLED', totpProviderConfig: { adjacentIntervals: 3 } }],
      },
      testPhoneNumbers: { '+15555550100': '123456' },
      smsRegionConfig: { allowByDefault: { disallowedRegions: ['AC'] } },
      passwordPolicyConfig: { enforcementState: 'ENFORCE', constraints: { minLength: 8 } },
      emailPrivacyConfig: { enableImprovedEmailPrivacy: false },
    }), it => {
      assert.ok(it instanceof sdk.Tenant);
      const { tenantId, ...rest } = it.toJSON();
      assert.match(tenantId, /^northwind-/);
      assert.equal(rest.displayName, 'northwind');
      assert.equal(rest.anonymousSignInEnabled, true);
      assert.deepEqual(rest.testPhoneNumbers, { '+15555550100': '123456' });
      assert.deepEqual(rest.smsRegionConfig, { allowByDefault: { disallowedRegions: ['AC'] } });
      assert.equal(rest.passwordPolicyConfig.constraints.minLength, 8);
    });
    await call('Tenant.emailSignInConfig', () => made.emailSignInConfig, it =>
      assert.deepEqual({ ...it }, { enabled: true, passwordRequired: false }));
    await call('Tenant.multiFactorConfig', () => made.multiFactorConfig, it => {
      assert.deepEqual(it.factorIds, ['phone']);
      assert.deepEqual(it.providerConfigs, [{ state: 'ENABLED', totpProviderConfig: { adjacentIntervals: 3 } }]);
    });
    await call('Tenant.recaptchaConfig', () => made.recaptchaConfig, it => assert.equal(it, undefined));
    await call('getTenant', () => tenants.getTenant(made.tenantId), it => assert.deepEqual(it.toJSON(), made.toJSON()));
    await call('updateTenant', () => tenants.updateTenant(made.tenantId, {
      displayName: 'southwind', anonymousSignInEnabled: false, passwordPolicyConfig: { enforcementState: 'OFF' },
      smsRegionConfig: { allowlistOnly: { allowedRegions: ['JP', 'US'] } }, testPhoneNumbers: null,
    }), it => {
      assert.equal(it.displayName, 'southwind');
      assert.equal(it.anonymousSignInEnabled, false);
      assert.equal(it.passwordPolicyConfig.enforcementState, 'OFF');
      assert.deepEqual(it.smsRegionConfig, { allowlistOnly: { allowedRegions: ['JP', 'US'] } });
      assert.equal(it.testPhoneNumbers, undefined);
      assert.equal(it.emailSignInConfig.passwordRequired, false);
    });
    await refused('updateTenant, reCAPTCHA', 'auth/invalid-config', () =>
      tenants.updateTenant(made.tenantId, { recaptchaConfig: { emailPasswordEnforcementState: 'AUDIT' } }));
    const other = await tenants.createTenant({ displayName: 'westwind' });
    const expected = [made.tenantId, other.tenantId].sort();
    const first = await call('listTenants', () => tenants.listTenants(1), page => {
      assert.deepEqual(page.tenants.map(it => it.tenantId), expected.slice(0, 1));
      assert.ok(page.pageToken);
    });
    await call('listTenants, second page', () => tenants.listTenants(1, first.pageToken), page =>
      assert.deepEqual(page.tenants.map(it => it.tenantId), expected.slice(1)));
    // In development, as in Firebase's emulator, it may be anything.
    if (!isDev) {
      await refused('createTenant, a name with a space', 'auth/invalid-config', () =>
        tenants.createTenant({ displayName: 'North Wind' }));
    }
    return made;
  }

  async function projectConfig() {
    const manager = await call('projectConfigManager', () => auth.projectConfigManager(), it =>
      assert.ok(it instanceof sdk.ProjectConfigManager));
    const changes = {
      smsRegionConfig: { allowlistOnly: { allowedRegions: ['DE', 'JP', 'US'] } },
      multiFactorConfig: {
        state: 'ENABLED', factorIds: ['phone'],
        providerConfigs: [{ state: 'ENABLED', totpProviderConfig: { adjacentIntervals: 5 } }],
      },
      passwordPolicyConfig: {
        enforcementState: 'ENFORCE', forceUpgradeOnSignin: false,
        constraints: {
          requireUppercase: false, requireLowercase: true, requireNonAlphanumeric: false, requireNumeric: false,
          minLength: 7, maxLength: 100,
        },
      },
      emailPrivacyConfig: { enableImprovedEmailPrivacy: false },
      mobileLinksConfig: { domain: 'HOSTING_DOMAIN' },
    };
    for (const [name, value] of Object.entries(changes)) {
      await call(`updateProjectConfig, ${name}`, () => manager.updateProjectConfig({ [name]: value }), it => {
        assert.ok(it instanceof sdk.ProjectConfig);
        assert.deepEqual(plain(it.toJSON()[name]), value);
      });
    }
    const read = await call('getProjectConfig', () => manager.getProjectConfig(), it => {
      for (const [name, value] of Object.entries(changes)) assert.deepEqual(plain(it.toJSON()[name]), value);
    });
    await call('ProjectConfig.multiFactorConfig', () => read.multiFactorConfig, it =>
      assert.equal(it.state, 'ENABLED'));
    await call('ProjectConfig.recaptchaConfig', () => read.recaptchaConfig, it => assert.equal(it, undefined));
    await refused('updateProjectConfig, reCAPTCHA', 'auth/invalid-config', () =>
      manager.updateProjectConfig({ recaptchaConfig: { emailPasswordEnforcementState: 'AUDIT' } }));
    await call('updateProjectConfig, back', () => manager.updateProjectConfig({
      passwordPolicyConfig: { enforcementState: 'OFF' }, smsRegionConfig: { allowByDefault: { disallowedRegions: [] } },
    }), it => assert.equal(it.passwordPolicyConfig.enforcementState, 'OFF'));
  }

  // --- Accounts

  async function users(auth, of) {
    const uid = of ? 'tenant-ada' : 'ada';
    const request = {
      uid, email: 'ada@example.com', emailVerified: true, phoneNumber: '+15555550123', password, displayName: 'Ada',
      photoURL: 'https://example.com/ada.png', disabled: false,
      multiFactor: { enrolledFactors: [{ phoneNumber: '+15555550124', displayName: 'Work', factorId: 'phone' }] },
    };
    const made = await call(`createUser${of}`, () => auth.createUser(request), it => {
      assert.ok(it instanceof sdk.UserRecord);
      for (const name of ['uid', 'email', 'emailVerified', 'phoneNumber', 'displayName', 'photoURL', 'disabled']) {
        assert.equal(it[name], request[name], name);
      }
      assert.equal(it.tenantId ?? '', of && tenant.tenantId);
    });
    await call(`UserRecord.toJSON${of}`, () => made.toJSON(), it => {
      assert.equal(it.uid, uid);
      assert.deepEqual(it.providerData.map(info => info.providerId).sort(), ['password', 'phone']);
    });
    await call(`UserInfo.toJSON${of}`, () => made.providerData[0], it => {
      assert.ok(it instanceof sdk.UserInfo);
      assert.deepEqual(it.toJSON(), { ...it });
    });
    await call(`UserMetadata.toJSON${of}`, () => made.metadata, it => {
      assert.ok(it instanceof sdk.UserMetadata);
      assert.ok(Math.abs(Date.parse(it.toJSON().creationTime) - Date.now()) < 60_000);
    });
    await call(`MultiFactorSettings.toJSON${of}`, () => made.multiFactor, it => {
      assert.ok(it instanceof sdk.MultiFactorSettings);
      assert.equal(it.toJSON().enrolledFactors[0].displayName, 'Work');
    });
    await call(`PhoneMultiFactorInfo.toJSON${of}`, () => made.multiFactor.enrolledFactors[0], it => {
      assert.ok(it instanceof sdk.PhoneMultiFactorInfo && it instanceof sdk.MultiFactorInfo);
      assert.equal(it.toJSON().phoneNumber, '+15555550124');
      assert.equal(Object.getPrototypeOf(sdk.PhoneMultiFactorInfo.prototype).toJSON.call(it).uid, it.uid);
    });
    const taken = [
      ['uid', 'auth/uid-already-exists', { uid }],
      ['email', 'auth/email-already-exists', { email: request.email }],
      ['phoneNumber', 'auth/phone-number-already-exists', { phoneNumber: request.phoneNumber }],
    ];
    for (const [name, code, properties] of taken) {
      await refused(`createUser, ${name} twice${of}`, code, () => auth.createUser(properties));
    }
    await call(`updateUser, providerToLink${of}`, () => auth.updateUser(uid, {
      providerToLink: { providerId: 'google.com', uid: `google-${uid}`, email: request.email, displayName: 'A' },
    }), it => assert.ok(it.providerData.some(info => info.uid === `google-${uid}`)));
    const ways = {
      getUser: () => auth.getUser(uid),
      getUserByEmail: () => auth.getUserByEmail('Ada@Example.com'),
      getUserByPhoneNumber: () => auth.getUserByPhoneNumber(request.phoneNumber),
      getUserByProviderUid: () => auth.getUserByProviderUid('google.com', `google-${uid}`),
    };
    for (const [name, way] of Object.entries(ways)) await call(`${name}${of}`, way, it => assert.equal(it.uid, uid));
    const nobody = {
      getUser: () => auth.getUser('nobody'),
      getUserByEmail: () => auth.getUserByEmail('nobody@example.com'),
      getUserByPhoneNumber: () => auth.getUserByPhoneNumber('+15555550199'),
      getUserByProviderUid: () => auth.getUserByProviderUid('google.com', 'nobody'),
      updateUser: () => auth.updateUser('nobody', { displayName: 'N' }),
      deleteUser: () => auth.deleteUser('nobody'),
      setCustomUserClaims: () => auth.setCustomUserClaims('nobody', {}),
      revokeRefreshTokens: () => auth.revokeRefreshTokens('nobody'),
    };
    for (const [name, way] of Object.entries(nobody)) await refused(`${name}, nobody${of}`, 'auth/user-not-found', way);
    await call(`getUsers${of}`, () => auth.getUsers([
      { uid }, { email: request.email }, { phoneNumber: request.phoneNumber },
      { providerId: 'google.com', providerUid: `google-${uid}` }, { uid: 'nobody' },
    ]), it => {
      assert.deepEqual(it.users.map(user => user.uid), [uid]);
      assert.deepEqual(it.notFound, [{ uid: 'nobody' }]);
    });
    await call(`updateUser${of}`, () => auth.updateUser(uid, {
      email: 'lovelace@example.com', emailVerified: false, displayName: null, photoURL: null, phoneNumber: null,
      providersToUnlink: ['google.com'], multiFactor: { enrolledFactors: null },
    }), it => {
      assert.equal(it.email, 'lovelace@example.com');
      assert.equal(it.emailVerified, false);
      for (const name of ['displayName', 'photoURL', 'phoneNumber', 'multiFactor']) {
        assert.equal(it[name] ?? null, null, name);
      }
      assert.deepEqual(it.providerData.map(info => info.providerId), ['password']);
    });
    await call(`updateUser, disabled${of}`, () => auth.updateUser(uid, { disabled: true }), it =>
      assert.ok(it.disabled));
    const { email } = request;
    await auth.updateUser(uid, { disabled: false, email, emailVerified: true, password: 'battery staple' });
    await call(`updateUser, password${of}`, () => signIn(of, 'ada@example.com', 'battery staple'), it =>
      assert.equal(it.localId, uid));
    await call(`setCustomUserClaims${of}`, () =>
      auth.setCustomUserClaims(uid, { role: 'admin', deep: { a: [1] } }), async () =>
      assert.deepEqual((await auth.getUser(uid)).customClaims, { role: 'admin', deep: { a: [1] } }));
    await refused(`setCustomUserClaims, reserved${of}`, 'auth/reserved-claim', () =>
      auth.setCustomUserClaims(uid, { iss: 'x' }));
    await refused(`setCustomUserClaims, too long${of}`, 'auth/claims-too-large', () =>
      auth.setCustomUserClaims(uid, { long: 'x'.repeat(1000) }));
    await call(`setCustomUserClaims, none${of}`, () => auth.setCustomUserClaims(uid, null), async () =>
      assert.deepEqual((await auth.getUser(uid)).customClaims ?? {}, {}));
  }

  async function tokens(auth, of) {
    const uid = of ? 'tenant-grace' : 'grace';
    await auth.createUser({ uid, email: 'grace@example.com', password });
    await auth.setCustomUserClaims(uid, { role: 'admin' });
    const custom = await call(`createCustomToken${of}`, () => auth.createCustomToken(uid, { plan: 'gold' }), it =>
      assert.equal(it.split('.').length, 3));
    const exchange = { token: custom, returnSecureToken: true, ...tenantId(of) };
    const { idToken } = await client('signInWithCustomToken', exchange);
    await call(`verifyIdToken${of}`, () => auth.verifyIdToken(idToken, true), it => {
      assert.equal(it.uid, uid);
      assert.equal(it.plan, 'gold');
      assert.equal(it.role, 'admin');
      assert.equal(it.firebase.sign_in_provider, 'custom');
      assert.equal(it.firebase.tenant ?? '', of && tenant.tenantId);
      assert.equal(it.iss, `https://securetoken.google.com/${project}`);
    });
    const expiresIn = 5 * 60_000;
    const cookie = await call(`createSessionCookie${of}`, () => auth.createSessionCookie(idToken, { expiresIn }), it =>
      assert.equal(it.split('.').length, 3));
    const seen = await call(`verifySessionCookie${of}`, () => auth.verifySessionCookie(cookie, true), it => {
      assert.equal(it.uid, uid);
      assert.equal(it.exp - it.iat, expiresIn / 1000);
      assert.equal(it.iss, `https://session.firebase.google.com/${project}`);
    });
    await refused(`verifyIdToken, no token${of}`, 'auth/argument-error', () => auth.verifyIdToken('x.y.z'));
    await refused(`verifyIdToken, a cookie${of}`, 'auth/argument-error', () => auth.verifyIdToken(cookie));
    await refused(`verifySessionCookie, a token${of}`, 'auth/argument-error', () => auth.verifySessionCookie(idToken));
    // A tenant's is looked into before it is sent.
    await refused(`createSessionCookie, no token${of}`, of ? 'auth/argument-error' : 'auth/invalid-id-token', () =>
      auth.createSessionCookie('x.y.z', { expiresIn }));
    if (!isDev) {
      await refused(`verifyIdToken, another signature${of}`, 'auth/argument-error', () =>
        auth.verifyIdToken(`${idToken.slice(0, -8)}AAAAAAAA`));
    }
    if (of) {
      const elsewhere = tenants.authForTenant('elsewhere-12345');
      // With an emulator, the SDK looks for the user first.
      const code = isDev ? 'auth/tenant-not-found' : 'auth/mismatching-tenant-id';
      await refused('verifyIdToken, of another tenant', code, () => elsewhere.verifyIdToken(idToken));
      await refused('verifySessionCookie, of another tenant', code, () => elsewhere.verifySessionCookie(cookie));
    }
    await call(`revokeRefreshTokens${of}`, () => auth.revokeRefreshTokens(uid), async () => {
      const { tokensValidAfterTime } = await auth.getUser(uid);
      assert.ok(Date.parse(tokensValidAfterTime) / 1000 >= seen.iat, tokensValidAfterTime);
    });
    // It counts in seconds, and all this may have been in one.
    await admin('POST', `/v1/projects/{p}${of && `/tenants/${tenant.tenantId}`}/accounts:update`, {
      localId: uid, validSince: String(seen.iat + 1),
    });
    await refused(`verifyIdToken, revoked${of}`, 'auth/id-token-revoked', () => auth.verifyIdToken(idToken, true));
    await refused(`verifySessionCookie, revoked${of}`, 'auth/session-cookie-revoked', () =>
      auth.verifySessionCookie(cookie, true));
    // With an emulator, the SDK looks into a tenant's itself.
    const revoked = of && isDev ? 'auth/id-token-revoked' : 'auth/id-token-expired';
    await refused(`createSessionCookie, revoked${of}`, revoked, () =>
      auth.createSessionCookie(idToken, { expiresIn }));
    await auth.updateUser(uid, { disabled: true });
    await refused(`verifyIdToken, disabled${of}`, 'auth/user-disabled', () => auth.verifyIdToken(idToken, true));
    await refused(`verifySessionCookie, disabled${of}`, 'auth/user-disabled', () =>
      auth.verifySessionCookie(cookie, true));
    await call(`deleteUser${of}`, () => auth.deleteUser(uid), it => assert.equal(it, undefined));
    await refused(`verifyIdToken, deleted${of}`, 'auth/user-not-found', () => auth.verifyIdToken(idToken, true));
  }

  async function links(auth, of) {
    const email = 'ada@example.com';
    const kinds = [
      ['generatePasswordResetLink', 'resetPassword', [email, settings]],
      ['generateEmailVerificationLink', 'verifyEmail', [email, settings]],
      ['generateVerifyAndChangeEmailLink', 'verifyAndChangeEmail', [email, 'new@example.com', settings]],
      ['generateSignInWithEmailLink', 'signIn', [email, settings]],
    ];
    const codes = {};
    for (const [name, mode, values] of kinds) {
      const link = await call(`${name}${of}`, () => auth[name](...values), text => {
        const query = Object.fromEntries(new URL(text).searchParams);
        assert.equal(query.mode, mode);
        assert.equal(query.continueUrl, settings.url);
        assert.ok(query.oobCode && query.apiKey && query.lang, text);
        assert.equal(query.tenantId ?? '', of && tenant.tenantId);
        assert.ok(text.startsWith(service), text);
      });
      codes[mode] = new URL(link).searchParams.get('oobCode');
    }
    const use = (operation, oobCode, more) => client(operation, { oobCode, ...more, ...tenantId(of) });
    await call(`the code of a sign-in link${of}`, () => use('signInWithEmailLink', codes.signIn, { email }), it =>
      assert.equal(it.email, email));
    await call(`the code of a reset link, after a sign-in by link${of}`, () =>
      use('resetPassword', codes.resetPassword), it =>
      assert.equal(it.email, email));
    await call(`the code of a change link${of}`, async () => {
      const link = await auth.generateVerifyAndChangeEmailLink(email, 'new@example.com');
      return use('update', new URL(link).searchParams.get('oobCode'));
    }, it => assert.equal(it.email, 'new@example.com'));
    await refused(`generateEmailVerificationLink, nobody${of}`, 'auth/user-not-found', () =>
      auth.generateEmailVerificationLink('nobody@example.com'));
    await refused(`generatePasswordResetLink, nobody${of}`, 'auth/email-not-found', () =>
      auth.generatePasswordResetLink('nobody@example.com'));
    await refused(`generateVerifyAndChangeEmailLink, taken${of}`, 'auth/email-already-exists', async () => {
      await auth.createUser({ email: 'taken@example.com' });
      return auth.generateVerifyAndChangeEmailLink('new@example.com', 'taken@example.com');
    });
    await refused(`generateSignInWithEmailLink, another domain${of}`, 'auth/unauthorized-continue-uri', () =>
      auth.generateSignInWithEmailLink(email, { ...settings, url: 'https://evil.example/' }));
    await refused(`generatePasswordResetLink, Dynamic Links${of}`, 'auth/invalid-hosting-link-domain', () =>
      auth.generatePasswordResetLink('new@example.com', { ...settings, linkDomain: 'evil.example' }));
  }

  // --- Providers

  async function providers(auth, of) {
    const oidc = {
      providerId: 'oidc.acme', displayName: 'Acme', enabled: true, clientId: 'app', clientSecret: 's3cret',
      issuer: 'https://login.acme.example', responseType: { code: true },
    };
    const saml = {
      providerId: 'saml.acme', displayName: 'Acme', enabled: true, idpEntityId: 'acme',
      ssoURL: 'https://login.acme.example/sso', x509Certificates: [pem], rpEntityId: 'app',
      callbackURL: 'https://app.example/__/auth/handler',
    };
    const changes = {
      'oidc.acme': { displayName: 'Acme Inc', enabled: false, clientId: 'other', clientSecret: 'other' },
      'saml.acme': { displayName: 'Acme Inc', enabled: false, ssoURL: 'https://sso.acme.example/' },
    };
    for (const config of [oidc, saml]) {
      const id = config.providerId;
      const { clientSecret, ...shown } = config;
      const kind = `${id.slice(0, 4)}${of}`;
      const has = (it, members) => {
        for (const [name, value] of Object.entries(members)) assert.deepEqual(it[name], value, name);
      };
      await call(`createProviderConfig, ${kind}`, () => auth.createProviderConfig(config), it => has(it, shown));
      await call(`getProviderConfig, ${kind}`, () => auth.getProviderConfig(id), it => has(it, shown));
      await refused(`createProviderConfig, twice, ${kind}`, 'auth/configuration-exists', () =>
        auth.createProviderConfig(config));
      await call(`updateProviderConfig, ${kind}`, () => auth.updateProviderConfig(id, changes[id]), it => {
        const { clientSecret: secret, ...visible } = changes[id];
        has(it, { ...shown, ...visible });
      });
      await auth.createProviderConfig({ ...config, providerId: `${id}2` });
      const type = id.slice(0, 4);
      const first = await call(`listProviderConfigs, ${kind}`, () =>
        auth.listProviderConfigs({ type, maxResults: 1 }), page => {
        assert.deepEqual(page.providerConfigs.map(it => it.providerId).filter(name => name.startsWith(id)), [id]);
        assert.ok(page.pageToken);
      });
      await call(`listProviderConfigs, second page, ${kind}`, () =>
        auth.listProviderConfigs({ type, maxResults: 1, pageToken: first.pageToken }), page =>
        assert.deepEqual(page.providerConfigs.map(it => it.providerId), [`${id}2`]));
      await call(`deleteProviderConfig, ${kind}`, () => auth.deleteProviderConfig(id), it =>
        assert.equal(it, undefined));
      for (const name of ['getProviderConfig', 'deleteProviderConfig', 'updateProviderConfig']) {
        await refused(`${name}, gone, ${kind}`, 'auth/configuration-not-found', () =>
          auth[name](id, { displayName: 'X' }));
      }
      await auth.deleteProviderConfig(`${id}2`);
    }
  }

  // --- Many accounts

  async function imports(auth, of) {
    const prefix = of ? 'tenant-' : '';
    for (const [algorithm, [options, passwordHash, typed = password]] of Object.entries(hashes)) {
      const name = algorithm.toLowerCase();
      const email = `${name}@import.example`;
      const passwordSalt = algorithm === 'BCRYPT' ? undefined : salt;
      await call(`importUsers, ${algorithm}${of}`, () => auth.importUsers([{
        uid: prefix + name, email, passwordHash, passwordSalt, displayName: algorithm, emailVerified: true,
        customClaims: { from: 'import' }, metadata: { creationTime: 'Wed, 01 Jan 2020 00:00:00 GMT' },
        providerData: [{ uid: `g-${name}`, providerId: 'google.com', email }],
      }], { hash: { algorithm, ...options } }), async it => {
        assert.deepEqual(it, { failureCount: 0, successCount: 1, errors: [] });
        assert.equal((await signIn(of, email, typed)).localId, prefix + name);
        const user = await auth.getUser(prefix + name);
        assert.deepEqual(user.customClaims, { from: 'import' });
        assert.equal(user.metadata.creationTime, 'Wed, 01 Jan 2020 00:00:00 GMT');
        assert.ok(user.providerData.some(info => info.providerId === 'google.com'));
      });
    }
    await call(`importUsers, some refused${of}`, () => auth.importUsers([
      { uid: `${prefix}i1`, email: 'i1@import.example' }, { uid: `${prefix}i2`, email: 'no address' },
      { uid: `${prefix}i3`, phoneNumber: '+15555550150' },
      { uid: `${prefix}i4`, email: 'i4@import.example', multiFactor: { enrolledFactors: [
        { uid: 'f', phoneNumber: '+15555550151', factorId: 'phone', displayName: 'F' }] }, emailVerified: true },
    ]), async it => {
      assert.equal(it.successCount, 3);
      assert.deepEqual(it.errors.map(error => [error.index, error.error.code]), [[1, 'auth/invalid-email']]);
      assert.equal((await auth.getUser(`${prefix}i4`)).multiFactor.enrolledFactors[0].uid, 'f');
    });
  }

  async function listing(auth, of) {
    const seen = [];
    let page = await call(`listUsers${of}`, () => auth.listUsers(5), it => {
      assert.equal(it.users.length, 5);
      assert.ok(it.pageToken);
    });
    for (;;) {
      seen.push(...page.users.map(user => user.uid));
      if (!page.pageToken) break;
      const { pageToken } = page;
      page = await call(`listUsers, next page${of}`, () => auth.listUsers(5, pageToken), it =>
        assert.ok(it.users.length));
    }
    assert.deepEqual(seen, [...new Set(seen)].sort());
    await refused(`listUsers, no such page${of}`, 'auth/invalid-page-token', () => auth.listUsers(5, 'x y'));
    await call(`deleteUsers${of}`, () => auth.deleteUsers([...seen.slice(0, 3), 'nobody']), it =>
      assert.deepEqual(it, { successCount: 4, failureCount: 0, errors: [] }));
    await call(`listUsers, the rest${of}`, () => auth.listUsers(), it =>
      assert.deepEqual(it.users.map(user => user.uid), seen.slice(3)));
  }
});
