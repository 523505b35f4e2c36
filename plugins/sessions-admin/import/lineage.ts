import type { JsonRecord } from './record.ts';

/** Gives each record an id of its own and a parent that is there. The same lines give the same ids, always. */
export interface Lineage {
  place(record: JsonRecord, line: number, note: (text: string, line: number) => void): JsonRecord;
}

/** `version` of the header: before 2 there were neither ids nor parents, and a compaction named its record by number. */
export function lineage(version: number): Lineage {
  const names = new Map<string, string>(); // as records after it name it → as it is called here
  const taken = new Set<string>();
  const numbered: (string | undefined)[] = [undefined]; // the header is the first
  let tip: string | null = null;

  function nameOf(id: unknown, line: number, note: (text: string, line: number) => void): string {
    const isOwn = typeof id === 'string' && id !== '';
    if (isOwn && !taken.has(id)) return id;
    let name = line.toString(16).padStart(8, '0');
    while (taken.has(name)) name += 'x';
    if (isOwn) note(`the id "${id}" is an earlier record's too; it is "${name}" here`, line);
    return name;
  }

  function parentOf({ parentId }: JsonRecord, line: number, note: (text: string, line: number) => void): string | null {
    if (parentId === null || parentId === undefined) return parentId === null ? null : tip;
    const parent = names.get(parentId as string);
    if (parent === undefined) note(`its parent ${JSON.stringify(parentId)} is not before it; the record before it is now`, line);
    return parent ?? tip;
  }

  return {
    place(record, line, note) {
      const [parentId, id] = [parentOf(record, line, note), nameOf(record.id, line, note)];
      if (typeof record.id === 'string') names.set(record.id, id);
      taken.add(id);
      if (version < 2) numbered.push(id);
      tip = id;
      const placed = id === record.id && parentId === record.parentId ? record : { ...record, id, parentId };
      return record.type === 'compaction' ? withKept(placed, line, note) : placed;
    },
  };

  function withKept(record: JsonRecord, line: number, note: (text: string, line: number) => void): JsonRecord {
    const { firstKeptEntryIndex: index, firstKeptEntryId: named, ...rest } = record;
    const kept = named === undefined ? numbered[index as number] : names.get(named as string);
    if (kept === undefined) note('the record that this compaction keeps first is not there; its summary stands for all before it', line);
    if (kept === undefined || kept === named) return record;
    return { ...rest, firstKeptEntryId: kept };
  }
}
