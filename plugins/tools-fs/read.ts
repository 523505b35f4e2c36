import { readdir } from 'node:fs/promises';
import { defineTool, text, type Tool, type ToolCall, type ToolResult } from '../../kernel/index.ts';
import { Turn } from '../turns/contract.ts';
import type { Opened } from './contract.ts';
import { readLines } from './line-window.ts';
import { openUnder } from './path-guard.ts';
import { fenceOf } from './workspace.ts';

const caps = { lines: 2000, bytes: 50_000, imageBytes: 5_000_000, entries: 500 };

export const read: Tool = defineTool({
  name: 'read',
  description: 'Read a file of the workspace (text or image), or list a folder.',
  section: 'Files',
  parallel: true,
  parameters: {
    type: 'object',
    required: ['path'],
    additionalProperties: false,
    properties: {
      path: { type: 'string', minLength: 1, description: 'Relative to the workspace' },
      offset: { type: 'integer', minimum: 1, description: 'First line, from 1' },
      limit: { type: 'integer', minimum: 1, description: 'Number of lines' },
    },
  },
  async execute({ path, offset = 1, limit = caps.lines }, call) {
    await using opened = await openUnder(await fenceOf(call), path);
    if (opened.kind === 'folder') return await listing(opened);
    const head = await headOf(opened);
    const mimeType = imageType(head);
    if (mimeType) return await image(opened, mimeType, call);
    if (head.includes(0)) return text(`[${opened.name} is a binary file of ${opened.stats.size} bytes; its text cannot be shown]`);
    return await lines(opened, offset, Math.min(limit, caps.lines), call.signal);
  },
});

async function listing(folder: Opened): Promise<ToolResult> {
  const entries = await readdir(folder.at('.'), { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const more = names.length - caps.entries;
  const shown = names.slice(0, caps.entries).join('\n') || '[the folder is empty]';
  return text(more > 0 ? `${shown}\n[${more} more entries are not shown; list a subfolder or use exec]` : shown);
}

async function headOf({ handle }: Opened): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
  return buffer.subarray(0, bytesRead);
}

/** By content, not by name: what a provider is told must be true. */
function imageType(head: Buffer): string | undefined {
  const starts = (hex: string) => head.subarray(0, hex.length / 2).toString('hex') === hex;
  if (starts('89504e470d0a1a0a')) return 'image/png';
  if (starts('ffd8ff')) return 'image/jpeg';
  if (starts('474946383761') || starts('474946383961')) return 'image/gif';
  return starts('52494646') && head.subarray(8, 12).toString('latin1') === 'WEBP' ? 'image/webp' : undefined;
}

async function image({ handle, name, stats }: Opened, mimeType: string, call: ToolCall): Promise<ToolResult> {
  const facts = `${name}: ${mimeType}, ${stats.size} bytes`;
  if (!call.run.get(Turn).model.input.includes('image')) return text(`[${facts}; the model in use takes no images]`);
  if (stats.size > caps.imageBytes) return text(`[${facts}; over the limit of ${caps.imageBytes}: make it smaller first]`);
  const data = (await handle.readFile()).toString('base64');
  return {
    content: [
      { type: 'text', text: facts },
      { type: 'image', data, mimeType },
    ],
  };
}

async function lines({ handle, name, stats }: Opened, offset: number, limit: number, signal: AbortSignal): Promise<ToolResult> {
  const shown = await readLines(handle, { offset, lines: limit, bytes: caps.bytes }, signal);
  if (stats.size === 0) return text(`[${name} is empty]`);
  if (shown.text === '' && !shown.more) {
    return { ...text(`[${name} has ${shown.next - 1} lines; line ${offset} is past its end]`), isError: true };
  }
  const marks = [
    ...(shown.cut ? [`line ${offset} is longer than ${caps.bytes} bytes and was cut`] : []),
    ...(shown.more ? [`lines ${offset}-${shown.next - 1} of a file of ${stats.size} bytes; more with offset ${shown.next}`] : []),
  ];
  return text(marks.length > 0 ? `${shown.text.replace(/\n$/, '')}\n[${marks.join('; ')}]` : shown.text);
}
