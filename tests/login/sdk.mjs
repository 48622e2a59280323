// A server on the TypeScript SDK with the SDK's own router, token endpoint and middleware. Its demo provider issues no refresh
// tokens, so these are added: each works once. The tool `write` takes one more scope.

import { randomUUID } from 'node:crypto';
import express from 'express';
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';

const port = Number(process.argv[2]);
const resource = new URL(`http://localhost:${port}/mcp`);

class Provider extends DemoInMemoryAuthProvider {
  refreshTokens = new Map();

  renewable(tokens) {
    tokens.refresh_token = randomUUID();
    this.refreshTokens.set(tokens.refresh_token, tokens.access_token);
    return tokens;
  }

  async exchangeAuthorizationCode(...given) {
    return this.renewable(await super.exchangeAuthorizationCode(...given));
  }

  async exchangeRefreshToken(client, refreshToken) {
    const old = this.refreshTokens.get(refreshToken);
    this.refreshTokens.delete(refreshToken);
    const known = this.tokens.get(old);
    if (known?.clientId !== client.client_id) throw new Error('the refresh token is not known');
    this.tokens.delete(old);
    const token = randomUUID();
    this.tokens.set(token, { ...known, token });
    return this.renewable({ access_token: token, token_type: 'bearer', expires_in: 3600, scope: known.scopes.join(' ') });
  }
}

const provider = new Provider();
const app = express();
app.use(mcpAuthRouter({
  provider, issuerUrl: new URL(`http://localhost:${port}`), resourceServerUrl: resource, scopesSupported: ['mcp:tools'],
}));
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
const guard = scopes => requireBearerAuth({ verifier: provider, requiredScopes: scopes, resourceMetadataUrl, expectedResource: resource });
app.post('/mcp', express.json(), guard(['mcp:tools']), (request, response, next) => {
  const wantsMore = request.body?.params?.name === 'write';
  return wantsMore ? guard(['mcp:tools', 'mcp:write'])(request, response, next) : next();
}, async (request, response) => {
  const server = new McpServer({ name: 'sdk', version: '1' });
  for (const name of ['read', 'write']) {
    server.registerTool(name, {}, ({ authInfo }) => ({ content: [{ type: 'text', text: `scopes ${authInfo.scopes.join(' ')}` }] }));
  }
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => transport.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(port, '127.0.0.1');
