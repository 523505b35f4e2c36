import { type Run, service, type Subject } from '../../kernel/index.ts';

export type PeerKind = 'direct' | 'group' | 'channel';
/** Whom a message is exchanged with: a person, a group, or a room of a server. */
export interface Peer {
  readonly kind: PeerKind;
  readonly id: string;
}

/** What a channel knows of a message's origin; routing is a function of it and the config, and of nothing else. */
export interface Inbound {
  readonly channel: string;
  /** Which of the channel's accounts received it. Default `default`. */
  readonly accountId?: string;
  /** The chat itself, also where the message is in a thread of it. Ids as the platform has them. */
  readonly peer?: Peer;
  readonly threadId?: string;
  /** Discord server, Slack workspace, and the sender's roles there. */
  readonly guildId?: string;
  readonly teamId?: string;
  readonly roles?: readonly string[];
}

/** From the most specific to the least; the first that a fitting binding reaches wins. */
export type Tier = 'peer' | 'parent peer' | 'any peer' | 'guild with roles' | 'guild' | 'team' | 'account' | 'channel' | 'default';

/** A binding by its place in the list, with why it won or lost. */
export interface Judged {
  readonly index: number;
  readonly agentId: string;
  readonly why: string;
}

export interface Decision {
  readonly agentId: string;
  readonly sessionKey: string;
  /** For the Subject of the turn. */
  readonly session: Subject['session'];
  readonly tier: Tier;
  /** Why this agent, in one sentence. */
  readonly reason: string;
  /** Why this session, in one sentence. */
  readonly sessionReason: string;
  /** Absent where the default agent answers. */
  readonly winner?: Judged;
  readonly lost: readonly Judged[];
}

/** Whether a text in a group is meant for the agent, by its words alone; what the platform marks as a mention is for the channel to add. */
export interface Mention {
  readonly isMentioned: boolean;
  /** The pattern that matched. */
  readonly by?: string;
  readonly why: string;
}

/** What `route.explain` answers: a decision with the places of what caused it. */
export interface Explanation extends Omit<Decision, 'winner' | 'lost'> {
  readonly inbound: Inbound;
  readonly winner?: Placed;
  readonly lost: readonly Placed[];
  /** Asked only with a text. */
  readonly mention?: Mention;
  /** A likely slip in the question. */
  readonly hint?: string;
}

export interface Placed extends Judged {
  /** `instar.json5:12:7`. */
  readonly place: string;
  readonly comment?: string;
}

/** What a session key of a channel tells. `peer` is missing in a main session; in that of a linked person its id is the person's name. */
export interface KeyOrigin {
  readonly agentId: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly peer?: Peer;
  readonly threadId?: string;
  readonly mainKey?: string;
}

/** Which agent a message is for, and in which session. Ask it for each message: bindings change while others run. */
export interface Routing {
  decide(inbound: Inbound, run: Run): Decision;
  mentioned(agentId: string, text: string, run: Run): Promise<Mention>;
  /** Undefined for keys that no channel made, such as those of sub-agents. */
  originOf(sessionKey: string): KeyOrigin | undefined;
}
export const Routing = service<Routing>('routing');
