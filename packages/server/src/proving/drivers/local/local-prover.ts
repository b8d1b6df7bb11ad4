import { createHash } from 'node:crypto'
import type { Prover } from '../../prover.ts'

/**
 * The prover of a machine without a network behind it: takes everything, proves nothing, and answers a synthetic deal
 * id. The same request gets the same id.
 *
 * @param options.salt - random per installation, so that deal ids of two installations do not meet.
 *
 * @example
 * const prover = openLocalProver({ salt: 'a' })
 * const { dealId } = await prover.stage({ idempotencyKey: 'k', sha256: '…', sizeBytes: 1, pieceCid: 'bafkzcib…' })
 * // 'd-0x' and 32 hex digits
 */
export function openLocalProver(options: { readonly salt: string }): Prover {
  return {
    name: 'local',
    isInstant: true,
    async stage({ idempotencyKey }) {
      const digest = createHash('sha256').update(`${options.salt}\n${idempotencyKey}`).digest('hex')
      return { dealId: `d-0x${digest.slice(0, 32)}` }
    },
    async check() {},
    async close() {},
  }
}
