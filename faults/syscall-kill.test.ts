import { expect, test } from 'vitest'
import { type Caller, tokenCaller } from './caller.ts'
import { mislabelledContent, newContent } from './content.ts'
import { describeScenario, program, tracing } from './harness.ts'
import { brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { callCounts, ONE_FILE_THREAD, THREADS, type ThreadName, traceThread } from './syscall-trace.ts'
import { tempDirectory } from './temp-directory.ts'

const KB = 1024
const ENV = { ...BOUNDLESS_QUOTAS, ...ONE_FILE_THREAD }
const SOME_CONTENT_BYTES = 300 * KB
/** No upload makes more calls of one kind than this; more means that something goes round in circles. */
const MOST_CALLS = 500

interface KillPoint {
  readonly thread: ThreadName
  readonly call: string
  readonly when: number
}

/** What is done at every point: an upload that is refused after its last byte, and one that is taken. */
async function uploadTwo(server: ServerProcess, caller: Caller, ledger: Ledger): Promise<void> {
  await ledger.upload(server.url, caller, mislabelledContent(SOME_CONTENT_BYTES))
  await ledger.upload(server.url, caller, newContent(SOME_CONTENT_BYTES))
}

/** The calls of both uploads, by thread, as an undisturbed run makes them. */
async function countCalls(): Promise<Map<ThreadName, Map<string, number>>> {
  const counts = new Map<ThreadName, Map<string, number>>()
  const server = await startServer({ env: ENV })
  const caller = await tokenCaller(server.url)
  for (const thread of Object.keys(THREADS) as ThreadName[]) {
    const trace = await traceThread(server.pid, thread)
    const ledger = new Ledger()
    await uploadTwo(server, caller, ledger)
    await trace.detach()
    expect(ledger.stagings.map((staging) => staging.outcome)).toEqual(['refused', 'ack'])
    counts.set(thread, callCounts(trace.lines()))
  }
  await server.stop()
  return counts
}

/** One data directory in which process after process is killed; each next one recovers and is held to the ledger. */
class Victims {
  readonly #dataDir = tempDirectory()
  readonly #ledger = new Ledger()
  #server: ServerProcess | undefined
  #caller: Caller | undefined
  tried = 0
  hit = 0

  /** Kills the process at one call, starts the next and checks it; false when the uploads ended before that call. */
  async killAt({ thread, call, when }: KillPoint): Promise<boolean> {
    this.#server ??= await startServer({ dataDir: this.#dataDir, env: ENV })
    this.#caller ??= await tokenCaller(this.#server.url)
    const trace = await traceThread(this.#server.pid, thread, [`${call}:signal=SIGKILL:when=${when}`])
    await uploadTwo(this.#server, this.#caller, this.#ledger)
    await trace.detach()
    const isKilled = await endedBySigkill(this.#server)
    if (!isKilled) await this.#server.kill()
    this.#server = await startServer({ dataDir: this.#dataDir, env: ENV })
    const story = `killed at ${call} ${when} of the thread for ${thread}: ${isKilled}\n${trace.lines().slice(-10).join('\n')}`
    expect(await brokenInvariants(this.#server, this.#ledger), story).toEqual([])
    this.tried += 1
    if (isKilled) this.hit += 1
    return isKilled
  }

  /** Ends the last of them. */
  async end(): Promise<void> {
    await this.#server?.kill()
  }
}

/** A process that was killed at a call of its own is gone as soon as nobody traces it any more. */
async function endedBySigkill(server: ServerProcess): Promise<boolean> {
  const stillRuns = new Promise<'runs'>((resolve) => setTimeout(() => resolve('runs'), 100))
  const end = await Promise.race([server.exited, stillRuns])
  return end !== 'runs' && end.signal === 'SIGKILL'
}

/** The calls are counted up until a run ends before the next one. */
async function killAtEveryCall(): Promise<void> {
  const counts = await countCalls()
  let hit = 0
  for (const [thread, calls] of counts) {
    for (const call of calls.keys()) {
      const victims = new Victims()
      let when = 1
      while (await victims.killAt({ thread, call, when })) {
        when += 1
        expect(when, `${thread} ${call}`).toBeLessThan(MOST_CALLS)
      }
      await victims.end()
      hit += victims.hit
      process.stderr.write(`killed at each of ${victims.hit} ${call} of the thread for ${thread}\n`)
    }
  }
  expect(hit).toBeGreaterThan(50)
}

/** A sample that is spread evenly over all calls. */
async function killAtSomeCalls(): Promise<void> {
  const counts = await countCalls()
  const points: KillPoint[] = []
  for (const [thread, calls] of counts) {
    for (const [call, most] of calls) {
      for (let when = 1; when <= most; when += 1) points.push({ thread, call, when })
    }
  }
  const step = points.length / PLAN.syscallKills
  const sample = points.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
  const victims = new Victims()
  for (const point of sample) await victims.killAt(point)
  await victims.end()
  // The number of wake-ups between threads varies, so that a late one of them may not come.
  expect(victims.hit, `of ${victims.tried}`).toBeGreaterThan(victims.tried / 2)
}

describeScenario(
  {
    id: 'syscall-kill',
    name: 'SIGKILL at the system calls of an upload',
    needs: [program('strace', 'strace'), tracing],
  },
  () => {
    test(`leaves every upload whole or absent, at ${PLAN.isFull ? 'every call' : 'calls from first to last'}`, () =>
      PLAN.isFull ? killAtEveryCall() : killAtSomeCalls())
  },
)
