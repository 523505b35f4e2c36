import type { Content, ToolResult } from '../../kernel/index.ts';
import { untrustedContent } from '../prompt/contract.ts';
import type { RawResult } from './protocol.ts';

const caps = { chars: 50_000, parts: 200, images: 4, imageBytes: 5_000_000 };

/** What a server answered, as a tool's result: between marks, capped visibly; what a model cannot take is named. */
export function resultOf(server: string, { content, structuredContent, isError }: RawResult, takesImages: boolean): ToolResult {
  const parts = content.length === 0 && structuredContent ? [{ type: 'text', text: JSON.stringify(structuredContent) } as const] : content;
  const limits = { chars: caps.chars, images: takesImages ? caps.images : 0 };
  const shown = parts.slice(0, caps.parts).flatMap((part) => contentOf(part, limits, takesImages));
  const marked = untrustedContent(`MCP server ${server}`, shown);
  const cut = [
    ...(limits.chars < 0 ? [`${-limits.chars} more characters`] : []),
    ...(parts.length > caps.parts ? [`${parts.length - caps.parts} more parts`] : []),
  ];
  const said = cut.length > 0 ? [...marked, note(`[cut: ${cut.join(' and ')}; ask for less at once]`)] : marked;
  return {
    content: said.length > 0 ? said : [note('[no content]')],
    // Below a key of its own: what a result's details say (sent, mediaUrls) is believed, and a server is not.
    ...(structuredContent && JSON.stringify(structuredContent).length <= caps.chars && { details: { structuredContent } }),
    ...(isError && { isError: true }),
  };
}

type Part = RawResult['content'][number];
type Limits = { chars: number; images: number };

function contentOf(part: Part, limits: Limits, takesImages: boolean): readonly Content[] {
  switch (part.type) {
    case 'text':
      return words(part.text, limits);
    case 'image':
      return picture(part, limits, takesImages);
    case 'audio':
      return words(`[audio, ${typeOf(part.mimeType)}, ${bytesOf(part.data)} bytes: it cannot be shown]`, limits);
    case 'resource_link':
      return words(`[${part.name}: ${part.uri}${part.description ? `, ${part.description}` : ''}]`, limits);
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return words(`[${resource.uri}]\n${resource.text}`, limits);
      const type = typeOf(resource.mimeType);
      if (type.startsWith('image/')) return picture({ data: resource.blob, mimeType: type }, limits, takesImages);
      return words(`[${resource.uri}: ${type}, ${bytesOf(resource.blob)} bytes: it cannot be shown]`, limits);
    }
    default:
      return words('[content of an unknown kind]', limits);
  }
}

/** The one way of a server's words into a result. `limits.chars` goes below zero by what was left out. */
function words(said: string, limits: Limits): readonly Content[] {
  const room = Math.max(limits.chars, 0);
  limits.chars -= said.length;
  return room > 0 || said === '' ? [note(said.slice(0, room).toWellFormed())] : [];
}

function picture(
  { data, mimeType }: { readonly data: string; readonly mimeType: string },
  limits: Limits,
  takesImages: boolean,
): readonly Content[] {
  const size = bytesOf(data);
  const without = (why: string) => words(`[${typeOf(mimeType)}, ${size} bytes; ${why}]`, limits);
  if (!takesImages) return without('the model in use takes no images');
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) return without('models take png, jpeg, gif and webp');
  if (size > caps.imageBytes) return without(`over the limit of ${caps.imageBytes}`);
  if (limits.images-- <= 0) return without(`more than ${caps.images} images in one result`);
  return [{ type: 'image', data, mimeType }];
}

/** A type is two short words; what is none is not repeated. */
const typeOf = (type = '') => (/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : 'unknown type');
const bytesOf = (base64: string) => Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
const note = (text: string): Content => ({ type: 'text', text });
