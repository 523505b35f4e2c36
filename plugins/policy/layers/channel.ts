import type { Layer } from '../rules.ts';

/** What a channel cannot show or play. */
const lost: Readonly<Record<string, readonly string[]>> = { voice: ['tts'] };
/** All that a channel may use. */
const kept: Readonly<Record<string, readonly string[]>> = { node: ['canvas', 'image', 'pdf', 'tts', 'web_fetch', 'web_search'] };

const listOf = (table: typeof lost, channel: string) => (Object.hasOwn(table, channel) ? table[channel] : undefined);

/** SPEC 3.1. */
export const channel: Layer = {
  id: 'channel',
  stage: 10,
  judge({ name }, { subject }) {
    const from = subject.channel?.trim().toLowerCase() ?? '';
    const rule = `channel ${from}`;
    if (listOf(lost, from)?.includes(name)) return { layer: 'channel', why: `channel "${from}" has no use for it`, rule };
    const only = listOf(kept, from);
    if (!only || only.includes(name)) return undefined;
    return { layer: 'channel', why: `channel "${from}" has only ${only.join(', ')}`, rule };
  },
};
