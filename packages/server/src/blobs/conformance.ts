import { LadeError } from '@lade/core/errors'
import { describe, test } from 'vitest'
import { BROKEN_MEDIUM_CASES } from './conformance/broken-medium-cases.ts'
import type { BlobStoreSubject, ConformanceCase } from './conformance/case.ts'
import { DAMAGE_CASES } from './conformance/damage-cases.ts'
import { INSTALLATION_CASES } from './conformance/installation-cases.ts'
import { LIFETIME_CASES } from './conformance/lifetime-cases.ts'
import { LISTING_CASES } from './conformance/listing-cases.ts'
import { PENDING_CASES } from './conformance/pending-cases.ts'
import { READING_CASES } from './conformance/reading-cases.ts'
import { RESUMING_CASES } from './conformance/resuming-cases.ts'

export type { BlobStoreSubject } from './conformance/case.ts'

/** Every case of the suite. `describeBlobStore` declares them all; a test can also run some of them with `runCase`. */
export const BLOB_STORE_CASES: readonly ConformanceCase[] = [
  ...PENDING_CASES,
  ...RESUMING_CASES,
  ...READING_CASES,
  ...LISTING_CASES,
  ...BROKEN_MEDIUM_CASES,
  ...DAMAGE_CASES,
  ...INSTALLATION_CASES,
  ...LIFETIME_CASES,
]

/**
 * The suite that every blob store and every wrapper of one passes.
 *
 * A case whose hook the subject lacks is shown as skipped; a store that calls itself durable must have them all.
 *
 * @throws {TypeError} when a gap names no case.
 *
 * @example
 * describeBlobStore('memory', { open: async () => openMemoryBlobStore(), discard: (store) => store.close() })
 */
export function describeBlobStore(name: string, subject: BlobStoreSubject): void {
  const gaps = new Map((subject.gaps ?? []).map((gap) => [gap.test, gap.because]))
  for (const title of gaps.keys()) {
    if (!BLOB_STORE_CASES.some((item) => item.title === title)) throw new TypeError(`No case is called "${title}".`)
  }
  describe(`blob store: ${name}`, () => {
    for (const item of BLOB_STORE_CASES) {
      const because = gaps.get(item.title)
      const isRunnable = (item.needs ?? []).every((hook) => subject[hook] !== undefined)
      const title = because === undefined ? item.title : `${item.title} [gap: ${because}]`
      test.skipIf(!isRunnable)(
        title,
        { meta: { skippedBecause: 'the driver has no means for a case of its port' } },
        () => (because === undefined ? runCase(item, subject) : runGap(item, subject)),
      )
    }
  })
}

/** Runs one case on a store of its own. */
export async function runCase(item: ConformanceCase, subject: BlobStoreSubject): Promise<void> {
  const fixture = { store: await subject.open(), subject }
  try {
    await item.run(fixture)
  } catch (error) {
    throw withCause(error)
  } finally {
    await subject.discard(fixture.store)
  }
}

/** A report keeps the message of an error and not its cause, which is what the medium said. */
function withCause(error: unknown): unknown {
  if (!LadeError.is(error) || !(error.cause instanceof Error)) return error
  return new Error(`${error.code}: ${error.cause.message}`, { cause: error })
}

/** Runs a case that the subject admits to failing. @throws when it passes: the gap is to be struck off. */
export async function runGap(item: ConformanceCase, subject: BlobStoreSubject): Promise<void> {
  const hasPassed = await runCase(item, subject).then(
    () => true,
    () => false,
  )
  if (hasPassed) throw new Error(`"${item.title}" passes: it is no gap any more.`)
}
