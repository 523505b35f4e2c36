import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../plugins/gateway/contract.ts';
import { bundled } from '../support/bundled.ts';
import { chromiumProblem, launchChromium } from '../support/chromium.ts';
import { bootTest, type TestKernel } from '../support/kernel.ts';

const problem = await chromiumProblem();
const config = {
  gateway: { auth: { token: 'test-token' } },
  tools: { deny: ['write', 'exce'], sandbox: { tools: { deny: ['read'] } } },
  agents: { list: [{ id: 'main' }, { id: 'helper', name: 'Helper', tools: { allow: ['read', 'exec'] } }] },
};

describe.skipIf(problem)('policy on the page', () => {
  let browser: Browser;
  let booted: TestKernel;
  const plugins = bundled();
  beforeAll(async () => {
    [browser, booted] = await Promise.all([launchChromium(), bootTest(await plugins, config)]);
  });
  afterAll(() => Promise.all([browser?.close(), booted?.[Symbol.asyncDispose]()]));

  test('SPEC 3.6: the page shows what is offered to whom, and which rule took the rest', async () => {
    await using scene = await open();
    const { page, view, row } = scene;
    await row('write').getByText('tools.deny names "write"').waitFor();
    expect(await row('write').innerText()).toMatch(/write\s+Config\s+tools\.deny names "write"\s+tools\.deny\[0\]/);
    expect(await row('read').innerText()).toContain('Offered');
    await view.getByText('did you mean "exec"?').waitFor();
    await view.locator('#policy-agent').selectOption('helper');
    await row('edit').getByText('not on the list agents.list[1].tools.allow').waitFor();
    await view.getByLabel('Sandboxed').check();
    await row('read').getByText('Sandbox and sub-agents').waitFor();
    await view.getByLabel('Channel').fill('node');
    await page.keyboard.press('Tab');
    await row('read').getByText('channel "node" has only').waitFor();
    await view.getByText(/more are known, but not here/).click();
    await view.getByText('browser', { exact: true }).waitFor();
    expect(scene.faults).toEqual([]);
  });

  test('a config that goes live is shown without a refresh', async () => {
    await using scene = await open();
    await scene.row('write').getByText('Config').waitFor();
    await scene.apply({ ...config, tools: { deny: ['edit'] } });
    await scene.row('edit').getByText('tools.deny names "edit"').waitFor();
    expect(await scene.row('write').innerText()).toContain('Offered');
    await scene.apply(config);
  });

  test('nothing runs out of the window, wide or narrow, light or dark', async () => {
    await using scene = await open();
    const { page, view, row } = scene;
    await row('write').waitFor();
    for (const [width, pixels] of Object.entries({ wide: 1200, narrow: 340 })) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width: pixels, height: 900 });
        await page.emulateMedia({ colorScheme });
        const folder = process.env['INSTAR_SCREENSHOTS'];
        if (folder) await page.screenshot({ path: `${folder}/policy-${width}-${colorScheme}.png` });
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        expect(
          await view.evaluate('document.getElementById("policy-view").scrollWidth - document.getElementById("policy-view").clientWidth'),
        ).toBeLessThanOrEqual(0);
      }
    }
  });

  async function open() {
    const { url } = await booted.kernel.run((run) => run.get(Gateway));
    const context = await browser.newContext();
    const page = await context.newPage();
    const faults: unknown[] = [];
    page.on('pageerror', (error) => faults.push(error));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`${url}/#token=test-token`);
    await page.getByText('What shall we do?').waitFor();
    await page.evaluate(`location.hash = '#policy'`);
    return {
      page,
      faults,
      view: page.locator('#policy-view'),
      row: (tool: string) => page.getByRole('row').filter({ has: page.getByText(tool, { exact: true }) }),
      apply: async (values: object) => booted.apply(await plugins, { ...values }),
      [Symbol.asyncDispose]: () => context.close(),
    };
  }
});
