import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pieceCidOf } from '@lade/core/content'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import { type FakeProver, type FakeProverOptions, openFakeProver } from '../proving/fake-prover.ts'
import type { Prover } from '../proving/prover.ts'
import { openSqliteRecordStore } from '../records/drivers/sqlite/sqlite-record-store.ts'
import { createLeaseholder } from '../records/leaseholder.ts'
import type {
  DagCommit,
  DealRecord,
  FileRecord,
  PieceRecord,
  RecordStore,
  Visibility,
} from '../records/record-store.ts'
import { newDatabase } from '../records/testing-new-database.ts'
import { memoryLog } from '../testing/running/running-service.ts'
import { createPlacementJob, PLACEMENT_LEASE, type PlacementJob, type PlacementJobDeps } from './placement-job.ts'

const PRINCIPAL = 'user:1'
const DAY = '2026-11-21'
const YEAR_MS = 365 * 24 * 3_600_000

/** Files in one SQLite file and a blob store in memory, provers that do as they are told, and a clock that the test moves. */
export interface PlacementFixture {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly clock: { now: number }
  readonly log: Logger
  readonly logLines: string[]
  /** Records a live file of these bytes. */
  put(bytes: Uint8Array, options?: PutOptions): Promise<FileRecord>
  /** Ends a file; its bytes are removed with the last file that needs them. */
  remove(file: FileRecord): Promise<void>
  deal(file: FileRecord): Promise<DealRecord>
  /** A job with a quick schedule; it ends with the fixture. */
  job(provers: readonly Prover[], overrides?: JobOptions): PlacementJob
  /** Rounds, `stepMs` of the clock apart, until `forMs` are over. */
  pass(job: PlacementJob, forMs?: number, stepMs?: number): Promise<void>
  close(): Promise<void>
}

/** What a test may have otherwise. */
export interface JobOptions extends Partial<PlacementJobDeps> {
  /** @default those of the fixture */
  readonly records?: RecordStore
  /** Of the process that the job is in. @default 'instance-1' */
  readonly instanceId?: string
}

export interface PutOptions {
  readonly visibility?: Visibility
  readonly principal?: string
  /** True keeps the bytes in the blob store, whatever their size. @default false */
  readonly isBlob?: boolean
  /** True for a file whose piece was never computed. @default false */
  readonly isUnhashed?: boolean
  readonly expiresInMs?: number
  /** The DAGs that the bytes were imported as. @default none */
  readonly dags?: readonly DagCommit[]
}

export async function openPlacementFixture(): Promise<PlacementFixture> {
  const dir = mkdtempSync(join(tmpdir(), 'lade-placement-'))
  const records = await openSqliteRecordStore({ file: newDatabase(join(dir, 'lade.db')), onFatal: () => {} })
  const blobs = openMemoryBlobStore()
  const clock = { now: Date.UTC(2026, 10, 21, 12) }
  const now = (): number => clock.now
  const logLines: string[] = []
  const log = memoryLog(logLines)
  const jobs: PlacementJob[] = []
  let ids = 0

  async function keepBlob(bytes: Uint8Array): Promise<void> {
    const pending = await blobs.begin({ holder: 'fixture', sizeBytes: bytes.length })
    await pending.write(bytes)
    await pending.commit(sha256Hex(bytes))
  }

  return {
    records,
    blobs,
    clock,
    log,
    logLines,
    async put(bytes, options = {}) {
      const { visibility = 'public', principal = PRINCIPAL, isBlob = false, expiresInMs = YEAR_MS, dags = [] } = options
      const sha256 = sha256Hex(bytes)
      const { root, subtreeRoots } = pieceHashing.whole(bytes)
      if (isBlob) await keepBlob(bytes)
      ids += 1
      const sizeBytes = bytes.length
      const { now } = clock
      const key = `sha256:${sha256}`
      const capBytes = Number.MAX_SAFE_INTEGER
      const recorded = await records.quotas.commitAtOnce({
        admit: { principal, day: DAY, key, sizeBytes, capBytes, capFiles: capBytes, maxInFlight: 1000, now },
        commit: {
          now,
          inline: isBlob ? undefined : bytes,
          content: { pieceRoot: hexOf(root), pieceSubtreeRoots: subtreeRoots, aliases: [], dags },
          file: {
            principal,
            key,
            cid: sha256,
            sha256,
            sizeBytes,
            contentType: 'text/plain',
            filename: null,
            visibility,
            owner: null,
            sponsored: false,
            verified: true,
            termDays: 365,
            uploadedAt: now,
            expiresAt: now + expiresInMs,
            dealId: `d-0x${ids}`,
          },
        },
      })
      if (!('file' in recorded)) throw new Error(`the file was not recorded: ${recorded.outcome}`)
      return recorded.file
    },
    async remove({ principal, key }) {
      await records.files.remove({ principal, key, now: clock.now })
      const now = clock.now
      for (const blob of await records.discards.pending({ instanceId: 'fixture', now, limit: 1000 })) {
        if (!(await records.discards.begin({ ...blob, instanceId: 'fixture', now }))) continue
        await blobs.delete(blob)
        await records.discards.finish({ ...blob, instanceId: 'fixture' })
      }
    },
    async deal({ sequence }) {
      const [deal] = await records.placements.deals([sequence])
      if (deal === undefined) throw new Error(`file ${sequence} is not enrolled`)
      return deal
    },
    job(provers, { records: own = records, instanceId: holder = 'instance-1', ...overrides } = {}) {
      const job = createPlacementJob({
        leaseholder: createLeaseholder({ records: own, ...PLACEMENT_LEASE, holder, now }),
        blobs,
        provers,
        log,
        now,
        sourceUrl: (pieceCid) => `https://stage.example/piece/${pieceCid}`,
        copies: 1,
        aggregateBelowBytes: 0,
        aggregateSeconds: 60,
        auditSeconds: 86_400,
        ...overrides,
      })
      jobs.push(job)
      return job
    },
    async pass(job, forMs = 60_000, stepMs = 10_000) {
      const end = clock.now + forMs
      while (clock.now < end) {
        await job.round()
        clock.now += stepMs
      }
    },
    async close() {
      for (const job of jobs) await job.stop()
      await records.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Provers of these names, with the limits of the network unless `options` say otherwise. */
export function fakeProvers(names: readonly string[], options: FakeProverOptions = {}): FakeProver[] {
  return names.map((name) => openFakeProver({ name: `https://${name}.example`, ...options }))
}

/** How often a piece stands in the data sets of these provers. */
export function timesListed(
  provers: readonly FakeProver[],
  piece: Pick<PieceRecord, 'pieceRoot' | 'sizeBytes'>,
): number {
  const pieceCid = pieceCidOf(piece)
  return provers.flatMap(({ dataSets }) => [...dataSets.values()].flat()).filter((listed) => listed === pieceCid).length
}

/** The provers that have a proved copy of each piece of a deal. */
export function provedAt({ pieces }: DealRecord): string[][] {
  return pieces.map(({ copies }) =>
    copies.filter(({ endedAt, provedAt }) => endedAt === null && provedAt !== null).map(({ prover }) => prover),
  )
}
