import { pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { PieceToPark, Prover } from '../proving/prover.ts'
import type { NewPiece, Placement, RecordStore, Visibility } from '../records/record-store.ts'
import { cutPieces } from './cut-pieces.ts'

/** Longer than a prover may take to fetch a piece. */
const OFFER_MS = 3_600_000

/** What uploads need of provers. */
export interface ProverStaging {
  /** True when an upload is answered only after a prover has its bytes. */
  isNeeded(upload: { readonly sizeBytes: number | undefined; readonly visibility: Visibility | undefined }): boolean
  /**
   * Stages published bytes at a prover: the first that takes them all.
   *
   * @throws {LadeError} `stage_failed` when every prover refuses or none answers; the reason of `signal`.
   */
  stageAtProver(bytes: BytesToStage, signal: AbortSignal): Promise<Placement>
}

/** A file that is handed to a prover while it is uploaded. */
export interface BytesToStage {
  readonly sha256: string
  readonly sizeBytes: number
  readonly pieceRoot: string
  readonly pieceSubtreeRoots: Uint8Array
}

export interface ProverStagingDeps {
  readonly records: Pick<RecordStore, 'offers'>
  readonly blobs: BlobStore | undefined
  readonly provers: readonly Prover[]
  /** How many copies a file gets. */
  readonly copies: number
  /** Smaller files are aggregated later and answered at once. */
  readonly aggregateBelowBytes: number
  /** `async`: no upload waits for a prover. */
  readonly stage: 'sync' | 'async'
  readonly publicUrl: () => string
  readonly now: () => number
  readonly newId: () => string
}

/** Stages uploads at the provers that are not this process, which has everything already. */
export function createProverStaging(deps: ProverStagingDeps): ProverStaging {
  const network = deps.provers.filter(({ isLocal }) => !isLocal)
  let turn = 0

  async function stageAtProver(bytes: BytesToStage, signal: AbortSignal): Promise<Placement> {
    const { sha256: object } = bytes
    const failures: LadeError<'stage_failed'>[] = []
    turn += 1
    for (const index of network.keys()) {
      const prover = network[(turn + index) % network.length]
      if (prover === undefined) continue
      try {
        const pieces = cutPieces({ ...bytes, object }, prover.limits.maximumBytes)
        for (const piece of pieces) await park(deps, prover, piece, signal)
        return { copiesWanted: deps.copies, pieces, parkedAt: [prover.name] }
      } catch (error) {
        signal.throwIfAborted()
        if (!LadeError.has(error, 'stage_failed')) throw error
        failures.push(error)
      }
    }
    throw worthTrying(failures)
  }

  return {
    isNeeded: ({ sizeBytes, visibility }) =>
      network.length > 0 &&
      deps.stage === 'sync' &&
      visibility !== 'private' &&
      (sizeBytes ?? Infinity) >= deps.aggregateBelowBytes,
    stageAtProver,
  }
}

/** What the caller hears: a refusal for good, unless coming again could help. */
function worthTrying(failures: readonly LadeError<'stage_failed'>[]): LadeError<'stage_failed'> {
  const temporary = failures.find(({ evidence }) => evidence.retryAfterSeconds !== undefined)
  return temporary ?? failures[0] ?? new LadeError('stage_failed', { reason: 'No prover is configured.' })
}

/** The offer lets a prover that fetches pieces find this one, which nobody has recorded yet. */
async function park(deps: ProverStagingDeps, prover: Prover, piece: NewPiece, signal: AbortSignal): Promise<void> {
  const id = deps.newId()
  const { offers } = deps.records
  await offers.open({ id, ...piece, until: deps.now() + OFFER_MS })
  try {
    await prover.park(pieceToPark(deps, piece), signal)
  } finally {
    await offers.close(id)
  }
}

function pieceToPark({ blobs, publicUrl }: ProverStagingDeps, piece: NewPiece): PieceToPark {
  const pieceCid = pieceCidOf(piece)
  return {
    pieceCid,
    sizeBytes: piece.sizeBytes,
    sourceUrl: `${publicUrl()}/piece/${pieceCid}`,
    async *chunks() {
      const body = await blobs?.open(piece.object)
      if (body === undefined) throw new LadeError('storage_failed', { retryAfterSeconds: 5 })
      try {
        yield* body.chunks({ offset: piece.offsetBytes, length: piece.sizeBytes })
      } finally {
        await body.close()
      }
    },
  }
}
