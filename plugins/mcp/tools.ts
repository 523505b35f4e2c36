import { type JsonSchema, text, type Tool, type ToolCall } from '../../kernel/index.ts';
import { untrustedLine } from '../prompt/contract.ts';
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
const known = new WeakMap<readonly RawTool[], Offered>();

export interface Offered {
  readonly tools: readonly ServerTool[];
  readonly unusable: readonly { readonly tool: string; readonly why: string }[];
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
  const why = ({ inputSchema }: RawTool, i: number) =>
    names.indexOf(names[i] ?? '') < i
      ? 'the server has another tool of this name'
      : compiles(schemaOf(inputSchema))
        ? undefined
        : 'its parameters are no JSON Schema that can be checked';
  const faults = list.map(why);
  return {
    tools: list.flatMap((raw, i) => (faults[i] === undefined ? { tool: toolOf(server, raw, names[i] ?? ''), raw: raw.name } : [])),
    unusable: list.flatMap((_, i) =>
      faults[i] === undefined ? [] : { tool: names[i] ?? '', why: `MCP server "${server.name}": ${faults[i]}` },
    ),
  };
}

/** Some providers refuse these; what a server says of its schema's dialect is not needed. */
function schemaOf(given: Readonly<Record<string, unknown>>): JsonSchema {
  const kept = Object.entries(given).filter(([key]) => key !== '$schema' && key !== '$id');
  return { properties: {}, ...Object.fromEntries(kept), type: 'object' };
}

function toolOf({ name: server, settings, connection }: Server, raw: RawTool, name: string): Tool {
  const said = raw.description ?? raw.title ?? raw.annotations?.title ?? raw.name;
  return {
    name,
    description: untrustedLine(`MCP server ${server}`, said, maxDescription),
    section: `MCP: ${server}`,
    parameters: told(schemaOf(raw.inputSchema)),
    async execute(args: Readonly<Record<string, unknown>>, call: ToolCall) {
      const { signal, run } = call;
      const answer = await connection.call(raw.name, args, {
        signal,
        timeoutMs: settings.timeoutSeconds * 1000,
        onProgress: ({ progress, total, message }) =>
          call.update(text(`${message ?? 'working'} (${progress}${total === undefined ? '' : ` of ${total}`})`)),
      });
      return resultOf(server, answer, run.find(Turn)?.model.input.includes('image') ?? false);
    },
  };
}
