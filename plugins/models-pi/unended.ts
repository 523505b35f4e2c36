import type { AssistantMessageEvent } from '@earendil-works/pi-ai';

/** The arguments of a call as far as they came, by its place; undefined where they came to an end. */
export type Unended = (place: number) => string | undefined;

/** pi reads the arguments of a call that was cut as far as it can, as if they were whole: its stream tells which came to an end. */
export function callsHeard() {
  const came = new Map<number, string>();
  const ended = new Set<number>();
  const unended: Unended = (place) => {
    const text = came.get(place) ?? '';
    return ended.has(place) || isObject(text) ? undefined : text;
  };
  return {
    hear(event: AssistantMessageEvent) {
      if (event.type === 'toolcall_end') ended.add(event.contentIndex);
      if (event.type === 'toolcall_delta') came.set(event.contentIndex, (came.get(event.contentIndex) ?? '') + event.delta);
    },
    unended,
  };
}

function isObject(text: string): boolean {
  try {
    return text.trimStart().startsWith('{') && typeof JSON.parse(text) === 'object';
  } catch {
    return false; // cut
  }
}
