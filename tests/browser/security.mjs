// The page against its enemies: other pages, and servers that try to run something in it.

import assert from 'node:assert';
import { createServer, request } from 'node:http';
import { eventually, folder, hostile, launch, newPage, open, steps, ui } from './lib.mjs';

const served = await ui(folder());
const url = new URL(served.url);
const token = url.searchParams.get('token');

/** A request with exactly these headers. */
const ask = (path, { method = 'GET', headers = {}, body } = {}) => new Promise((done, failed) => {
  const sent = request({ host: '127.0.0.1', port: url.port, path, method, headers: { host: url.host, ...headers }, setHost: false }, response => {
    let text = '';
    response.on('data', data => { text += data; }).on('end', () => done({ status: response.statusCode, headers: response.headers, text }));
  });
  sent.on('error', failed);
  sent.end(body);
});

const browser = await launch([`--host-resolver-rules=MAP rebound.example 127.0.0.1`]);
const problems = [];
// A page of another origin on this machine.
const foreign = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>foreign</title>'));
await new Promise(done => foreign.listen(0, '127.0.0.1', done));
try {
  await steps('security', [
    ['refuses foreign hosts and origins', async () => {
      for (const headers of [{ host: 'evil.example' }, { host: `evil.example:${url.port}` }, { host: '127.0.0.1:1' }, { origin: 'http://evil.example' }, { origin: 'null' }, { origin: 'http://127.0.0.1:1' }]) {
        for (const path of ['/', '/page.js', '/api/state', '/api/login']) {
          assert.equal((await ask(path, { headers })).status, 403, JSON.stringify(headers) + path);
        }
      }
    }],
    ['refuses a wrong token and a missing key', async () => {
      assert.equal((await ask('/api/login', { method: 'POST', body: JSON.stringify({ token: 'wrong' }) })).status, 401);
      assert.equal((await ask('/api/state')).status, 401);
      assert.equal((await ask('/api/events')).status, 401);
      assert.equal((await ask('/api/state', { headers: { authorization: 'Bearer ' + token } })).status, 401);
      assert.equal((await ask('/api/connections', { method: 'POST', body: '{"command":"touch /tmp/pwned"}' })).status, 401);
    }],
    ['is closed to pages of other origins, and to other names of this machine', async () => {
      const page = await newPage(browser);
      await page.goto(`http://127.0.0.1:${foreign.address().port}/`);
      const reached = await page.evaluate(async ([origin, token]) => {
        const answers = [];
        const login = body => ({ method: 'POST', body: JSON.stringify(body) });
        for (const [path, options] of [['/', {}], ['/page.js', {}], ['/api/state', {}], ['/api/login', login({ token })], ['/api/login', { mode: 'no-cors', ...login({ token }) }]]) {
          await fetch(origin + path, options).then(async answer => answers.push(path + ' ' + answer.status + ' ' + await answer.text()), () => {});
        }
        const script = document.createElement('script');
        script.src = origin + '/page.js';
        answers.push(await new Promise(done => { script.onload = () => done('script'); script.onerror = () => done(''); document.body.append(script); }));
        return answers.filter(Boolean);
      }, [url.origin, token]);
      assert.deepEqual(reached, []);
      const rebound = await page.goto(`http://rebound.example:${url.port}/?token=${token}`);
      assert.equal(rebound.status(), 403);
      assert.deepEqual(await page.evaluate(token => fetch('/api/login', { method: 'POST', body: JSON.stringify({ token }) }).then(answer => answer.status), token), 403);
      await page.context().close();
    }],
    ['shows why a wrong token opens nothing', async () => {
      const refused = [];
      const page = await open(browser, `${url.origin}/?token=${'0'.repeat(32)}`, refused);
      await page.locator('[role=alert]', { hasText: 'this page needs the URL that `mcprove ui` printed' }).waitFor();
      assert.deepEqual(refused.filter(text => !text.includes('401')), []);
      await page.context().close();
    }],
    ['notices what is run', async () => {
      const noticed = [];
      const page = await open(browser, `http://127.0.0.1:${foreign.address().port}/`, noticed);
      await page.evaluate(() => { document.body.innerHTML = '<img src="data:," onerror="window.pwned=1">'; });
      await eventually(() => assert.deepEqual(noticed, ['console: something of a server was run']));
      await page.context().close();
    }],
    ['sends a policy with everything', async () => {
      for (const path of ['/', '/page.js', '/page.css', '/api/state']) {
        const { headers } = await ask(path);
        assert.match(headers['content-security-policy'], /default-src 'none'; script-src 'self'/);
        assert.match(headers['content-security-policy'], /frame-ancestors 'none'/);
        assert.equal(headers['x-content-type-options'], 'nosniff');
      }
    }],
  ]);
  const page = await open(browser, served.url, problems);
  const quiet = () => assert.deepEqual(problems, []);
  const counts = (selector, wanted) => eventually(async () => assert.equal(await page.locator(selector).count(), wanted));
  /** Picks the only item that this search finds, and sends it. */
  const send = async search => {
    await page.fill('#catalog-search', search);
    await counts('.catalog li', 1);
    await page.click('.item-button');
    await page.waitForSelector('.item-button[aria-current=true]');
    await page.click('#send');
    await page.waitForSelector('#outcome');
  };
  /** Nothing of a server became an element that does something. */
  const harmless = async () => {
    await counts('main :is(script, iframe, object, embed, style, link)', 0);
    await counts('main :is(a[href^="javascript"], [onclick], [onerror], [onload])', 0);
    await page.locator('.panel').waitFor({ state: 'visible' });
    quiet();
  };
  await steps('security', [
    ['lets a token work once', async () => {
      await page.waitForSelector('form.connect');
      assert.equal((await ask('/api/login', { method: 'POST', body: JSON.stringify({ token }) })).status, 401);
      await page.waitForURL(shown => !shown.searchParams.has('token'));
    }],
    ['stays usable with 10,000 tools', async () => {
      await page.fill('#server', hostile);
      await page.click('form.connect button[type=submit]');
      await page.waitForSelector('#catalog-search[placeholder^="search 1000"]');
      await page.fill('#catalog-search', 'tool_9999');
      await counts('.catalog li', 1);
    }],
    ['shows markup as text', async () => {
      await send('tool attack');
      for (const summary of await page.locator('.protocol .frame summary').all()) await summary.click();
      await counts('.protocol .frame:not(:has(.inner))', 0);
      await page.waitForSelector('.result .media img');
      await page.waitForFunction(() => [...document.querySelectorAll('.media img')].every(image => image.complete));
      assert.deepEqual(await page.locator('.media img').evaluateAll(images => images.map(image => image.src).filter(from => !from.startsWith('data:image/svg+xml;base64,'))), []);
      await harmless();
    }],
    ['draws a form for a schema without an end', async () => {
      await send('tool endless');
      await page.locator('.panel h2', { hasText: 'endless' }).waitFor();
      await harmless();
    }],
    ['shows resources and prompts as text', async () => {
      for (const search of ['resource javascript', 'prompt onerror']) {
        await send(search);
        await page.waitForSelector('.media img');
        await harmless();
      }
    }],
    ['keeps a hostile name in the URL as text', async () => {
      await page.waitForURL(/item=prompt/);
      await page.reload();
      await page.waitForSelector('.panel');
      await harmless();
    }],
    ['stays usable with a result of 100 MB', async () => {
      await send('hundred megabytes');
      await page.locator('.result', { hasText: 'the reply is longer than 64 MiB' }).waitFor();
      await send('fifty million');
      await page.locator('.result .warn', { hasText: 'more bytes were left out' }).waitFor();
      await send('tool attack');
      await harmless();
    }],
  ]);
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  foreign.close();
  served.stop();
}
