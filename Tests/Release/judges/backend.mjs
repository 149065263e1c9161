// The server side of the app that firebase_client.mjs is: settings, mails, tokens of providers and of its own.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { admin, configure, isDev, message, project, receiveMessages, service } from './lib.mjs';

const provider = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwks = { keys: [{ ...provider.publicKey.export({ format: 'jwk' }), kid: 'judge', alg: 'RS256', use: 'sig' }] };
// Who signs in with Google, and at a provider that only the project knows.
const issuers = { 'google.com': 'https://accounts.google.com', 'oidc.acme': 'https://login.acme.example' };

function jwt(claims, key, kid) {
  const now = Math.floor(Date.now() / 1000);
  const text = [{ alg: key ? 'RS256' : 'none', kid, typ: 'JWT' }, { iat: now, exp: now + 600, ...claims }]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${key ? createSign('sha256').update(text).sign(key, 'base64url') : ''}`;
}

export const backend = {
  async prepare() {
    await receiveMessages();
    await configure({
      authorizedDomains: ['localhost', '127.0.0.1'],
      'signIn.anonymous.enabled': true,
      'signIn.phoneNumber.enabled': true,
      'signIn.email.passwordRequired': false,
      'emailPrivacyConfig.enableImprovedEmailPrivacy': false,
      'multiTenant.allowTenants': true,
      'identity.keepLastSignInMethod': false,
      'identity.googleLoader': false,
      'mfa.state': 'ENABLED',
      'mfa.providerConfigs': [{ state: 'ENABLED', totpProviderConfig: { adjacentIntervals: 2 } }],
      // All calls come from one address.
      'identity.rateLimits.enabled': false,
    });
    for (const [id, issuer] of Object.entries(issuers)) {
      const own = id.startsWith('oidc.');
      const resource = own ? 'oauthIdpConfigs' : 'defaultSupportedIdpConfigs';
      const config = {
        enabled: true, clientId: 'app', clientSecret: 's3cret', ...(own ? { issuer } : {}),
        definition: {
          jwks, discovery: 'never', issuers: [issuer], directSignIn: { idToken: true },
          endpoints: { authorization: `${issuer}/authorize`, token: `${issuer}/token` },
        },
      };
      await admin('DELETE', `/v2/projects/{p}/${resource}/${id}`).catch(() => 'it was not there');
      await admin('POST', `/v2/projects/{p}/${resource}?${own ? 'oauthIdpConfigId' : 'idpId'}=${id}`, config);
    }
  },
  /** The project itself as a provider, `oidc.self`, where somebody has an account: a browser can go there. */
  async selfProvider() {
    await configure({ 'identity.oauth.enabled': true });
    const person = { localId: 'person', email: 'person@provider.example', password: 'correct horse' };
    await admin('POST', '/v1/projects/{p}/accounts', person);
    const made = await admin('POST', '/v2/projects/{p}/oauthClients', {
      client_name: 'Self', grant_types: ['authorization_code'], trusted: true, scope: 'openid',
      redirect_uris: ['/__/auth/handler', '/emulator/auth/handler'].map(path => service + path),
    });
    await admin('POST', '/v2/projects/{p}/oauthIdpConfigs?oauthIdpConfigId=oidc.self', {
      enabled: true, clientId: made.client_id, clientSecret: made.client_secret, issuer: `${service}/${project}`,
      definition: { scopes: { default: ['openid'] }, pkce: 'required' },
    });
  },
  idToken: (id, claims) => jwt({ iss: issuers[id], aud: 'app', ...claims }, provider.privateKey, 'judge'),
  customToken(uid, claims) {
    const aud = 'https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit';
    if (isDev) return jwt({ aud, iss: 'app', sub: 'app', uid, claims });
    const { client_email: iss, private_key: key } = JSON.parse(readFileSync(process.env.ACCOUNT_FILE, 'utf8'));
    return jwt({ aud, iss, sub: iss, uid, claims }, key);
  },
  link: async (email, kind) => (await message(it => it.email === email && it.link?.includes(`mode=${kind}&`))).link,
  sms: async number => (await message(it => it.phoneNumber === number)).code,
  change: (localId, members) => admin('POST', '/v1/projects/{p}/accounts:update', { localId, ...members }),
  async tenant() {
    const tenant = { displayName: 'northwind', allowPasswordSignup: true };
    const made = await admin('POST', '/v2/projects/{p}/tenants', tenant);
    return made.name.split('/').at(-1);
  },
};
