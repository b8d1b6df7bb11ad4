import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// Who runs only a prover installs neither the databases nor the stores nor the mail of the service.

interface LockedPackage {
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const { packages }: { packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)

/** Every package that `folder` of this repository installs, by name. */
function installedBy(folder: string): Set<string> {
  const installed = new Set<string>()
  const open = Object.keys(packages[folder]?.dependencies ?? {})
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (installed.has(name)) continue
    installed.add(name)
    const found = packages[`node_modules/${name}`]
    const locked = found?.resolved === undefined ? found : packages[found.resolved]
    open.push(...Object.keys(locked?.dependencies ?? {}))
  }
  return installed
}

test('a prover installs no driver of the service', () => {
  const drivers = ['@lade/server', 'pg', 'better-sqlite3', '@aws-sdk/client-s3', 'nodemailer']
  const ofProver = installedBy('packages/prover')
  expect(drivers.filter((name) => installedBy('packages/cli').has(name))).toEqual(drivers)
  expect(ofProver).toContain('@chainsafe/hashtree')
  expect(drivers.filter((name) => ofProver.has(name))).toEqual([])
})
