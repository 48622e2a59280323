// Logging in with a browser: the redirect of `mcprove login`, and the button of `mcprove ui`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessibility, eventually, launch, mcprove, newPage, open, steps, temporary, ui } from './lib.mjs';

const cwd = temporary();
process.env.MCPROVE_CONFIG_DIR = join(cwd, 'config');
for (const name of ['BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY']) delete process.env[name];

/** Starts a command and waits for what it prints to standard error. */
function started(args, pattern) {
  const child = spawn(mcprove, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise(done => child.on('exit', done));
  const found = new Promise((done, failed) => {
    let text = '';
    child.stderr.on('data', data => {
      text += data;
      const match = text.match(pattern);
      if (match) done(match[1]);
    });
    child.on('exit', code => failed(new Error(`ended with ${code}: ${text}`)));
  });
  return { found, ended, stop: () => child.kill() };
}

const guarded = (...args) => started(['mock', '--conforming', '--http', '127.0.0.1:0', '--issuer', ...args], /listening on (\S+)/);
const login = url => started(['login', url], /^(http\S+code_challenge\S+)$/m);
const stored = () => JSON.parse(readFileSync(join(cwd, 'config/logins.json'), 'utf8')).logins;

const browser = await launch();
/** A page of the outcome of a login, which is opened by redirects. */
const outcome = async (page, pattern) => {
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/);
  await eventually(async () => assert.match(await page.textContent('#outcome'), pattern));
};
let running;
const server = guarded();
const denying = guarded('--issuer-fault', 'denied');
const stingy = guarded('--issuer-fault', 'token-refused');
try {
  await steps('login', [
    ['the redirect ends at a page that says so, and the token is kept', async () => {
      const command = login(await server.found);
      const page = await newPage(browser);
      await page.goto(await command.found);
      await outcome(page, /You are logged in/);
      await eventually(async () => assert.deepEqual(await accessibility(page), []));
      assert.equal(await command.ended, 0);
      assert.equal(stored().length, 1);
      await page.context().close();
    }],
    ['a refusal of the authorization server is shown', async () => {
      const command = login(await denying.found);
      const page = await newPage(browser);
      await page.goto(await command.found);
      await outcome(page, /access_denied: the person said no/);
      assert.equal(await command.ended, 2);
      await page.context().close();
    }],
    ['a refusal of the token endpoint is shown, too', async () => {
      const command = login(await stingy.found);
      const page = await newPage(browser);
      await page.goto(await command.found);
      await outcome(page, /The login failed: .*this client may not have tokens/);
      assert.equal(await command.ended, 2);
      await page.context().close();
    }],
  ]);
  const out = spawn(mcprove, ['logout', await server.found], { cwd, stdio: 'ignore' });
  await new Promise(done => out.on('exit', done));
  running = await ui(cwd);
  const problems = [];
  const page = await open(browser, running.url, problems);
  await steps('login', [
    ['the page logs in to a server that answers 401', async () => {
      const answers = [];
      page.on('response', response => {
        // A stream of events has no end.
        if (/json|html/.test(response.headers()['content-type'] ?? '')) answers.push(response.text().catch(() => ''));
      });
      await page.selectOption('#kind', 'url');
      await page.fill('#server', await server.found);
      await page.click('form.connect button[type=submit]');
      await page.waitForSelector('#oauth');
      const popup = page.context().waitForEvent('page');
      await page.click('#oauth');
      const other = await popup;
      await outcome(other, /You are logged in/);
      await page.locator('.server-line', { hasText: 'conformance-profile' }).waitFor();
      const [{ access_token: token, refresh_token: refresh }] = stored();
      const shown = [await page.content(), ...await Promise.all(answers)].join('\n');
      for (const secret of [token, refresh]) {
        for (const form of [secret, encodeURIComponent(secret), btoa(secret).replace(/=+$/, '')]) {
          assert.ok(!shown.includes(form), 'no token is on the page or in an answer to it');
        }
      }
      assert.ok(shown.includes('conformance-profile'), 'the answers were looked at');
    }],
  ]);
} finally {
  running?.stop();
  server.stop();
  denying.stop();
  stingy.stop();
  await browser.close();
}
