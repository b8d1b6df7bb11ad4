import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Prover } from './prover.ts'

export interface ProverSubject {
  open(): Promise<Prover>
  /** Makes the prover refuse what it is asked next; absent for provers that never refuse. */
  refuseNext?(prover: Prover, reason: string): void
}

/** The piece of 127 bytes of zero (FRC-0069). */
const pieceCid = 'bafkzcibcaabdomn3tgwgrh3g532zopskstnbrd2n3sxfqbze7rxt7vqn7veigmy'
const request = { idempotencyKey: 'user:1/aa', sha256: 'aa'.repeat(32), sizeBytes: 127, pieceCid }

/** The promises of `Prover`, for every driver. */
export function describeProver(name: string, subject: ProverSubject): void {
  describe(`Prover: ${name}`, () => {
    let prover: Prover
    beforeEach(async () => {
      prover = await subject.open()
    })
    afterEach(() => prover.close())

    it('answers a deal id of the synthetic form or the network form', async () => {
      const { dealId } = await prover.stage(request)
      expect(dealId).toMatch(/^(d-0x[0-9a-f]{32}|[0-9]+)$/)
    })

    it('answers the same deal id to the same request, also side by side', async () => {
      const staged = await Promise.all(Array.from({ length: 8 }, () => prover.stage(request)))
      expect(new Set(staged.map(({ dealId }) => dealId)).size).toBe(1)
    })

    it('answers different deal ids to different requests', async () => {
      const one = await prover.stage(request)
      const other = await prover.stage({ ...request, idempotencyKey: 'user:2/aa' })
      expect(one.dealId).not.toBe(other.dealId)
    })

    it('says that it can be reached', async () => {
      await expect(prover.check()).resolves.toBeUndefined()
    })

    it('can be closed twice', async () => {
      await prover.close()
      await expect(prover.close()).resolves.toBeUndefined()
    })

    it.runIf(subject.refuseNext !== undefined)('error: a refusal is stage_failed with its reason', async () => {
      subject.refuseNext?.(prover, 'piece too small')
      const failure = await prover.stage(request).catch((error: unknown) => error)
      expect(LadeError.has(failure, 'stage_failed') && failure.evidence.reason).toBe('piece too small')
      await expect(prover.stage(request)).resolves.toHaveProperty('dealId')
    })
  })
}
