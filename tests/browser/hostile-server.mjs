// A server that tries everything against the page that shows it: markup, scripts, styles, 10,000 tools, 100 MB.

import { createInterface } from 'node:readline';

const ATTACK = '"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload="window.pwned=1"></svg><style>body{display:none}</style>';
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="window.pwned=1"><script>parent.pwned=1</script><rect width="10" height="10"/></svg>').toString('base64');

const schema = { type: 'object', properties: { [ATTACK]: { type: 'string', title: ATTACK, description: ATTACK, enum: [ATTACK, 'b'] } } };
// A schema that leads back to itself, twice, and never says what it is.
const endless = { type: 'object', properties: { x: { $ref: '#/$defs/a' }, list: { $ref: '#/$defs/list' } }, $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] }, b: { oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] }, list: { type: 'array', items: { $ref: '#/$defs/list' } } } };
const tools = [
  { name: 'endless', description: 'a schema without an end', inputSchema: endless },
  { name: 'attack', title: ATTACK, description: ATTACK, inputSchema: schema, annotations: { title: ATTACK } },
  { name: 'huge', description: 'a hundred megabytes', inputSchema: { type: 'object' } },
  { name: 'big', description: 'fifty million letters', inputSchema: { type: 'object' } },
  ...Array.from({ length: 10_000 }, (_, index) => ({ name: `tool_${index}`, description: `tool number ${index} ${ATTACK}`, inputSchema: { type: 'object' } })),
];

const content = [
  { type: 'text', text: ATTACK },
  { type: 'text', text: `# ${ATTACK}\n\n- [click](javascript:window.pwned=1) **${ATTACK}** [x](http://127.0.0.1:9/"onclick="window.pwned=1)\n\n\`\`\`\n${ATTACK}\n\`\`\`\n\n| ${ATTACK} |\n|---|\n| ![x](http://127.0.0.1:9/x.png) |` },
  { type: 'image', mimeType: 'image/svg+xml', data: SVG },
  { type: 'image', mimeType: 'image/svg+xml,' + ATTACK, data: SVG },
  { type: 'image', mimeType: 'text/html', data: Buffer.from('<script>parent.pwned=1</script>').toString('base64') },
  { type: 'resource_link', name: ATTACK, uri: 'javascript:window.pwned=1' },
  { type: 'resource', resource: { uri: 'javascript:window.pwned=1', mimeType: 'text/html', text: ATTACK } },
  { type: ATTACK, text: ATTACK },
];

const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = result => send({ id, result });
  switch (method) {
    case 'initialize':
      return reply({ protocolVersion: params.protocolVersion, capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} }, serverInfo: { name: ATTACK, version: ATTACK } });
    case 'tools/list': return reply({ tools });
    case 'resources/list': return reply({ resources: [{ uri: 'javascript:window.pwned=1', name: ATTACK, description: ATTACK }] });
    case 'resources/read':
      return reply({ contents: [{ uri: ATTACK, mimeType: 'text/html', text: ATTACK }, { uri: 'x:svg', mimeType: 'image/svg+xml', blob: SVG }, { uri: 'x:html', mimeType: 'text/html', blob: Buffer.from(ATTACK).toString('base64') }, { uri: 'x:css', mimeType: 'text/css', text: 'body { display: none } @import url(http://127.0.0.1:9/evil.css);' }] });
    case 'prompts/get':
      return reply({ description: ATTACK, messages: [{ role: ATTACK, content: { type: 'text', text: ATTACK } }, { role: 'user', content: { type: 'image', mimeType: 'image/svg+xml', data: SVG } }] });
    case 'completion/complete': return reply({ completion: { values: [ATTACK] } });
    case 'resources/templates/list': return reply({ resourceTemplates: [{ uriTemplate: 'x://{' + 'a}', name: ATTACK }] });
    case 'prompts/list': return reply({ prompts: [{ name: ATTACK, description: ATTACK, arguments: [{ name: ATTACK }] }] });
    case 'tools/call':
      process.stderr.write(ATTACK + '\n');
      send({ method: 'notifications/message', params: { level: ATTACK, data: ATTACK } });
      if (params.name === 'huge') return reply({ content: [{ type: 'text', text: 'x'.repeat(100_000_000) }] });
      if (params.name === 'big') return reply({ content: [{ type: 'text', text: 'x'.repeat(50_000_000) }] });
      return reply({ content, structuredContent: { [ATTACK]: ATTACK }, isError: false });
    default: return reply({});
  }
});
