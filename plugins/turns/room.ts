const ofAFullDisk = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a transcript could not be written for want of room; missing rights, say, do not pass by themselves. */
export const isFull = (error: unknown) => ofAFullDisk.has((error as { cause?: { code?: string } } | undefined)?.cause?.code ?? '');
