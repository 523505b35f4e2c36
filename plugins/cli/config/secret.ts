import { hash, randomBytes } from 'node:crypto';
import { isSecretName } from '../../../kernel/index.ts';
import { parseDocument, type Node } from './document.ts';
import { applySplices, type Splice, valueOf } from './splice.ts';

const isReference = (value: string) => /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(value);

const hidden = '[hidden]';

/** A value as it may be shown: strings below a secret name are hidden, references are none. */
export function withoutSecrets(value: unknown, within = false): unknown {
  if (typeof value === 'string') return within && value && !isReference(value) ? hidden : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, within));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner, within || isSecretName(key))]));
}

const salt = randomBytes(16).toString('hex');

/** The text likewise; that two secrets differ still shows. Undefined where it cannot be read, so that nobody knows what is secret. */
export function textWithoutSecrets(text: string): string | undefined {
  try {
    const document = { text, root: parseDocument(text) };
    const splices = secretsIn(document.root, false).flatMap((node): Splice[] => {
      const value = valueOf(document, node);
      if (typeof value !== 'string' || value === '' || isReference(value)) return [];
      const quote = text[node.start] ?? '"';
      return [{ start: node.start, end: node.end, text: `${quote}[hidden ${hash('sha256', salt + value).slice(0, 4)}]${quote}` }];
    });
    return applySplices(text, splices);
  } catch {
    return undefined;
  }
}

function secretsIn(node: Node, within: boolean): readonly Node[] {
  if (node.kind === 'leaf') return within ? [node] : [];
  return node.parts.flatMap(({ key, value }) => secretsIn(value, within || (node.kind === 'object' && isSecretName(key))));
}
