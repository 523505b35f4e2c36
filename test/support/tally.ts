/** How many checks ended in which way. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The part of vitest's JSON report that is counted. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * Counts a vitest run. A file that never got to its tests counts as one failure, and so does a run that failed for
 * any other reason (an unhandled rejection, no report): vitest's own numbers would read "0 failed".
 */
export function countTests(reportText: string | undefined, ok: boolean): Tally {
  if (reportText === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(reportText) as Report;
  const failed = report.numFailedTests + report.testResults.filter(failedOutsideTests).length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !ok ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((total, { passed, failed, skipped }) => ({
    passed: total.passed + passed,
    failed: total.failed + failed,
    skipped: total.skipped + skipped,
  }));
}

/** The last line of `npm test`. */
export function summary({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function failedOutsideTests(file: Report['testResults'][number]): boolean {
  return file.status === 'failed' && !file.assertionResults.some((result) => result.status === 'failed');
}
