import { createHash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { LevelCache } from '../../level-cache.ts'
import { pieceNamed } from '../../piece-name.ts'
import type { PieceBytes } from '../../piece-source.ts'
import { proveBytes } from '../../prove-bytes.ts'
import type { Prover } from '../../prover.ts'
import { readingPiece } from '../../reading-piece.ts'

/** Where the local prover reads pieces, and where it caches the levels of their trees. */
export interface LocalProverOptions {
  /** The bytes of a piece of this service; undefined for one that it does not have. */
  readonly readPiece: (request: { readonly pieceCid: string }) => Promise<PieceBytes | undefined>
  /** Where levels of the pieces' trees are found and put. @default in memory */
  readonly levels?: LevelCache
}

/**
 * The prover that is this process: what the service has, it holds.
 *
 * Parking and adding only say yes, with ids that are made of the nonce and so are the same for its repetitions. Proofs are real, made
 * of the bytes as they are in the storage at that moment: the section of 130,048 bytes that a leaf is in is read for its proof.
 *
 * @example
 * const prover = openLocalProver({ readPiece: async () => undefined })
 * await prover.add({ nonce: '00'.repeat(32), dataSetId: null, pieceCids: ['bafkzcib…'] }) // '0x…', confirmed at once
 */
export function openLocalProver({ readPiece, levels = new LevelCache() }: LocalProverOptions): Prover {
  async function find(pieceCid: string): Promise<PieceBytes> {
    const bytes = await readPiece({ pieceCid })
    if (bytes !== undefined) return bytes
    throw new LadeError('stage_failed', { reason: `The piece ${pieceCid} is not stored here.` })
  }

  return {
    name: 'local',
    isLocal: true,
    limits: { minimumBytes: 1, maximumBytes: Number.MAX_SAFE_INTEGER, piecesPerAddition: 1000 },
    auditedBy: 'proof',
    announcesBlocks: false,
    account: null,
    async park(_piece, signal) {
      signal.throwIfAborted()
    },
    async add({ nonce }) {
      return `0x${digestOf(nonce, 'transaction')}`
    },
    async progress({ nonce, dataSetId, pieceCids }) {
      const pieceIds = pieceCids.map((_, index) => numberOf(nonce, `piece ${index}`))
      return { state: 'confirmed', dataSetId: dataSetId ?? numberOf(nonce, 'data set'), pieceIds }
    },
    async remove() {
      return 'gone'
    },
    async prove({ pieceCid, seed, count }, options = {}) {
      const bytes = await find(pieceCid)
      const question = { piece: pieceNamed(pieceCid), seed, count }
      return readingPiece(() => proveBytes(bytes, question, { ...options, levels }), options.signal)
    },
    async read({ pieceCid, offset, length }) {
      const bytes = await find(pieceCid)
      return readingPiece(() => bytes.read(offset, length))
    },
    async check() {},
    async close() {},
  }
}

function digestOf(nonce: string, what: string): string {
  return createHash('sha256').update(`${nonce}\n${what}`).digest('hex')
}

/** 63 bits, so that no two additions meet. */
function numberOf(nonce: string, what: string): string {
  return (BigInt(`0x${digestOf(nonce, what).slice(0, 16)}`) >> 1n).toString()
}
