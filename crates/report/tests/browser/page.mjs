// A check by hand of the HTML report in a real browser; CI has none.
//
//   npm install playwright-core            (in a folder of its own)
//   cargo run -p mcprove-report --example render -- html < crates/report/tests/logs/fail.ndjson > fail.html
//   cargo run -p mcprove-report --example render -- html < crates/report/tests/logs/hostile.ndjson > hostile.html
//   node page.mjs fail.html hostile.html   (CHROMIUM names the browser; default /usr/bin/chromium)
//
// Beside its verdict it writes screenshots in light and dark next to each page; look at them.

import assert from 'node:assert';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [fail, hostile] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const problems = [];

async function open(path, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1180, height: 900 }, colorScheme });
  page.on('console', message => { if (message.type() !== 'log') problems.push(`console: ${message.text()}`); });
  page.on('pageerror', error => problems.push(`error: ${error.message}`));
  page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => { if (!/^(file|data):/.test(request.url())) problems.push(`request: ${request.url()}`); });
  await page.goto(pathToFileURL(resolve(path)).href);
  return page;
}

for (const scheme of ['light', 'dark']) {
  const page = await open(fail, scheme);
  await page.click('text=list_directory names every file');
  assert.match(await page.textContent('.case .body'), /the text differs/);
  await page.locator('.frame summary').nth(3).click();
  assert.match(await page.textContent('.frame[open] pre'), /"method": "tools\/call"/);
  await page.screenshot({ path: `${fail}.${scheme}.png`, fullPage: true });

  await page.fill('#search', 'enoent');
  await page.waitForFunction(() => document.getElementById('shown').textContent === '1 of 4 cases');
  await page.fill('#search', '');
  await page.waitForFunction(() => document.getElementById('shown').textContent === '4 cases');
  await page.click('#filters button[data-filter=failed]');
  assert.equal(await page.textContent('#shown'), '3 of 4 cases');
}

const page = await open(hostile, 'light');
for (const row of await page.locator('.row').all()) await row.click();
for (const summary of await page.locator('.frame summary').all()) await summary.click();
await page.waitForTimeout(300);
assert.equal(await page.locator('main :is(script, img, iframe, object)').count(), 0);
await page.screenshot({ path: `${hostile}.light.png`, fullPage: true });

await browser.close();
assert.deepEqual(problems, []);
console.log('the page holds');
