import { createLadeClient, walletOf } from '../client.ts'
import { createClient } from '../create-client.ts'
import { SUITE, type SuiteGround } from './suite.ts'

/** How a case ended; `failure` is undefined for one that holds. */
export interface SuiteResult {
  readonly title: string
  readonly failure?: string | undefined
}

/** Runs the suite in a page, and posts what came of it. */
async function runSuite(): Promise<void> {
  let started = 0
  const page = globalThis as unknown as { Worker: new (...args: unknown[]) => object }
  page.Worker = class extends page.Worker {
    constructor(...args: unknown[]) {
      super(...args)
      started += 1
    }
  }
  const given = (await (await fetch('/ground.json')).json()) as Omit<
    SuiteGround,
    'createLadeClient' | 'createClient' | 'walletOf'
  >
  const ground: SuiteGround = { ...given, createLadeClient, createClient, walletOf, workersStarted: () => started }
  const results: SuiteResult[] = []
  for (const { title, run } of SUITE) {
    console.info(title)
    try {
      await run(ground)
      results.push({ title })
    } catch (error) {
      results.push({ title, failure: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) })
    }
  }
  await fetch('/results', { method: 'POST', body: JSON.stringify(results) })
}

// Not awaited: what the bundle loads later may import this module, which would then wait for itself.
void runSuite()
