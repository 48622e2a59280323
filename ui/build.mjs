// Builds the page into crates/report/src/formats/html: page.js, page.css and the policy in page.html. Only maintainers run it:
//
//   cd ui && npm ci && npm run check && npm run build
//
// `cargo test -p mcprove-report` checks that the built files match the sources; it needs no Node.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const target = join(here, '../crates/report/src/formats/html');

// FNV-1a over names and contents of the sources, as the test in crates/report computes it.
function hashOfSources() {
  const names = readdirSync(join(here, 'src'), { recursive: true }).map(String).filter(name => /\.(tsx?|css|html)$/.test(name));
  let hash = 0xcbf29ce484222325n;
  const add = bytes => { for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn; };
  for (const name of [...names.map(name => 'src/' + name), 'package-lock.json'].sort()) {
    add(Buffer.from(name));
    add([0]);
    add(readFileSync(join(here, name)));
    add([0]);
  }
  return hash.toString(16).padStart(16, '0');
}

async function bundle(entry, options = {}) {
  const built = await build({
    entryPoints: [join(here, 'src', entry)], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022',
    jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none', charset: 'ascii', ...options,
  });
  return built.outputFiles[0].text.trim();
}

const sources = hashOfSources();
const script = `/* Built from ui/, sources ${sources}. Contains Preact, MIT, (c) 2015-present Jason Miller. */\n${await bundle('main.tsx')}`
  // The end of the element that holds the script must not be in it.
  .replaceAll('</script', '<\\/script');
const style = await bundle('page.css');
const policyHash = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
  .replace('STYLE_HASH', policyHash(style))
  .replace('SCRIPT_HASH', policyHash(script));
writeFileSync(join(target, 'page.js'), script);
writeFileSync(join(target, 'page.css'), style);
writeFileSync(join(target, 'page.html'), page);
console.log(`script ${script.length} bytes, style ${style.length} bytes, sources ${sources}`);
