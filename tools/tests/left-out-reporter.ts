import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { describeLeftOut, OTHER_SUITES } from './left-out.ts'

/** Prints after a run which tests were skipped and why, and which suites other commands run. */
export class LeftOutReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    // A run of chosen tests leaves out the others because somebody asked for that.
    if (this.#vitest === undefined || this.#vitest.config.testNamePattern !== undefined) return
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
    const projects = [...new Set(modules.map(({ project }) => project))]
    const files = await Promise.all(projects.map(async (project) => (await project.globTestFiles()).testFiles))
    const isWhole = files.flat().length === modules.length
    const others = isWhole ? OTHER_SUITES.filter(({ project }) => !projects.some(({ name }) => name === project)) : []
    for (const line of describeLeftOut(skipped.map(reasonOf), others)) this.#vitest.logger.log(line)
  }
}

/** What the test says itself, or the nearest suite around it. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result()
  if (result.state === 'skipped' && result.note !== undefined) return result.note
  for (let task: TestCase | TestCase['parent'] = test; ; task = task.parent) {
    const { skippedBecause } = task.meta()
    if (skippedBecause !== undefined || task.type === 'module') return skippedBecause
  }
}
