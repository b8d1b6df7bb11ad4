import * as z from 'zod'
import { type PieceName, parsePieceName } from '../pieces/piece-name.ts'
import { Refusal } from './refusal.ts'

/** Bytes in hex, with or without 0x; also none. */
export const Hex = z.string().regex(/^(?:0x)?(?:[0-9a-f]{2})*$/i)
/** An address of the chain. */
export const Address = z.string().regex(/^0x[0-9a-f]{40}$/i)

/**
 * Reads a JSON body, whatever type it claims to be, as Curio does.
 *
 * @throws {Refusal} 400 when it is no JSON or not of the schema.
 */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(String(body ?? ''))
  } catch (error) {
    throw new Refusal(400, `Invalid request body: ${(error as SyntaxError).message}`)
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Refusal(400, `Invalid request body: ${issue?.path.join('.')}: ${issue?.message}`)
}

/** @throws {Refusal} 400 for anything but a piece CID of version 2. */
export function readPieceName(text: string, prefix = 'Invalid request body: invalid pieceCid'): PieceName {
  const piece = parsePieceName(text)
  if (piece === undefined) throw new Refusal(400, `${prefix}: it is not a piece CID of version 2`)
  return piece
}

/** A decimal number of at most 53 bits in a path. @throws {Refusal} 400. */
export function readId(text: string, what: string): number {
  const id = /^\d{1,20}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(id)) throw new Refusal(400, `Invalid ${what} ID format`, { hasEventId: false })
  return id
}

/** A transaction's hash in a path, in lower case. @throws {Refusal} 400. */
export function readTxHash(text: string): string {
  const hash = text.toLowerCase().replace(/^(?!0x)/, '0x')
  if (hash.length !== 66) throw new Refusal(400, 'Invalid txHash length', { hasEventId: false })
  if (!/^0x[0-9a-f]{64}$/.test(hash)) throw new Refusal(400, 'Invalid txHash format', { hasEventId: false })
  return hash
}
