import { SUITE, type SuiteFixture } from './suite.ts'

/** How a case ended; `failure` is undefined for one that holds. */
export interface SuiteResult {
  readonly title: string
  readonly failure?: string | undefined
}

/** The client under test: this one, or the one of an installed package. */
export type SuiteClient = Pick<SuiteFixture, 'createLadeClient' | 'createClient' | 'walletOf'>
/** All else that the cases need, as JSON. */
export type GivenFixture = Omit<SuiteFixture, keyof SuiteClient | 'workersStarted'>

/** Runs all cases that the client can run, one after the other. */
export async function runSuite(fixture: SuiteFixture): Promise<SuiteResult[]> {
  const results: SuiteResult[] = []
  for (const { title, run, needsSmallParts } of SUITE) {
    if (needsSmallParts && fixture.createClient === undefined) continue
    // The last title says where a page stopped.
    console.info(title)
    try {
      await run(fixture)
      results.push({ title })
    } catch (error) {
      results.push({ title, failure: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) })
    }
  }
  return results
}

/** Runs the suite in a page of `run-in-chromium.ts`, and posts what came of it. */
export async function runSuiteInPage(client: SuiteClient): Promise<void> {
  let started = 0
  const page = globalThis as unknown as { Worker: new (...args: unknown[]) => object }
  page.Worker = class extends page.Worker {
    constructor(...args: unknown[]) {
      super(...args)
      started += 1
    }
  }
  const given = (await (await fetch('/fixture.json')).json()) as GivenFixture
  const results = await runSuite({ ...given, ...client, workersStarted: () => started })
  await fetch('/results', { method: 'POST', body: JSON.stringify(results) })
}
