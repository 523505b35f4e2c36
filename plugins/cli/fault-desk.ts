import { dirname } from 'node:path';
import { type EnterRun, isCoded, type LogRecord, messageOf, type Plugin } from '../../kernel/index.ts';
import { Faults, type NewFault } from '../faults/contract.ts';
import { type Blame, blame } from './blame.ts';
import type { LogFile, Provisions } from './contract.ts';

/** Takes the faults that this process sees to whoever keeps them in its gateway; until there is one they wait. */
export type FaultDesk = ReturnType<typeof faultDesk>;

export function faultDesk() {
  const folders = new Map<string, string>();
  const early: NewFault[] = [];
  let enter: EnterRun | undefined;

  function note(fault: NewFault) {
    if (!enter) early.push(fault);
    else void enter((run) => run.find(Faults)?.note(fault)).catch(() => {}); // the gateway is ending: the log has it
  }

  /** What the kernel reports bears no plugin's name outside its error; what a plugin writes itself does, and is no fault. */
  function hear({ plugin, error }: LogRecord, { sink }: LogFile) {
    if (plugin !== undefined || !(error instanceof Error)) return;
    const found = blame(error, folders);
    if (isCoded(error)) note({ plugin: '', ...found, code: error.code, message: said(error) });
    else if (found) {
      note({ ...found, code: 'LEASE_FAILED', message: `threw in a lease: ${error.message}` }); // all else the kernel wraps
      sink({ level: 'error', message: `plugin "${found.plugin}" threw that, in a lease${found.place ? ` (${found.place})` : ''}` });
    }
  }
  return {
    note,
    blame: (error: unknown, origin: string | undefined): Blame | undefined => blame(error, folders, origin),
    open(run: EnterRun) {
      enter = run;
      for (const fault of early.splice(0)) note(fault);
    },
    /** The same, but the kernel's reports are heard, and whose files are whose is learned. */
    around(provided: Provisions): Provisions {
      const { log, bundle } = provided;
      const sink = (record: LogRecord) => {
        log.sink(record);
        hear(record, log);
      };
      const learning: typeof bundle = async (entry) => {
        const made = await bundle(entry);
        const { name } = (made.value ?? {}) as Partial<Plugin>;
        if (typeof name === 'string') folders.set(dirname(entry), name);
        return made;
      };
      return { ...provided, log: { ...log, sink }, bundle: learning };
    },
  };
}

function said({
  code,
  message,
  facts,
}: {
  readonly code: string;
  readonly message: string;
  readonly facts?: { readonly cause?: unknown };
}) {
  return code === 'DISPOSE_FAILED' && facts?.cause !== undefined ? `a disposer threw: ${messageOf(facts.cause)}` : message;
}
