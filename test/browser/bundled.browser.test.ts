import { expect, test } from 'vitest';
import { Gateway } from '../../plugins/gateway/contract.ts';
import { bundled } from '../support/bundled.ts';
import { chromiumProblem, launchChromium } from '../support/chromium.ts';
import { bootTest } from '../support/kernel.ts';

const problem = await chromiumProblem();

test.skipIf(problem)('a stranger without a key asks on the page, allows a command, and finds the answer after a refresh', async () => {
  await using booted = await bootTest(await bundled(), { gateway: { auth: { token: 'test-token' } } });
  const { url } = await booted.kernel.run((run) => run.get(Gateway));
  await using browser = await launchChromium();
  const page = await browser.newPage();
  const faults: unknown[] = [];
  page.on('pageerror', (error) => faults.push(error));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(`${url}/#token=test-token`);
  await page.getByRole('textbox', { name: 'Message' }).fill('run `date`');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.usage').waitFor();
  const answer = await page.locator('.assistant .md').last().innerText();
  expect(answer).toMatch(/\d\d:\d\d/);
  await page.reload();
  await page.locator('.usage').waitFor();
  expect(await page.locator('.assistant .md').last().innerText()).toBe(answer);
  expect(await page.locator('.bubble').count()).toBe(1);
  await page.getByRole('link', { name: 'run `date`' }).waitFor();
  await page.getByRole('link', { name: 'Plugins' }).click();
  await page.getByRole('heading', { name: 'Generation 1' }).waitFor();
  expect(await page.locator('.instance').count()).toBeGreaterThan(15);
  expect(faults).toEqual([]);
});
