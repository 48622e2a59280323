// A certified authorization server (oidc-provider) and a small resource server that checks its tokens: they live for five
// seconds, refresh tokens are replaced, and the tool `write` takes one more scope.

import http from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';

const [port, servicePort] = process.argv.slice(2).map(Number);
const issuer = `http://127.0.0.1:${port}`;
const origin = `http://127.0.0.1:${servicePort}`;
const resource = `${origin}/mcp`;

new Provider(issuer, {
  scopes: ['openid', 'offline_access', 'tools:read', 'tools:write'],
  pkce: { required: () => true },
  features: {
    registration: { enabled: true }, revocation: { enabled: true }, devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true, defaultResource: () => resource, useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: 'tools:read tools:write', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 5 }),
    },
  },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
}).listen(port, '127.0.0.1');

const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
const refuse = (response, status, more) => response.writeHead(status, { 'www-authenticate': `Bearer resource_metadata="${metadata}", ${more}` }).end();

http.createServer((request, response) => {
  let text = '';
  request.on('data', data => { text += data; }).on('end', async () => {
    const answer = value => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (request.url === '/.well-known/oauth-protected-resource/mcp') return answer({ resource, authorization_servers: [issuer], scopes_supported: ['tools:read'] });
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const claims = await jwtVerify(token, keys, { issuer, audience: resource }).then(({ payload }) => payload, () => null);
    if (!claims) return refuse(response, 401, 'scope="tools:read"');
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    if (params?.name === 'write' && !claims.scope.includes('tools:write')) return refuse(response, 403, 'error="insufficient_scope", scope="tools:write"');
    const tools = ['read', 'write'].map(name => ({ name, inputSchema: { type: 'object' } }));
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'oidc', version: '1' } },
      'tools/list': { tools },
      'tools/call': { content: [{ type: 'text', text: `scopes ${claims.scope}` }] },
    };
    answer({ jsonrpc: '2.0', id, result: results[method] ?? {} });
  });
}).listen(servicePort, '127.0.0.1');
