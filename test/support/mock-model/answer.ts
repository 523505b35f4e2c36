import { directiveIn, type Directive } from './directive.ts';

/** What every protocol's request comes down to. */
export interface Asked {
  /** User texts of the current turn: those after the last answer that called no tool. */
  readonly texts: readonly string[];
  /** Tool results since then. */
  readonly results: number;
  readonly lastResult: string;
  readonly offered: readonly string[];
  readonly system: string;
  readonly messages: number;
  readonly images: number;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  /** JSON text, broken on purpose where that was asked for. */
  readonly args: string;
}

export interface Answer {
  readonly deltas: readonly string[];
  readonly thinking?: string;
  readonly calls: readonly Call[];
  /** Ends the connection after this part of the reply. */
  readonly cut?: 'text' | 'arguments';
  readonly status?: number;
  readonly overflow?: boolean;
  readonly delayMs?: number;
  readonly everyMs?: number;
  readonly isHeld?: boolean;
  readonly usage?: readonly [input: number, output: number, cached: number];
}

/** Decides answers; remembers only how often each fault was given and how many calls there were. */
export function answerer() {
  const given = new Map<string, number>();
  let calls = 0;

  const fails = (directive: { readonly times: number }, text: string): boolean => {
    const before = given.get(text) ?? 0;
    given.set(text, before + 1);
    return before < directive.times;
  };
  const callOf = (name: string, args: string): Call => ({ id: `call_${(++calls).toString(36).padStart(8, '0')}`, name, args });

  function answer(asked: Asked): Answer {
    const text = asked.texts.findLast((candidate) => candidate.trim()) ?? '';
    const directive = directiveIn(text);
    if (!directive) return say(echo(asked));
    if ('count' in directive) return callTools(directive, asked);
    switch (directive.kind) {
      case 'badargs':
        if (asked.results > 0) return say(done(asked));
        return { deltas: [], calls: [callOf(directive.value, '{"path": "a.txt", "content": "half')] };
      case 'cut-in-args':
        if (!fails(directive, text)) return say('recovered');
        return { deltas: [], calls: [callOf(directive.value, '{"path": "a.txt"}')], cut: 'arguments' };
      case 'status':
        return fails(directive, text) ? { ...say(''), status: Number(directive.value) } : say('recovered');
      case 'overflow':
        return fails(directive, text) ? { ...say(''), status: 400, overflow: true } : say('recovered');
      case 'drop':
        return fails(directive, text) ? { ...say('this reply '), cut: 'text' } : say('recovered');
      case 'reply':
        return say(directive.value);
      case 'think':
        return { ...say('thought'), thinking: directive.value };
      case 'usage':
        return { ...say('counted'), usage: directive.value.split(',').map(Number) as [number, number, number] };
      case 'slow':
        return { ...say(echo(asked)), delayMs: Number(directive.value) };
      case 'hold':
        return { ...say(echo(asked)), isHeld: true };
      // chunks
      default:
        return { ...inDeltas(Number(directive.value), marksOf(asked)), everyMs: directive.everyMs, delayMs: directive.firstMs };
    }
  }

  function callTools(directive: Extract<Directive, { readonly count: number }>, asked: Asked): Answer {
    if (asked.results >= directive.count) return say(done(asked));
    if (!asked.offered.includes(directive.name)) {
      return say(`tool ${directive.name} not offered; offered: ${asked.offered.join(',')}`);
    }
    const first = directive.kind === 'par' ? 0 : asked.results;
    const args = JSON.stringify(directive.args);
    // `$i` in a string stands for the call's number.
    const numbered = (_: unknown, index: number) => callOf(directive.name, args.replaceAll('$i', String(first + index)));
    return { deltas: [], calls: Array.from({ length: directive.kind === 'par' ? directive.count : 1 }, numbered) };
  }

  return { answer, forget: () => given.clear() };
}

const say = (text: string): Answer => ({ deltas: [text], calls: [] });

const done = (asked: Asked) => `done: ${asked.results} tool result(s)`;

function inDeltas(count: number, marks: readonly string[]): Answer {
  const tokens = Array.from({ length: count }, (_, index) => `tok${index} `);
  return { deltas: [...marks.map((mark) => `${mark} `), ...tokens], calls: [] };
}

const marksOf = ({ texts }: Asked): readonly string[] => [...new Set(texts.join('\n').match(/MARK-\w+/g))];

/** The first line of what was said last, and every `MARK-…` of the turn. */
function echo(asked: Asked): string {
  const line = (asked.texts.findLast((text) => text.trim()) ?? '').trim().split('\n', 1)[0] ?? '';
  return ['echo:', ...marksOf(asked), line.slice(-120)].join(' ');
}
