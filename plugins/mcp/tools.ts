import { type JsonSchema, text, type Tool, type ToolCall } from '../../kernel/index.ts';
import { neutral, shortened, untrustedLine } from '../prompt/contract.ts';
import { coalesced } from '../tools-exec/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Connection } from './connection.ts';
import type { CallOptions, RawTool } from './protocol.ts';
import { resultOf } from './result.ts';
import { compiles } from './schema-check.ts';
import { told } from './schema-words.ts';
import type { ServerSettings } from './settings.ts';
import { toolName } from './tool-name.ts';

/** A server with its settings, and the tools it has now. */
export interface Server {
  readonly name: string;
  readonly settings: ServerSettings;
  readonly connection: Connection;
}

export interface ServerTool {
  readonly tool: Tool;
  /** As the server names it. */
  readonly raw: string;
}

const maxDescription = 2000;
const maxProgress = 300;
const progressMs = 100;
/** Of the parameters of a tool, and of all that a server adds to every request of a model. */
const maxChars = { tool: 20_000, server: 200_000 };
/** Of a server as one generation has it; what a schema was found to be outlives that. */
const known = new WeakMap<Server, { readonly list: readonly RawTool[]; readonly offered: Offered }>();
const judged = new WeakMap<RawTool, Judged>();
type Judged = { readonly schema: JsonSchema } | { readonly why: string };

interface Unusable {
  readonly tool: string;
  readonly why: string;
}

export interface Offered {
  readonly tools: readonly ServerTool[];
  readonly unusable: readonly Unusable[];
}

/** The tools of a server as the registry takes them. Computed once for a list that the server gave. */
export function offeredOf(server: Server): Offered {
  const list = server.connection.tools;
  const made = known.get(server);
  if (made?.list === list) return made.offered;
  const offered = sorted(server, list);
  known.set(server, { list, offered });
  return offered;
}

function parametersOf(raw: RawTool): Judged {
  const made = judged.get(raw) ?? judge(raw);
  judged.set(raw, made);
  return made;
}

function judge({ inputSchema }: RawTool): Judged {
  const shown = told(schemaOf(inputSchema));
  return 'why' in shown || compiles(shown.schema) ? shown : { why: 'its parameters are no JSON Schema that can be checked' };
}

function sorted(server: Server, list: readonly RawTool[]): Offered {
  const names = list.map(({ name }) => toolName(server.name, name));
  let left = maxChars.server;
  const made = list.map((raw, i): ServerTool | Unusable => {
    const name = names[i] ?? '';
    const unusable = (why: string) => ({ tool: name, why: `MCP server "${server.name}": ${why}` });
    if (names.indexOf(name) < i) return unusable('the server has another tool of this name');
    const size = sizeOf(raw.inputSchema);
    if (size > maxChars.tool) return unusable(`its parameters have ${size} characters, and one tool may have ${maxChars.tool}`);
    const tooMany = `the tools before it take up the ${maxChars.server} characters of a server; let it offer fewer`;
    if (size > left) return unusable(tooMany);
    const parameters = parametersOf(raw);
    if ('why' in parameters) {
      left -= size; // to look at it cost time
      return unusable(parameters.why);
    }
    const tool = toolOf(server, raw, name, parameters.schema);
    const whole = sizeOf([tool.name, tool.description, tool.parameters]);
    if (whole > left) return unusable(tooMany);
    left -= whole;
    return { tool, raw: raw.name };
  });
  return { tools: made.filter((one) => 'raw' in one), unusable: made.filter((one) => 'why' in one) };
}

const sizeOf = (value: unknown) => JSON.stringify(value).length;

/** Some providers refuse these; what a server says of its schema's dialect is not needed. */
function schemaOf(given: Readonly<Record<string, unknown>>): JsonSchema {
  const kept = Object.entries(given).filter(([key]) => key !== '$schema' && key !== '$id');
  return { properties: {}, ...Object.fromEntries(kept), type: 'object' };
}

function toolOf({ name: server, settings, connection }: Server, raw: RawTool, name: string, parameters: JsonSchema): Tool {
  const said = raw.description ?? raw.title ?? raw.annotations?.title ?? raw.name;
  return {
    name,
    description: untrustedLine(`MCP server ${server}`, said.slice(0, 4 * maxDescription), maxDescription),
    section: `MCP: ${server}`,
    parameters,
    async execute(args: Readonly<Record<string, unknown>>, call: ToolCall) {
      const { signal, run } = call;
      let latest: Progress = { progress: 0 };
      // A server may report a thousand times a second.
      using show = coalesced(progressMs, () => call.update(text(wordsOf(latest))));
      const answer = await connection.call(raw.name, args, {
        signal,
        timeoutMs: settings.timeoutSeconds * 1000,
        onProgress(progress) {
          latest = progress;
          show.soon();
        },
      });
      return resultOf(server, answer, run.find(Turn)?.model.input.includes('image') ?? false);
    },
  };
}

type Progress = Parameters<CallOptions['onProgress']>[0];

const wordsOf = ({ progress, total, message = 'working' }: Progress) =>
  `${shortened(neutral(message.slice(0, 4 * maxProgress)), maxProgress)} (${progress}${total === undefined ? '' : ` of ${total}`})`;
