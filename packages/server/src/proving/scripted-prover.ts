import { LadeError } from '@lade/core/errors'
import { openLocalProver } from './drivers/local/local-prover.ts'
import type { Prover, StageRequest } from './prover.ts'

/** A prover for tests: takes everything, remembers what it was asked, and refuses on demand. */
export interface ScriptedProver extends Prover {
  readonly asked: readonly StageRequest[]
  /** Refuses the next request with this reason. */
  refuseNext(reason: string): void
}

export function openScriptedProver(): ScriptedProver {
  const local = openLocalProver({ salt: 'scripted' })
  const asked: StageRequest[] = []
  const refusals: string[] = []
  return {
    ...local,
    name: 'reference',
    asked,
    refuseNext: (reason) => void refusals.push(reason),
    async stage(request) {
      asked.push(request)
      const reason = refusals.shift()
      if (reason !== undefined) throw new LadeError('stage_failed', { reason })
      return local.stage(request)
    },
  }
}
