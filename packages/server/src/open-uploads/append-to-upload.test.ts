import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { BodyBill } from '@lade/node/budget/body-bill'
import { hashContentHere } from '@lade/node/hashing/content-hasher'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OpenUploadKind } from '../records/record-store.ts'
import {
  NOTHING_REMAINS,
  openStagingFixture,
  PRINCIPAL,
  type StagingFixture,
  tierOf,
} from '../testing/running/staging-fixture.ts'
import { recover } from '../upkeep/recover.ts'
import type { AppendDeps, Appended, AppendInput } from './append-request.ts'
import { appendToUpload } from './append-to-upload.ts'
import { concatenateUploads } from './concatenate-uploads.ts'
import { createOpenUpload } from './create-open-upload.ts'
import { createOpenUploads, findOpenUpload, holderOf, OPEN_UPLOAD_MS, terminateOpenUpload } from './open-uploads.ts'

const BYTES = Buffer.from('some bytes of an upload in several requests')
const SHA256 = sha256Hex(BYTES)
const HALF = 20
const NO_BUDGET = { require: () => {}, spend: () => {}, takeBack: () => {} }

let fixture: StagingFixture
let deps: AppendDeps
let alive: Set<string>
let hashedBytes: number
beforeEach(async () => {
  fixture = await openStagingFixture()
  alive = new Set()
  hashedBytes = 0
  deps = {
    ...fixture,
    openUploads: createOpenUploads(),
    isAlive: async (id) => alive.has(id),
    newId: randomUUID,
    inlineBytes: 0,
    hashers: (wanted, sizeBytes, bill) => {
      const hasher = hashContentHere(wanted, sizeBytes, bill)
      return {
        ...hasher,
        update: (block) => {
          hashedBytes += block.length
          return hasher.update(block)
        },
      }
    },
  }
})
afterEach(() => fixture.remove())

/** What another process works with on the same data. */
const elsewhere = (instanceId = 'instance-2'): AppendDeps => ({ ...deps, instanceId, openUploads: createOpenUploads() })

async function open({
  cid = SHA256,
  kind = 'whole' as OpenUploadKind,
  sizeBytes = BYTES.length,
}: {
  cid?: string
  kind?: OpenUploadKind
  sizeBytes?: number
} = {}): Promise<string> {
  const intent = { cid, contentType: 'text/plain', filename: null }
  return (await createOpenUpload(deps, { tier: tierOf(), intent, kind, sizeBytes, metadata: '{}' })).id
}

function append(
  id: string,
  offset: number,
  bytes: Uint8Array,
  more: Partial<AppendInput> = {},
  on = deps,
): Promise<Appended> {
  return appendToUpload(on, {
    id,
    offset,
    body: Readable.from([bytes], { objectMode: false }),
    bodyBytes: bytes.length,
    tier: tierOf(),
    bill: new BodyBill({ budget: NO_BUDGET, principal: PRINCIPAL }),
    signal: new AbortController().signal,
    onReady: () => {},
    onProgress: () => {},
    ...more,
  })
}

const offsetOf = async (id: string): Promise<number> =>
  (await findOpenUpload(deps, { id, principal: PRINCIPAL })).durableBytes

async function sendAll(id: string): Promise<void> {
  await append(id, 0, BYTES.subarray(0, HALF))
  await append(id, HALF, BYTES.subarray(HALF))
}

/** What is left when the file is all there is. */
async function expectStored(): Promise<void> {
  expect(await fixture.remains()).toEqual({
    ...NOTHING_REMAINS,
    blobs: [SHA256],
    chargedBytes: BYTES.length,
    storedFiles: 1,
  })
}

