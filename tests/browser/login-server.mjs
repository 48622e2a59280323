// A server over HTTP that wants a token: 401 without it.

import { createServer } from 'node:http';

const tool = { name: 'whoami', description: 'Says who is logged in.', inputSchema: { type: 'object' } };

/** Serves on a free port of 127.0.0.1 and hands over its URL. */
export const serve = token => new Promise(done => {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', data => { text += data; }).on('end', () => {
      if (request.headers.authorization !== 'Bearer ' + token) return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return response.writeHead(202).end();
      const results = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'vault', version: '1' } }, 'tools/list': { tools: [tool] }, 'tools/call': { content: [{ type: 'text', text: '# You\n\n- **Ada**' }] } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
    });
  });
  server.listen(0, '127.0.0.1', () => done({ url: `http://127.0.0.1:${server.address().port}/mcp`, stop: () => server.close() }));
});
