/** Writes the generated pages. `npm run docs`; a test finds drift. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPlugins } from '../plugins/testing/kit.ts';
import { configPage } from './generate/config-page.ts';
import { errorsPage } from './generate/errors-page.ts';
import { hooksPage } from './generate/hooks-page.ts';
import { checkout } from './generate/sources.ts';

/** By path from the checkout's root. */
export async function pages(root = checkout): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/config.md': configPage(root, await bundledPlugins()),
    'docs/errors.md': errorsPage(root),
    'docs/hooks.md': hooksPage(root),
  };
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(await pages())) {
    writeFileSync(join(checkout, file), text);
    console.log(`wrote ${file}`);
  }
}
