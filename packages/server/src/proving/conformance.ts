import { describe, test } from 'vitest'
import { ADDITION_CASES } from './conformance/addition-cases.ts'
import { ProverBench } from './conformance/bench.ts'
import type { ProverCase } from './conformance/case.ts'
import { LIFETIME_CASES } from './conformance/lifetime-cases.ts'
import { PARKING_CASES } from './conformance/parking-cases.ts'
import { POSSESSION_CASES } from './conformance/possession-cases.ts'
import type { ProverSubject } from './conformance/subject.ts'

export type { ProverSubject, ProverUnderTest } from './conformance/subject.ts'

const CASES: readonly ProverCase[] = [...PARKING_CASES, ...ADDITION_CASES, ...POSSESSION_CASES, ...LIFETIME_CASES]

/** The promises of `Prover`, for every driver. A case that a subject has no means for is shown as skipped. */
export function describeProver(name: string, subject: ProverSubject): void {
  describe(`Prover: ${name}`, () => {
    for (const { title, needs = [], suits, isAboutProofs, additions = 'at once', run } of CASES) {
      test.skipIf(suits?.(subject) === false)(
        title,
        { meta: { skippedBecause: 'the driver has no means for a case of its port' } },
        async (context) => {
          const opened = await subject.open({ additions })
          try {
            const isMissing = needs.some((hook) => opened[hook] === undefined)
            const hasNoProofs = isAboutProofs === true && opened.prover.auditedBy !== 'proof'
            if (isMissing || hasNoProofs) return context.skip('the driver has no means for a case of its port')
            await run(new ProverBench(opened, subject))
          } finally {
            await opened.prover.close()
            await opened.discard?.()
          }
        },
      )
    }
  })
}
