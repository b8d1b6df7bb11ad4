import { createHash, randomBytes } from 'node:crypto'

const MB = 1024 * 1024
const NOISE = randomBytes(20 * MB)
let serial = 0

/** Bytes that no other content of this process has, with their id. */
export interface Content {
  /** The 64 hex digits of their sha2-256. */
  readonly cid: string
  readonly sizeBytes: number
  /** The bytes, made again at every call, so that a ledger of many contents stays small. */
  bytes(): Buffer
}

/** New content of `sizeBytes`, from 16 bytes to 20 MiB. */
export function newContent(sizeBytes: number): Content {
  if (sizeBytes < 16 || sizeBytes > NOISE.length) throw new TypeError(`no content of ${sizeBytes} bytes`)
  const number = serial++
  const bytes = (): Buffer => {
    const made = Buffer.from(NOISE.subarray(0, sizeBytes))
    made.writeBigUInt64LE(BigInt(number), 0)
    made.writeBigUInt64LE(BigInt(sizeBytes), 8)
    return made
  }
  return { cid: sha256Hex(bytes()), sizeBytes, bytes }
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Content whose bytes do not hash to its id, so that every upload of it must be refused. */
export function mislabelledContent(sizeBytes: number): Content {
  const content = newContent(sizeBytes)
  return { ...content, cid: newContent(sizeBytes).cid }
}
