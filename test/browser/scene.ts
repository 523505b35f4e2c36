import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';

export interface Scene extends AsyncDisposable {
  readonly page: Page;
  readonly gateway: FakeGateway;
  /** Every address that the browser asked for. */
  readonly requests: readonly string[];
  send(text: string): Promise<void>;
  /** Where the transcript, not the announcer, says this. */
  said(text: string): Locator;
}

/** A page of its own before a gateway of its own. Ends with a look at what the console said. */
export async function openScene(browser: Browser, { token, ...options }: BrowserContextOptions & { token?: string } = {}): Promise<Scene> {
  const gateway = await fakeGateway();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.setDefaultTimeout(10_000);
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => faults.push(error.stack ?? error.message));
  page.on('console', (message) => /Security Policy|TrustedHTML/i.test(message.text()) && faults.push(message.text()));
  await page.goto(`${gateway.url}/#token=${encodeURIComponent(token ?? gateway.token)}`);
  if (!token) await page.getByText('What shall we do?').waitFor();
  return {
    page,
    gateway,
    requests,
    said: (text) => page.locator('.transcript').getByText(text),
    async send(text) {
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      await gateway[Symbol.asyncDispose]();
      expect(faults).toEqual([]);
    },
  };
}
