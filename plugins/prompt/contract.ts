import { service, type Run } from '../../kernel/index.ts';

export { withoutMarks } from './contract/marks.ts';
export { clientInstructions, neutral, saidIn, shortened, untrusted, untrustedContent, untrustedLine } from './contract/untrusted.ts';

export type PromptMode = 'full' | 'minimal' | 'none';

export interface BuiltSection {
  readonly id: string;
  readonly text: string;
}

/** Builds the system prompt of a run's Subject, in the order of SPEC 5.1. Byte-stable while nothing changed. */
export interface Prompt {
  build(run: Run, mode: PromptMode): Promise<{ readonly text: string; readonly sections: readonly BuiltSection[] }>;
}

export const Prompt = service<Prompt>('prompt');
