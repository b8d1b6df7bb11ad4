import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'vitest'

/** What a scenario needs of the machine, and how to see whether it is there. */
export interface ScenarioNeed {
  /** Said when it is missing. */
  readonly name: string
  readonly isMet: () => boolean
}

/** A program on the path. @param debianPackage - where it comes from. */
export function program(name: string, debianPackage: string): ScenarioNeed {
  return { name: `${name} (package ${debianPackage})`, isMet: () => pathOf(name) !== undefined }
}

/** May mount file systems: root, or a container with CAP_SYS_ADMIN. */
export const mounting: ScenarioNeed = {
  name: 'the right to mount',
  isMet() {
    const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(readOptional('/proc/self/status'))?.[1] ?? '0'
    const sysAdmin = 1n << 21n
    return process.getuid?.() === 0 && (BigInt(`0x${capabilities}`) & sysAdmin) !== 0n
  },
}

export const loopDevices: ScenarioNeed = { name: 'loop devices', isMet: () => existsSync('/dev/loop-control') }

/** May watch the system calls of other processes. */
export const tracing: ScenarioNeed = {
  name: 'the right to trace',
  isMet: () => pathOf('strace') !== undefined && succeeds('strace', ['-qq', '-o', '/dev/null', 'true']),
}

/**
 * A `describe` of tests that need a scenario. Where it cannot be built the tests are skipped and said to be; under `CI` that
 * is a failure, unless `LADE_TEST_MAY_SKIP` lists `id`, so that no run is green for want of trying.
 */
export function describeScenario(
  scenario: { id: string; name: string; needs: readonly ScenarioNeed[] },
  body: () => void,
): void {
  const missing = scenario.needs.filter((need) => !need.isMet()).map((need) => need.name)
  if (missing.length === 0) {
    describe(scenario.name, body)
    return
  }
  const because = `${scenario.id} needs ${missing.join(', ')}`
  const maySkip = (process.env.LADE_TEST_MAY_SKIP ?? '').split(',').includes(scenario.id)
  if (process.env.CI === undefined || maySkip) {
    describe.skip(scenario.name, { meta: { skippedBecause: because } }, body)
    return
  }
  describe(scenario.name, () => {
    test('error: may not be skipped in CI', () => {
      throw new Error(`${because}; name it in LADE_TEST_MAY_SKIP if this machine cannot have it`)
    })
  })
}

/** Where a program of the path is; `undefined` when it is not there. */
export function pathOf(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']
  return directories.map((directory) => `${directory}/${name}`).find((path) => existsSync(path))
}

function succeeds(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    // Whatever kept it from running, it cannot be used.
    return false
  }
}

function readOptional(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
