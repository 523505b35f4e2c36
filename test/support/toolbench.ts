import { join } from 'node:path';
import { given, type Plugin, type Subject, type ToolResult } from '../../kernel/index.ts';
import { Turn } from '../../plugins/turns/contract.ts';
import { bootTest, type TestKernel, type TestOptions } from './kernel.ts';

export { allowAll } from '../../plugins/testing/kit.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly subject?: Subject;
  readonly onUpdate?: (partial: ToolResult) => void;
}

export interface Toolbench extends AsyncDisposable {
  readonly test: TestKernel;
  /** Not there until something writes to it. */
  readonly workspace: string;
  call(name: string, args: unknown, options?: CallOptions): Promise<ToolResult>;
}

/** Plugins with tools, and the facts of a turn around every call. */
export async function toolbench(
  plugins: readonly Plugin[],
  config: Readonly<Record<string, unknown>> = {},
  { input = ['text', 'image'], ...options }: TestOptions & { readonly input?: readonly ('text' | 'image')[] } = {},
): Promise<Toolbench> {
  const test = await bootTest(plugins, config, options);
  const workspace = join(test.home, 'workspace');
  const turn = turnIn(workspace, input);
  return {
    test,
    workspace,
    call: (name, args, { signal, subject = { agent: 'main' }, onUpdate } = {}) =>
      test.kernel.run((run) => run.callTool({ id: 'c1', name, args, ...(onUpdate && { onUpdate }) }), {
        subject,
        signal,
        values: [given(Turn, turn)],
      }),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

export function turnIn(workspace: string, input: readonly ('text' | 'image')[] = ['text']): Turn {
  const limits = { contextWindow: 1000, maxTokens: 100 };
  const model = { provider: 'test', id: 'm', name: 'm', api: 'test', baseUrl: '', ...limits, input, reasoning: false };
  const ids = { runId: 'r', agentId: 'main', sessionKey: 'agent:main:main', sessionId: 's', itemId: 'i' };
  return { ...ids, trigger: 'user', workspace, model };
}

/** All text of a result. */
export const textOf = ({ content }: ToolResult) =>
  content.map((part) => (part.type === 'text' ? part.text : `<${part.mimeType}>`)).join('\n');
