import type { Stats } from 'node:fs';
import { defineTool, isCoded, KernelError, text, type Tool } from '../../kernel/index.ts';
import { type FileChange, parsePatch } from './patch.ts';
import { applyHunks } from './patch-hunks.ts';
import { type Fence, openUnder } from './path-guard.ts';
import { type Expected, type Staged, stageRemoval, stageWrite } from './staged-file.ts';
import { readTextFile } from './text-file.ts';
import { fenceOf } from './workspace.ts';

export const applyPatch: Tool = defineTool({
  name: 'apply_patch',
  description:
    'Change several files at once, all or none. Form: "*** Begin Patch", per file "*** Add File: p" ("+" lines), "*** Delete File: p" or ' +
    '"*** Update File: p" (optional "*** Move to: q", hunks of "@@ line above" and " ", "-", "+" lines), "*** End Patch".',
  section: 'Files',
  parameters: {
    type: 'object',
    required: ['input'],
    additionalProperties: false,
    properties: { input: { type: 'string', minLength: 1 } },
  },
  async execute({ input }, call) {
    const fence = await fenceOf(call);
    const plans = await Promise.all(parsePatch(input).map((change) => planOf(fence, change)));
    await using stack = new AsyncDisposableStack();
    const staged: Staged[] = [];
    for (const step of plans.flatMap((plan) => plan.steps)) staged.push(stack.use(await stage(fence, step)));
    refuseTwice(staged);
    call.signal.throwIfAborted();
    await commit(staged);
    return text(plans.map((plan) => plan.summary).join('\n'));
  },
});

/** What one file's change does to the disk. Planning reads and verifies, and writes nothing. */
interface Plan {
  readonly summary: string;
  readonly steps: readonly Step[];
}
interface Step {
  readonly path: string;
  /** Absent for a removal. */
  readonly content?: string;
  readonly expected: Expected;
  /** Whose mode a moved file takes. */
  readonly like?: Stats;
}

async function planOf(fence: Fence, change: FileChange): Promise<Plan> {
  const { path } = change;
  if (change.kind === 'delete') {
    await using _ = await stageRemoval(fence, path, 'anything');
    return { summary: `Deleted ${path}`, steps: [{ path, expected: 'anything' }] };
  }
  if (change.kind === 'add') {
    await requireAbsent(fence, path);
    const content = change.lines.map((line) => `${line}\n`).join('');
    return { summary: `Added ${path}`, steps: [{ path, content, expected: 'absent' }] };
  }
  const file = await readTextFile(fence, path);
  const content = file.restore(applyHunks(path, file.text, change.hunks));
  const moved = change.moveTo;
  if (moved === undefined) return { summary: `Updated ${path}`, steps: [{ path, content, expected: file.stats }] };
  await requireAbsent(fence, moved);
  const steps = [{ path: moved, content, expected: 'absent', like: file.stats } as const, { path, expected: file.stats }];
  return { summary: `Moved ${path} to ${moved}`, steps };
}

async function requireAbsent(fence: Fence, path: string) {
  try {
    await using _ = await openUnder(fence, path);
  } catch (error) {
    if (isCoded(error) && error.code === 'PATH_MISSING') return;
    throw error;
  }
  throw new KernelError('FILE_EXISTS', `"${path}" exists already; update it instead`);
}

/** Two changes of one file, however it is spelled, would each be planned on its old text. */
function refuseTwice(staged: readonly Staged[]) {
  const names = staged.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new KernelError('PATCH_SYNTAX', `the patch names "${twice}" twice; put all its changes into one section`);
}

const stage = (fence: Fence, { path, content, expected, like }: Step) =>
  content === undefined ? stageRemoval(fence, path, expected) : stageWrite(fence, path, content, expected, like);

/** Renames and unlinks only: what could fail has been tried. If the disk fails now after all, say what is done. */
async function commit(staged: readonly Staged[]) {
  const done: string[] = [];
  for (const change of staged) {
    await change.commit().catch((cause: unknown) => {
      if (done.length === 0) throw cause;
      throw new KernelError('PATCH_PARTIAL', `"${change.name}" failed after ${done.join(', ')} had been changed; read them again`, {
        cause,
      });
    });
    done.push(change.name);
  }
}
