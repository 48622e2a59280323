// A server on the second TypeScript SDK. `serveStdio` pins the era by the first message, so the same process
// serves either an `initialize` handshake (2025-11-25 and before) or stateless requests (2026-07-28).
// The SDK is imported by path because it lives in the cache folder, not beside this script.
const sdk = new URL('../../../.cache/servers/node_modules/@modelcontextprotocol/server/dist/', import.meta.url);
const { McpServer, fromJsonSchema } = await import(new URL('index.mjs', sdk));
const { serveStdio } = await import(new URL('stdio.mjs', sdk));

const object = (properties) => fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) });
const text = (text) => [{ type: 'text', text }];

serveStdio(() => {
    const server = new McpServer({ name: 'ts2-server', version: '1.0.0' }, { capabilities: { tools: {} } });
    const add = { description: 'Adds two integers', inputSchema: object({ a: { type: 'integer' }, b: { type: 'integer' } }), outputSchema: object({ sum: { type: 'integer' } }) };
    server.registerTool('add', add, ({ a, b }) => ({ content: text(`{"sum":${a + b}}`), structuredContent: { sum: a + b } }));
    const echo = { description: 'Returns the text it is given', inputSchema: object({ text: { type: 'string' } }) };
    server.registerTool('echo', echo, (args) => ({ content: text(args.text) }));
    server.registerTool('fail', { description: 'Always fails' }, () => ({ content: text('failed on purpose'), isError: true }));
    return server;
});
