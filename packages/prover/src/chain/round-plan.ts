import { CHALLENGE_BLOCKS, type Deal } from './deal.ts'

/** A call that a deal asks for. */
export interface DealTask {
  readonly deal: Deal
  readonly kind: 'accept' | 'open' | 'reopen' | 'prove' | 'settle'
  /** When the call comes too late, in seconds since 1970; for a proof, the end of its period. */
  readonly until: number
}

/** What a plan is made from: where the chain is, and how fast it takes transactions. */
export interface RoundPace {
  readonly number: bigint
  /** Seconds since 1970. */
  readonly time: number
  readonly secondsPerBlock: number
  readonly secondsPerTransaction: number
}

/**
 * So many transactions besides proofs are sent in a round. The proofs of a round's challenges come in the next one, so that a challenge
 * is at most twice as many transactions old when it is answered.
 */
export const ROUND_CALLS = 64

/**
 * Chooses and orders what one round sends.
 *
 * First the proofs of open challenges, the one that lapses first at the front. Then challenges, the deal whose period ends first at the
 * front, and only as many as can be answered before their periods end. Last, as much as these leave room for, deals are accepted, those whose
 * window closes first at the front, and pay is settled. What is left out is for a later round.
 */
export function planRound(tasks: readonly DealTask[], pace: RoundPace): DealTask[] {
  const byKind = Map.groupBy(tasks, ({ kind }) => kind)
  const of = (...kinds: DealTask['kind'][]) => kinds.flatMap((kind) => byKind.get(kind) ?? [])
  const proofs = of('prove').toSorted((one, other) => answerBy(one, pace) - answerBy(other, pace))
  const opens = chooseOpens(of('open', 'reopen').toSorted(byEnd), proofs.length, pace)
  const spare = spareCalls(opens, proofs.length, pace)
  // One that is too late as far as one can tell holds nothing else up.
  const room = ROUND_CALLS - opens.length
  const calls = spare < 0 ? room : Math.min(room, spare)
  const rest = [...of('accept').toSorted(byEnd), ...of('settle')].slice(0, calls)
  return [...proofs, ...opens, ...rest]
}

function byEnd(one: DealTask, other: DealTask): number {
  return one.until - other.until || Number(one.deal.dealId - other.deal.dealId)
}

/** When the last block in which a proof is good will be there, or its period ends. */
function answerBy({ deal, until }: DealTask, { number, time, secondsPerBlock }: RoundPace): number {
  return Math.min(until, time + Number(deal.challengeBlock + CHALLENGE_BLOCKS - number) * secondsPerBlock)
}

/** @param sorted - by the ends of their periods. @param sentBefore - so many transactions come first. */
function chooseOpens(sorted: readonly DealTask[], sentBefore: number, pace: RoundPace): DealTask[] {
  const chosen: DealTask[] = []
  for (const task of sorted) {
    if (chosen.length === ROUND_CALLS) break
    // One that comes too late for its own period would only be in the way of those that do not.
    if (spareCalls([task], sentBefore, pace) < 0) continue
    if (spareCalls([...chosen, task], sentBefore, pace) < 0) break
    chosen.push(task)
  }
  // The pace is a guess. If it leaves nothing to do, the chain decides.
  return chosen.length === 0 ? sorted.slice(0, 1) : chosen
}

/** How many further calls could be sent between these challenges and their proofs; negative when it is too late without any. */
function spareCalls(opens: readonly DealTask[], sentBefore: number, pace: RoundPace): number {
  const spare = opens.map(({ until }, index) => {
    const calls = Math.floor((until - pace.time) / Math.max(pace.secondsPerTransaction, 0.001))
    return calls - (sentBefore + opens.length + index + 1)
  })
  return Math.min(ROUND_CALLS, ...spare)
}
