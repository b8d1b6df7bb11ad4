import { randomUUID } from 'node:crypto'
import type { CompositionOutcome, ContentFacts, FileRecord, RecordStore } from '../record-store.ts'
import { ALICE, DAY, digestOf, NOW, pieceRootOf, stage, times, type Upload, upload, WEEK } from './case.ts'

/** One composition. As with uploads, content is a word; here it is that of the whole. */
export interface Composition {
  readonly content: string
  readonly key: string
  readonly principal: string
  readonly now: number
  readonly sizeBytes: number
  readonly capBytes: number
  readonly expiresAt: number
  readonly capFiles: number
  readonly visibility: 'public' | 'private'
  readonly claimDigest: string | undefined
  /** True when the whole was read, so that its digest is known. */
  readonly isRead: boolean
  /** What verification learned, where it is not the usual. */
  readonly facts: Partial<ContentFacts>
}

/** The root that `whole` has as a UnixFS file. */
export const WHOLE_ROOT = `dag-pb:${digestOf('root of whole')}`

/** What `whole` of `sizeBytes` is called while nobody has read it. */
export const handleOf = (content: string, sizeBytes: number): string => `piece:${pieceRootOf(content)}:${sizeBytes}`

export function compose(
  store: RecordStore,
  parts: readonly FileRecord[],
  overrides: Partial<Composition> = {},
): Promise<CompositionOutcome> {
  const content = overrides.content ?? 'whole'
  const key = overrides.key ?? WHOLE_ROOT
  const of: Composition = {
    content,
    key,
    principal: ALICE,
    now: NOW,
    sizeBytes: parts.reduce((sum, part) => sum + part.sizeBytes, 0),
    capBytes: 1_000_000,
    expiresAt: NOW + WEEK,
    visibility: 'public',
    claimDigest: undefined,
    isRead: false,
    capFiles: 100_000,
    facts: key.startsWith('dag-pb:') ? { aliases: [{ key, view: 'bytes' }] } : {},
    ...overrides,
  }
  return store.compositions.commit({
    now: of.now,
    day: DAY,
    capBytes: of.capBytes,
    capFiles: of.capFiles,
    content: {
      pieceRoot: pieceRootOf(content),
      pieceSubtreeRoots: new Uint8Array(),
      aliases: [],
      dags: [],
      ...of.facts,
    },
    parts: parts.map(({ sequence }) => sequence),
    file: {
      principal: of.principal,
      key,
      cid: `cid-of-${content}`,
      sha256: of.isRead ? digestOf(content) : null,
      sizeBytes: of.sizeBytes,
      contentType: 'video/mp4',
      filename: 'whole.mp4',
      visibility: of.visibility,
      owner: `${of.principal}@example.org`,
      sponsored: false,
      claimDigest: of.claimDigest,
      verified: true,
      termDays: 7,
      uploadedAt: of.now,
      expiresAt: of.expiresAt,
      dealId: `d-0x${randomUUID()}`,
    },
  })
}

/** As `compose`, which must go well. */
export async function composed(...args: Parameters<typeof compose>): Promise<FileRecord> {
  const outcome = await compose(...args)
  if (outcome.outcome !== 'recorded') throw new Error(`The composition ended as ${outcome.outcome}.`)
  return outcome.file
}

/** Stages `part 0`, `part 1` and so on, of 100 bytes each. */
export async function stageParts(
  store: RecordStore,
  count = 2,
  overrides: Partial<Upload> = {},
): Promise<FileRecord[]> {
  const parts: FileRecord[] = []
  for (const one of times(count, (index) => upload({ content: `part ${index}`, capBytes: 1_000_000, ...overrides }))) {
    parts.push(await stage(store, one))
  }
  return parts
}

/** The words of the parts that an object is composed of, in order. */
export async function partsOf(store: RecordStore, object: string, words: readonly string[]): Promise<string[]> {
  const parts = await store.compositions.partsOf(object)
  return parts.map((part) => words.find((word) => digestOf(word) === part.object) ?? part.object)
}
