// `mcprove ui` in a real browser: connect, fill in, call, answer, cancel, keep as a test, run, break, see why, compare.

import assert from 'node:assert';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessibility, eventually, everything, folder, launch, mcprove, mock, open, shots, steps, ui } from './lib.mjs';
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
  /** Picks what this search finds first; the last word is in its name. */
  const choose = async text => {
    const name = text.split(' ').at(-1);
    await page.fill('#catalog-search', text);
    await page.locator('.item-button').first().and(page.locator('.item-button', { hasText: name })).click();
    await page.locator('.panel h2', { hasText: name }).waitFor();
  };
  const shows = (selector, pattern) => eventually(async () => assert.match(await page.textContent(selector), pattern));
  const accessible = () => eventually(async () => assert.deepEqual(await accessibility(page), []));
  const request = () => page.evaluate(() => document.querySelector('.result')?.dataset.request ?? '');
  /** Sends what is in the form, and does something until its reply is there; hands over the outcome. */
  const send = async (meanwhile = async () => {}) => {
    const before = await request();
    await page.click('#send');
    await meanwhile();
    await page.waitForFunction(old => (document.querySelector('.result')?.dataset.request ?? old) !== old, before);
    return page.textContent('#outcome');
  };
  /** Waits until the run with this number is over. */
  const over = run => page.locator(`#run-state[data-run="${run}"]`, { hasText: 'done' }).waitFor();
  const connected = name => page.locator('.server-line', { hasText: name }).waitFor();
  const focused = wanted => eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id), wanted));
  /** Starts a command on the newest connection and shows it in the scans; hands over its number. */
  const scan = async words => {
    const run = await page.evaluate(async words => {
      const api = async (path, body) => (await fetch('/api/' + path, { method: body ? 'POST' : 'GET', headers: { Authorization: 'Bearer ' + localStorage.getItem('mcprove-key') }, body: body && JSON.stringify(body) })).json();
      const { connection } = (await api('state')).connections.at(-1);
      const { run } = await api('runs', { words, connection });
      location.hash = `#scan?run=${run}`;
      return run;
    }, words);
    await page.locator(`#run-state[data-run="${run}"]`).waitFor();
    return run;
  };

  await steps('ui', [
    ['connects to server-everything', async () => {
      // The handshake is on the page even where its frames come before the answer.
      await page.route('**/api/connections', async route => {
        const answer = await route.fetch();
        const { authorization } = await route.request().allHeaders();
        const events = await fetch(new URL('/api/events?after=0', served.url), { headers: { authorization } });
        for await (const chunk of events.body) if (Buffer.from(chunk).includes('tools/list')) break;
        await route.fulfill({ response: answer });
      });
      await connect(everything);
      await page.waitForSelector('.catalog li >> nth=10');
      await connected('everything');
      await page.locator('.protocol .frame .hint', { hasText: /^initialize$/ }).waitFor();
      await page.unroute('**/api/connections');
    }],
    ['asks for the roots that a server wants, and changes them', async () => {
      await page.click('form.connect summary');
      await page.check('#ask-roots');
      await connect(everything);
      await page.waitForSelector('dialog[open] #roots-asked');
      await accessible();
      await page.fill('#roots-asked', '/tmp/first folder');
      await page.click('dialog .primary');
      await choose('get-roots-list');
      // The server asks for changed roots when it finds the time.
      const roots = wanted => eventually(async () => {
        assert.equal(await send(), 'result');
        assert.ok((await page.textContent('.result')).includes(wanted));
      });
      await roots('file:///tmp/first%20folder');
      await page.locator('details', { has: page.locator('#roots-now') }).locator('summary').click();
      await page.fill('#roots-now', '/tmp/second');
      await page.click('#change-roots');
      await roots('file:///tmp/second');
      await page.uncheck('#ask-roots');
    }],
    ['calls a tool and shows its image', async () => {
      await choose('get-tiny-image');
      assert.equal(await send(), 'result');
      await page.waitForFunction(() => document.querySelector('.media img')?.naturalWidth > 0);
      await page.screenshot({ path: join(shots, 'ui-explore.png') });
    }],
    ['shows progress and cancels a slow call', async () => {
      await choose('trigger-long-running-operation');
      await page.fill('#call-duration', '600');
      await page.fill('#call-steps', '600');
      const cancelled = await send(async () => {
        await page.waitForSelector('.note progress');
        await page.click('#cancel');
      });
      assert.equal(cancelled, 'cancelled');
    }],
    ['fills in a nested form', async () => {
      await connect(mock);
      await connected('desk');
      await choose('book');
      await page.fill('#call-guest-name', 'Ada');
      await page.fill('#call-guest-age', '36');
      await page.click('text=add item');
      await page.selectOption('#call-days-0', { label: 'Tuesday' });
      await page.fill('#call-pay-0-coins', '3');
      await page.screenshot({ path: join(shots, 'ui-form.png') });
      await page.click('.meta-fields summary');
      await page.fill('#call-meta', '{"trace": 7}');
      assert.equal(await send(), 'result');
      await page.locator('.protocol .frame', { hasText: 'tools/call book' }).locator('summary').click();
      await shows('.protocol .frame[open] pre', /"_meta": \{\s+"trace": 7,\s+"progressToken"/);
      await shows('.result pre', /booked for Ada/);
    }],
    ['moves in the catalog with the arrows', async () => {
      await page.fill('#catalog-search', 'tool');
      await page.press('#catalog-search', 'ArrowDown');
      await focused('tool bookBooks a table.');
      await page.keyboard.press('End');
      await focused('tool stuckNever answers.');
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowUp');
      await focused('catalog-search');
    }],
    ['takes alternatives as JSON', async () => {
      await choose('either');
      await page.fill('#call-json', '{"name": "Ada"}');
      await page.waitForSelector('#invalid', { state: 'detached' });
      assert.equal(await send(), 'result');
      await shows('.result pre', /found Ada/);
      await choose('book');
    }],
    ['says what is wrong before it is sent', async () => {
      await page.fill('#call-guest-age', '-1');
      await shows('#invalid', /minimum/);
      await page.fill('#call-guest-age', '36');
      await page.waitForSelector('#invalid', { state: 'detached' });
    }],
    ['answers a question of the server', async () => {
      await choose('ask');
      const answered = await send(async () => {
        await shows('dialog[open]', /Really\?/);
        // A question does not go away unanswered.
        for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
        await page.waitForSelector('dialog[open]');
        await accessible();
        // What the server asked is still there after a reload.
        await page.waitForURL(/item=tool%2Fask/);
        await page.reload();
        await page.selectOption('dialog[open] #answer-sure', 'true');
        await page.screenshot({ path: join(shots, 'ui-question.png') });
        await page.click('dialog .primary');
      });
      assert.equal(answered, 'result');
      await shows('.result pre', /sure: true/);
    }],
    ['keeps the call as a test', async () => {
      await page.click('#keep');
      await page.waitForFunction(() => document.querySelectorAll('.keep pre .plus').length > 3);
      await page.screenshot({ path: join(shots, 'ui-keep.png'), fullPage: true });
      await page.click('.keep .primary');
      await shows('#kept', /^mcprove run evals\/ask\.yaml$/);
      assert.match(readFileSync(join(cwd, 'evals/ask.yaml'), 'utf8'), /sure: true/);
      const next = await page.evaluate(async () => {
        const api = async (path, body) => (await fetch('/api/' + path, { method: body ? 'POST' : 'GET', headers: { Authorization: 'Bearer ' + localStorage.getItem('mcprove-key') }, body: body && JSON.stringify(body) })).json();
        const { connection } = (await api('state')).connections.at(-1);
        return (await api('tests/propose', { connection, method: 'tools/call', params: { name: 'ask' }, result: {} })).path;
      });
      assert.equal(next, 'evals/ask-2.yaml', 'the next one gets a file of its own');
    }],
    ['runs the test', async () => {
      await page.click('text=run it');
      await page.waitForSelector('.suite-tree li >> text=ask');
      await page.click('#run-tests');
      await over(1);
      await shows('#verdict', /1 passed/);
    }],
    ['runs a broken test again by itself, and shows why it fails', async () => {
      const path = join(cwd, 'evals/ask.yaml');
      await page.check('#watch');
      replace(path, readFileSync(path, 'utf8').replace(/equals: .*/, 'equals: "sure: perhaps"'));
      await over(2);
      await shows('#verdict', /1 failed/);
      await page.uncheck('#watch');
      await page.locator('.row').first().click();
      await shows('.finding', /perhaps/);
      assert.match(await page.getAttribute('.finding a.link', 'href'), /^vscode:\/\/file\/.*\/evals\/ask\.yaml:\d+:\d+$/);
      await page.click('.finding >> text=explain');
      await page.waitForSelector('.finding > pre:not(.source)');
      await page.screenshot({ path: join(shots, 'ui-failure.png'), fullPage: true });
    }],
    ['runs the failures, one test, and accepts a snapshot', async () => {
      await page.click('#run-failed');
      await over(3);
      await shows('#verdict', /1 failed/);
      writeFileSync(join(cwd, 'evals/stored.yaml'), `name: stored\nserver: { command: ${JSON.stringify(mcprove)}, args: [mock, --tools-from, tools.yml] }\nassert: { tool: book, args: { guest: { name: Bob } }, expect: [{ target: result.content, matcher: { snapshot: greeting } }] }\n`);
      await page.fill('#suites', 'evals/stored.yaml');
      await page.waitForSelector('.suite-tree li >> text=stored');
      await page.click('[aria-label="run stored"]');
      await over(4);
      await page.locator('.row').first().click();
      await page.click('text=accept snapshot');
      await over(5);
      await shows('#verdict', /1 passed/);
    }],
    ['shows the trend of each test, with links that stay valid', async () => {
      await page.click('#keep-log');
      await page.waitForSelector('#kept-log');
      await page.click('#tab-runs');
      await page.locator('#trend tr', { hasText: 'ask' }).filter({ hasText: '1 / 3' }).waitFor();
      await accessible();
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
      await shows('#comparison', /1 verdict has changed/);
      await page.screenshot({ path: join(shots, 'ui-compare.png') });
    }],
    ['lints schemas, and shows the fix', async () => {
      await page.click('#tab-scan');
      await page.click('#scan-lint');
      await page.waitForSelector('#lint .diff .plus');
      await shows('#lint', /SCH-002/);
    }],
    ['scans the server that it is connected to', async () => {
      await page.click('#scan-audit');
      await over(6);
      await shows('#verdict', /passed/);
    }],
    ['loads it, and shows what was measured', async () => {
      await over(await scan(['bench', '--tool', 'book', '--args', '{"guest":{"name":"Ada"}}', '--calls', '20']));
      await page.locator('.row').first().click();
      await shows('.load', /throughput .*20 calls/);
      await page.locator('.load th', { hasText: 'p99.9' }).first().waitFor();
    }],
    ['shows how far a run is, and stops it', async () => {
      const run = await scan(['audit', '--tool', 'stuck', '--timeout', '600s']);
      await shows('p:has(> #run-progress)', /0 of 1/);
      await page.click('#stop');
      await page.locator(`#run-state[data-run="${run}"]`, { hasText: 'stopped' }).waitFor();
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
      await connected('vault');
      await choose('whoami');
      assert.equal(await send(), 'result');
      await shows('.markdown li b', /^Ada$/);
      await page.locator('.protocol .frame', { hasText: 'HTTP request' }).first().locator('summary').click();
      await shows('.protocol .frame[open] pre', /authorization/i);
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
      await connected('everything');
      await choose('prompt completable');
      await page.fill('#call-department', 'E');
      await page.waitForSelector('#call-department-offered option[value=Engineering]', { state: 'attached' });
    }],
    ['connects again to a server that is gone', async () => {
      await page.selectOption('#kind', 'command');
      await connect(mock);
      await connected('desk');
      await choose('crash');
      await page.click('#send');
      await page.click('#reconnect');
      await page.locator('.server-line', { hasNotText: 'the server is gone' }).waitFor();
      await choose('either');
      await page.fill('#call-json', '{"name": "Bob"}');
      assert.equal(await send(), 'result');
      await shows('.result pre', /found Bob/);
    }],
    ['is accessible in the light and in the dark, and fits phones and walls', async () => {
      const settled = { explore: '.catalog li', test: '.suite-tree li', runs: '#trend tr, #comparison tr, .case', scan: '#scan-audit' };
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        for (const [view, drawn] of Object.entries(settled)) {
          await page.click('#tab-' + view);
          await page.waitForSelector(drawn);
          await accessible();
          for (const [width, height] of [[375, 800], [3840, 2160], [1280, 1000]]) {
            await page.setViewportSize({ width, height });
            await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${view} is wider than ${width} pixels`));
            await page.screenshot({ path: join(shots, `${view}-${width}-${colorScheme}.png`) });
          }
        }
      }
    }],
    ['survives a reload', async () => {
      await page.reload();
      await page.click('#tab-explore');
      await page.waitForSelector('.catalog');
    }],
  ]);
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  served.stop();
}
