import { Host, isCoded, messageOf, type Run, type Swap } from '../../../kernel/index.ts';
import { refusal } from '../../gateway/contract.ts';
import { readText } from './files.ts';

/** What the gateway's method `config.live` answers: the config that is live, text by text. */
export interface Live {
  /** Undefined where it was started without one. */
  readonly file: string | undefined;
  readonly generation: number;
  readonly texts: Readonly<Record<string, string>>;
}

/** `config.reload`: reads the config anew; a rejection answers with its code and a line per fault. */
export type Reloaded = Pick<Swap, 'generation' | 'leftOut'>;

/** The texts of the live generation; kept at the swap, since the files may be edited and rejected after it. */
export interface LiveTexts extends AsyncDisposable {
  take(files: readonly string[]): void;
  readonly texts: Readonly<Record<string, string>>;
}

export function openLiveTexts(): LiveTexts {
  let texts: Readonly<Record<string, string>> = {};
  return {
    get texts() {
      return texts;
    },
    take(files) {
      texts = Object.fromEntries(files.flatMap((file) => textOf(file)));
    },
    async [Symbol.asyncDispose]() {},
  };
}

function textOf(file: string): readonly [string, string][] {
  try {
    const text = readText(file);
    return text === undefined ? [] : [[file, text]];
  } catch {
    return []; // gone or torn since: the next swap reads it again
  }
}

export const liveMethod =
  (live: LiveTexts) =>
  (_params: unknown, _client: unknown, run: Run): Live => {
    const host = run.get(Host);
    return { file: host.configFile, generation: host.inspect().generation, texts: live.texts };
  };

export async function reloadMethod(_params: unknown, _client: unknown, run: Run): Promise<Reloaded> {
  try {
    const { generation, leftOut } = await run.get(Host).reload([]);
    return { generation, leftOut };
  } catch (error) {
    // A fault in what a person wrote: it is told as it is, and counts as no failure of ours.
    throw refusal(409, isCoded(error) ? error.code : 'RELOAD_FAILED', messageOf(error));
  }
}
