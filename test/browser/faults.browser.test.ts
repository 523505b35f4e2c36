import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../plugins/faults/contract.ts';
import { chromiumProblem, launchChromium } from '../support/chromium.ts';
import { fakeGateway } from './fake-gateway.ts';

const problem = await chromiumProblem();

describe.skipIf(problem)('faults on the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('a fault is told at once, counted in place, and there for a page opened later', async () => {
    await using gateway = await fakeGateway();
    gateway.status = statusOf(2);
    const { page, faults } = await open(browser, `${gateway.url}/#token=${encodeURIComponent(gateway.token)}`);
    gateway.publish('plugin_fault', { ...thrown });
    await page.getByRole('alert').getByText('Plugin "clock" has a fault').waitFor();
    await page.getByRole('link', { name: 'Plugins' }).getByText('1', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Plugins' }).click();
    const section = page.getByRole('region', { name: 'Faults' });
    gateway.faults = [thrown];
    gateway.publish('plugin_fault', { ...thrown, count: 1234 });
    await section.getByText('1,234 times').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1); // a repeat is no news
    expect(await page.locator('summary').filter({ hasText: 'clock' }).innerText()).toContain('1 fault');

    gateway.faults = [{ ...thrown, count: 1234 }, leaked, gone];
    const { page: later, faults: more } = await open(browser, `${gateway.url}/#token=${encodeURIComponent(gateway.token)}`);
    await later.getByRole('link', { name: 'Plugins' }).click();
    const shown = later.getByRole('region', { name: 'Faults' });
    await shown.getByText('Threw and nothing caught it: <b>boom</b>').first().waitFor();
    expect(await shown.locator('.fault-card').first().innerText()).toMatch(
      /^clock\s+Threw.*\s+\/home\/a\/plugins\/clock\/index\.ts:5\s+UNCAUGHT_EXCEPTION · 1,234 times · last just now · generation 2/,
    );
    await shown.getByText('Earlier: 2 faults').click();
    await shown.getByText('Left a timer behind').waitFor(); // of code that was replaced in generation 2
    expect([...faults, ...more]).toEqual([]);
  });

  test('with the plugin that keeps faults switched off the view is as it was', async () => {
    await using gateway = await fakeGateway();
    gateway.status = statusOf(2);
    gateway.faults = undefined;
    const { page } = await open(browser, `${gateway.url}/#token=${encodeURIComponent(gateway.token)}`);
    await page.getByRole('link', { name: 'Plugins' }).click();
    await page.getByRole('heading', { name: 'Generation 2' }).waitFor();
    expect(await page.locator('.faults').innerText()).toBe('');
  });

  test.each(['light', 'dark'] as const)('a long path stays within a narrow window, and is read well in %s', async (colorScheme) => {
    await using gateway = await fakeGateway();
    gateway.status = statusOf(2);
    gateway.faults = [{ ...thrown, place: `/home/${'deep'.repeat(40)}/index.ts:5`, message: `threw ${'x'.repeat(200)}` }, leaked];
    const { page } = await open(browser, `${gateway.url}/#token=${encodeURIComponent(gateway.token)}`, 340, colorScheme);
    await page.evaluate(`location.hash = '#plugins'`);
    await page.locator('.fault-card').first().waitFor();
    await page.getByText('Earlier: 1 fault').click();
    expect(
      await page.evaluate(`document.querySelector('.plugins-view').scrollWidth > document.querySelector('.plugins-view').clientWidth`),
    ).toBe(false);
    const selectors = ['.fault-place', '.fault-about code', '.past .fault-about', '.earlier > summary', '.tag.wrong'];
    const low = [];
    for (const selector of selectors) if ((await page.evaluate<number>(contrastOf(selector))) < 4.5) low.push(selector);
    expect(low).toEqual([]);
  });
});

async function open(
  browser: Browser,
  url: string,
  width = 1280,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.setDefaultTimeout(10_000);
  await page.goto(url);
  await page.getByText('What shall we do?').waitFor();
  return { page, faults };
}

const now = Date.now();
const thrown: Fault = {
  id: 'f1',
  plugin: 'clock',
  code: 'UNCAUGHT_EXCEPTION',
  message: 'threw and nothing caught it: <b>boom</b>',
  place: '/home/a/plugins/clock/index.ts:5',
  generation: 2,
  count: 1,
  first: now,
  last: now,
};
const leaked: Fault = { ...thrown, id: 'f2', code: 'PLUGIN_LEAK', message: 'left a timer behind; end it', generation: 1, first: now - 9 };
const gone: Fault = { ...thrown, id: 'f3', plugin: 'gone' };

const statusOf = (since: number) => {
  const instance = {
    description: 'Ticks',
    instance: 7,
    source: '/x',
    required: false,
    needs: [],
    provides: [],
    leases: [],
    setupMs: 3,
    hooks: [],
  };
  return {
    inspection: { generation: 2, runs: 0, retiring: [], leases: [], leftOut: [], instances: [{ ...instance, plugin: 'clock', since }] },
    report: [],
    active: [],
  };
};

/** Runs in the page: how much an element's text stands out from what is behind it. */
const contrastOf = (selector: string) => `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const light = (layers) => {
    for (const color of ['#fff', ...layers]) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)]
      .map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  };
  const element = document.querySelector(${JSON.stringify(selector)});
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
  const [a, b] = [light(layers), light([...layers, getComputedStyle(element).color])];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
})()`;
