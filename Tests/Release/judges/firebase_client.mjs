// Every function of firebase/auth, as an app uses it: in Node and in a page.
//
// It runs in a browser too, so it imports nothing of Node; `backend` is the app's server.

export const equal = (found, expected) => {
  const [one, other] = [found, expected].map(value => JSON.stringify(value));
  if (one !== other) throw new Error(`${one} instead of ${other}`);
};
export const ok = (condition, text) => { if (!condition) throw new Error(text ?? 'it is not so'); };
const password = 'correct horse';
const unsupported = 'auth/operation-not-supported-in-this-environment';

// Classes of which the types show no method.
export const plainValues = /Persistence$|Resolver$/;

/** The code that an authenticator app shows (RFC 6238), `step` codes from now. */
async function totp(secret, step) {
  const bits = [...secret.replace(/=+$/, '')].map(letter =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = Uint8Array.from(bits.match(/.{8}/g), byte => parseInt(byte, 2));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setUint32(4, Math.floor(Date.now() / 30_000) + step);
  const digest = new DataView(await crypto.subtle.sign('HMAC', key, counter.buffer));
  return String((digest.getUint32(digest.getUint8(19) & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** `connect` points an Auth at the service; `emulator` is the URL for connectAuthEmulator. */
export async function useFirebase({ loaded, calls, backend, connect, options, emulator, isBrowser, isDev }) {
  const call = calls.call.bind(calls);
  const refused = calls.refused.bind(calls);
  const sdk = calls.exports(loaded.auth, plainValues);
  const { initializeApp } = loaded.app;
  await backend.prepare();
  const app = initializeApp(options);
  const auth = calls.watch('Auth', sdk.getAuth(app));
  connect(auth);

  const oobCode = async (email, kind) => new URL(await backend.link(email, kind)).searchParams.get('oobCode');

  await start();
  await passwords();
  await mails();
  await credentials();
  await anonymous();
  await secondFactors();
  await (isBrowser ? phones : unsupportedInNode)();
  await tenants();

  function newEmail() {
    newEmail.count = (newEmail.count ?? 0) + 1;
    return `person${newEmail.count}@example.com`;
  }
  /** Somebody new with a password, who is signed in then. */
  async function member({ isVerified = false } = {}) {
    const email = newEmail();
    const { user } = await loaded.auth.createUserWithEmailAndPassword(auth, email, password);
    if (isVerified) {
      await backend.change(user.uid, { emailVerified: true });
      await user.reload();
      await user.getIdToken(true);
    }
    return { email, user };
  }
  async function start() {
    await call('getAuth', () => sdk.getAuth(app), it => ok(it === auth));
    await call('Auth.authStateReady', () => auth.authStateReady(), () => equal(auth.currentUser, null));
    await call('Auth.toJSON', () => auth.toJSON(), it => equal(it.apiKey, options.apiKey));
    const other = sdk.initializeAuth(initializeApp(options, 'other'), {
      persistence: sdk.inMemoryPersistence, errorMap: sdk.debugErrorMap,
      ...(isBrowser ? { popupRedirectResolver: sdk.browserPopupRedirectResolver } : {}),
    });
    await call('initializeAuth', () => other, it => equal(it.app.name, 'other'));
    await call('connectAuthEmulator', () => sdk.connectAuthEmulator(other, emulator, { disableWarnings: true }), () =>
      equal(other.emulatorConfig.port, Number(new URL(emulator).port)));
    const plainly = sdk.initializeAuth(initializeApp(options, 'plain'), { errorMap: sdk.prodErrorMap });
    connect(plainly);
    await refused('prodErrorMap', 'auth/user-not-found', () =>
      sdk.signInWithEmailAndPassword(plainly, 'nobody@example.com', password).catch(error => {
        equal(error.message, 'Firebase: Error (auth/user-not-found).');
        throw error;
      }));
    await refused('debugErrorMap', 'auth/user-not-found', () =>
      sdk.signInWithEmailAndPassword(other, 'nobody@example.com', password).catch(error => {
        ok(error.message.includes('There is no user record'), error.message);
        throw error;
      }));
    await call('useDeviceLanguage', () => sdk.useDeviceLanguage(auth), () =>
      equal(auth.languageCode, isBrowser ? 'en-US' : null));
    await call('Auth.useDeviceLanguage', () => auth.useDeviceLanguage(), () => ok(auth.languageCode !== 'de'));
    auth.languageCode = 'de';
    await call('setPersistence', () => sdk.setPersistence(auth, sdk.inMemoryPersistence), it => equal(it, undefined));
    await call('Auth.setPersistence', () => auth.setPersistence(sdk.inMemoryPersistence), it => equal(it, undefined));
    // In Node, the SDK keeps nothing.
    const types = {
      browserLocalPersistence: 'LOCAL', browserSessionPersistence: 'SESSION', indexedDBLocalPersistence: 'LOCAL',
      browserCookiePersistence: 'COOKIE',
    };
    for (const [name, type] of Object.entries(types)) await call(name, () => sdk[name].type, it =>
      equal(it, isBrowser ? type : 'NONE'));
    await call('constants', () => [
      sdk.ActionCodeOperation.PASSWORD_RESET, sdk.AuthErrorCodes.INVALID_PASSWORD, sdk.FactorId.TOTP,
      sdk.OperationType.LINK,
      sdk.ProviderId.GITHUB, sdk.SignInMethod.EMAIL_LINK, typeof sdk.prodErrorMap, !!sdk.browserPopupRedirectResolver,
    ], it => equal(it, [
      'PASSWORD_RESET', 'auth/wrong-password', 'totp', 'link', 'github.com', 'emailLink', 'function', true,
    ]));
    // What it says of a project of Firebase where reCAPTCHA is off, too (firebase-js-sdk, pull request 8500).
    await refused('initializeRecaptchaConfig', 'recaptchaKey undefined', () => sdk.initializeRecaptchaConfig(auth));

    const heard = [];
    const stops = [
      sdk.onAuthStateChanged(auth, user => heard.push(['state', user?.uid])),
      sdk.onIdTokenChanged(auth, user => heard.push(['token', user?.uid])),
      sdk.beforeAuthStateChanged(auth, user => { heard.push(['before', user?.uid]); }),
      auth.onAuthStateChanged(user => heard.push(['state', user?.uid])),
      auth.onIdTokenChanged(user => heard.push(['token', user?.uid])),
      auth.beforeAuthStateChanged(user => { heard.push(['before', user?.uid]); }),
    ];
    const { user } = await member();
    await call('observers', () => user.getIdToken(true), () => {
      const counts = ['state', 'token', 'before'].map(kind =>
        heard.filter(([name, uid]) => name === kind && uid === user.uid).length);
      equal(counts.map(count => count >= 2), [true, true, true]);
    });
    for (const stop of stops) stop();
    await call('beforeAuthStateChanged, refused', async () => {
      const stop = sdk.beforeAuthStateChanged(auth, () => { throw new Error('no'); });
      const error = await sdk.signOut(auth).catch(it => it);
      stop();
      return error.code;
    }, it => equal(it, 'auth/login-blocked'));
    await call('updateCurrentUser', async () => {
      await sdk.updateCurrentUser(other, user);
      return other.currentUser.uid;
    }, it => equal(it, user.uid));
    await call('Auth.updateCurrentUser', async () => {
      await auth.updateCurrentUser(null);
      return auth.currentUser;
    }, it => equal(it, null));
    await call('Auth.signOut', () => auth.signOut(), () => equal(auth.currentUser, null));
    await call('validatePassword', () => sdk.validatePassword(auth, 'short'), it => {
      equal(it.isValid, false);
      equal(it.meetsMinPasswordLength, false);
    });
  }

  async function passwords() {
    const email = newEmail();
    const made = await call('createUserWithEmailAndPassword', () =>
      sdk.createUserWithEmailAndPassword(auth, email, password), it => {
      equal([it.user.email, it.user.emailVerified, it.operationType], [email, false, 'signIn']);
    });
    const user = calls.watch('User', made.user);
    await call('getAdditionalUserInfo', () => sdk.getAdditionalUserInfo(made), it => equal(it.isNewUser, true));
    await refused('createUserWithEmailAndPassword, twice', 'auth/email-already-in-use', () =>
      sdk.createUserWithEmailAndPassword(auth, email, password));
    await refused('createUserWithEmailAndPassword, weak', 'auth/weak-password', () =>
      sdk.createUserWithEmailAndPassword(auth, newEmail(), '12345'));
    await call('updateProfile', () =>
      sdk.updateProfile(user, { displayName: 'Ada', photoURL: 'https://example.com/a.png' }), () =>
      equal([user.displayName, user.photoURL], ['Ada', 'https://example.com/a.png']));
    await call('reload', () => sdk.reload(user), () => equal(user.displayName, 'Ada'));
    await call('User.reload', () => user.reload(), () => equal(user.photoURL, 'https://example.com/a.png'));
    const token = await call('getIdToken', () => sdk.getIdToken(user), it => equal(it.split('.').length, 3));
    await call('User.getIdToken', () => user.getIdToken(true), it => ok(it !== token));
    await call('getIdTokenResult', () => sdk.getIdTokenResult(user), it =>
      equal([it.signInProvider, it.claims.email, it.claims.name], ['password', email, 'Ada']));
    await call('User.getIdTokenResult', () => user.getIdTokenResult(true), it => equal(it.claims.sub, user.uid));
    await call('User.refreshToken', () => user.refreshToken, it =>
      equal(user.toJSON().stsTokenManager.refreshToken, it));
    await call('User.toJSON', () => user.toJSON(), it => equal(it.uid, user.uid));
    await call('fetchSignInMethodsForEmail', () => sdk.fetchSignInMethodsForEmail(auth, email), it =>
      equal(it, ['password']));
    await call('updatePassword', () => sdk.updatePassword(user, 'battery staple'), it => equal(it, undefined));
    await call('signOut', () => sdk.signOut(auth), () => equal(auth.currentUser, null));
    await refused('signInWithEmailAndPassword, wrong', 'auth/wrong-password', () =>
      sdk.signInWithEmailAndPassword(auth, email, password));
    await call('signInWithEmailAndPassword', () => sdk.signInWithEmailAndPassword(auth, email, 'battery staple'), it =>
      equal(it.user.uid, user.uid));
    await call('reauthenticateWithCredential', () => sdk.reauthenticateWithCredential(
      auth.currentUser, sdk.EmailAuthProvider.credential(email, 'battery staple')), it =>
        equal(it.operationType, 'reauthenticate'));
    await call('updateEmail', () => sdk.updateEmail(auth.currentUser, `new-${email}`), () =>
      equal([auth.currentUser.email, auth.currentUser.emailVerified], [`new-${email}`, false]));
    await call('signInWithCustomToken', async () =>
      sdk.signInWithCustomToken(auth, await backend.customToken('vera', { plan: 'gold' })), async it => {
      equal(it.user.uid, 'vera');
      equal((await it.user.getIdTokenResult()).claims.plan, 'gold');
    });
    await refused('signInWithCustomToken, none', 'auth/invalid-custom-token', () =>
      sdk.signInWithCustomToken(auth, 'x.y.z'));
    await call('deleteUser', () => sdk.deleteUser(auth.currentUser), () => equal(auth.currentUser, null));
    await refused('User.delete', 'auth/user-token-expired', async () => {
      const { user: gone } = await member();
      await gone.delete();
      await gone.getIdToken(true);
    });
  }

  async function mails() {
    const settings = { url: 'http://localhost/done', handleCodeInApp: true };
    let { email, user } = await member();
    await call('sendEmailVerification', () => sdk.sendEmailVerification(user, settings), it => equal(it, undefined));
    const link = await backend.link(email, 'verifyEmail');
    for (const name of ['ActionCodeURL.parseLink', 'parseActionCodeURL']) {
      await call(name, () =>
        (name.includes('.') ? sdk.ActionCodeURL.parseLink(link) : sdk.parseActionCodeURL(link)), it =>
        equal([it.operation, it.continueUrl, it.languageCode], ['VERIFY_EMAIL', settings.url, 'de']));
    }
    const { code } = sdk.parseActionCodeURL(link);
    await call('checkActionCode', () => sdk.checkActionCode(auth, code), it =>
      equal([it.operation, it.data.email], ['VERIFY_EMAIL', email]));
    await call('applyActionCode', () => sdk.applyActionCode(auth, code), async () => {
      await user.reload();
      equal(user.emailVerified, true);
    });
    await refused('applyActionCode, twice', 'auth/invalid-action-code', () => sdk.applyActionCode(auth, code));
    await call('verifyBeforeUpdateEmail', () =>
      sdk.verifyBeforeUpdateEmail(user, `new-${email}`, settings), async () => {
      const change = await oobCode(`new-${email}`, 'verifyAndChangeEmail');
      const info = await sdk.checkActionCode(auth, change);
      equal(info.operation, 'VERIFY_AND_CHANGE_EMAIL');
      equal([info.data.email, info.data.previousEmail], [`new-${email}`, email]);
      await sdk.applyActionCode(auth, change);
    });
    await call('the old address gets its account back', async () =>
      sdk.applyActionCode(auth, await oobCode(email, 'recoverEmail')), async () => {
      await sdk.signInWithEmailAndPassword(auth, email, password);
      equal(auth.currentUser.email, email);
    });

    await call('sendPasswordResetEmail', () => sdk.sendPasswordResetEmail(auth, email, settings), it =>
      equal(it, undefined));
    const reset = await oobCode(email, 'resetPassword');
    await call('verifyPasswordResetCode', () => sdk.verifyPasswordResetCode(auth, reset), it => equal(it, email));
    await refused('confirmPasswordReset, weak', 'auth/weak-password', () =>
      sdk.confirmPasswordReset(auth, reset, '12345'));
    await call('confirmPasswordReset', () => sdk.confirmPasswordReset(auth, reset, 'battery staple'), async () =>
      equal((await sdk.signInWithEmailAndPassword(auth, email, 'battery staple')).user.uid, user.uid));
    await refused('sendPasswordResetEmail, nobody', 'auth/user-not-found', () =>
      sdk.sendPasswordResetEmail(auth, 'nobody@example.com'));
    await refused('sendPasswordResetEmail, another domain', 'auth/unauthorized-continue-uri', () =>
      sdk.sendPasswordResetEmail(auth, email, { url: 'https://evil.example/' }));

    email = newEmail();
    await call('sendSignInLinkToEmail', () => sdk.sendSignInLinkToEmail(auth, email, settings), it =>
      equal(it, undefined));
    const signIn = await backend.link(email, 'signIn');
    await call('isSignInWithEmailLink', () => sdk.isSignInWithEmailLink(auth, signIn));
    await call('isSignInWithEmailLink, another', () => !sdk.isSignInWithEmailLink(auth, link));
    await call('signInWithEmailLink', () => sdk.signInWithEmailLink(auth, email, signIn), it =>
      equal([it.user.email, it.user.emailVerified], [email, true]));
    user = auth.currentUser;
    await sdk.sendSignInLinkToEmail(auth, email, settings);
    await call('EmailAuthProvider.credentialWithLink', async () => sdk.reauthenticateWithCredential(
      user, sdk.EmailAuthProvider.credentialWithLink(email, await backend.link(email, 'signIn'))), it =>
        equal(it.user.uid, user.uid));
    await call('EmailAuthCredential.toJSON', () => sdk.EmailAuthProvider.credential(email, password).toJSON(), it => {
      const again = sdk.EmailAuthCredential.fromJSON(JSON.stringify(it));
      ok(again instanceof sdk.EmailAuthCredential && again instanceof sdk.AuthCredential);
      equal([again.signInMethod, again.toJSON().email], ['password', email]);
      equal(new sdk.AuthCredential('a', 'b').signInMethod, 'b');
    });
  }

  async function credentials() {
    const { FacebookAuthProvider, GithubAuthProvider, GoogleAuthProvider, OAuthProvider } = sdk;
    const { SAMLAuthProvider, TwitterAuthProvider } = sdk;
    const claims = { sub: 'g1', email: 'grace@gmail.com', email_verified: true, name: 'Grace', hd: undefined };
    const google = GoogleAuthProvider.credential(await backend.idToken('google.com', claims));
    const result = await call('signInWithCredential', () => sdk.signInWithCredential(auth, google), it =>
      equal([it.user.email, it.user.displayName, it.providerId], ['grace@gmail.com', 'Grace', 'google.com']));
    await call('getAdditionalUserInfo, Google', () => sdk.getAdditionalUserInfo(result), it =>
      equal([it.isNewUser, it.providerId, it.profile.name], [true, 'google.com', 'Grace']));
    await call('GoogleAuthProvider.credentialFromResult', () => GoogleAuthProvider.credentialFromResult(result), it => {
      ok(it instanceof sdk.OAuthCredential);
      equal([it.providerId, it.idToken], ['google.com', google.idToken]);
    });
    await call('OAuthCredential.toJSON', () => sdk.OAuthCredential.fromJSON(google.toJSON()), it =>
      equal(it.toJSON(), google.toJSON()));
    // One account per email: what the other provider proved is in the error.
    const { email, user } = await member({ isVerified: true });
    const taken = GoogleAuthProvider.credential(await backend.idToken('google.com', { ...claims, sub: 'g1' }));
    const error = await call('credential-already-in-use', () =>
      sdk.linkWithCredential(user, taken).catch(it => it), it =>
      equal(it.code, 'auth/credential-already-in-use'));
    // The SDK asks for the credential only with a popup or a redirect.
    await call('GoogleAuthProvider.credentialFromError', () => GoogleAuthProvider.credentialFromError(error), it =>
      equal(it, null));
    const others = { ...claims, sub: 'g2', email: 'g2@gmail.com' };
    const second = GoogleAuthProvider.credential(await backend.idToken('google.com', others));
    await call('linkWithCredential', () => sdk.linkWithCredential(user, second), it => {
      equal([it.operationType, it.user.email], ['link', email]);
      equal(it.user.providerData.map(info => info.providerId).sort(), ['google.com', 'password']);
    });
    await call('unlink', () => sdk.unlink(user, 'google.com'), it =>
      equal(it.providerData.map(info => info.providerId), ['password']));
    await refused('unlink, twice', 'auth/no-such-provider', () => sdk.unlink(user, 'google.com'));

    const acme = new OAuthProvider('oidc.acme');
    const nonce = 'a nonce';
    const hashed = [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(nonce)))]
      .map(byte => byte.toString(16).padStart(2, '0')).join('');
    const idToken = await backend.idToken('oidc.acme', { sub: 'a1', name: 'Acme’s', nonce: hashed });
    const credential = await call('OAuthProvider.credential', () => acme.credential({ idToken, rawNonce: nonce }), it =>
      equal(OAuthProvider.credentialFromJSON(it.toJSON()).toJSON(), it.toJSON()));
    const acmes = await call('signInWithCredential, OpenID Connect', () =>
      sdk.signInWithCredential(auth, credential), it =>
      equal([it.providerId, it.user.providerData[0].uid], ['oidc.acme', 'a1']));
    await call('OAuthProvider.credentialFromResult', () => OAuthProvider.credentialFromResult(acmes), it =>
      equal(it.idToken, idToken));
    await refused('signInWithCredential, a wrong nonce', 'auth/missing-or-invalid-nonce', () =>
      sdk.signInWithCredential(auth, acme.credential({ idToken, rawNonce: 'another' })));
    const { email: known } = await member();
    const unverified = { sub: 'a2', email: known, email_verified: false };
    const unproved = acme.credential({ idToken: await backend.idToken('oidc.acme', unverified) });
    const conflict = await call('an address that somebody has', () =>
      sdk.signInWithCredential(auth, unproved).catch(it => it), it =>
      equal(it.code, 'auth/account-exists-with-different-credential'));
    await call('OAuthProvider.credentialFromError', () => OAuthProvider.credentialFromError(conflict), it =>
      equal([it.providerId, it.idToken], ['oidc.acme', unproved.idToken]));
    await refused('signInWithCredential, an unsigned token', /invalid-credential/, () => sdk.signInWithCredential(
      auth, acme.credential({ idToken: `${idToken.split('.').slice(0, 2).join('.')}.AAAA` })));

    await call('providers’ scopes and parameters', () => {
      const made = [new GoogleAuthProvider(), new FacebookAuthProvider(), new GithubAuthProvider()];
      made.push(new TwitterAuthProvider(), acme);
      return made.map(it => {
        it.setDefaultLanguage('de');
        it.setCustomParameters({ prompt: 'login' });
        if (it.addScope) it.addScope('extra');
        return [it.providerId, it.getCustomParameters().prompt, it.getScopes?.().includes('extra') ?? null];
      });
    }, it => equal(it, [
      ['google.com', 'login', true], ['facebook.com', 'login', true], ['github.com', 'login', true],
      ['twitter.com', 'login', true], ['oidc.acme', 'login', true],
    ]));
    const saml = new SAMLAuthProvider('saml.acme');
    saml.setDefaultLanguage('de');
    saml.setCustomParameters({ a: 'b' });
    await call('SAMLAuthProvider', () => saml.getCustomParameters(), it => equal(it, { a: 'b' }));
    // Their credentials are access tokens, which the service asks the provider about. In development, fakes will do.
    const fake = sub => JSON.stringify({ sub, email: `${sub}@example.com`, email_verified: true });
    const tokens = {
      FacebookAuthProvider: FacebookAuthProvider.credential(fake('facebook1')),
      GithubAuthProvider: GithubAuthProvider.credential(fake('github1')),
      TwitterAuthProvider: TwitterAuthProvider.credential(fake('twitter1'), 'secret'),
    };
    for (const [name, made] of Object.entries(tokens)) {
      const provider = sdk[name];
      if (!isDev) {
        await refused(`${name}.credential`, /auth\/(operation-not-allowed|invalid-credential)/, () =>
          sdk.signInWithCredential(auth, made));
        await call(`${name}.credentialFromError`, () => provider.credentialFromError({ customData: {} }), it =>
          equal(it, null));
        await call(`${name}.credentialFromResult`, () => provider.credentialFromResult({}), it => equal(it, null));
        continue;
      }
      const signedIn = await call(`${name}.credential`, () => sdk.signInWithCredential(auth, made), it =>
        equal(it.providerId, made.providerId));
      await call(`${name}.credentialFromResult`, () => provider.credentialFromResult(signedIn), it =>
        equal(it.providerId, made.providerId));
      const inUse = await sdk.linkWithCredential((await member()).user, made).catch(it => it);
      await call(`${name}.credentialFromError`, () => provider.credentialFromError(inUse), it => equal(it, null));
    }
    const pending = { providerId: 'saml.acme', signInMethod: 'saml.acme', pendingToken: 'x' };
    await call('SAMLAuthProvider.credentialFromJSON', () => SAMLAuthProvider.credentialFromJSON(pending), it =>
      equal([it.providerId, it.toJSON().pendingToken], ['saml.acme', 'x']));
    await call('SAMLAuthProvider.credentialFromResult', () => SAMLAuthProvider.credentialFromResult({}), it =>
      equal(it, null));
    await call('SAMLAuthProvider.credentialFromError', () =>
      SAMLAuthProvider.credentialFromError({ customData: {} }), it => equal(it, null));
    await call('PhoneAuthCredential.fromJSON', () =>
      sdk.PhoneAuthCredential.fromJSON({ verificationId: 'v', verificationCode: '123456' }), it =>
      equal(it.toJSON(), { providerId: 'phone', verificationCode: '123456', verificationId: 'v' }));
    // For Apple, which this account does not have.
    await refused('revokeAccessToken', /auth\/(operation-not-allowed|invalid-provider-id)/, () =>
      sdk.revokeAccessToken(auth, 'token'));
  }

  async function anonymous() {
    const { user } = await call('signInAnonymously', () => sdk.signInAnonymously(auth), it =>
      equal(it.user.isAnonymous, true));
    await call('signInAnonymously, again', () => sdk.signInAnonymously(auth), it => equal(it.user.uid, user.uid));
    const email = newEmail();
    await call('EmailAuthProvider.credential', () =>
      sdk.linkWithCredential(user, sdk.EmailAuthProvider.credential(email, password)), it =>
      equal([it.user.isAnonymous, it.user.email], [false, email]));
  }

  // --- Second factors

  async function secondFactors() {
    const { email, user } = await member({ isVerified: true });
    const factors = calls.watch('MultiFactorUser', await call('multiFactor', () => sdk.multiFactor(user), it =>
      equal(it.enrolledFactors, [])));
    const session = await call('MultiFactorUser.getSession', () => factors.getSession(), it =>
      equal(it.type, 'enroll'));
    const secret = await call('TotpMultiFactorGenerator.generateSecret', () =>
      sdk.TotpMultiFactorGenerator.generateSecret(session), it => {
      ok(it instanceof sdk.TotpSecret);
      equal([it.codeLength, it.codeIntervalSeconds, it.hashingAlgorithm], [6, 30, 'SHA1']);
    });
    await call('TotpSecret.generateQrCodeUrl', () => secret.generateQrCodeUrl(email, 'App'), it =>
      ok(it.startsWith('otpauth://totp/App:') && it.includes(secret.secretKey), it));
    await refused('MultiFactorUser.enroll, a wrong code', 'auth/invalid-verification-code', async () => {
      const wrong = (await totp(secret.secretKey, 0)) === '000000' ? '000001' : '000000';
      return factors.enroll(sdk.TotpMultiFactorGenerator.assertionForEnrollment(secret, wrong), 'App');
    });
    await call('MultiFactorUser.enroll', async () =>
      factors.enroll(
        sdk.TotpMultiFactorGenerator.assertionForEnrollment(secret, await totp(secret.secretKey, -1)), 'App'), () =>
      equal(factors.enrolledFactors.map(it => [it.factorId, it.displayName]), [['totp', 'App']]));
    await sdk.signOut(auth);
    const error = await call('a sign-in that needs a second factor', () =>
      sdk.signInWithEmailAndPassword(auth, email, password).catch(it => it), it =>
        equal(it.code, 'auth/multi-factor-auth-required'));
    const resolver = await call('getMultiFactorResolver', () => sdk.getMultiFactorResolver(auth, error), it =>
      equal(it.hints.map(hint => hint.displayName), ['App']));
    calls.watch('MultiFactorResolver', resolver);
    const code = await totp(secret.secretKey, 0);
    await call('MultiFactorResolver.resolveSignIn', () => resolver.resolveSignIn(
      sdk.TotpMultiFactorGenerator.assertionForSignIn(resolver.hints[0].uid, code)), async it => {
      equal(it.user.uid, user.uid);
      equal((await it.user.getIdTokenResult()).signInSecondFactor, 'totp');
    });
    const now = sdk.multiFactor(auth.currentUser);
    await call('MultiFactorUser.unenroll', () => now.unenroll(now.enrolledFactors[0]), () =>
      equal(now.enrolledFactors, []));
  }

  // --- Phones, which the SDK has in browsers alone

  async function unsupportedInNode() {
    const { user } = await member();
    const provider = new sdk.GoogleAuthProvider();
    const attempts = {
      signInWithPhoneNumber: () => sdk.signInWithPhoneNumber(auth, '+15555550100', {}),
      linkWithPhoneNumber: () => sdk.linkWithPhoneNumber(user, '+15555550100', {}),
      reauthenticateWithPhoneNumber: () => sdk.reauthenticateWithPhoneNumber(user, '+15555550100', {}),
      updatePhoneNumber: () => sdk.updatePhoneNumber(user, {}),
      signInWithPopup: () => sdk.signInWithPopup(auth, provider),
      linkWithPopup: () => sdk.linkWithPopup(user, provider),
      reauthenticateWithPopup: () => sdk.reauthenticateWithPopup(user, provider),
      signInWithRedirect: () => sdk.signInWithRedirect(auth, provider),
      linkWithRedirect: () => sdk.linkWithRedirect(user, provider),
      reauthenticateWithRedirect: () => sdk.reauthenticateWithRedirect(user, provider),
      getRedirectResult: () => sdk.getRedirectResult(auth),
      'PhoneMultiFactorGenerator.assertion': () => sdk.PhoneMultiFactorGenerator.assertion({}),
      PhoneAuthProvider: () => new sdk.PhoneAuthProvider(auth),
      RecaptchaVerifier: () => new sdk.RecaptchaVerifier(auth, 'x', {}),
    };
    for (const [name, attempt] of Object.entries(attempts)) await refused(name, unsupported, attempt);
  }

  async function phones() {
    const number = index => `+1415555011${index}`;
    auth.settings.appVerificationDisabledForTesting = true;
    // For tests, the SDK has a widget that works once.
    const verifier = () =>
      new sdk.RecaptchaVerifier(auth, document.body.appendChild(document.createElement('div')), { size: 'invisible' });
    const first = calls.watch('RecaptchaVerifier', verifier());
    await call('RecaptchaVerifier.render', () => first.render(), it => equal(typeof it, 'number'));
    await call('RecaptchaVerifier.verify', () => first.verify(), it => equal(typeof it, 'string'));
    await call('RecaptchaVerifier.clear', () => first.clear(), it => equal(it, undefined));
    const confirmation = await call('signInWithPhoneNumber', () =>
      sdk.signInWithPhoneNumber(auth, number(0), verifier()), it => ok(it.verificationId));
    calls.watch('ConfirmationResult', confirmation);
    const code = await backend.sms(number(0));
    await refused('ConfirmationResult.confirm, a wrong code', 'auth/invalid-verification-code', () =>
      confirmation.confirm(code === '000000' ? '000001' : '000000'));
    await call('ConfirmationResult.confirm', () => confirmation.confirm(code), it =>
      equal([it.user.phoneNumber, it.providerId], [number(0), 'phone']));
    await call('reauthenticateWithPhoneNumber', async () => {
      const again = await sdk.reauthenticateWithPhoneNumber(auth.currentUser, number(0), verifier());
      return again.confirm(await backend.sms(number(0)));
    }, it => equal(it.operationType, 'reauthenticate'));
    const { email, user } = await member({ isVerified: true });
    await call('linkWithPhoneNumber', async () =>
      (await sdk.linkWithPhoneNumber(user, number(1), verifier())).confirm(await backend.sms(number(1))), it =>
      equal([it.operationType, it.user.phoneNumber], ['link', number(1)]));
    const provider = new sdk.PhoneAuthProvider(auth);
    const verificationId = await call('PhoneAuthProvider.verifyPhoneNumber', () =>
      provider.verifyPhoneNumber(number(2), verifier()), it => ok(it));
    const credential = await call('PhoneAuthProvider.credential', async () =>
      sdk.PhoneAuthProvider.credential(verificationId, await backend.sms(number(2))), it => {
      ok(it instanceof sdk.PhoneAuthCredential);
      equal(it.toJSON().verificationId, verificationId);
    });
    await call('updatePhoneNumber', () => sdk.updatePhoneNumber(user, credential), () =>
      equal(user.phoneNumber, number(2)));
    const result = { _tokenResponse: { phoneNumber: number(2), temporaryProof: 'proof' }, user };
    await call('PhoneAuthProvider.credentialFromResult', () =>
      sdk.PhoneAuthProvider.credentialFromResult(result), it => equal(it.providerId, 'phone'));
    await sdk.unlink(user, 'phone');
    const taken = await call('a number of somebody else', async () =>
      (await sdk.linkWithPhoneNumber(user, number(0), verifier())).confirm(await backend.sms(number(0)))
        .catch(it => it), it =>
      equal([it.code, it.customData.phoneNumber], ['auth/account-exists-with-different-credential', number(0)]));
    await call('PhoneAuthProvider.credentialFromError', async () =>
      sdk.signInWithCredential(auth, sdk.PhoneAuthProvider.credentialFromError(taken)), it =>
        equal(it.user.phoneNumber, number(0)));

    await sdk.signInWithEmailAndPassword(auth, email, password);
    const factors = sdk.multiFactor(auth.currentUser);
    await call('PhoneMultiFactorGenerator.assertion', async () => {
      const id = await provider.verifyPhoneNumber({ phoneNumber: number(3), session: await factors.getSession() },
        verifier());
      const proof = sdk.PhoneAuthProvider.credential(id, await backend.sms(number(3)));
      return factors.enroll(sdk.PhoneMultiFactorGenerator.assertion(proof), 'Phone');
    }, () => equal(factors.enrolledFactors.map(it => [it.factorId, it.displayName]), [['phone', 'Phone']]));
    await sdk.signOut(auth);
    const error = await sdk.signInWithEmailAndPassword(auth, email, password).catch(it => it);
    await call('a sign-in with a phone as second factor', async () => {
      const resolver = sdk.getMultiFactorResolver(auth, error);
      const id = await provider.verifyPhoneNumber({ multiFactorHint: resolver.hints[0], session: resolver.session },
        verifier());
      const proof = sdk.PhoneAuthProvider.credential(id, await backend.sms(number(3)));
      return resolver.resolveSignIn(sdk.PhoneMultiFactorGenerator.assertion(proof));
    }, async it => equal((await it.user.getIdTokenResult()).signInSecondFactor, 'phone'));
  }

  async function tenants() {
    auth.tenantId = await backend.tenant();
    const email = newEmail();
    await call('a user of a tenant', () => sdk.createUserWithEmailAndPassword(auth, email, password), async it => {
      equal(it.user.tenantId, auth.tenantId);
      equal((await it.user.getIdTokenResult()).claims.firebase.tenant, auth.tenantId);
    });
    await refused('a user of another tenant', 'auth/tenant-id-mismatch', async () => {
      const { currentUser } = auth;
      auth.tenantId = null;
      await sdk.signOut(auth);
      return sdk.updateCurrentUser(auth, currentUser);
    });
    await refused('a tenant’s user in the project', 'auth/user-not-found', () =>
      sdk.signInWithEmailAndPassword(auth, email, password));
  }
}

// Not called, by the reason.
export const uncalled = isBrowser => ({
  'private in the package’s types': [
    ...['initializeCurrentUserFromIdToken', 'initializeCurrentUser', 'tryRedirectSignIn',
      'reloadAndSetCurrentUserOrClear',
      'getOrInitRedirectPersistenceManager', 'notifyAuthListeners', 'registerStateListener', 'directlySetCurrentUser',
      'queue', 'assertedPersistence', 'validatePassword', 'revokeAccessToken'].map(name => `Auth#${name}`),
    ...['Facebook', 'Github', 'Google', 'Twitter'].map(name => `${name}AuthProvider.credentialFromTaggedObject`),
    'OAuthCredential#buildRequest', 'MultiFactorResolver#signInResolver',
    'OAuthProvider.oauthCredentialFromTaggedObject', 'SAMLAuthProvider.samlCredentialFromTaggedObject',
    ...(isBrowser ? ['PhoneAuthProvider.credentialFromTaggedObject', 'ConfirmationResult#onConfirmation', ...[
      'validateStartingState', 'makeTokenCallback', 'assertNotDestroyed', 'makeRenderPromise', 'init',
      'getAssertedRecaptcha',
    ].map(name => `RecaptchaVerifier#${name}`)] : []),
  ],
  'abstract': ['AuthCredential#toJSON'],
});
