// The page against its enemies: other pages, and servers that try to run something in it.

import assert from 'node:assert';
import { folder, hostile, launch, open, steps, ui } from './lib.mjs';
import { request } from 'node:http';

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

const browser = await launch();
const problems = [];
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
  const pwned = () => page.evaluate(() => window.pwned ?? 0);
  await steps('security', [
    ['lets a token work once', async () => {
      await page.waitForSelector('form.connect');
      assert.equal((await ask('/api/login', { method: 'POST', body: JSON.stringify({ token }) })).status, 401);
      assert.ok(!page.url().includes('token'), page.url());
    }],
    ['stays usable with 10,000 tools', async () => {
      await page.fill('#server', hostile);
      await page.click('form.connect button[type=submit]');
      await page.waitForSelector('.catalog');
      assert.match(await page.getAttribute('#catalog-search', 'placeholder'), /1000\d items/);
      await page.fill('#catalog-search', 'tool_9999');
      await page.waitForFunction(() => document.querySelectorAll('.catalog li').length === 1);
    }],
    ['shows markup as text', async () => {
      await page.fill('#catalog-search', 'attack');
      await page.locator('.item-button').first().click();
      await page.click('#send');
      await page.waitForSelector('#outcome');
      for (const summary of await page.locator('.protocol .frame summary').all()) await summary.click();
      await page.waitForSelector('.media img');
      assert.equal(await pwned(), 0);
      assert.equal(await page.locator('main :is(script, iframe, object, embed, style)').count(), 0);
      assert.equal(await page.locator('main a[href^="javascript"]').count(), 0);
      assert.equal(await page.locator('main [onclick], main [onerror], main [onload]').count(), 0);
      assert.equal(await page.locator('.media img').evaluateAll(images => images.filter(image => !image.src.startsWith('data:image/svg+xml;base64,')).length), 0);
      assert.ok(await page.locator('main').isVisible());
    }],
    ['shows resources and prompts as text', async () => {
      for (const [search, count] of [['resource javascript', 1], ['prompt onerror', 1]]) {
        await page.fill('#catalog-search', search);
        await page.waitForFunction(wanted => document.querySelectorAll('.catalog li').length === wanted, count);
        await page.locator('.item-button').first().click();
        await page.click('#send');
        await page.waitForSelector('#outcome');
        await page.waitForSelector('.media img');
        assert.equal(await page.locator('main :is(script, iframe, object, embed, style, link)').count(), 0);
        assert.equal(await pwned(), 0);
        assert.ok(await page.locator('.panel').isVisible(), 'no style of a server is applied');
      }
    }],
    ['keeps a hostile name in the URL as text', async () => {
      await page.reload();
      await page.waitForSelector('.panel');
      assert.equal(await pwned(), 0);
    }],
    ['stays usable with a result of 100 MB', async () => {
      await page.fill('#catalog-search', 'megabytes');
      await page.locator('.item-button').first().click();
      await page.click('#send');
      await page.waitForSelector('#outcome', { timeout: 60_000 });
      await page.fill('#catalog-search', 'attack');
      await page.waitForFunction(() => document.querySelectorAll('.catalog li').length > 0);
      assert.equal(await pwned(), 0);
    }],
  ]);
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  served.stop();
}
