import { setTimeout as sleep } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import { pieceCidV2 } from '@lade/core/piece'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { pieceNamed } from './piece-name.ts'
import { proveBytes } from './prove-bytes.ts'
import type { Addition, PieceToPark, Prover, ProverLimits, StoredPiece } from './prover.ts'

const RETRY_AFTER_SECONDS = 5

/** What goes wrong with a fake prover. Everything may be set, and set back, at any time. */
export interface ProverScript {
  /** True: nothing is answered. @default false */
  isUnreachable: boolean
  /** How long every answer takes, in milliseconds. @default 0 */
  delayMs: number
  /** True: what is proven and read is not what was parked. @default false */
  liesAboutBytes: boolean
  /** How often `progress` says `pending` first. @default 0 */
  pendingTurns: number
  /** Additions that are asked for from now on are rejected, for this reason. @default undefined */
  rejectAdditions: string | undefined
  /** So many calls from now on have their effect and fail all the same. @default 0 */
  lostAnswers: number
}

/** A call that a fake prover saw, in the order of `calls`. */
export type ProverCall =
  | { readonly method: 'park'; readonly pieceCid: string; readonly sizeBytes: number; readonly sourceUrl: string }
  | { readonly method: 'add'; readonly addition: Addition }
  | { readonly method: 'progress'; readonly addition: Addition; readonly transaction: string }
  | { readonly method: 'remove'; readonly piece: StoredPiece }
  | { readonly method: 'prove'; readonly pieceCid: string; readonly count: number }
  | { readonly method: 'read'; readonly pieceCid: string; readonly offset: number; readonly length: number }
  | { readonly method: 'check' }

/** A prover for tests: holds pieces in memory as a real one holds them on its disk, and fails on demand. */
export interface FakeProver extends Prover {
  readonly calls: readonly ProverCall[]
  readonly script: ProverScript
  /** The bytes of each parked piece. */
  readonly parked: ReadonlyMap<string, Uint8Array>
  /** Pieces of each data set, by id; a piece that was removed is null. */
  readonly dataSets: ReadonlyMap<string, readonly (string | null)[]>
  /** Refuses the next park for good, with this reason. */
  refuseNext(reason: string): void
  /** Has not got the bytes of a piece any more. */
  lose(pieceCid: string): void
  /** Ends every addition that is pending: confirmed, or rejected where there is a reason. */
  settle(rejectedFor?: string): void
}

export interface FakeProverOptions {
  /** @default reference */
  readonly name?: string
  readonly limits?: Partial<ProverLimits>
  readonly auditedBy?: Prover['auditedBy']
  readonly account?: string
  readonly announcesBlocks?: boolean
}

interface KnownAddition {
  readonly transaction: string
  readonly dataSetId: string
  readonly pieceIds: readonly string[]
  rejectedFor: string | undefined
  turnsLeft: number
}

/**
 * @example
 * const prover = openFakeProver({ name: 'https://one.example' })
 * prover.script.isUnreachable = true
 * await prover.check() // rejects with stage_failed
 */
