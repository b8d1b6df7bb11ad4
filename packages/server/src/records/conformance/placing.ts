import type {
  AdditionRecord,
  AuditRecord,
  CopyRecord,
  DealRecord,
  FileRecord,
  NewPiece,
  Reconciliation,
  RecordStore,
  UnreconciledPiece,
} from '../record-store.ts'
import { digestOf, NOW, pieceRootOf, stage, type Upload, upload } from './case.ts'

export const NORTH = 'north'
export const SOUTH = 'south'
export const WEST = 'west'

/** How far a copy has come. */
export type Stretch = 'pending' | 'parked' | 'adding' | 'stored' | 'proved'

const STRETCHES: readonly Stretch[] = ['pending', 'parked', 'adding', 'stored', 'proved']

/** A file's object as one piece. */
export function wholePiece({ object, sizeBytes, pieceRoot }: FileRecord): NewPiece {
  return { pieceRoot: pieceRoot ?? '', sizeBytes, object, offsetBytes: 0 }
}

/** Slices of a file's object, of which each has the digest of a word for its root. */
export function slices({ object, sizeBytes }: FileRecord, words: readonly string[]): NewPiece[] {
  const size = sizeBytes / words.length
  return words.map((word, index) => ({
    pieceRoot: pieceRootOf(word),
    sizeBytes: size,
    object,
    offsetBytes: index * size,
  }))
}

export interface EnrolOptions {
  readonly copiesWanted?: number
  /** The object as a whole where it is left out. */
  readonly pieces?: readonly NewPiece[]
  readonly now?: number
}

/** Enrols a file with its pieces; answers their numbers. */
export async function enrol(store: RecordStore, file: FileRecord, options: EnrolOptions = {}): Promise<number[]> {
  const { copiesWanted = 1, pieces = [wholePiece(file)], now = NOW } = options
  const enrolment = { file: file.sequence, copiesWanted, as: { kind: 'pieces', pieces } } as const
  await store.placements.enrol({ now, upTo: file.sequence, enrolments: [enrolment] })
  return (await dealOf(store, file)).pieces.map(({ id }) => id)
}

/** Stages a file and enrols it as one piece. */
export async function enrolled(
  store: RecordStore,
  overrides: Partial<Upload> = {},
  options: EnrolOptions = {},
): Promise<{ readonly file: FileRecord; readonly piece: number }> {
  const file = await stage(store, upload({ capBytes: 1e6, ...overrides }))
  const [piece = 0] = await enrol(store, file, options)
  return { file, piece }
}

/** Enrols files that wait to be aggregated. */
export async function enrolWaiting(store: RecordStore, files: readonly FileRecord[], copiesWanted = 1): Promise<void> {
  const enrolments = files.map(({ sequence }) => ({ file: sequence, copiesWanted, as: { kind: 'wait' } }) as const)
  await store.placements.enrol({ now: NOW, upTo: files.at(-1)?.sequence ?? 0, enrolments })
}

/** The deal of a file that is enrolled. */
export async function dealOf(store: RecordStore, file: FileRecord): Promise<DealRecord> {
  const [deal] = await store.placements.deals([file.sequence])
  if (deal === undefined) throw new Error('The file is not enrolled.')
  return deal
}

/** The status of a deal, since when and why. */
export async function dealStatus(store: RecordStore, file: FileRecord) {
  const { status, statusAt, cause } = await dealOf(store, file)
  return cause === null ? [status, statusAt - NOW] : [status, statusAt - NOW, cause]
}

export function reconcile(
  store: RecordStore,
  of: Partial<Reconciliation> & { piece: number; now?: number },
): Promise<void> {
  return store.placements.reconcile({ now: NOW, add: [], release: [], nextAt: null, failure: null, ...of })
}

export function unreconciled(store: RecordStore, now = NOW): Promise<readonly UnreconciledPiece[]> {
  return store.placements.unreconciled({ now, limit: 100 })
}

