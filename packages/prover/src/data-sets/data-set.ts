import * as z from 'zod'

const Transaction = z.object({
  /** 0x and 64 hex digits. */
  hash: z.string(),
  /** Milliseconds of the clock. */
  sentAt: z.number(),
  /** sha2-256 of the extraData in hex; null where there was none. */
  extraDataSha256: z.nullable(z.string()),
})

/** A transaction that no chain ever saw; it counts as confirmed some time after it was sent. */
export type Transaction = z.infer<typeof Transaction>

/** A data set as its file has it. */
export const DataSetSchema = z.object({
  id: z.int(),
  recordKeeper: z.string(),
  creation: Transaction,
  additions: z.array(z.object({ transaction: Transaction, pieceIds: z.array(z.int()) })),
  /** A piece's place is its id. */
  pieces: z.array(z.object({ pieceCid: z.string(), removal: z.nullable(Transaction) })),
  termination: z.nullable(Transaction),
})

export type DataSet = z.infer<typeof DataSetSchema>
