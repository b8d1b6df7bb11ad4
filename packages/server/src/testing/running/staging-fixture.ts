import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parseContentId } from '@lade/core/content'
import { SCOPES } from '@lade/core/wire'
import { hashContentHere } from '@lade/node/hashing/content-hasher'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Moderation } from '../../moderation/moderation.ts'
import { testingModeration } from '../../moderation/testing-moderation.ts'
import { createProverStaging, type ProverStaging } from '../../placement/stage-at-prover.ts'
import { type FakeProver, openFakeProver } from '../../proving/fake-prover.ts'
import { utcDay } from '../../quotas/utc-day.ts'
import { openSqliteRecordStore } from '../../records/drivers/sqlite/sqlite-record-store.ts'
import type { FileRecord, RecordStore, Usage } from '../../records/record-store.ts'
import { newDatabase } from '../../records/testing-new-database.ts'
import { admitUpload, type UploadHead } from '../../uploads/admit-upload.ts'
import type { StagedUpload } from '../../uploads/file-commit.ts'
import { Reservations } from '../../uploads/reservations.ts'
import { type StageDeps, stageUpload } from '../../uploads/stage-upload.ts'
import type { UploadTier } from '../../uploads/upload-tier.ts'
import { type FaultyBlobStore, openFaultyBlobStore } from '../doubles/faulty-blob-store.ts'

/** Everything that the use cases need, in memory and in one SQLite file, with a clock that stands still. */
export interface StagingFixture {
  readonly records: RecordStore
  readonly blobs: FaultyBlobStore
  readonly prover: FakeProver
  /** Hands every upload that is not kept in the records to `prover`. */
  readonly proverStaging: ProverStaging
  readonly instanceId: string
  readonly reservations: Reservations
  readonly moderation: Moderation
  readonly removing: Set<string>
  /** Epoch milliseconds; to be moved by the test. */
  clock: { now: number }
  /** What the clock says. */
  now(): number
  /** Stages `bytes` in one go, as a request would. `records` may be a failing stand-in. */
  stage(bytes: Uint8Array, options?: StageOptions): Promise<StagedUpload>
  usage(principal?: string): Promise<Usage>
  /** What is left of anything anywhere: all of it empty when nothing was kept. */
  remains(): Promise<Remains>
  remove(): Promise<void>
}

export interface StageOptions {
  readonly cid?: string
  readonly tier?: Partial<UploadTier>
  readonly head?: Partial<UploadHead>
  readonly deps?: Partial<StageDeps>
  readonly body?: Readable
  readonly signal?: AbortSignal
}

export interface Remains {
  readonly blobs: readonly string[]
  readonly pendingHolders: readonly string[]
  readonly chargedBytes: number
  readonly reservedBytes: number
  readonly storedFiles: number
  readonly drift: readonly unknown[]
}

export const NOTHING_REMAINS: Remains = {
  blobs: [],
  pendingHolders: [],
  chargedBytes: 0,
  reservedBytes: 0,
  storedFiles: 0,
  drift: [],
}

export const PRINCIPAL = 'user:1'

/** A tier with room for everything, where `overrides` do not say otherwise. */
export function tierOf(overrides: Partial<UploadTier> = {}): UploadTier {
  return {
    name: 'token',
    principal: PRINCIPAL,
    owner: 'ada@example.org',
    fileBytes: 1_000_000,
    dailyBytes: 1_000_000,
    dailyFiles: 100_000,
    concurrency: 100,
    defaultTermDays: 30,
    maxTermDays: 365,
    rights: { scopes: SCOPES, isVerified: true },
    ...overrides,
  }
}

/** The head of a plain upload of `bytes` under `cid`. */
export function headOf(bytes: Uint8Array, cid = sha256Hex(bytes), overrides: Partial<UploadHead> = {}): UploadHead {
  return {
    cid: parseContentId(cid, sha256Hex),
    sizeBytes: bytes.length,
    contentType: 'text/plain',
    filename: null,
    visibility: 'public',
    termDays: undefined,
    ...overrides,
  }
}

/** Objects of any size go to the blob store, unless `deps.inlineBytes` says otherwise. */
export async function openStagingFixture(): Promise<StagingFixture> {
  const dir = mkdtempSync(join(tmpdir(), 'lade-fixture-'))
  const records = await openSqliteRecordStore({ file: newDatabase(join(dir, 'lade.db')), onFatal: () => {} })
  const blobs = openFaultyBlobStore()
  // Tests stage a few bytes.
  const prover = openFakeProver({ limits: { minimumBytes: 1 } })
  const clock = { now: Date.UTC(2026, 10, 21, 12) }
  const instanceId = 'instance-1'
  await records.instances.register({ instanceId, now: clock.now })
  let ids = 0
  const proverStaging = createProverStaging({
    records,
    blobs,
    provers: [prover],
    copies: 1,
    aggregateBelowBytes: 0,
    stage: 'sync',
    publicUrl: () => 'https://lade.example',
    now: () => clock.now,
    newId: randomUUID,
  })
  const reservations = new Reservations(records)
  const removing = new Set<string>()
  const moderation = await testingModeration(records)
  const deps: StageDeps = {
    records,
    reservations,
    moderation,
    removing,
    blobs,
    proverStaging,
    instanceId,
    now: () => clock.now,
    hashers: hashContentHere,
    inlineBytes: 0,
  }
  const usage = (principal = PRINCIPAL): Promise<Usage> => {
    const today = utcDay(clock.now)
    return records.quotas.usage({ principal, fromDay: '2000-01-01', today, now: clock.now })
  }

  return {
    records,
    blobs,
    prover,
    proverStaging,
    instanceId,
    reservations,
    moderation,
    removing,
    clock,
    now: () => clock.now,
    usage,
    async stage(bytes, { cid, tier, head, deps: overrides, body = Readable.from([bytes]), signal } = {}) {
      // What a stand-in for the records fails to return is owed by itself.
      const standIn = overrides?.records && { reservations: new Reservations(overrides.records) }
      const staging = { ...deps, ...standIn, ...overrides }
      ids += 1
      const newId = (): string => `upload-${ids}`
      const admission = await admitUpload(
        { ...staging, newId },
        { tier: tierOf(tier), head: headOf(bytes, cid, head), isStorageBound: true },
      )
      return stageUpload(staging, {
        admission,
        body,
        signal: signal ?? new AbortController().signal,
        onProgress: () => {},
        onReady: () => {},
      })
    },
    async remains() {
      const { days, reservedBytes, stored } = await usage()
      return {
        blobs: await blobs.digests(),
        pendingHolders: await blobs.pendingHolders(),
        chargedBytes: days.reduce((sum, day) => sum + day.bytes, 0),
        reservedBytes,
        storedFiles: stored.files,
        drift: await records.quotas.checkDrift(),
      }
    },
    async remove() {
      await moderation.close()
      await records.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A file record with ordinary values. */
export function fileRecordOf(overrides: Partial<FileRecord> = {}): FileRecord {
  const sha256 = 'ab'.repeat(32)
  return {
    sequence: 1,
    principal: PRINCIPAL,
    key: `sha256:${sha256}`,
    cid: sha256,
    object: overrides.sha256 ?? sha256,
    sha256,
    sizeBytes: 3,
    pieceRoot: null,
    contentType: 'text/plain',
    filename: null,
    visibility: 'public',
    owner: null,
    sponsored: true,
    verified: true,
    termDays: 7,
    uploadedAt: 0,
    expiresAt: 1000,
    endedAt: null,
    end: null,
    dealId: 'd-0x00',
    ...overrides,
  }
}
