import * as z from 'zod'
import { bytesField, cidField, cidText } from './fields.ts'

/** The most cids in the query of `GET /api/piece-cids`. */
export const MAX_PIECE_CIDS_PER_QUERY = 100
/** The most cids in the body of `POST /api/piece-cids`. */
export const MAX_PIECE_CIDS_PER_BODY = 1000
/** Enough for that many of the longest cids; other JSON bodies are smaller. */
export const MAX_PIECE_CIDS_BODY_BYTES = 131_072

export const pieceCidsQuery = z.object({
  cid: z
    .array(cidText)
    .meta({ minItems: 1, maxItems: MAX_PIECE_CIDS_PER_QUERY })
    .describe(`Repeatable, up to ${MAX_PIECE_CIDS_PER_QUERY} times`),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

// How many there may be is checked by hand, to be refused by the same code in both forms.
export const pieceCidsRequest = z.object({
  cids: z.array(cidText).meta({ minItems: 1, maxItems: MAX_PIECE_CIDS_PER_BODY }),
})

export const findPieceQuery = z.object({ pieceCid: cidText.describe('A piece CID of version 1 or 2') })

/** What a Curio provider answers, by which clients of the network ask whether a piece is there. */
export const findPieceResult = z.object({ pieceCid: z.string().describe('Piece CID v2') })

export const pieceCidsItem = z.object({
  cid: cidField,
  pieceCid: z.string().describe('Piece CID v2'),
  pieceCidV1: z.string().describe('Piece CID v1, which does not include the size'),
  rawSize: bytesField.describe('Bytes before any padding'),
  paddedSize: bytesField.describe('Bytes of the piece: a power of two'),
  height: z.int().describe('Height of the piece tree: paddedSize is 32 * 2 ** height'),
  aggregate: z.string().nullable().describe('Piece CID v2 of its aggregate, or null'),
})
export type PieceCidsItem = z.infer<typeof pieceCidsItem>

export const pieceCidsResult = z.object({
  items: z.array(pieceCidsItem).describe('In the order of the request, with repetitions'),
  missing: z.array(z.string()).describe('Cids without a piece that the caller may see'),
})
export type PieceCidsResult = z.infer<typeof pieceCidsResult>
