// What a certified client of OpenID Connect does at the service: what OpenID's Basic and Config plans ask for, with
// PKCE, and the standards around it.
//
// usage: Tests/Release/judges/run openid_client.mjs
import assert from 'node:assert/strict';
import { admin, client as app, configure, judge, load, project, send, service } from './lib.mjs';
import { Person } from './person.mjs';

const differences = {
  'max_age=0, in the second of a sign-in': 'The service asks for no sign-in; it compares whole seconds.',
};
const issuer = `${service}/${project}`;
const callback = 'https://tea.example.com/callback';
const password = 'correct horse';
const grantType = name => `urn:ietf:params:oauth:grant-type:${name}`;
const everyScope = 'openid profile email phone offline_access';
const resource = 'https://api.example.com/tea';

await judge('openid-client', { differences }, async calls => {
  const call = calls.call.bind(calls);
  const refused = calls.refused.bind(calls);
  const { client, jose } = await load('openid-client.mjs');
  await configure({
    'identity.oauth.enabled': true, 'identity.oauth.registration': true,
    'identity.oauth.scopes': { 'tea.brew': 'Brew tea' },
    'identity.rateLimits.enabled': false,
  });
  const accounts = [
    { localId: 'ada', email: 'ada@example.com', emailVerified: true, password, displayName: 'Ada Lovelace',
      photoUrl: 'https://example.com/ada.png', phoneNumber: '+15555550101' },
    { localId: 'bob', email: 'bob@example.com', password },
  ];
  for (const account of accounts) await admin('POST', '/v1/projects/{p}/accounts', account);
  const ada = new Person('ada@example.com', password);

  // --- Clients

  const key = await jose.generateKeyPair('ES256', { extractable: true });
  const publicKey = { ...await jose.exportJWK(key.publicKey), kid: 'k1', alg: 'ES256', use: 'sig' };
  const methods = {
    client_secret_basic: ({ client_secret: secret }) => client.ClientSecretBasic(secret),
    client_secret_post: ({ client_secret: secret }) => client.ClientSecretPost(secret),
    private_key_jwt: () => client.PrivateKeyJwt({ key: key.privateKey, kid: 'k1' }),
    none: () => client.None(),
  };
  async function register(method, members = {}) {
    const made = await admin('POST', '/v2/projects/{p}/oauthClients', {
      client_name: 'Tea House', redirect_uris: [callback], post_logout_redirect_uris: ['https://tea.example.com/bye'],
      grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: method,
      ...(method === 'private_key_jwt' ? { jwks: { keys: [publicKey] } } : {}), ...members,
    });
    return discover(made, methods[method](made));
  }
  const discover = (made, authentication) => client.discovery(new URL(issuer), made.client_id, made, authentication, {
    execute: [client.allowInsecureRequests],
  });

  // --- Config

  const basic = await call('discovery', () => register('client_secret_basic'), config => {
    const metadata = config.serverMetadata();
    assert.equal(metadata.issuer, issuer);
    const supported = {
      response_types_supported: 'code', subject_types_supported: 'public',
      id_token_signing_alg_values_supported: 'RS256',
      code_challenge_methods_supported: 'S256', scopes_supported: 'openid', grant_types_supported: 'authorization_code',
      token_endpoint_auth_methods_supported: 'private_key_jwt', response_modes_supported: 'query',
      claims_supported: 'sub',
    };
    for (const [name, value] of Object.entries(supported)) {
      assert.ok(metadata[name]?.includes(value), `${name} ${metadata[name]}`);
    }
    const endpoints = [
      'authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri', 'registration_endpoint',
      'introspection_endpoint', 'revocation_endpoint', 'end_session_endpoint', 'pushed_authorization_request_endpoint',
      'device_authorization_endpoint',
    ];
    for (const name of endpoints) assert.ok(metadata[name]?.startsWith(service), `${name} ${metadata[name]}`);
    assert.equal(metadata.authorization_response_iss_parameter_supported, true);
  });
  const metadata = basic.serverMetadata();
  const { client_id: id } = basic.clientMetadata();
  const published = jose.createRemoteJWKSet(new URL(metadata.jwks_uri));
  await call('discovery, RFC 8414', () => client.discovery(new URL(issuer), 'x', {}, client.None(), {
    algorithm: 'oauth2', execute: [client.allowInsecureRequests],
  }), config => assert.deepEqual(config.serverMetadata(), metadata));
  await call('keys', () => send('GET', metadata.jwks_uri), ({ keys }) => {
    for (const it of keys) assert.ok(it.kid && it.alg && it.use === 'sig' && !it.d, JSON.stringify(it));
    assert.equal(new Set(keys.map(it => it.kid)).size, keys.length);
  });

  // --- The code flow

  /** A sign-in as far as the redirect back. */
  async function authorize(config, parameters = {}, person = ada, build = client.buildAuthorizationUrl) {
    const verifier = client.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
    const checks = { pkceCodeVerifier: verifier, expectedState, expectedNonce };
    const all = {
      redirect_uri: callback, scope: 'openid', state: expectedState, nonce: expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', ...parameters,
    };
    for (const [name, value] of Object.entries(all)) if (value === undefined) delete all[name];
    const url = await build(config, all);
    return { back: await person.visit(url), checks, url };
  }
  async function signIn(config, parameters, person) {
    const { back, checks } = await authorize(config, parameters, person);
    assert.ok(back instanceof URL, back);
    return client.authorizationCodeGrant(config, back, checks);
  }
  const isComplete = (tokens, config = basic) => {
    const claims = tokens.claims();
    assert.equal(claims.sub, 'ada');
    assert.equal(claims.aud, config.clientMetadata().client_id);
    assert.equal(tokens.token_type, 'bearer');
    assert.ok(tokens.expires_in > 0 && claims.exp > claims.iat && claims.auth_time <= claims.iat);
  };

  const configurations = { client_secret_basic: basic };
  for (const method of Object.keys(methods)) {
    const config = configurations[method] ??= await register(method);
    await call(`code flow, ${method}`, () => signIn(config), tokens => isComplete(tokens, config));
  }
  await call('an ID token by its keys', async () => {
    const tokens = await signIn(basic);
    return jose.jwtVerify(tokens.id_token, published, { issuer, audience: id });
  }, ({ protectedHeader }) => assert.equal(protectedHeader.alg, 'RS256'));
  await call('an access token by its keys', async () => {
    const tokens = await signIn(basic, { scope: 'openid tea.brew', resource });
    return jose.jwtVerify(tokens.access_token, published, { issuer, audience: resource, typ: 'at+jwt' });
  }, ({ payload }) =>
    assert.deepEqual([payload.sub, payload.client_id, payload.scope], ['ada', id, 'openid tea.brew']));

  const harmless = {
    'no nonce': { nonce: undefined }, 'no state': { state: undefined }, 'an unknown parameter': { extra: 'foobar' },
    'scopes in another order': { scope: 'email profile openid' }, 'display=page': { display: 'page' },
    'display=popup': { display: 'popup' },
    'ui_locales': { ui_locales: 'se' }, 'claims_locales': { claims_locales: 'se' }, 'acr_values': { acr_values: '1 2' },
    'login_hint': { login_hint: 'ada@example.com' },
    'claims': { claims: '{"id_token":{"auth_time":{"essential":true}}}' },
    'prompt=consent': { prompt: 'consent' }, 'max_age=10000': { max_age: '10000' },
    'response_mode=query': { response_mode: 'query' },
    'an unknown scope': { scope: 'openid address unheard-of' },
  };
  for (const [name, parameters] of Object.entries(harmless)) {
    await call(`code flow, ${name}`, async () => {
      const { back, checks } = await authorize(basic, parameters);
      if ('nonce' in parameters) delete checks.expectedNonce;
      if ('state' in parameters) delete checks.expectedState;
      return client.authorizationCodeGrant(basic, back, { ...checks, idTokenExpected: true });
    }, tokens => isComplete(tokens));
  }
  await call('the request as a form', async () => {
    const { url } = await authorize(basic);
    const back = await ada.visit(url.origin + url.pathname, { method: 'POST', body: url.searchParams });
    return back.searchParams.get('code');
  });

  // --- Userinfo

  const tokens = await signIn(basic, { scope: everyScope, prompt: 'consent' });
  const about = {
    sub: 'ada', name: 'Ada Lovelace', picture: 'https://example.com/ada.png', email: 'ada@example.com',
    email_verified: true, phone_number: '+15555550101', phone_number_verified: true,
  };
  const isAbout = claims => assert.deepEqual({ ...claims, ...about }, claims);
  await call('userinfo, GET', () => client.fetchUserInfo(basic, tokens.access_token, 'ada'), isAbout);
  await call('userinfo, POST', () =>
    client.fetchUserInfo(basic, tokens.access_token, 'ada', { method: 'POST' }), isAbout);
  await call('userinfo, token in the body', () =>
    send('POST', metadata.userinfo_endpoint, new URLSearchParams({ access_token: tokens.access_token })), isAbout);
  await refused('userinfo, another subject', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', () =>
    client.fetchUserInfo(basic, tokens.access_token, 'bob'));
  await call('userinfo, no token', async () => (await fetch(metadata.userinfo_endpoint)), answer => {
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate'), /^Bearer/);
  });
  const scoped = { profile: 'name', email: 'email', phone: 'phone_number' };
  for (const [scope, name] of Object.entries(scoped)) {
    await call(`scope ${scope}`, async () => {
      const some = await signIn(basic, { scope: `openid ${scope}`, prompt: 'consent' });
      return client.fetchUserInfo(basic, some.access_token, 'ada');
    }, claims => {
      for (const other of Object.values(scoped)) {
        assert.equal(claims[other], other === name ? about[other] : undefined, other);
      }
    });
  }

  // --- prompt, max_age, id_token_hint

  await refused('prompt=none, nobody', 'login_required', async () => {
    const { back, checks } = await authorize(basic, { prompt: 'none' }, new Person());
    return client.authorizationCodeGrant(basic, back, checks);
  });
  await call('prompt=none', () => signIn(basic, { prompt: 'none' }), it => isComplete(it));
  await refused('prompt=none, consent needed', /^(consent_required|interaction_required)$/, async () =>
    signIn(await register('client_secret_basic'), { prompt: 'none' }));
  const before = (await signIn(basic, { max_age: '10000' })).claims().auth_time;
  // auth_time counts in seconds, so a later one is seen only in another second.
  const nextSecond = () => new Promise(resolve => { setTimeout(resolve, 1000 - Date.now() % 1000); });
  await nextSecond();
  /** A sign-in that must be a new one. */
  const anew = async parameters => {
    ada.acts = [];
    const { auth_time: time } = (await signIn(basic, parameters)).claims();
    return { time, asked: ada.acts.includes('signIn') };
  };
  // `max_age=0` is `prompt=login` (OpenID Connect Core, errata set 2, section 3.1.2.1).
  for (const [name, value] of [['max_age', '0'], ['prompt', 'login']]) {
    await call(`${name}=${value}`, () => anew({ [name]: value }), ({ time, asked }) =>
      assert.ok(asked && time > before));
  }
  await call('max_age=0, in the second of a sign-in', async () => {
    for (;;) {
      await nextSecond();
      const { time } = await anew({ prompt: 'login' });
      const { asked } = await anew({ max_age: '0' });
      if (asked || Math.floor(Date.now() / 1000) === time) return asked;
    }
  });
  await call('max_age=10000 asks nobody', async () => {
    const { back, checks } = await authorize(basic, { max_age: '10000', prompt: 'none' });
    return client.authorizationCodeGrant(basic, back, { ...checks, maxAge: 10_000 });
  }, it => assert.ok(it.claims().auth_time > before));
  await call('id_token_hint', () => signIn(basic, { id_token_hint: tokens.id_token, prompt: 'none' }), it =>
    isComplete(it));
  const bob = new Person('bob@example.com', password);
  await signIn(basic, {}, bob);
  await refused('id_token_hint of somebody else', 'login_required', () =>
    signIn(basic, { id_token_hint: tokens.id_token, prompt: 'none' }, bob));

  // --- What must be refused

  await refused('a wrong nonce', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', async () => {
    const { back, checks } = await authorize(basic);
    return client.authorizationCodeGrant(basic, back, { ...checks, expectedNonce: 'another' });
  });
  await refused('a wrong state', 'OAUTH_INVALID_RESPONSE', async () => {
    const { back, checks } = await authorize(basic);
    return client.authorizationCodeGrant(basic, back, { ...checks, expectedState: 'another' });
  });
  await refused('another issuer in the answer', 'OAUTH_INVALID_RESPONSE', async () => {
    const { back, checks } = await authorize(basic);
    back.searchParams.set('iss', 'https://evil.example');
    return client.authorizationCodeGrant(basic, back, checks);
  });
  await refused('a wrong code_verifier', 'invalid_grant', async () => {
    const { back, checks } = await authorize(basic);
    return client.authorizationCodeGrant(basic, back, { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() });
  });
  await call('a used code', async () => {
    const { back, checks } = await authorize(basic);
    const first = await client.authorizationCodeGrant(basic, back, checks);
    const error = await client.authorizationCodeGrant(basic, back, checks).catch(it => it);
    const after = await client.fetchUserInfo(basic, first.access_token, 'ada').catch(it => it);
    return [error.error, after.status ?? after.response?.status ?? after.cause?.status];
  }, it => assert.deepEqual(it, ['invalid_grant', 401]));
  await refused('a code of another client', 'invalid_grant', async () => {
    const { back, checks } = await authorize(basic);
    return client.authorizationCodeGrant(configurations.client_secret_post, back, checks);
  });
  await refused('a wrong secret', 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', async () => {
    const { back, checks } = await authorize(basic);
    const wrong = await discover({ client_id: id }, client.ClientSecretBasic('wrong'));
    return client.authorizationCodeGrant(wrong, back, checks);
  });
  await call('another redirect URI', () =>
    authorize(basic, { redirect_uri: 'https://tea.example.com/other' }), ({ back }) =>
    assert.equal(typeof back, 'string', 'it leads back'));
  const errors = {
    'no response_type': [{ response_type: '' }, /^(invalid_request|unsupported_response_type)$/],
    'response_type=token': [{ response_type: 'token' }, 'unsupported_response_type'],
    'no PKCE': [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    'PKCE, plain': [{ code_challenge_method: 'plain' }, 'invalid_request'],
    request: [{ request: 'x' }, 'request_not_supported'],
    request_uri: [{ request_uri: 'https://tea.example.com/request' }, 'request_uri_not_supported'],
    registration: [{ registration: '{}' }, 'registration_not_supported'],
    'response_mode=form_post': [{ response_mode: 'form_post' }, 'invalid_request'],
    'prompt=none login': [{ prompt: 'none login' }, 'invalid_request'],
  };
  for (const [name, [parameters, code]] of Object.entries(errors)) {
    await refused(`refused: ${name}`, code, async () => {
      const { back, checks } = await authorize(basic, parameters);
      assert.equal(back.searchParams.get('state'), checks.expectedState);
      return client.authorizationCodeGrant(basic, back, checks);
    });
  }
  await refused('a user who refuses', 'access_denied', async () => {
    const person = new Person('ada@example.com', password, 'deny');
    const { back, checks } = await authorize(basic, { prompt: 'consent' }, person);
    return client.authorizationCodeGrant(basic, back, checks);
  });

  // --- Refresh, introspection, revocation

  const refreshed = await call('refresh', () => client.refreshTokenGrant(basic, tokens.refresh_token), it => {
    assert.notEqual(it.access_token, tokens.access_token);
    assert.notEqual(it.refresh_token, tokens.refresh_token);
    assert.deepEqual([it.claims().sub, it.claims().auth_time], ['ada', tokens.claims().auth_time]);
  });
  await call('refresh, fewer scopes', () =>
    client.refreshTokenGrant(basic, refreshed.refresh_token, { scope: 'openid email' }), it =>
    assert.equal(it.scope, 'openid email'));
  await refused('refresh, more scopes', 'invalid_scope', () =>
    client.refreshTokenGrant(basic, refreshed.refresh_token, { scope: `${everyScope} tea.brew` }));
  await refused('refresh of another client', 'invalid_grant', () =>
    client.refreshTokenGrant(configurations.client_secret_post, refreshed.refresh_token));
  const grant = await signIn(basic, { scope: everyScope });
  for (const hint of ['access_token', 'refresh_token']) {
    await call(`introspection, ${hint}`, () =>
      client.tokenIntrospection(basic, grant[hint], { token_type_hint: hint }), it =>
      assert.deepEqual([it.active, it.sub, it.client_id, it.iss], [true, 'ada', id, issuer]));
  }
  await call('introspection of no token', () => client.tokenIntrospection(basic, 'x'), it =>
    assert.deepEqual(it, { active: false }));
  await call('revocation of no token', () => client.tokenRevocation(basic, 'x'), it => assert.equal(it, undefined));
  await call('revocation', () => client.tokenRevocation(basic, grant.refresh_token), async () => {
    const states = [grant.access_token, grant.refresh_token].map(token => client.tokenIntrospection(basic, token));
    assert.deepEqual((await Promise.all(states)).map(it => it.active), [false, false]);
  });
  await refused('refresh, revoked', 'invalid_grant', () => client.refreshTokenGrant(basic, grant.refresh_token));

  // --- PAR, DPoP, registration, devices, exchange

  await call('PAR', async () => {
    const { back, checks, url } = await authorize(basic, {}, ada, client.buildAuthorizationUrlWithPAR);
    assert.deepEqual([...url.searchParams.keys()].sort(), ['client_id', 'request_uri']);
    assert.equal(typeof await ada.visit(url), 'string', 'a pushed request, twice');
    return client.authorizationCodeGrant(basic, back, checks);
  }, it => isComplete(it));
  await refused('PAR, another redirect URI', 'invalid_request', () =>
    authorize(basic, { redirect_uri: 'https://evil.example/' }, ada, client.buildAuthorizationUrlWithPAR));
  await call('DPoP', async () => {
    const DPoP = client.getDPoPHandle(basic, await client.randomDPoPKeyPair('ES256'));
    const { back, checks } = await authorize(basic, { dpop_jkt: await DPoP.calculateThumbprint() });
    const bound = await client.authorizationCodeGrant(basic, back, checks, {}, { DPoP });
    await client.fetchUserInfo(basic, bound.access_token, 'ada', { DPoP });
    const without = await client.fetchUserInfo(basic, bound.access_token, 'ada').catch(it => it);
    return [bound.token_type, without.status ?? without.response?.status ?? without.cause?.status];
  }, it => assert.deepEqual(it, ['dpop', 401]));
  await call('registration', () => client.dynamicClientRegistration(new URL(issuer), {
    client_name: 'Newcomer', redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_basic',
  }, undefined, { execute: [client.allowInsecureRequests] }), async config => {
    const members = config.clientMetadata();
    assert.ok(members.client_secret && members.registration_access_token);
    const mine = await discover(members, client.ClientSecretBasic(members.client_secret));
    assert.equal((await signIn(mine)).claims().aud, members.client_id);
  });
  await refused('registration, a bad redirect URI', 'invalid_redirect_uri', () =>
    client.dynamicClientRegistration(new URL(issuer), {
    redirect_uris: ['http://tea.example.com/callback'] }, undefined, { execute: [client.allowInsecureRequests] }));
  await call('a device', async () => {
    const types = [grantType('device_code'), 'refresh_token'];
    const config = await register('none', { grant_types: types, redirect_uris: [] });
    const begun = await client.initiateDeviceAuthorization(config, { scope: 'openid offline_access' });
    assert.ok(begun.user_code && begun.verification_uri && begun.interval > 0, JSON.stringify(begun));
    assert.ok(begun.verification_uri_complete.includes(begun.user_code));
    const body = new URLSearchParams({ user_code: begun.user_code });
    await ada.visit(begun.verification_uri, { method: 'POST', body });
    return client.pollDeviceAuthorizationGrant(config, begun);
  }, it => assert.equal(it.claims().sub, 'ada'));
  await call('token exchange', async () => {
    const exchange = grantType('token-exchange');
    const config = await register('client_secret_basic', { grant_types: [exchange], redirect_uris: [] });
    const credentials = { email: 'ada@example.com', password, returnSecureToken: true };
    const { idToken } = await app('signInWithPassword', credentials);
    return client.genericGrantRequest(config, exchange, {
      subject_token: idToken, subject_token_type: 'urn:ietf:params:oauth:token-type:id_token', resource,
      scope: 'tea.brew',
    });
  }, it => {
    const claims = jose.decodeJwt(it.access_token);
    assert.deepEqual([claims.sub, claims.scope], ['ada', 'tea.brew']);
    assert.ok(claims.act.sub && [claims.aud].flat().includes(resource));
  });
  await refused('client_credentials', /^(unauthorized_client|unsupported_grant_type)$/, () =>
    client.clientCredentialsGrant(basic));

  // --- Logout

  const last = await signIn(basic);
  await call('logout', () => ada.visit(client.buildEndSessionUrl(basic, {
    id_token_hint: last.id_token, post_logout_redirect_uri: 'https://tea.example.com/bye', state: 'later',
  })), back => assert.equal(String(back), 'https://tea.example.com/bye?state=later'));
  await refused('prompt=none after a logout', 'login_required', () => signIn(basic, { prompt: 'none' }));
});
