import type { Standing } from '../auth-profiles/contract.ts';
import type { FailureReason, ModelFailure } from '../models/contract.ts';

/** One attempt, as it is told. */
export interface AttemptNote {
  readonly model: string;
  /** Absent where no request was sent. */
  readonly profile?: string;
  /** Absent where the request was not admitted. */
  readonly reason?: FailureReason;
  readonly code: string;
  readonly message: string;
  /** Milliseconds it took. */
  readonly ms: number;
}

/** SPEC 7.3, 7.4: more than one attempt was made, or could have been, and none led to an answer. `reason` is that of the model that was wanted. */
export interface FailoverError extends ModelFailure {
  readonly code: 'FAILOVER_EXHAUSTED';
  readonly attempts: readonly AttemptNote[];
}

/** Errors compare by code. */
export const isFailoverError = (failure: ModelFailure | undefined): failure is FailoverError => failure?.code === 'FAILOVER_EXHAUSTED';

/**
 * Gateway methods:
 *
 * - `models.list {}` → `{models: ModelLine[]}`
 * - `models.explain {agentId?, sessionKey?, model?}` → `Plan`; `model` as if it was asked for by name
 * - `models.probe {agentId?}` → `{probes: ProbeLine[]}`: a short real request with each profile of each model of the agent's chain
 */
export interface Plan {
  readonly agentId: string;
  readonly sessionKey?: string;
  /** The model that the turn wants, and what chose it. */
  readonly wanted: { readonly model: string; readonly why: string };
  /** What the next request would use. Absent where nothing can be asked. */
  readonly next?: { readonly model: string; readonly profile: string; readonly why: string };
  readonly candidates: readonly {
    readonly model: string;
    readonly why: string;
    /** What keeps it from being asked at all. */
    readonly problem?: string;
    readonly profiles: readonly Standing[];
  }[];
}

export interface ModelLine {
  readonly model: string;
  readonly name: string;
  readonly contextWindow: number;
  readonly input: readonly string[];
  readonly reasoning: boolean;
  /** Whose chains it is part of: `main`, `coder (fallback 1)`. */
  readonly usedBy: readonly string[];
}

export interface ProbeLine {
  readonly model: string;
  readonly profile?: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly reason?: FailureReason;
  readonly message: string;
}
