import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumProblem, launchChromium } from '../support/chromium.ts';
import { fakeGateway } from './fake-gateway.ts';

const problem = await chromiumProblem();

describe.skipIf(problem)('the page, where a model fails', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('SPEC 7.8: it tells which model answers in whose place, and the thinking of an attempt that failed is gone', async () => {
    await using gateway = await fakeGateway();
    const page = await browser.newPage({
      viewport: { width: Number(process.env['SHOT_WIDTH'] ?? 900), height: 500 },
      colorScheme: process.env['SHOT_DARK'] ? 'dark' : 'light',
    });
    page.setDefaultTimeout(10_000);
    gateway.answer = (turn) => {
      turn.think('What the first one thought.');
      turn.restart();
      turn.switchModel({ from: 'anthropic/claude-sonnet-4-5', to: 'openai/gpt-5.2', isBack: false, reason: 'rate_limit' });
      turn.think('What the second one thinks.');
      turn.say('Here you are.');
    };
    await page.goto(`${gateway.url}/#token=${encodeURIComponent(gateway.token)}`);
    await page.getByText('What shall we do?').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.transcript').getByText('Here you are.').waitFor();
    await page.locator('.usage').waitFor();
    const shown = await page.locator('.transcript').textContent();
    expect(shown).not.toContain('the first one');
    expect(shown).toMatch(
      /openai\/gpt-5\.2 answers in place of anthropic\/claude-sonnet-4-5 \(rate limit\).*the second one.*Here you are\./s,
    );
    if (process.env['SHOT']) await page.screenshot({ path: process.env['SHOT'] });
    await page.close();
  });
});
