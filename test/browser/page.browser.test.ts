import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumProblem, launchChromium } from '../support/chromium.ts';
import type { FakeTurn } from './fake-gateway.ts';
import { growMarkdown } from './growing-markdown.ts';
import { lowContrasts, overflows } from './looks.ts';
import { pluginStatus } from './plugin-status.ts';
import { openScene, type Scene } from './scene.ts';

const problem = await chromiumProblem();

describe.skipIf(problem)('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('takes the token out of the address bar, and keeps it', async () => {
    await using scene = await openScene(browser);
    expect(scene.page.url()).not.toContain('token');
    await scene.page.goto(scene.gateway.url);
    await scene.page.getByText('What shall we do?').waitFor();
    await scene.page.goto(`${scene.gateway.url}/#token=another`); // in the page that is open
    await scene.page.getByText('This token was not accepted.').waitFor();
    expect(scene.page.url()).not.toContain('token');
  });

  test('asks for the token where there is none or a wrong one, and takes a pasted address', async () => {
    await using scene = await openScene(browser, { token: 'wrong' });
    const { page, gateway } = scene;
    await page.getByText('This token was not accepted.').waitFor();
    await page.getByLabel('Access token').last().fill(`${gateway.url}/#token=${gateway.token}`);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('What shall we do?').waitFor();
  });

  test('streams an answer, folds thinking and tool calls, and shows what the turn used (SPEC 6.1)', async () => {
    await using scene = await openScene(browser);
    const { page } = scene;
    const { promise: more, resolve: goOn } = Promise.withResolvers<void>();
    scene.gateway.answer = async (turn) => {
      turn.think('Two files, I think.');
      await turn.tool('exec', { command: 'ls docs' }, 'a.md\nb.md');
      turn.say('There are **two');
      await more;
      turn.say(' files**:\n\n```js\nconst n = 2;\n```\n');
    };
    await scene.send('list the files');
    await scene.said('There are two').waitFor();
    expect(await page.locator('.md strong').textContent()).toBe('two');
    goOn();
    await page.locator('.usage').waitFor();
    expect(await page.locator('.usage').textContent()).toBe('demo/echo1.8k in212 outcache 1.5k / 0$0.01133.4 s');
    expect(await page.locator('.md strong').textContent()).toBe('two files');
    await page.locator('.hljs-keyword').waitFor();
    expect(await page.locator('.tool summary').textContent()).toBe('execls docs42 ms');
    expect(await page.getByText('b.md').isVisible()).toBe(false);
    await page.locator('.tool summary').click();
    expect(await page.locator('.tool .code pre').textContent()).toBe('a.md\nb.md');
    await page.getByText('Thought').click();
    await page.getByText('Two files, I think.').waitFor();
  });

  test('Stop and Escape end the turn', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.answer = (turn) => {
      turn.say('On and on');
      return new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve()));
    };
    await scene.send('go');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    await scene.send('again');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByText('Stopped.').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false);
    expect(gateway.stops).toHaveLength(2);
  });

  for (const [how, cut] of [
    ['a refresh', ({ page }: Scene) => page.reload()],
    [
      'a replay of what is stored',
      ({ page, gateway }: Scene) => {
        gateway.replaysWholeTurn = true;
        return page.reload();
      },
    ],
    ['a dropped socket', ({ gateway }: Scene) => gateway.dropSockets()],
  ] as const) {
    test(`${how} in mid-stream loses nothing and doubles nothing`, async () => {
      await using scene = await openScene(browser);
      const { page, gateway } = scene;
      const turn = await heldTurn(scene, 'one two ');
      await scene.said('one two').waitFor();
      await page.getByLabel('Message', { exact: true }).fill('not sent yet');
      gateway.hold(how === 'a dropped socket');
      await cut(scene);
      turn.say('three ');
      if (how === 'a dropped socket') await page.getByText('Trying again').waitFor();
      turn.say('four');
      gateway.hold(false);
      await scene.said('one two three four').waitFor();
      turn.say(' five');
      turn.finish();
      await page.locator('.usage').waitFor();
      expect(await page.locator('.transcript').innerText()).toMatch(
        /^You:\s+go\s+first\s+exec\s+date\s+(?:done|42 ms)\s+one two three four five\s+demo/,
      );
      expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('not sent yet');
      expect(await page.getByRole('status').first().isVisible()).toBe(false);
    });
  }

  test('Markdown that grows letter by letter ends as if it had come at once, and leaves standing what was drawn', async () => {
    await using scene = await openScene(browser);
    expect(await scene.page.evaluate(growMarkdown)).toEqual({ differing: [], isFirstBlockKept: true });
  });

  test('a message whose receipt was lost is sent again, and answered once', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.losesNextReceipt = true;
    await scene.send('only once');
    await scene.said('You said: only once').waitFor();
    await page.locator('.usage').waitFor();
    expect(gateway.sent).toEqual(['only once']);
    expect(await page.locator('.bubble p').allInnerTexts()).toEqual(['only once']);
  });

  test('a message that is refused stays, with code and reason, until it is sent again', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.refusesSends = true;
    await scene.send('hello');
    await page.getByText('DISK_FULL').waitFor();
    await page.getByText('free some space').waitFor();
    await page.reload();
    await page.getByText('DISK_FULL').waitFor();
    gateway.refusesSends = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await scene.said('You said: hello').waitFor();
    expect(await page.locator('.bubble').count()).toBe(1);
  });

  test('a model that fails shows its code and what to do', async () => {
    await using scene = await openScene(browser);
    scene.gateway.answer = (turn) => turn.fail('MODEL_HTTP', 'the key was not accepted; set ANTHROPIC_API_KEY');
    await scene.send('hello');
    await scene.page.getByText('MODEL_HTTP').waitFor();
    await scene.page.reload();
    await scene.page.getByText('set ANTHROPIC_API_KEY').waitFor();
  });

  test('a question shows exactly what is asked, and its buttons answer it (SPEC 4.4)', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.answer = async (turn) => {
      for (const what of ['date', 'rm -rf build', 'echo \u202ex']) turn.say(`${await turn.ask({ what })} `);
    };
    await scene.send('run them');
    const asked = page.getByLabel('What is asked');
    await expect.poll(() => asked.textContent()).toBe('date');
    expect(await page.locator('.approval').innerText()).toMatch(/Agent\s+main\s+Folder\s+\/home\/ada\/notes/);
    expect(await page.locator('.countdown').textContent()).toMatch(/^(?:30|29) s$/);
    await page.getByRole('button', { name: 'Always' }).click();
    await expect.poll(() => asked.textContent()).toBe('rm -rf build');
    await page.reload(); // what waits is asked again
    await expect.poll(() => asked.textContent()).toBe('rm -rf build');
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => asked.textContent()).toBe('echo \\u{202e}x');
    await page.getByRole('button', { name: 'Allow once' }).click();
    await scene.said('always deny once').waitFor();
    expect(gateway.answers.map(({ answer }) => answer)).toEqual(['always', 'deny', 'once']);
  });

  test('a question with many reasons shows them all, and its buttons stay in sight on a small screen (SPEC 4.4)', async () => {
    await using scene = await openScene(browser, { viewport: { width: 390, height: 700 } });
    const { page, gateway } = scene;
    const reasons = Array.from({ length: 23 }, (_, i) => `part ${i + 1} is not on the allowlist`);
    gateway.answer = async (turn) => turn.say(await turn.ask({ what: 'a | b', reasons, always: ['/bin/a', '/bin/b'] }));
    await scene.send('run it');
    const card = page.locator('.approval');
    await card.waitFor();
    expect(await card.locator('dt').allTextContents()).toEqual(['Agent', 'Folder', 'Asker', 'Reasons', '“Always” adds']);
    expect(await card.locator('li').allTextContents()).toEqual([...reasons.slice(0, 20), 'and 3 more', '/bin/a', '/bin/b']);
    // Each at its own place, with nothing over it.
    const onTop = `[...document.querySelectorAll('.approval button')].map((button) => {
      const { x, y, width, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    })`;
    expect(await page.evaluate(onTop)).toEqual([true, true, true]);
    await card.getByRole('button', { name: 'Deny' }).click();
    await scene.said('deny').waitFor();
  });

  test('markup in answers, tool results and titles is inert', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    const attack = '<img src=x onerror="hit=1"><script>hit=1</script><svg onload="hit=1"></svg>';
    const links = '[a](javascript:hit=1) [b](JaVaScRiPt&#58;hit=1) ![pixel](https://evil.example/p.png) [c](https://ok.example)';
    const disguise = '<div class="approval"><button onclick="hit=1">Allow once</button></div>';
    gateway.seed({ key: 'agent:main:x', title: attack }, []);
    gateway.answer = async (turn) => {
      await turn.tool('read', { path: attack }, attack);
      turn.say(`${attack}\n\n${links}\n\n${disguise}\n\n\`\`\`html\n${attack}\n\`\`\`\n`);
    };
    await scene.send(attack);
    await page.locator('.usage').waitFor();
    await page.locator('.tool summary').click();
    await page.locator('.session a').first().waitFor();
    expect(await page.locator('.tool .code pre').textContent()).toBe(attack);
    expect(await page.locator('img, .md script, .md svg:not(.icon), .md .approval, .md button:not(.copy)').count()).toBe(0);
    expect(await page.locator('.md a[href]').evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]))).toEqual(
      [
        ['https://evil.example/p.png', 'noopener noreferrer'],
        ['https://ok.example', 'noopener noreferrer'],
      ],
    );
    expect(await page.evaluate('typeof hit')).toBe('undefined');
    expect(scene.requests.filter((url) => !url.startsWith(gateway.url))).toEqual([]);
  });

  test('the plugins view names what is live, what was left out and why; a swap is told at once', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.status = pluginStatus(7);
    await page.getByRole('link', { name: 'Plugins' }).click();
    await page.getByText('Generation 7').waitFor();
    await page.getByText('weather was left out').waitFor();
    await page.getByText('WEATHER_KEY is not set').waitFor();
    await page.getByText('Generation 5 is leaving: one run still uses it.').waitFor();
    await page.locator('summary').filter({ hasText: 'approvals' }).click();
    const facts = await page.locator('.instance[open]').innerText();
    for (const fact of ['policy.decide stage 10', 'approvals:pending', 'live since generation 4', 'Number 7']) {
      expect(facts).toContain(fact);
    }
    gateway.status = pluginStatus(8);
    gateway.publish('generation_swapped', {
      generation: 8,
      built: [{ plugin: 'approvals', why: 'code' }],
      removed: [],
      leftOut: [],
      ms: 12,
    });
    await page.getByText('rebuilt approvals (12 ms)').waitFor();
    await page.getByRole('heading', { name: 'Generation 8' }).waitFor();
    gateway.publish('generation_rejected', { generation: 8, error: 'plugin "policy" failed in setup' });
    await page.getByRole('alert').getByText('plugin "policy" failed in setup').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('secret');
  });

  test('chats are listed, opened and deleted; a new one may take another agent', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.agents = [{ id: 'main' }, { id: 'research', name: 'Research' }];
    gateway.seed({ key: 'agent:main:old', title: 'An old chat' }, [{ role: 'user', content: 'long ago', timestamp: 1 }]);
    await page.reload();
    await page.getByLabel('Agent').selectOption('Research');
    await scene.send('hello');
    await scene.said('You said: hello').waitFor();
    expect(page.url()).toContain('agent%3Aresearch%3A');
    await page.getByRole('link', { name: 'An old chat' }).click();
    await page.getByText('long ago').waitFor();
    expect(await scene.said('You said: hello').count()).toBe(0);
    await page.getByRole('link', { name: 'An old chat' }).hover();
    await page.getByRole('button', { name: 'Delete “An old chat”' }).click();
    await page.getByRole('group', { name: 'Delete this chat?' }).getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => page.locator('.session').count()).toBe(1);
    await page.getByText('What shall we do?').waitFor();
  });

  test('a narrow screen scrolls only downwards, and has the chats in a drawer', async () => {
    await using scene = await openScene(browser, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const { page, gateway } = scene;
    const wide = 'w'.repeat(300);
    gateway.answer = async (turn) => {
      await turn.tool('exec', { command: wide }, wide);
      turn.say(
        `${wide}\n\n|${' a |'.repeat(12)}\n|${'---|'.repeat(12)}\n|${` ${wide.slice(0, 20)} |`.repeat(12)}\n\n\`\`\`\n${wide}\n\`\`\`\n`,
      );
      await turn.ask({ what: wide });
    };
    await scene.send(wide);
    await page.locator('.tool summary').click();
    await page.getByText('Allow once').waitFor();
    expect(await overflows(page)).toEqual([]);
    await page.getByRole('button', { name: 'Allow once' }).click();
    gateway.status = pluginStatus(7);
    await page.getByRole('button', { name: 'Chats' }).click();
    await page.getByRole('link', { name: 'Plugins' }).click();
    await page.getByText('Generation 7').waitFor();
    expect(await page.locator('#drawer').evaluate((drawer) => (drawer as unknown as { inert: boolean }).inert)).toBe(true);
    expect(await overflows(page)).toEqual([]);
  });

  test('text has the contrast of WCAG AA, light and dark', async () => {
    await using scene = await openScene(browser);
    const { page, gateway } = scene;
    gateway.answer = async (turn) => {
      turn.think('hm');
      await turn.tool('read', { path: 'x' }, 'gone', { isError: true });
      turn.say('> quoted\n\n[link](https://a.example)\n\n```js\n// note\nconst a = "b" + 1;\nfoo();\n```\n');
      turn.fail('CODE', 'why');
    };
    await scene.send('hello');
    await page.locator('.hljs-keyword').waitFor();
    await page.getByText('CODE').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect(await page.evaluate(lowContrasts)).toEqual([]);
    }
  });
});

/** A turn that has said something after a tool call, and now waits for the test. */
async function heldTurn(scene: Scene, text: string): Promise<FakeTurn> {
  const { promise, resolve } = Promise.withResolvers<FakeTurn>();
  scene.gateway.answer = async (turn) => {
    turn.say('first');
    await turn.tool('exec', { command: 'date' }, 'Tuesday');
    turn.say(text);
    resolve(turn);
    await new Promise(() => {}); // the test ends it
  };
  await scene.send('go');
  return promise;
}
