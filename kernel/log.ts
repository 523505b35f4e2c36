export type Level = 'debug' | 'info' | 'warn' | 'error';
export type Facts = { readonly [fact: string]: unknown };
export type LogRecord = Facts & { readonly level: Level; readonly message: string; readonly plugin?: string };
/** Where records go. Must not throw. */
export type LogSink = (record: LogRecord) => void;
export type Log = { readonly [L in Level]: (message: string, facts?: Facts) => void };

export function logOf(sink: LogSink, plugin?: string): Log {
  const at = (level: Level) => (message: string, facts?: Facts) => sink({ ...facts, level, message, ...(plugin && { plugin }) });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
