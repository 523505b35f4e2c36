import { type JsonSchema, text, type Tool, type ToolCall } from '../../kernel/index.ts';
import { neutral, shortened, untrustedLine } from '../prompt/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Connection } from './connection.ts';
import type { RawTool } from './protocol.ts';
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
const known = new WeakMap<readonly RawTool[], Offered>();

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
  const made = known.get(list) ?? sorted(server, list);
  known.set(list, made);
  return made;
}

function sorted(server: Server, list: readonly RawTool[]): Offered {
  const names = list.map(({ name }) => toolName(server.name, name));
  const made = list.map((raw, i): ServerTool | Unusable => {
    const name = names[i] ?? '';
    const unusable = (why: string) => ({ tool: name, why: `MCP server "${server.name}": ${why}` });
    if (names.indexOf(name) < i) return unusable('the server has another tool of this name');
    const parameters = told(schemaOf(raw.inputSchema));
    if ('why' in parameters) return unusable(parameters.why);
    if (!compiles(parameters.schema)) return unusable('its parameters are no JSON Schema that can be checked');
    return { tool: toolOf(server, raw, name, parameters.schema), raw: raw.name };
  });
  return { tools: made.filter((one) => 'raw' in one), unusable: made.filter((one) => 'why' in one) };
}

/** Some providers refuse these; what a server says of its schema's dialect is not needed. */
function schemaOf(given: Readonly<Record<string, unknown>>): JsonSchema {
  const kept = Object.entries(given).filter(([key]) => key !== '$schema' && key !== '$id');
  return { properties: {}, ...Object.fromEntries(kept), type: 'object' };
}

function toolOf({ name: server, settings, connection }: Server, raw: RawTool, name: string, parameters: JsonSchema): Tool {
  const said = raw.description ?? raw.title ?? raw.annotations?.title ?? raw.name;
  return {
    name,
    description: untrustedLine(`MCP server ${server}`, said, maxDescription),
    section: `MCP: ${server}`,
    parameters,
    async execute(args: Readonly<Record<string, unknown>>, call: ToolCall) {
      const { signal, run } = call;
      const answer = await connection.call(raw.name, args, {
        signal,
        timeoutMs: settings.timeoutSeconds * 1000,
        onProgress: ({ progress, total, message }) =>
          call.update(
            text(`${shortened(neutral(message ?? 'working'), maxProgress)} (${progress}${total === undefined ? '' : ` of ${total}`})`),
          ),
      });
      return resultOf(server, answer, run.find(Turn)?.model.input.includes('image') ?? false);
    },
  };
}
