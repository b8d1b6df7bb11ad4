import type { Deal } from './deal.ts'

/** A call that a deal asks for. */
export interface PlannedTask {
  readonly deal: Deal
  readonly kind: 'accept' | 'open' | 'reopen' | 'prove' | 'settle'
  /** When the call comes too late, in seconds since 1970; for a proof, the end of its period. */
  readonly until: number
  /** The last block in which a proof is good; undefined for other calls. */
  readonly lastBlock?: bigint | undefined
  /** The part of a transaction that it takes; the rest may serve other deals. */
  readonly share: number
  /** The part of a transaction that the proof takes which follows a challenge. */
  readonly answerShare: number
  /** So many blocks after a challenge is opened, its proof can be made. */
  readonly drawBlocks: bigint
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
 * The challenges of a round are answered by so many transactions at most, and as many besides proofs are sent in it. The proofs of a
 * round's challenges come in the next one, so that a challenge is at most twice as many transactions old when it is answered.
 */
export const ROUND_CALLS = 64
/** Sums of shares are a little more or less than what they should be. */
const ROUNDING = 1e-9

/**
 * Chooses and orders what one round sends.
 *
 * First the proofs of open challenges, the one that lapses first at the front. Then challenges, the deal whose period ends first at the
 * front, and only as many as can be answered before their periods end. Last, as much as these leave room for, deals are accepted, those whose
 * window closes first at the front, and pay is settled. What is left out is for a later round.
 *
 * @param undrawn - so many transactions will answer the challenges that are open and not drawn yet.
 */
export function planRound<Task extends PlannedTask>(tasks: readonly Task[], pace: RoundPace, undrawn = 0): Task[] {
  const byKind = Map.groupBy(tasks, ({ kind }) => kind)
  const of = (...kinds: Task['kind'][]) => kinds.flatMap((kind) => byKind.get(kind) ?? [])
  const proofs = of('prove').toSorted((one, other) => answerBy(one, pace) - answerBy(other, pace))
  const opens = chooseOpens(of('open', 'reopen').toSorted(byEnd), transactionsOf(proofs), pace, wholeOf(undrawn))
  // Challenges that are too late as far as one can tell hold nothing else up.
  const room = ROUND_CALLS - transactionsOf(opens.chosen)
  const calls = Math.floor(opens.spare < 0 ? room : Math.min(room, opens.spare))
  const rest = [...of('accept').toSorted(byEnd), ...of('settle')].slice(0, Math.max(0, calls))
  return [...proofs, ...opens.chosen, ...rest]
}

function byEnd(one: PlannedTask, other: PlannedTask): number {
  return one.until - other.until || Number(one.deal.dealId - other.deal.dealId)
}

/** When the last block in which a proof is good will be there, or its period ends. */
function answerBy({ until, lastBlock }: PlannedTask, { number, time, secondsPerBlock }: RoundPace): number {
  return lastBlock === undefined ? until : Math.min(until, time + Number(lastBlock - number) * secondsPerBlock)
}

function transactionsOf(tasks: readonly PlannedTask[]): number {
  return wholeOf(tasks.reduce((sum, { share }) => sum + share, 0))
}

function wholeOf(transactions: number): number {
  return Math.ceil(transactions - ROUNDING)
}

interface ChosenOpens<Task> {
  readonly chosen: readonly Task[]
  /** How many further transactions could be sent between these challenges and their proofs; negative when it is too late without any. */
  readonly spare: number
}

/** @param sorted - by the ends of their periods. @param proofs - that are sent before them. @param undrawn - that come before theirs. */
function chooseOpens<Task extends PlannedTask>(
  sorted: readonly Task[],
  proofs: number,
  pace: RoundPace,
  undrawn: number,
): ChosenOpens<Task> {
  const sentBefore = proofs + undrawn
  const chosen: Task[] = []
  let spare = ROUND_CALLS
  /** Of the transactions until a chosen one's period ends, those that are not for its own answer and the answers before; the least. */
  let slack = Number.POSITIVE_INFINITY
  let opening = 0
  let answering = 0
  for (const task of sorted) {
    const until = transactionsUntil(task, pace) - sentBefore
    // One that comes too late for its own period would only be in the way of those that do not.
    if (until - wholeOf(task.share) - wholeOf(task.answerShare) < 0) continue
    const answers = wholeOf(answering + task.answerShare)
    const opens = wholeOf(opening + task.share)
    const leastSlack = Math.min(slack, until - answers)
    if (Math.max(opens, answers + undrawn) > ROUND_CALLS || leastSlack < opens) break
    chosen.push(task)
    opening += task.share
    answering += task.answerShare
    slack = leastSlack
    spare = Math.min(ROUND_CALLS, leastSlack - opens)
  }
  const [first] = sorted
  if (chosen.length > 0 || first === undefined || undrawn > 0) return { chosen, spare }
  // The pace is a guess. If it leaves nothing to do, the chain decides.
  return { chosen: oneTransaction(sorted, first), spare: -1 }
}

/** The first, and those behind it that the same transaction serves. */
function oneTransaction<Task extends PlannedTask>(sorted: readonly Task[], first: Task): Task[] {
  let room = 1 - first.share + ROUNDING
  return sorted.filter((task) => {
    if (task === first || task.deal.contract !== first.deal.contract || task.share > room) return task === first
    room -= task.share
    return true
  })
}

/** Until its period ends, without those that pass before it can be answered. */
function transactionsUntil({ until, drawBlocks }: PlannedTask, pace: RoundPace): number {
  const seconds = until - pace.time - Number(drawBlocks) * pace.secondsPerBlock
  return Math.floor(seconds / Math.max(pace.secondsPerTransaction, 0.001))
}
