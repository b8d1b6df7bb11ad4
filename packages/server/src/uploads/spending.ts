import { measured } from '@lade/node/budget/measured'
import type { Work, WorkBudget } from '@lade/node/budget/work-budget'

/** Who pays for work on this thread, and for which. */
export interface Spender {
  readonly budget: Pick<WorkBudget, 'spend'>
  readonly principal: string
  readonly work: Work
}

/**
 * Runs `task` and charges what it costs this thread, however it ends. Of a task that answers a promise that is what it does before it waits
 * for the first time.
 *
 * @example
 * const dags = spending({ budget, principal, work: 'compose' }, () => foldParts(id, parts))
 */
export function spending<Result>({ budget, principal, work }: Spender, task: () => Result): Result {
  return measured(task, (processorMs) => budget.spend({ principal, work, processorMs }))
}
