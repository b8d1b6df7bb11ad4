import type { Prover } from '../proving/prover.ts'
import type { PlacementContext } from './placement-context.ts'

/** True when another prover is configured that answers: what this one does not take could be had there. */
export function isAnotherThere({ provers, outages }: PlacementContext, prover: Prover): boolean {
  return provers.some(({ name }) => name !== prover.name && outages.isHere(name))
}
