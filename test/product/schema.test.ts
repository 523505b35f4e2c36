import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { configSchema, schemaFile } from '../../schemas/generate.ts';

test('SPEC 1.7: the published schema is what the plugins declare (else: npm run schema)', async () => {
  expect(await readFile(schemaFile, 'utf8')).toBe(await configSchema());
});
