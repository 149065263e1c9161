// An agent and a server of the Model Context Protocol, both with its SDK: the server leaves sign-in to the service, and
// the agent finds out about that by itself.
//
// usage: Tests/Release/judges/run mcp.mjs
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import http from 'node:http';
import { admin, configure, judge, load, project, send, service } from './lib.mjs';
import { Person } from './person.mjs';

const issuer = `${service}/${project}`;
const password = 'correct horse';

await judge('MCP', {}, async calls => {
  const call = calls.call.bind(calls);
  const refused = calls.refused.bind(calls);
  const sdk = await load('mcp.mjs');
  const { auth, UnauthorizedError } = sdk.auth;
  await configure({
    'identity.oauth.enabled': true, 'identity.oauth.registration': true,
    'identity.oauth.scopes': { 'tea.brew': 'Brew tea' }, 'identity.rateLimits.enabled': false,
  });
  await admin('POST', '/v1/projects/{p}/accounts', { localId: 'ada', email: 'ada@example.com', password });
  const ada = new Person('ada@example.com', password);

  // --- The server: its tool says who calls it

  const { keys } = await send('GET', '/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com');
  // What the server takes for expired.
  const expired = new Set();
  const decoded = part => JSON.parse(Buffer.from(part, 'base64url'));
  /** Who calls, if the token is one for this server. */
  function accepted(token, resource) {
    const [head, body, signature] = token.split('.');
    const { kid, alg, typ } = decoded(head);
    const key = keys.find(it => it.kid === kid);
    const claims = decoded(body);
    const signed = [Buffer.from(`${head}.${body}`), key && createPublicKey({ key, format: 'jwk' })];
    const isSigned = key && alg === 'RS256' && verify('sha256', ...signed, Buffer.from(signature, 'base64url'));
    const isOurs = isSigned && typ === 'at+jwt' && claims.iss === issuer && [claims.aud].flat().includes(resource) &&
      claims.exp * 1000 > Date.now() && !expired.has(token);
    const { client_id: clientId, scope, exp: expiresAt } = claims;
    return isOurs && { token, clientId, scopes: scope.split(' '), expiresAt, extra: claims };
  }

  const server = http.createServer(async (request, response) => {
    const metadata = '/.well-known/oauth-protected-resource';
    const path = request.url.replace(metadata, '');
    const resource = base + path;
    if (!['/mcp', '/other'].includes(path)) return response.writeHead(404).end();
    if (request.url.startsWith(metadata)) {
      response.setHeader('Content-Type', 'application/json');
      return response.end(JSON.stringify({
        resource, authorization_servers: [issuer], scopes_supported: ['tea.brew'],
        bearer_methods_supported: ['header'],
      }));
    }
    const [, token] = request.headers.authorization?.match(/^Bearer (.*)$/) ?? [];
    request.auth = token && accepted(token, resource);
    if (!request.auth) {
      const error = token ? ', error="invalid_token"' : '';
      response.setHeader('WWW-Authenticate', `Bearer resource_metadata="${base}${metadata}${path}"${error}`);
      return response.writeHead(401).end();
    }
    const tea = new sdk.McpServer({ name: 'Tea', version: '1' });
    tea.registerTool('who', { description: 'Who calls' }, ({ authInfo: { extra, clientId, scopes } }) =>
      ({ content: [{ type: 'text', text: JSON.stringify([extra.sub, clientId, scopes]) }] }));
    const transport = new sdk.StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await tea.connect(transport);
    return transport.handleRequest(request, response);
  });
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve); });
  const base = `http://127.0.0.1:${server.address().port}`;

  // --- The agent

  class Agent {
    constructor(path, known) {
      Object.assign(this, { url: new URL(base + path), known, visits: [] });
      this.redirectUrl = 'http://127.0.0.1:4711/callback';
      this.clientMetadata = {
        client_name: 'Agent', redirect_uris: [this.redirectUrl], grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'], token_endpoint_auth_method: 'none',
      };
    }

    // What the SDK asks an agent to keep.
    clientInformation() { return this.known; }
    saveClientInformation(known) { this.known = known; }
    tokens() { return this.kept; }
    saveTokens(kept) { this.kept = kept; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    codeVerifier() { return this.verifier; }
    state() { return 'a state'; }
    invalidateCredentials() { this.kept = undefined; }
    redirectToAuthorization(url) { this.visits.push(url); }

    /** Connects; for the first time by a sign-in. */
    async connect() {
      const open = async () => {
        const transport = new sdk.StreamableHTTPClientTransport(this.url, { authProvider: this });
        const client = new sdk.Client({ name: 'agent', version: '1' });
        try {
          await client.connect(transport);
        } catch (error) {
          return { transport, error };
        }
        return { client, transport };
      };
      let opened = await open();
      if (opened.error) {
        assert.ok(opened.error instanceof UnauthorizedError, opened.error);
        const back = await ada.visit(this.visits.at(-1));
        assert.ok(back instanceof URL, back);
        assert.equal(back.searchParams.get('state'), 'a state');
        assert.equal(back.searchParams.get('iss'), issuer);
        await opened.transport.finishAuth(back.searchParams.get('code'));
        opened = await open();
        if (opened.error) throw opened.error;
      }
      this.client = opened.client;
      return this;
    }

    async who() {
      const { content: [{ text }] } = await this.client.callTool({ name: 'who', arguments: {} });
      return JSON.parse(text);
    }
  }

  const agent = new Agent('/mcp');
  await call('a sign-in after discovery and registration', () => agent.connect(), () => {
    assert.equal(agent.visits.length, 1);
    const query = Object.fromEntries(agent.visits[0].searchParams);
    assert.deepEqual([query.resource, query.code_challenge_method, query.scope], [`${base}/mcp`, 'S256', 'tea.brew']);
    assert.ok(agent.visits[0].href.startsWith(`${issuer}/oauth/authorize`), agent.visits[0].href);
    assert.ok(agent.known.client_id && !agent.known.client_secret, JSON.stringify(agent.known));
    assert.deepEqual(ada.acts, ['signIn', 'allow']);
  });
  await call('the tools', () => agent.client.listTools(), it =>
    assert.deepEqual(it.tools.map(({ name }) => name), ['who']));
  await call('a tool', () => agent.who(), it => assert.deepEqual(it, ['ada', agent.known.client_id, ['tea.brew']]));
  const audience = token => decoded(token.split('.')[1]).aud;
  await call('the audience', () => audience(agent.kept.access_token), it =>
    assert.deepEqual([it].flat(), [`${base}/mcp`]));

  const { access_token: first, refresh_token: firstRefresh } = agent.kept;
  expired.add(first);
  await call('a tool, after the token expired', () => agent.who(), it => {
    assert.equal(it[0], 'ada');
    assert.equal(agent.visits.length, 1);
    assert.notEqual(agent.kept.access_token, first);
    assert.notEqual(agent.kept.refresh_token, firstRefresh);
    assert.deepEqual([audience(agent.kept.access_token)].flat(), [`${base}/mcp`]);
  });
  await call('auth, with a refresh token', () => auth(agent, { serverUrl: agent.url }), it =>
    assert.equal(it, 'AUTHORIZED'));

  const made = await admin('POST', '/v2/projects/{p}/oauthClients', {
    client_name: 'Known', redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  });
  const other = new Agent('/other', { client_id: made.client_id });
  await call('an agent that an admin registered, at another server', async () => (await other.connect()).who(), it =>
    assert.deepEqual(it, ['ada', made.client_id, ['tea.brew']]));
  await call('a token for another server', () => fetch(agent.url, {
    method: 'POST', body: '{}', headers: { Authorization: `Bearer ${other.kept.access_token}` },
  }), answer => {
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate'), /invalid_token/);
  });
  await refused('a refresh for another server', 'invalid_target', async () => {
    const answer = await fetch(`${issuer}/oauth/token`, { method: 'POST', body: new URLSearchParams({
      grant_type: 'refresh_token', refresh_token: other.kept.refresh_token, client_id: made.client_id,
      resource: `${base}/mcp`,
    }) });
    throw await answer.json();
  });

  const { revocation_endpoint: revocation } = await send('GET', `/.well-known/oauth-authorization-server/${project}`);
  await call('revocation', () => send('POST', revocation, new URLSearchParams({
    token: agent.kept.refresh_token, client_id: agent.known.client_id })), async () => {
    expired.add(agent.kept.access_token);
    assert.equal(await auth(agent, { serverUrl: agent.url }), 'REDIRECT');
    assert.equal(agent.visits.length, 2);
  });
  await call('a sign-in after the revocation', async () => {
    const back = await ada.visit(agent.visits.at(-1));
    await auth(agent, { serverUrl: agent.url, authorizationCode: back.searchParams.get('code') });
    return agent.who();
  }, it => assert.equal(it[0], 'ada'));
});
