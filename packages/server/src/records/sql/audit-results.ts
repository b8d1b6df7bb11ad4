/** What became of an audit. `at` is epoch milliseconds. */
export interface AuditResult {
  readonly at: number
  readonly passed: boolean
  /** Why it did not; null for one that did, and where nothing was said. */
  readonly cause: string | null
}

/** As many audits of a copy are kept. */
export const KEPT_AUDITS = 30

const TIME_BYTES = 6
const LENGTH_BYTES = 2
/** In UTF-8. */
const MAX_CAUSE_BYTES = 1000
const PASSED = 0
const FAILED = 1
const FAILED_WITH_CAUSE = 2

/**
 * The last results as bytes, newest first. Each is the time (48 bits), a byte for the outcome, and for a failure with a cause the cause's
 * length (16 bits) and its UTF-8: 7 bytes for an audit that passed.
 */
export function encodeAuditResults(results: readonly AuditResult[]): Buffer {
  return Buffer.concat(results.slice(0, KEPT_AUDITS).map(encodeResult))
}

function encodeResult({ at, passed, cause }: AuditResult): Buffer {
  const text = passed || cause === null ? undefined : cutToBytes(cause)
  const result = Buffer.alloc(TIME_BYTES + 1 + (text === undefined ? 0 : LENGTH_BYTES))
  result.writeUIntBE(at, 0, TIME_BYTES)
  if (text === undefined) {
    result.writeUInt8(passed ? PASSED : FAILED, TIME_BYTES)
    return result
  }
  result.writeUInt8(FAILED_WITH_CAUSE, TIME_BYTES)
  result.writeUInt16BE(text.length, TIME_BYTES + 1)
  return Buffer.concat([result, text])
}

/** A character that does not fit is left out whole. */
function cutToBytes(text: string): Buffer {
  const bytes = Buffer.alloc(MAX_CAUSE_BYTES)
  return bytes.subarray(0, bytes.write(text, 'utf8'))
}

/** @throws {RangeError} for bytes that {@link encodeAuditResults} did not make. */
export function decodeAuditResults(bytes: Buffer): AuditResult[] {
  const results: AuditResult[] = []
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.readUIntBE(from, TIME_BYTES)
    const outcome = bytes.readUInt8(from + TIME_BYTES)
    from += TIME_BYTES + 1
    if (outcome !== FAILED_WITH_CAUSE) {
      results.push({ at, passed: outcome === PASSED, cause: null })
      continue
    }
    const length = bytes.readUInt16BE(from)
    from += LENGTH_BYTES
    results.push({ at, passed: false, cause: bytes.toString('utf8', from, from + length) })
    from += length
  }
  return results
}
