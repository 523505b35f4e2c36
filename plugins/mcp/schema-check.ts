import { createRequire } from 'node:module';
import type { JsonSchema } from '../../kernel/index.ts';

const require = createRequire(import.meta.url);

/** Whether arguments can be checked against it, as the kernel will. */
export function compiles(schema: JsonSchema): boolean {
  try {
    const { Ajv } = require('ajv') as typeof import('ajv');
    new Ajv({ strict: false, logger: false, meta: false, validateSchema: false }).compile(schema);
    return true;
  } catch {
    return false; // which is the answer
  }
}
