import { LadeError } from '@lade/core/errors'
import type { Config } from '@lade/server/config'
import { causesOf } from '../causes.ts'
import { broken, type Finding, ok } from './finding.ts'

/** A clock that is off by more than a store allows looks like wrong credentials; this is what it is called there. */
const SKEWED = /RequestTimeTooSkewed|RequestExpired/

/**
 * The bucket that the blobs are in: a small blob is put there, read and removed. Nothing for files, which the data directory stands for, and
 * for no storage.
 */
export async function checkStorage(config: Config): Promise<Finding[]> {
  if (config.storage.kind !== 's3') return []
  const { probeStorage, describeStorage } = await import('@lade/server/stores')
  const name = describeStorage(config.storage)
  const startedMs = performance.now()
  try {
    const wrong = await probeStorage(config)
    const tookMs = (performance.now() - startedMs).toFixed(0)
    return [
      wrong === undefined
        ? ok('storage', `Writing, reading and removing a test blob in ${name} took ${tookMs} ms.`)
        : broken('storage', `The storage ${name} ${wrong}.`),
    ]
  } catch (error) {
    if (!LadeError.is(error)) throw error
    const cause = causesOf(error)
    const advice = SKEWED.test(cause) ? ' Set the clock of this machine.' : ''
    return [broken('storage', `Cannot write, read and remove a test blob in ${name}: ${cause}.${advice}`)]
  }
}
