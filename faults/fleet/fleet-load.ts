import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Caller, send } from '../caller.ts'
import { newContent } from '../content.ts'
import { servingProblem } from '../invariants.ts'
import type { Ledger, Staging } from '../ledger.ts'
import type { SeededRandom } from '../seeded-random.ts'

const KB = 1024
/** As a client waits before it asks again. */
const LEAST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 300

/** Callers who upload, read and remove until they are told to stop. */
export interface FleetLoad {
  /** What they were served and should not have been, in sentences. */
  readonly problems: readonly string[]
  /** How many of their files they were served, whole. */
  readonly reads: number
  /** How many times an upload that had no answer, or a failure for one, was sent once more. */
  readonly repeats: number
  /** Starts nothing new, and resolves when what is under way has ended, one way or the other. */
  stop(): Promise<void>
}

/**
 * Each caller does one thing after the other: it uploads something new, reads something of its own that was acknowledged, or
 * removes it. An upload without a 200 is tried again until it has one, as a client does that knows uploads to be safe to repeat.
 */
export function startFleetLoad(
  origin: URL,
  options: { readonly callers: readonly Caller[]; readonly ledger: Ledger; readonly random: SeededRandom },
): FleetLoad {
  const { callers, ledger, random } = options
  const agent = new Agent({ keepAlive: true })
  const problems: string[] = []
  let reads = 0
  let repeats = 0
  let isStopped = false

  async function work(caller: Caller): Promise<void> {
    while (!isStopped) {
      const own = ledger.acks.filter((staging) => staging.caller === caller && staging.removal === undefined)
      const choice = random.next()
      if (choice < 0.05 && own.length > 0 && caller.principal.startsWith('user:')) {
        await ledger.remove(origin, random.pick(own))
      } else if (choice < 0.4 && own.length > 0) {
        await read(random.pick(own))
      } else {
        await uploadUntilAcknowledged(caller)
      }
    }
  }

  async function uploadUntilAcknowledged(caller: Caller): Promise<void> {
    // Small ones are kept in the database, most in one object, and a few are sent to the store in parts.
    const sizeBytes =
      random.next() < 0.03 ? random.between(8200 * KB, 17_000 * KB) : random.betweenMagnitudes(1 * KB, 1024 * KB)
    await ledger.upload(origin, caller, newContent(sizeBytes), agent)
    const staging = ledger.stagings.findLast((one) => one.caller === caller)
    while (!isStopped && staging?.outcome === 'unknown') {
      await sleep(random.between(LEAST_PAUSE_MS, LONGEST_PAUSE_MS))
      repeats += 1
      await ledger.again(origin, staging, agent)
    }
  }

  async function read(staging: Staging): Promise<void> {
    try {
      const answer = await send(origin, 'GET', `/p/${staging.content.cid}`, { agent })
      if (answer.status === 200) reads += 1
      // While something is broken it may be refused for now, and only for now.
      if (answer.status < 500) {
        const problem = servingProblem(staging.content.cid, answer, [staging])
        if (problem !== undefined) problems.push(problem)
        return
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
    }
    await sleep(random.between(LEAST_PAUSE_MS, LONGEST_PAUSE_MS))
  }

  const under = callers.map((caller) => work(caller))
  return {
    problems,
    get reads() {
      return reads
    },
    get repeats() {
      return repeats
    },
    async stop() {
      isStopped = true
      await Promise.all(under)
      agent.destroy()
    },
  }
}