describe('the bytes of an upload', () => {
  test('are hashed once while the same process sees all of them', async () => {
    await sendAll(await open())
    await expectStored()
    expect(hashedBytes).toBe(BYTES.length)
  })

  test('are read once more where another process has seen the first ones', async () => {
    const id = await open()
    await append(id, 0, BYTES.subarray(0, HALF))
    const { staged } = await append(id, HALF, BYTES.subarray(HALF), {}, elsewhere())
    expect(staged).toMatchObject({ isNew: true, file: { sha256: SHA256 } })
    await expectStored()
    expect(hashedBytes).toBe(HALF + BYTES.length)
  })

  test('are kept as far as they came when the body breaks off', async () => {
    const id = await open()
    const controller = new AbortController()
    const body = new Readable({ read: () => {} })
    const appending = append(id, 0, BYTES, { body, signal: controller.signal })
    body.push(BYTES.subarray(0, HALF))
    await new Promise((resolve) => setTimeout(resolve, 20))
    controller.abort(new Error('cut'))
    await expect(appending).rejects.toThrow('cut')
    expect(await offsetOf(id)).toBe(HALF)
    await append(id, HALF, BYTES.subarray(HALF))
    await expectStored()
    expect(hashedBytes).toBe(BYTES.length)
  })

  test('are removed with the upload, at its end and when it expires', async () => {
    const [one, other] = [await open(), await open({ cid: sha256Hex(Buffer.from('other')) })]
    for (const id of [one, other]) await append(id, 0, BYTES.subarray(0, HALF))
    expect((await fixture.remains()).reservedBytes).toBe(2 * BYTES.length)
    await terminateOpenUpload(deps, { id: one, principal: PRINCIPAL })
    expect(await fixture.remains()).toMatchObject({ reservedBytes: BYTES.length, pendingHolders: [holderOf(other)] })
    fixture.clock.now += OPEN_UPLOAD_MS
    expect(await fixture.records.openUploads.expire({ now: fixture.clock.now, limit: 10 })).toEqual([other])
    await recover({ ...deps, isAlive: async () => true })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  test('stay when processes are cleaned up after', async () => {
    const id = await open()
    await append(id, 0, BYTES.subarray(0, HALF))
    await recover({ ...deps, instanceId: 'instance-2', isAlive: async () => false })
    expect(await offsetOf(id)).toBe(HALF)
    await append(id, HALF, BYTES.subarray(HALF), {}, elsewhere())
    await expectStored()
  })

  test('error: that are gone end the upload', async () => {
    const id = await open()
    await append(id, 0, BYTES.subarray(0, HALF))
    await fixture.blobs.sweepPending(holderOf(id))
    await expect(append(id, HALF, BYTES.subarray(HALF))).rejects.toMatchObject({ code: 'not_found' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })
})

describe('the end of an upload', () => {
  test.for(['commit', 'after-commit'] as const)(
    'that fails (%s) leaves it as it was, to be ended again',
    async (fault) => {
      const id = await open()
      await append(id, 0, BYTES.subarray(0, HALF))
      fixture.blobs.fail(fault)
      await expect(append(id, HALF, BYTES.subarray(HALF))).rejects.toMatchObject({ code: 'storage_failed' })
      expect(await offsetOf(id)).toBe(HALF)
      await append(id, HALF, BYTES.subarray(HALF))
      await expectStored()
    },
  )

  test('that fails and is never ended again leaves nothing', async () => {
    const id = await open()
    fixture.blobs.fail('after-commit')
    await expect(append(id, 0, BYTES)).rejects.toMatchObject({ code: 'storage_failed' })
    await terminateOpenUpload(deps, { id, principal: PRINCIPAL })
    const due = await fixture.records.discards.pending({ instanceId: 'x', now: fixture.clock.now, limit: 10 })
    expect(due.map(({ sha256 }) => sha256)).toEqual([SHA256])
  })

  test('error: of bytes with another id ends it, and leaves nothing', async () => {
    const id = await open({ cid: sha256Hex(Buffer.from('other')) })
    await append(id, 0, BYTES.subarray(0, HALF))
    await expect(append(id, HALF, BYTES.subarray(HALF))).rejects.toMatchObject({ code: 'cid_mismatch' })
    await expect(offsetOf(id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })

  test('error: of a private upload whose caller may not have private files any more', async () => {
    const intent = { cid: SHA256, contentType: 'text/plain', filename: null, visibility: 'private' as const }
    const sizeBytes = BYTES.length
    const opening = { tier: tierOf(), intent, kind: 'whole' as const, sizeBytes, metadata: '{}' }
    const { id } = await createOpenUpload(deps, opening)
    const tier = tierOf({ rights: undefined })
    await expect(append(id, 0, BYTES, { tier })).rejects.toMatchObject({ code: 'invalid_visibility' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })
})

describe('another process that writes', () => {
  test('error: keeps others out while it lives', async () => {
    const id = await open()
    alive.add('instance-2')
    await fixture.records.openUploads.take({ id, writer: 'instance-2/x', now: fixture.clock.now })
    await expect(append(id, 0, BYTES)).rejects.toMatchObject({ code: 'upload_in_use' })
    alive.delete('instance-2')
    await append(id, 0, BYTES)
    await expectStored()
  })

  test('error: makes whoever was taken for dead fail', async () => {
    const id = await open()
    const body = new Readable({ read: () => {} })
    const appending = append(id, 0, BYTES, { body })
    body.push(BYTES.subarray(0, HALF))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await append(id, 0, BYTES.subarray(0, 3), {}, elsewhere())
    body.push(null)
    await expect(appending).rejects.toMatchObject({ code: 'not_found' })
    expect(await offsetOf(id)).toBe(3)
  })
})

describe('a concatenation', () => {
  const concatenate = (ids: readonly string[], cid: string) =>
    concatenateUploads(deps, {
      ids,
      tier: tierOf(),
      intent: { cid, contentType: 'text/plain', filename: null },
      metadata: '{}',
      bill: new BodyBill({ budget: NO_BUDGET, principal: PRINCIPAL }),
      signal: new AbortController().signal,
    })

  async function parts(): Promise<readonly string[]> {
    const ids: string[] = []
    for (const bytes of [BYTES.subarray(0, HALF), BYTES.subarray(HALF)]) {
      const id = await open({ kind: 'partial', sizeBytes: bytes.length })
      await append(id, 0, bytes)
      ids.push(id)
    }
    return ids
  }

  test('that fails leaves its parts, to be concatenated again', async () => {
    const ids = await parts()
    fixture.blobs.fail('after-commit')
    await expect(concatenate(ids, SHA256)).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await fixture.remains()).toMatchObject({ reservedBytes: BYTES.length, chargedBytes: 0 })
    await concatenate(ids, SHA256)
    await expectStored()
  })

  test('error: that has another id ends its parts', async () => {
    const ids = await parts()
    await expect(concatenate(ids, sha256Hex(Buffer.from('x')))).rejects.toMatchObject({ code: 'cid_mismatch' })
    expect(await fixture.remains()).toEqual(NOTHING_REMAINS)
  })
})
