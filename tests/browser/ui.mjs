// `mcprove ui` in a real browser: connect, fill in, call, answer, cancel, keep as a test, run, break, see why, compare.

import assert from 'node:assert';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessibility, everything, folder, launch, mcprove, mock, open, shots, steps, ui } from './lib.mjs';
import { serve } from './login-server.mjs';

/** Replaces a file in one step, so that a watcher sees one change. */
function replace(path, text) {
  writeFileSync(path + '.new', text);
  renameSync(path + '.new', path);
}

const cwd = folder();
const served = await ui(cwd);
const browser = await launch();
const problems = [];
try {
  const page = await open(browser, served.url, problems);
  const connect = async command => {
    await page.fill('#server', command);
    await page.click('form.connect button[type=submit]');
  };
  const choose = async name => {
    await page.fill('#catalog-search', name);
    await page.locator('.item-button').first().click();
  };
  const outcome = () => page.waitForSelector('#outcome').then(node => node.textContent());
  const over = () => page.waitForFunction(() => document.getElementById('run-state')?.textContent === 'done');

  await steps('ui', [
    ['connects to server-everything', async () => {
      await connect(everything);
      await page.waitForSelector('.catalog');
      assert.ok(await page.locator('.catalog li').count() > 10);
      assert.match(await page.textContent('.server-line'), /everything/);
    }],
    ['asks for the roots that a server wants, and changes them', async () => {
      await page.click('form.connect summary');
      await page.check('#ask-roots');
      await connect(everything);
      await page.waitForSelector('dialog[open] #roots-asked');
      assert.deepEqual(await accessibility(page), []);
      await page.fill('#roots-asked', '/tmp/first folder');
      await page.click('dialog .primary');
      await choose('get-roots-list');
      const roots = async wanted => {
        await page.click('#send');
        await page.waitForFunction(text => document.querySelector('.result')?.textContent.includes(text), wanted);
      };
      await roots('file:///tmp/first%20folder');
      await page.locator('details', { has: page.locator('#roots-now') }).locator('summary').click();
      await page.fill('#roots-now', '/tmp/second');
      await page.click('#change-roots');
      await roots('file:///tmp/second');
      await page.uncheck('#ask-roots');
    }],
    ['calls a tool and shows its image', async () => {
      await choose('get-tiny-image');
      await page.click('#send');
      assert.equal(await outcome(), 'result');
      await page.waitForSelector('.media img');
      assert.ok(await page.evaluate(() => document.querySelector('.media img').naturalWidth > 0), 'the image is drawn');
      await page.screenshot({ path: join(shots, 'ui-explore.png') });
    }],
    ['shows progress and cancels a slow call', async () => {
      await choose('trigger-long-running-operation');
      await page.click('#send');
      await page.waitForSelector('.note progress');
      await page.click('#cancel');
      assert.equal(await outcome(), 'cancelled');
    }],
    ['fills in a nested form', async () => {
      await connect(mock);
      await page.waitForFunction(() => document.querySelector('.server-line')?.textContent.includes('desk'));
      await choose('book');
      await page.fill('#call-guest-name', 'Ada');
      await page.fill('#call-guest-age', '36');
      await page.click('text=add item');
      await page.selectOption('#call-days-0', { label: 'Tuesday' });
      await page.fill('#call-pay-0-coins', '3');
      await page.screenshot({ path: join(shots, 'ui-form.png') });
      await page.click('#send');
      assert.equal(await outcome(), 'result');
      const sent = await page.locator('.protocol .frame .hint').allTextContents();
      assert.ok(sent.some(text => text.includes('book')), sent.join('\n'));
      assert.match(await page.textContent('.result pre'), /booked for Ada/);
    }],
    ['says what is wrong before it is sent', async () => {
      await page.fill('#call-guest-age', '-1');
      await page.waitForSelector('#invalid');
      assert.match(await page.textContent('#invalid'), /minimum/);
      await page.fill('#call-guest-age', '36');
    }],
    ['answers a question of the server', async () => {
      await choose('ask');
      await page.click('#send');
      await page.waitForSelector('dialog[open]');
      assert.match(await page.textContent('dialog'), /Really\?/);
      assert.deepEqual(await accessibility(page), []);
      await page.reload();
      await page.waitForSelector('dialog[open]');
      await page.selectOption('#answer-sure', 'true');
      await page.screenshot({ path: join(shots, 'ui-question.png') });
      await page.click('dialog .primary');
      assert.equal(await outcome(), 'result');
      assert.match(await page.textContent('.result pre'), /sure: true/);
    }],
    ['keeps the call as a test', async () => {
      await page.click('#keep');
      await page.waitForFunction(() => document.querySelectorAll('.keep pre .plus').length > 3);
      await page.screenshot({ path: join(shots, 'ui-keep.png'), fullPage: true });
      await page.click('.keep .primary');
      assert.equal(await page.waitForSelector('#kept').then(node => node.textContent()), 'mcprove run evals/ask.yaml');
      assert.match(readFileSync(join(cwd, 'evals/ask.yaml'), 'utf8'), /sure: true/);
    }],
    ['runs the test', async () => {
      await page.click('text=run it');
      await page.click('#run-tests');
      await over();
      assert.match(await page.textContent('#verdict'), /1 passed/);
    }],
    ['runs a broken test again by itself, and shows why it fails', async () => {
      const path = join(cwd, 'evals/ask.yaml');
      await page.check('#watch');
      replace(path, readFileSync(path, 'utf8').replace(/equals: .*/, 'equals: "sure: perhaps"'));
      await page.waitForFunction(() => /1 failed/.test(document.getElementById('verdict')?.textContent ?? ''));
      await over();
      await page.uncheck('#watch');
      await page.locator('.row').first().click();
      assert.match(await page.textContent('.finding'), /perhaps/);
      assert.match(await page.getAttribute('.finding a.link', 'href'), /^vscode:\/\/file\/.*\/evals\/ask\.yaml:\d+:\d+$/);
      await page.click('.finding >> text=explain');
      await page.waitForSelector('.finding > pre:not(.source)');
      await page.screenshot({ path: join(shots, 'ui-failure.png'), fullPage: true });
    }],
    ['runs the failures, one test, and accepts a snapshot', async () => {
      await page.click('#run-failed');
      await page.waitForURL(/run=3/);
      await over();
      assert.match(await page.textContent('#verdict'), /1 failed/);
      writeFileSync(join(cwd, 'evals/stored.yaml'), `name: stored\nserver: { command: ${JSON.stringify(mcprove)}, args: [mock, --tools-from, tools.yml] }\nassert: { tool: book, args: { guest: { name: Bob } }, expect: [{ target: result.content, matcher: { snapshot: greeting } }] }\n`);
      await page.fill('#suites', 'evals/stored.yaml');
      await page.waitForSelector('.suite-tree li >> text=stored');
      await page.click('[aria-label="run stored"]');
      await page.waitForURL(/run=4/);
      await over();
      await page.locator('.row').first().click();
      await page.click('text=accept snapshot');
      await page.waitForURL(/run=5/);
      await over();
      assert.match(await page.textContent('#verdict'), /1 passed/);
    }],
    ['shows the trend of each test, with links that stay valid', async () => {
      await page.click('#keep-log');
      await page.click('#tab-runs');
      await page.waitForSelector('#trend');
      assert.match(await page.locator('#trend tr', { hasText: 'ask' }).textContent(), /1 \/ 3/);
      assert.deepEqual(await accessibility(page), []);
      await page.screenshot({ path: join(shots, 'ui-runs.png') });
      await page.locator('#trend tr', { hasText: 'stored' }).locator('.dot.good').click();
      await page.waitForSelector('.case .body');
      await page.waitForURL(/#runs\?a=log%2Frun-.*open=test-/);
      const tab = await page.context().newPage();
      await tab.goto(page.url());
      await tab.waitForSelector('.case .body');
      await tab.waitForURL(/#runs\?a=log%2Frun-.*open=test-/);
      await tab.close();
      await page.click('#tab-test');
    }],
    ['compares two runs', async () => {
      await page.click('#tab-runs');
      await page.waitForSelector('.check input');
      const box = name => page.locator('.check', { hasText: name }).locator('input');
      await box('mcprove run evals/ask.yaml').nth(2).check();
      await box('mcprove run evals/ask.yaml').nth(1).check();
      await page.waitForSelector('#comparison');
      assert.match(await page.textContent('#comparison'), /1 verdict has changed/);
      await page.screenshot({ path: join(shots, 'ui-compare.png') });
    }],
    ['lints schemas, and shows the fix', async () => {
      await page.click('#tab-scan');
      await page.click('#scan-lint');
      await page.waitForSelector('#lint .diff .plus');
      assert.match(await page.textContent('#lint'), /SCH-002/);
    }],
    ['scans the server that it is connected to', async () => {
      await page.click('#scan-audit');
      await page.waitForFunction(() => document.getElementById('run-state')?.textContent === 'done', null, { timeout: 60_000 });
      assert.match(await page.textContent('#verdict'), /passed/);
    }],
    ['asks for a token where a server wants one, and draws Markdown', async () => {
      const vault = await serve('s3cret');
      await page.click('#tab-explore');
      await page.selectOption('#kind', 'url');
      // A browser logs every answer that is not 200.
      const logged = page.waitForEvent('console', message => message.text().includes('502'));
      await connect(vault.url);
      await page.fill('#token', 's3cret');
      await logged;
      assert.deepEqual(problems.splice(0).filter(text => !text.includes('502')), []);
      await page.click('#login');
      await page.waitForFunction(() => document.querySelector('.server-line')?.textContent.includes('vault'));
      await page.click('#send');
      assert.equal(await outcome(), 'result');
      assert.equal(await page.textContent('.markdown li b'), 'Ada');
      await page.locator('.protocol .frame summary').first().click();
      assert.ok(!(await page.content()).includes('s3cret'), 'the token is masked');
      vault.stop();
    }],
    ['completes arguments, and takes servers of a client configuration', async () => {
      writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { other: { command: 'false' }, all: { command: 'node', args: ['everything.js'] } } }));
      await page.selectOption('#kind', 'config');
      await page.fill('#server', '.mcp.json');
      await page.waitForSelector('#config-name');
      await page.selectOption('#config-name', 'all');
      await page.click('form.connect button[type=submit]');
      await page.waitForFunction(() => document.querySelector('.server-line')?.textContent.includes('everything'));
      await choose('prompt completable');
      await page.fill('#call-department', 'E');
      await page.waitForSelector('#call-department-offered option[value=Engineering]', { state: 'attached' });
    }],
    ['is accessible, and fits a phone', async () => {
      for (const view of ['explore', 'test', 'runs', 'scan']) {
        await page.click('#tab-' + view);
        assert.deepEqual(await accessibility(page), [], view);
      }
      await page.setViewportSize({ width: 375, height: 800 });
      await page.click('#tab-explore');
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
    }],
    ['survives a reload', async () => {
      await page.reload();
      await page.waitForSelector('.catalog');
    }],
  ]);
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  served.stop();
}
