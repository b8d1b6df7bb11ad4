import { createHash, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type {
  AskingToken,
  AtOnceOutcome,
  CommitOutcome,
  ContentFacts,
  FileCommit,
  FileRecord,
  Placement,
  RecordStore,
  ReserveOutcome,
} from '../record-store.ts'

export const DAY = '2026-11-21'
export const NOW = Date.UTC(2026, 10, 21, 12)
export const HOUR = 3_600_000
export const WEEK = 7 * 24 * HOUR
export const ALICE = 'user:alice'
export const BOB = 'user:bob'

/**
 * One upload, from its reservation to its commit. Content is a word, its digest is the digest of that word, and its piece
 * root that of the word with `piece of ` before it.
 */
export interface Upload {
  readonly content: string
  readonly key: string
  readonly principal: string
  readonly instanceId: string
  readonly day: string
  readonly now: number
  readonly leaseUntil: number
  readonly sizeBytes: number
  readonly capBytes: number
  readonly capFiles: number
  readonly capStoredBytes: number | undefined
  readonly token: AskingToken | undefined
  readonly maxInFlight: number
  readonly expiresAt: number
  readonly inline: Uint8Array | undefined
  /** Digests of its chunks, for a blob of several. */
  readonly chunkDigests: Uint8Array | undefined
  /** What verification learned, where it is not the usual. */
  readonly facts: Partial<ContentFacts>
  readonly filename: string | null
  readonly contentType: string
  readonly visibility: 'public' | 'private'
  readonly sponsored: boolean
  readonly claimDigest: string | undefined
  readonly placement: Placement | undefined
  /** Which put of the bytes the blob store has. */
  readonly put: string
  readonly replacedUntil: number | undefined
}

export function upload(overrides: Partial<Upload> = {}): Upload {
  const content = overrides.content ?? 'hello'
  return {
    content,
    key: `sha256:${digestOf(content)}`,
    principal: ALICE,
    instanceId: 'instance-a',
    day: DAY,
    now: NOW,
    leaseUntil: NOW + HOUR,
    sizeBytes: 100,
    capBytes: 1_000,
    capFiles: 100_000,
    capStoredBytes: undefined,
    token: undefined,
    maxInFlight: 1_000,
    expiresAt: NOW + WEEK,
    inline: undefined,
    chunkDigests: undefined,
    facts: {},
    filename: null,
    contentType: 'text/plain',
    visibility: 'public',
    sponsored: false,
    claimDigest: undefined,
    placement: undefined,
    put: '',
    replacedUntil: undefined,
    ...overrides,
  }
}

export function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

export function pieceRootOf(content: string): string {
  return digestOf(`piece of ${content}`)
}

export async function tryReserve(
  store: RecordStore,
  of: Upload & { readonly grows?: boolean },
): Promise<{ id: string; reserved: ReserveOutcome }> {
  const id = randomUUID()
  const reserved = await store.quotas.reserve({ ...of, reservationId: id })
  return { id, reserved }
}

export async function reserve(store: RecordStore, of: Upload): Promise<string> {
  const { id, reserved } = await tryReserve(store, of)
  expect(reserved.outcome).toBe('reserved')
  return id
}

export function claim(store: RecordStore, reservationId: string, of: Upload) {
  return store.quotas.claim({ reservationId, key: of.key, sha256: digestOf(of.content), put: of.put })
}

export function commit(store: RecordStore, reservationId: string, of: Upload): Promise<CommitOutcome> {
  return store.quotas.commit({ reservationId, ...fileCommitOf(of, `d-0x${reservationId}`) })
}

export function commitAtOnce(store: RecordStore, of: Upload): Promise<AtOnceOutcome> {
  return store.quotas.commitAtOnce({ admit: of, commit: fileCommitOf(of, `d-0x${randomUUID()}`) })
}

/** What an upload commits. */
export function fileCommitOf(of: Upload, dealId: string): FileCommit {
  return {
    now: of.now,
    inline: of.inline,
    chunkDigests: of.chunkDigests,
    put: of.put,
    replacedUntil: of.replacedUntil,
    placement: of.placement,
    content: {
      pieceRoot: pieceRootOf(of.content),
      pieceSubtreeRoots: new Uint8Array(),
      aliases: [],
      dags: [],
      ...of.facts,
    },
    file: {
      principal: of.principal,
      key: of.key,
      cid: `cid-of-${of.content}`,
      sha256: digestOf(of.content),
      sizeBytes: of.sizeBytes,
      contentType: of.contentType,
      filename: of.filename,
      visibility: of.visibility,
      owner: `${of.principal}@example.org`,
      sponsored: of.sponsored,
      claimDigest: of.claimDigest,
      verified: true,
      termDays: 7,
      uploadedAt: of.now,
      expiresAt: of.expiresAt,
      dealId,
    },
  }
}

/** Reserve, claim and commit, all of which must go well. */
export async function stage(store: RecordStore, of: Upload): Promise<FileRecord> {
  const id = await reserve(store, of)
  if (of.inline === undefined) expect(await claim(store, id, of)).toMatchObject({ outcome: 'claimed' })
  const committed = await commit(store, id, of)
  if (committed.outcome !== 'recorded') throw new Error(`The upload ended as ${committed.outcome}.`)
  return committed.file
}

/** Stages the content, ends it, and leaves its bytes as a pending discard. */
export async function stageAndRemove(store: RecordStore, of: Upload): Promise<void> {
  await stage(store, of)
  await store.files.remove({ principal: of.principal, key: of.key, now: of.now })
}

/** What `/p/` answers anybody: the word that is served and how, or why none is. */
export async function served(store: RecordStore, key: string, principal?: string): Promise<string> {
  const serving = await store.files.serving({ key, now: NOW, ...(principal === undefined ? {} : { principal }) })
  switch (serving.outcome) {
    case 'found':
      return `${serving.file.cid.slice('cid-of-'.length)} as ${serving.view}`
    case 'gone':
      return serving.end
    default:
      return serving.outcome
  }
}

/** The digests that are due to be removed, whichever put of them. */
export async function pending(store: RecordStore, now = NOW + 2 * WEEK): Promise<readonly string[]> {
  const due = await store.discards.pending({ instanceId: 'somebody', now, limit: 100 })
  return due.map(({ sha256 }) => sha256)
}

/** The charge, the reservations and the stored bytes of a principal on the suite's day. */
export async function account(store: RecordStore, principal = ALICE) {
  const usage = await store.quotas.usage({ principal, fromDay: DAY, today: DAY, now: NOW })
  return { charged: usage.days[0]?.bytes ?? 0, reserved: usage.reservedBytes, stored: usage.stored.bytes }
}

/** How a day answers that has no such number of bytes left. */
export function overBytes(used: number, limit = 1_000): ReserveOutcome {
  return { outcome: 'over_quota', usedBytes: used, over: { unit: 'bytes', used, limit } }
}

/** How a day answers that has no file left. */
export function overFiles(usedBytes: number, used: number): ReserveOutcome {
  return { outcome: 'over_quota', usedBytes, over: { unit: 'files', used, limit: used } }
}

export function counted<Item extends { readonly outcome: string }>(items: readonly Item[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of items) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

export function times<Value>(count: number, run: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => run(index))
}

/** How an area declares its cases. Each case has an empty store of its own, which the suite discards. */
export interface Cases {
  it(title: string, run: (store: RecordStore) => Promise<void>): void
  /** With another handle on the same data, which the suite closes. Skipped without `openSecond`. */
  itWithTwo(title: string, run: (store: RecordStore, other: RecordStore) => Promise<void>): void
  /** `restart` closes the store and gives the one that took its place. Skipped without `reopen`. */
  itAcrossRestart(title: string, run: (store: RecordStore, restart: () => Promise<RecordStore>) => Promise<void>): void
  /** `breakNow` makes the medium fail from the next call on. Skipped without `breakNext`. */
  itBroken(title: string, run: (store: RecordStore, breakNow: () => void) => Promise<void>): void
}
