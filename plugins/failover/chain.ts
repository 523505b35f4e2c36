import { Host, KernelError, type Run } from '../../kernel/index.ts';
import { Agents, modelChain } from '../agents/contract.ts';
import { type MissingModel, type Model, Models } from '../models/contract.ts';

/** One model that may answer. It is looked up when it is needed: most turns need only the first. */
export interface Candidate {
  readonly ref: string;
  readonly why: string;
  /** Throws MODEL_UNKNOWN. */
  model(): Promise<Model>;
}

export const refOf = ({ provider, id }: Pick<Model, 'provider' | 'id'>): string => `${provider}/${id}`;

interface Wish {
  readonly model: Model;
  readonly why: string;
  readonly agentId: string | undefined;
  /** By name: then nothing may stand in for it. */
  readonly isAsked: boolean;
  /** What the config names first and cannot be had: `model` is one of the fallbacks. */
  readonly missing?: MissingModel | undefined;
}

/** SPEC 7.4, 7.8: the model that is wanted, then the fallbacks of its agent. */
export function chainOf(run: Run, { model, why, agentId, isAsked, missing }: Wish): readonly Candidate[] {
  const wanted: Candidate = missing ? lacking(missing) : { ref: refOf(model), why, model: async () => model };
  const agents = run.find(Agents);
  if (!agents || agentId === undefined || isAsked) return [wanted];
  const further = modelChain(agents, agentId).fallbacks.filter((ref, i, all) => ref !== wanted.ref && all.indexOf(ref) === i);
  return [wanted, ...further.map((ref, i) => fallback(run, agentId, ref, i))];
}

const lacking = (missing: MissingModel): Candidate => ({
  ref: missing.ref,
  get why() {
    return missing.why;
  },
  model: () => Promise.reject(new KernelError('MODEL_UNKNOWN', missing.problem)),
});

const fallback = (run: Run, agentId: string, ref: string, i: number): Candidate => ({
  ref,
  model: () => run.get(Models).resolve(run, ref),
  /** Looked up in the text of the config only where somebody reads it. */
  get why() {
    const own = (run.get(Agents).own(agentId)?.model as { readonly fallbacks?: unknown } | undefined)?.fallbacks;
    const path = `${own ? run.get(Agents).path(agentId) : 'agents.defaults'}.model.fallbacks`;
    const place = run.get(Host).place(path);
    return `fallback ${i + 1} of ${path}${place === path ? '' : ` (${place})`}`;
  },
});
