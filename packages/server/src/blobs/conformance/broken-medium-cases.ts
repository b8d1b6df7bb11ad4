import { LadeError } from '@lade/core/errors'
import { expect } from 'vitest'
import {
  type BlobFixture,
  blobOf,
  type ConformanceCase,
  expectBytes,
  expectInvisible,
  get,
  HOLDER,
  listed,
  opened,
  put,
  remove,
  write,
} from './case.ts'
import { seededBytes } from './seeded-bytes.ts'

const BLOB = blobOf('on a bad disk')
/** More writes than any store sends in the background at once. */
const WRITES_BEHIND = 8

/** Breaks the medium, runs `act`, and expects the failure to be called one. */
async function expectStorageFailure({ store, subject }: BlobFixture, act: () => Promise<unknown>): Promise<void> {
  subject.breakNext?.(store)
  const outcome = await act().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  expect(outcome).toHaveProperty('error')
  expect('error' in outcome && LadeError.has(outcome.error, 'storage_failed'), String(Object.values(outcome))).toBe(
    true,
  )
}

/** A case about a call that fails and has no pending blob to care for. */
function failsOn(call: string, act: (fixture: BlobFixture) => Promise<unknown>): ConformanceCase {
  return {
    title: `error: a medium that fails on ${call} is storage_failed, and the next ${call} works`,
    needs: ['breakNext'],
    async run(fixture) {
      await put(fixture.store, BLOB)
      await expectStorageFailure(fixture, () => act(fixture))
      await act(fixture)
    },
  }
}

/** A case about a step of a pending blob that fails: the blob is dead, and leaves nothing behind. */
function killsPendingOn(step: 'write' | 'flush' | 'commit'): ConformanceCase {
  return {
    title: `error: a medium that fails on ${step} is storage_failed, again on every later step, and abort leaves nothing`,
    needs: ['breakNext'],
    async run(fixture) {
      const { store, subject } = fixture
      const blob = blobOf(seededBytes((subject.heldBackBytes ?? 0) + 13, 10))
      const pending = await write(store, blob)
      const steps = {
        // A store that sends what is written in the background says so when it is some blobs behind.
        write: async () => {
          for (let round = 0; round < WRITES_BEHIND; round++) await pending.write(blob.bytes)
        },
        flush: () => pending.flush(),
        commit: () => pending.commit(blob.sha256),
      }
      await expectStorageFailure(fixture, steps[step])
      for (const later of Object.values(steps)) {
        await expect(later()).rejects.toSatisfy((error) => LadeError.has(error, 'storage_failed'))
      }
      await pending.abort()
      await pending.abort()
      await expectInvisible(store, blob.sha256)
      expect(await store.sweepPending(HOLDER)).toBe(0)
      await put(store, blob)
      expectBytes(await get(store, blob.sha256), blob.bytes)
    },
  }
}

export const BROKEN_MEDIUM_CASES: readonly ConformanceCase[] = [
  failsOn('open', async ({ store }) => (await opened(store, BLOB.sha256)).close()),
  failsOn('stat', ({ store }) => store.stat(BLOB.sha256)),
  failsOn('list', ({ store }) => listed(store)),
  failsOn('delete', ({ store }) => remove(store, BLOB.sha256)),
  failsOn('pendingHolders', ({ store }) => store.pendingHolders()),
  failsOn('sweepPending', ({ store }) => store.sweepPending(HOLDER)),
  failsOn('check', ({ store }) => store.check()),
  failsOn('begin', async ({ store, subject }) => {
    const pending = await store.begin({ holder: HOLDER, sizeBytes: (subject.heldBackBytes ?? 0) + 1 })
    await pending.abort()
  }),
  {
    title: 'error: a medium that fails on quarantine is storage_failed, and the next quarantine works',
    needs: ['breakNext'],
    async run(fixture) {
      await put(fixture.store, BLOB)
      const blob = await opened(fixture.store, BLOB.sha256)
      await expectStorageFailure(fixture, () => blob.quarantine())
      expect(await blob.quarantine()).toBe(true)
      await blob.close()
      await expectInvisible(fixture.store, BLOB.sha256)
    },
  },
  killsPendingOn('write'),
  killsPendingOn('flush'),
  killsPendingOn('commit'),
  {
    title: 'error: a medium that fails in the middle of a read is storage_failed, and the blob can be read again',
    needs: ['breakNext'],
    async run(fixture) {
      const blob = blobOf(seededBytes(3_000_000, 9))
      await put(fixture.store, blob)
      const body = await opened(fixture.store, blob.sha256)
      for (const range of [undefined, { offset: 10, length: 10 }]) {
        await expectStorageFailure(fixture, async () => {
          for await (const chunk of body.chunks(range)) expect(chunk.length).toBeGreaterThan(0)
        })
      }
      await body.close()
      expectBytes(await get(fixture.store, blob.sha256), blob.bytes)
    },
  },
]
