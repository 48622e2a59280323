// `mcprove ui` in a real browser: connect, fill in, call, answer, cancel, keep as a test, run, break, see why, compare.

import assert from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessibility, everything, folder, launch, mock, open, shots, steps, ui } from './lib.mjs';

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
    ['shows why a broken test fails', async () => {
      const path = join(cwd, 'evals/ask.yaml');
      writeFileSync(path, readFileSync(path, 'utf8').replace(/equals: .*/, 'equals: "sure: perhaps"'));
      await page.click('text=run again');
      await page.waitForFunction(() => /1 failed/.test(document.getElementById('verdict')?.textContent ?? ''));
      await page.locator('.row').first().click();
      assert.match(await page.textContent('.finding'), /perhaps/);
      await page.screenshot({ path: join(shots, 'ui-failure.png'), fullPage: true });
    }],
    ['compares two runs', async () => {
      await page.click('#tab-runs');
      await page.waitForSelector('.check input');
      const boxes = page.locator('.check input');
      await boxes.nth(1).check();
      await boxes.nth(0).check();
      await page.waitForSelector('#comparison');
      assert.match(await page.textContent('#comparison'), /1 verdict has changed/);
      await page.screenshot({ path: join(shots, 'ui-compare.png') });
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
