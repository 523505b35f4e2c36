/** How new text is to look. */
export interface Style {
  readonly quote: '"' | "'";
  readonly quotesKeys: boolean;
  /** Between a key and its value. */
  readonly colon: string;
  /** One level of indentation. */
  readonly indent: string;
  readonly newline: string;
  /** A value that fits into this many characters stays on one line. */
  readonly width: number;
  /** Whether a list or an object over lines ends with a comma. */
  readonly trailingComma: boolean;
}

/** A JSON value as JSON5 text. `margin` is the indentation of the line on which it begins. */
export function render(value: unknown, style: Style, margin = ''): string {
  const inline = renderInline(value, style);
  if (typeof value !== 'object' || value === null || inline.length + margin.length <= style.width) return inline;
  const inner = margin + style.indent;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => render(item, style, inner))
    : Object.entries(value).map(([key, item]) => renderKey(key, style) + style.colon + render(item, style, inner));
  const body = parts.map((part) => inner + part).join(`,${style.newline}`) + (style.trailingComma ? ',' : '');
  return `${isList ? '[' : '{'}${style.newline}${body}${style.newline}${margin}${isList ? ']' : '}'}`;
}

function renderInline(value: unknown, style: Style): string {
  if (typeof value === 'string') return renderString(value, style.quote);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => renderInline(item, style)).join(', ')}]`;
  const parts = Object.entries(value).map(([key, item]) => renderKey(key, style) + style.colon + renderInline(item, style));
  return parts.length ? `{ ${parts.join(', ')} }` : '{}';
}

export const renderKey = (key: string, { quote, quotesKeys }: Style) =>
  !quotesKeys && /^[A-Za-z_$][\w$]*$/.test(key) ? key : renderString(key, quote);

/** Escaped as JSON does it, within this quote. */
export function renderString(text: string, quote: '"' | "'"): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  if (quote === '"') return `"${escaped}"`;
  return `'${escaped.replace(/\\.|'/g, (found) => (found === '\\"' ? '"' : found === "'" ? "\\'" : found))}'`;
}
