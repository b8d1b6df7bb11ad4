import { FairQueue, type FairQueueOptions } from '@lade/node/budget/fair-queue'

/** At one prover: each has it read its disk and hash. */
const SLOTS = 8
const SLOTS_PER_PRINCIPAL = 2
const WAITING_PER_PRINCIPAL = 4

/**
 * The turns of challenges at each prover, by its name: eight at once, two of them of one principal, of whom four more may wait. A prover
 * that is slow holds up nobody who asks another.
 */
export function challengeQueues(budget: FairQueueOptions['budget']): (prover: string) => FairQueue {
  const queues = new Map<string, FairQueue>()
  return (prover) => {
    const queue =
      queues.get(prover) ??
      new FairQueue({
        work: 'challenge',
        budget,
        slots: SLOTS,
        slotsPerPrincipal: SLOTS_PER_PRINCIPAL,
        waitingPerPrincipal: WAITING_PER_PRINCIPAL,
      })
    queues.set(prover, queue)
    return queue
  }
}
