import { expect, test } from 'vitest';
import { chromiumProblem, launchChromium } from '../support/chromium.ts';

const problem = await chromiumProblem();

test.skipIf(problem)('a headless Chromium renders a page and takes a picture of it', async () => {
  await using browser = await launchChromium();
  const page = await browser.newPage();
  await page.goto('data:text/html,<h1>Instar</h1><button onclick="this.textContent=`pressed`">press</button>');
  await page.getByRole('button').click();
  expect(await page.locator('body').ariaSnapshot()).toContain('button "pressed"');
  const picture = await page.screenshot();
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
});
