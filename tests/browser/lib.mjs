// What the browser tests share: a browser, a page that reports every problem, and `mcprove ui`.

import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const require = createRequire(join(root, '.cache/browser/package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const mcprove = process.env.MCPROVE ?? join(root, 'target/debug/mcprove');
export const shots = join(root, '.cache/browser/shots');
mkdirSync(shots, { recursive: true });

export const everything = 'node everything.js';
export const hostile = 'node hostile-server.mjs';
export const mock = 'mcprove mock --tools-from tools.yml';

/** An empty folder that goes with this program. */
export function temporary() {
  const made = mkdtempSync(join(tmpdir(), 'mcprove-browser-'));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A folder with the servers of the tests, so that no path of this machine is in a screenshot. */
export function folder() {
  const made = temporary();
  symlinkSync(join(root, '.cache/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js'), join(made, 'everything.js'));
  for (const name of ['hostile-server.mjs', 'tools.yml']) copyFileSync(join(root, 'tests/browser', name), join(made, name));
  return made;
}

/** A busy machine is no failure: nothing may depend on how long a step takes. */
const PATIENCE = 180_000;

export const launch = (args = []) => chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  timeout: PATIENCE,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...args],
});

/** A page of a browser that knows nothing yet. */
export async function newPage(browser, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  return context.newPage();
}

/** A page whose console, errors, dialogs and requests to elsewhere are problems, and everything that a hostile server gets to run. */
export async function open(browser, url, problems, options = {}) {
  const page = await newPage(browser, { viewport: { width: 1280, height: 1000 }, ...options });
  await page.addInitScript(() => Object.defineProperty(window, 'pwned', { set: () => console.error('something of a server was run') }));
  const own = new URL(url).origin;
  page.on('console', message => { if (message.type() !== 'log') problems.push(`console: ${message.text()}`); });
  page.on('pageerror', error => problems.push(`error: ${error.message}`));
  page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on('request', request => {
    const to = new URL(request.url());
    if (!['file:', 'data:', 'blob:'].includes(to.protocol) && to.origin !== own) problems.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

/** Waits until assertions hold. What a page shows follows an action sooner or later, so it is never read just once. */
export async function eventually(check) {
  const until = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (error.name !== 'AssertionError' || performance.now() > until) throw error;
    }
    await new Promise(done => setTimeout(done, 50));
  }
}

/** What axe-core finds. It is run in the page's own world by the debugger, so the policy of the page stays as it is. */
export async function accessibility(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(each => `${each.id}: ${each.nodes.slice(0, 3).map(node => node.target.join(' ')).join(' | ')}`);
}

/** `mcprove ui` in a folder; `stop` ends it. */
export async function ui(cwd, args = []) {
  const child = spawn(mcprove, ['ui', '--no-open', ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((done, failed) => {
    let text = '';
    child.on('exit', code => failed(new Error(`mcprove ui ended with ${code}`)));
    child.stdout.on('data', data => {
      text += data;
      if (text.includes('\n')) done(text.trim());
    });
  });
  return { url, stop: () => child.kill('SIGINT') };
}

/** Runs named steps and says which one failed. */
export async function steps(name, list) {
  for (const [what, step] of list) {
    try {
      await step();
      console.log(`ok    ${name}: ${what}`);
    } catch (error) {
      console.log(`FAIL  ${name}: ${what}`);
      throw error;
    }
  }
}