export function openFakeProver(options: FakeProverOptions = {}): FakeProver {
  const { name = 'reference', auditedBy = 'proof', account = null, announcesBlocks = false } = options
  const limits = { minimumBytes: 127, maximumBytes: 1_065_353_216, piecesPerAddition: 40, ...options.limits }
  const calls: ProverCall[] = []
  const refusals: string[] = []
  const parked = new Map<string, Uint8Array>()
  const dataSets = new Map<string, (string | null)[]>()
  const additions = new Map<string, KnownAddition>()
  const script: ProverScript = {
    isUnreachable: false,
    delayMs: 0,
    liesAboutBytes: false,
    pendingTurns: 0,
    rejectAdditions: undefined,
    lostAnswers: 0,
  }

  async function answer<Result>(call: ProverCall, act: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    calls.push(call)
    signal?.throwIfAborted()
    if (script.delayMs > 0) await sleep(script.delayMs)
    signal?.throwIfAborted()
    if (script.isUnreachable) throw silent()
    const result = await act()
    if (script.lostAnswers === 0) return result
    script.lostAnswers -= 1
    throw silent()
  }

  async function take(piece: PieceToPark, signal: AbortSignal): Promise<void> {
    const reason = refusals.shift()
    if (reason !== undefined) throw refused(reason)
    const { pieceCid, sizeBytes, chunks } = piece
    if (sizeBytes < limits.minimumBytes) throw refused('The piece is too small.')
    if (sizeBytes > limits.maximumBytes) throw refused('The piece is too big.')
    if (parked.has(pieceCid)) return
    const bytes = await gather(chunks(), signal)
    if (pieceCidV2(pieceHashing.whole(bytes)) !== pieceCid) throw refused('The bytes are not those of the piece.')
    parked.set(pieceCid, bytes)
  }

  function addOnce({ nonce, dataSetId, pieceCids }: Addition): string {
    const known = additions.get(nonce)
    if (known !== undefined) return known.transaction
    const missing = pieceCids.find((pieceCid) => !parked.has(pieceCid))
    if (missing !== undefined) throw refused(`The piece ${missing} is not parked.`)
    if (dataSetId !== null && !dataSets.has(dataSetId)) throw refused('There is no such data set.')
    const id = dataSetId ?? String(dataSets.size + 1)
    const rejectedFor = script.rejectAdditions
    const pieces = dataSets.get(id) ?? []
    const pieceIds = pieceCids.map((_, index) => String(pieces.length + index))
    if (rejectedFor === undefined) dataSets.set(id, [...pieces, ...pieceCids])
    const transaction = `0x${nonce}`
    additions.set(nonce, { transaction, dataSetId: id, pieceIds, rejectedFor, turnsLeft: script.pendingTurns })
    return transaction
  }

  function forget({ dataSetId, pieceIds }: KnownAddition): void {
    const pieces = dataSets.get(dataSetId)?.map((piece, id) => (pieceIds.includes(String(id)) ? null : piece))
    if (pieces !== undefined) dataSets.set(dataSetId, pieces)
  }

  function bytesOf(pieceCid: string): Uint8Array {
    const bytes = parked.get(pieceCid)
    if (bytes === undefined) throw refused('The piece is not here.')
    return script.liesAboutBytes ? bytes.map((byte) => byte ^ 1) : bytes
  }

  return {
    name,
    isLocal: false,
    limits,
    auditedBy,
    announcesBlocks,
    account,
    calls,
    script,
    parked,
    dataSets,
    refuseNext: (reason) => void refusals.push(reason),
    lose: (pieceCid) => void parked.delete(pieceCid),
    settle(rejectedFor) {
      for (const addition of [...additions.values()].filter(({ turnsLeft }) => turnsLeft > 0)) {
        addition.turnsLeft = 0
        addition.rejectedFor ??= rejectedFor
        if (rejectedFor !== undefined) forget(addition)
      }
    },
    park(piece, signal) {
      const { pieceCid, sizeBytes, sourceUrl } = piece
      return answer({ method: 'park', pieceCid, sizeBytes, sourceUrl }, () => take(piece, signal), signal)
    },
    add: (addition) => answer({ method: 'add', addition }, async () => addOnce(addition)),
    progress({ transaction, ...addition }) {
      return answer({ method: 'progress', addition, transaction }, async () => {
        const known = additions.get(addition.nonce)
        if (known?.transaction !== transaction) throw refused('There is no such addition.')
        if (known.turnsLeft > 0) {
          known.turnsLeft -= 1
          return { state: 'pending' }
        }
        const { dataSetId, pieceIds, rejectedFor } = known
        if (rejectedFor !== undefined) return { state: 'rejected', reason: rejectedFor }
        return { state: 'confirmed', dataSetId, pieceIds }
      })
    },
    remove({ nonce: _, ...piece }) {
      return answer({ method: 'remove', piece }, async () => {
        const pieces = dataSets.get(piece.dataSetId)
        const at = Number(piece.pieceId)
        if (pieces?.[at] == null) return 'gone'
        pieces[at] = null
        return 'asked'
      })
    },
    prove({ pieceCid, sizeBytes, seed, count }, options) {
      return answer({ method: 'prove', pieceCid, count }, async () => {
        const bytes = bytesOf(pieceCid)
        const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length)
        return proveBytes({ sizeBytes, read }, { piece: pieceNamed(pieceCid), seed, count }, options)
      })
    },
    read({ pieceCid, offset, length }) {
      return answer({ method: 'read', pieceCid, offset, length }, async () => {
        const bytes = bytesOf(pieceCid)
        if (offset + length > bytes.length) throw refused('The range is not in the piece.')
        return bytes.slice(offset, offset + length)
      })
    },
    check: () => answer({ method: 'check' }, async () => {}),
    async close() {},
  }
}

async function gather(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Uint8Array> {
  const gathered: Uint8Array[] = []
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    // The chunk is its sender's again with the next one.
    gathered.push(new Uint8Array(chunk))
  }
  return Buffer.concat(gathered)
}

function refused(reason: string): LadeError {
  return new LadeError('stage_failed', { reason })
}

function silent(): LadeError {
  return new LadeError('stage_failed', {
    reason: 'The prover does not respond.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
