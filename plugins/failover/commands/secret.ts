import { misused } from '../../cli/contract.ts';

/** From standard input; from a terminal without echo. `isJson`: it is a JSON object. */
export async function readSecret(question: string, isJson: boolean): Promise<unknown> {
  const text = (process.stdin.isTTY ? await typed(question) : await piped()).trim();
  if (!text) throw misused('nothing was given; type it, or pipe it in');
  if (!isJson) return text;
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote what is secret.
    throw misused('this is no JSON; give {"access": "…", "refresh": "…", "expires": milliseconds}');
  }
}

async function piped(): Promise<string> {
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8')) text += String(piece);
  return text;
}

function typed(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true).setEncoding('utf8').resume();
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (settle: () => void) => {
      stdin.off('data', take).setRawMode(false).pause();
      stderr.write('\n');
      settle();
    };
    const take = (piece: string) => {
      for (const char of piece) {
        if (char === '\r' || char === '\n' || char === '\u0004') return end(() => resolve(text));
        if (char === '\u0003') return end(() => reject(misused('stopped')));
        text = char === '\u007f' ? text.slice(0, -1) : text + char;
      }
    };
    stdin.on('data', take);
  });
}