/** The numbers of the pieces to be reconciled, in their order. */
export async function unreconciledPieces(store: RecordStore, now = NOW): Promise<number[]> {
  return (await unreconciled(store, now)).map(({ piece }) => piece.id)
}

/** Reconciles every piece as it is. */
export async function reconcileAll(store: RecordStore, now = NOW): Promise<void> {
  for (const piece of await unreconciledPieces(store, now)) await reconcile(store, { piece, now })
}

/** The latest copy of a file's first piece at this prover. */
export async function copyAt(store: RecordStore, file: FileRecord, prover: string): Promise<CopyRecord> {
  const { pieces } = await dealOf(store, file)
  const copy = pieces[0]?.copies.findLast((one) => one.prover === prover)
  if (copy === undefined) throw new Error(`There is no copy at ${prover}.`)
  return copy
}

/** Gives a prover a copy of a piece and takes it as far as this; `file` is one that the piece is the first of. */
export async function place(
  store: RecordStore,
  of: { readonly file: FileRecord; readonly piece: number; readonly prover: string; readonly as: Stretch },
  now = NOW,
): Promise<CopyRecord> {
  const { file, piece, prover } = of
  const length = STRETCHES.indexOf(of.as)
  await reconcile(store, { piece, add: [prover], now })
  const { id: copy } = await copyAt(store, file, prover)
  if (length >= 1) await store.placements.parked({ copy, now })
  const addition = length >= 2 ? await openAddition(store, prover, [copy], now) : undefined
  if (length >= 3 && addition !== undefined) await confirm(store, addition, now)
  if (length >= 4) await audit(store, copy, { at: now })
  return copyAt(store, file, prover)
}

/** Stages and enrols a file whose only piece a prover has, as far as this. */
export async function placedFile(
  store: RecordStore,
  as: Stretch,
  overrides: Partial<Upload> = {},
): Promise<{ readonly file: FileRecord; readonly piece: number; readonly copy: number }> {
  const { file, piece } = await enrolled(store, overrides)
  const { id: copy } = await place(store, { file, piece, prover: NORTH, as })
  return { file, piece, copy }
}

/** Opens an addition to the data set `set of <prover>`, which must go well. */
export async function openAddition(
  store: RecordStore,
  prover: string,
  copies: readonly number[],
  now = NOW,
): Promise<AdditionRecord> {
  const request = { prover, nonce: digestOf(`${prover} ${copies.join()}`), dataSetId: `set of ${prover}`, copies, now }
  const addition = await store.placements.openAddition(request)
  if (addition === undefined) throw new Error('None of the copies is parked.')
  return addition
}

/** Confirms an addition under the ids `id of <copy>`. */
export function confirm(store: RecordStore, { id, prover, copies }: AdditionRecord, now = NOW): Promise<void> {
  const pieceIds = copies.map(({ copy }) => `id of ${copy.id}`)
  return store.placements.additionConfirmed({ addition: id, dataSetId: `set of ${prover}`, pieceIds, now })
}

export interface AuditOverrides extends Partial<AuditRecord> {
  readonly nextAt?: number
  readonly isFinal?: boolean
  readonly isRetrievable?: boolean
  readonly revision?: number | undefined
}

/** Records an audit of a copy, one that passed where nothing else is said. */
export function audit(store: RecordStore, copy: number, overrides: AuditOverrides = {}): Promise<boolean> {
  const { nextAt = NOW, isFinal = false, isRetrievable = false, at = NOW, passed = true } = overrides
  const { cause = passed ? null : 'no proof', proof = null, revision } = overrides
  const seed = overrides.seed ?? digestOf('seed')
  const request = { audit: { copy, at, seed, passed, cause, proof }, nextAt, isFinal, isRetrievable }
  return store.placements.audited({ ...request, ...(revision !== undefined && { revision }) })
}
