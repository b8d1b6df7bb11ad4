declare module 'vitest' {
  interface TaskMeta {
    /** Why a test or a suite is skipped here: what it needs, or the command that runs it. The reporter prints it after the run. */
    skippedBecause?: string
  }
}

/** A suite of the project that a command does not run. */
export interface OtherSuite {
  readonly project: string
  readonly what: string
  readonly command: string
}

export const OTHER_SUITES: readonly OtherSuite[] = [
  { project: 'long', what: 'tests that take long', command: 'npm run test:long' },
  { project: 'faults', what: 'kills, power cuts, failing disks', command: 'npm run test:long' },
  { project: 'services', what: 'PostgreSQL, S3, nginx, several instances', command: 'npm run test:services' },
  { project: 'packages', what: 'the packed packages, installed', command: 'npm run test:packages' },
]

/**
 * Describes what a run left out: how many tests were skipped for each reason, then the suites that did not run.
 *
 * @param reasons - The reason of each skipped test; undefined where the test gives none.
 * @param suites - The suites that this run did not include.
 * @returns Lines for a terminal; none if nothing was left out.
 *
 * @example
 * describeLeftOut(['nginx is not installed'], []) // ['Left out:', '  1 test: nginx is not installed']
 */
export function describeLeftOut(reasons: readonly (string | undefined)[], suites: readonly OtherSuite[]): string[] {
  const counts = new Map<string, number>()
  for (const reason of reasons) {
    const because = reason ?? 'no reason given'
    counts.set(because, (counts.get(because) ?? 0) + 1)
  }
  const skipped = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([because, count]) => `  ${count} ${count === 1 ? 'test' : 'tests'}: ${because}`)
  const others = suites.map(({ project, what, command }) => `  ${project} (${what}): ${command}`)
  return skipped.length + others.length === 0 ? [] : ['Left out:', ...skipped, ...others]
}
