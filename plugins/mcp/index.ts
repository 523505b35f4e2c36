import { DecideTool, definePlugin, Host, RegisterTools, type Verdict } from '../../kernel/index.ts';
import { Approvals } from '../approvals/contract.ts';
import { ToolAbsences } from '../policy/contract.ts';
import { GuardedFiles } from '../tools-fs/contract.ts';
import { openConnection } from './connection.ts';
import { type McpServer, McpServers } from './contract.ts';
import { connectHttp } from './http.ts';
import { programsOf } from './program.ts';
import { schema } from './schema.ts';
import { faultOf, leaseKey, type ServerSettings } from './settings.ts';
import { connectStdio } from './stdio.ts';
import { namesIn, serverPrefix, toolPrefix } from './tool-name.ts';
import { offeredOf, type Server } from './tools.ts';

export default definePlugin({
  name: 'mcp',
  description: 'Tools of MCP servers (stdio and streamable HTTP), under the same policy as every other tool',
  config: { at: 'mcp', schema },
  needs: { host: Host },
  provides: [McpServers],
  async setup(ctx) {
    const { host } = ctx.needs;
    const blocks = Object.entries((ctx.config as unknown as { readonly servers: Readonly<Record<string, ServerSettings>> }).servers);
    const faults = blocks
      .flatMap(([name, settings]) => (settings.enabled ? { name, fault: faultOf(name, settings, host) } : []))
      .filter(({ fault }) => fault);
    for (const { fault } of faults) ctx.log.warn(fault?.message ?? '');
    const sound = blocks.filter(([name, settings]) => settings.enabled && !faults.some((one) => one.name === name));
    const servers: readonly Server[] = await Promise.all(
      sound.map(async ([name, settings]) => ({ name, settings, connection: await connectionOf(name, settings) })),
    );

    function connectionOf(name: string, settings: ServerSettings) {
      const { run, log } = ctx; // both are of use when this instance is gone
      const connect = (settings.command === undefined ? connectHttp : connectStdio)(name, settings, run);
      const options = { name, version: host.version, connectTimeoutMs: settings.connectTimeoutSeconds * 1000, connect };
      return ctx.lease(leaseKey(name, settings), () => openConnection({ ...options, log }));
    }

    ctx.onLive(() => {
      for (const { connection } of servers) connection.start();
    });
    ctx.tap(RegisterTools, (tools) => [...tools, ...servers.flatMap((server) => offeredOf(server).tools.map(({ tool }) => tool))], {
      version: () => servers.map(({ connection }) => connection.version).join(),
    });
    ctx.tap(ToolAbsences, (absences) => [
      ...absences,
      ...faults.map(({ name, fault }) => ({ tool: `${serverPrefix(name)}*`, why: fault?.message ?? '' })),
      ...servers.flatMap((server) => [...downOf(server), ...offeredOf(server).unusable]),
    ]);
    const unasked = new Map(servers.map(({ name, settings }) => [name, namesIn(settings.allow)]));
    ctx.tap(DecideTool, async ({ tool, args }, run): Promise<Verdict | undefined> => {
      const server = servers.find(({ name }) => tool.name.startsWith(serverPrefix(name)));
      // Of a run that began before: its generation had the server, and this one is asked as well.
      if (!server) return tool.name.startsWith(toolPrefix) ? gone(tool.name) : undefined;
      const raw = offeredOf(server).tools.find((one) => one.tool.name === tool.name)?.raw;
      const path = `mcp.servers.${server.name}.allow`;
      if (raw === undefined) return { kind: 'deny', why: `MCP server "${server.name}" has no such tool now`, rule: path };
      if (unasked.get(server.name)?.(raw)) return { kind: 'allow', rule: path };
      const what = `${tool.name} ${JSON.stringify(args)}`;
      if (await run.find(Approvals)?.remembers(tool.name, what, run)) return { kind: 'allow', rule: 'approvals' };
      return { kind: 'ask', why: what, rule: path };
    });
    ctx.tap(GuardedFiles, (all) => ({
      ...all,
      programs: [...all.programs, ...sound.flatMap(([, settings]) => programsOf(settings, host.home))],
    }));
    ctx.provide(McpServers, { list: () => servers.map(shown) });
  },
});

const gone = (tool: string): Verdict => ({ kind: 'deny', why: `the MCP server of ${tool} is switched off or gone`, rule: 'mcp.servers' });

function downOf({ name, connection: { state, why } }: Server) {
  if (state === 'up') return [];
  const said = state === 'down' ? `MCP server "${name}" is down: ${why}; it is tried again` : `MCP server "${name}" is being connected`;
  return [{ tool: `${serverPrefix(name)}*`, why: said }];
}

function shown(server: Server): McpServer {
  const { name, connection } = server;
  const { tools, unusable } = offeredOf(server);
  return {
    name,
    state: connection.state,
    ...(connection.why && { why: connection.why }),
    tools: tools.map(({ tool }) => tool.name),
    unusable,
  };
}
