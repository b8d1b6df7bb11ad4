import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { send, sponsoredCaller, upload } from './caller.ts'
import { newContent } from './content.ts'
import { PLAN } from './plan.ts'
import type { ServerProcess } from './server-process.ts'

const SMALL_BYTES = 4096
const BIG_BYTES = 4 * 1024 * 1024
const SMALL_PAUSE_MS = 20
const BIG_PAUSE_MS = 150
const MAX_SMALL_FACTOR = 5
const MAX_BIG_FACTOR = 10
const MAX_HEALTH_MS = 500
const MAX_MIB = 512
/** Where p99 is a few milliseconds, one garbage collection is five times that. */
export const LEAST_P99_MS = 20
/** Pages that the kernel gives to the buffers of all TCP sockets: three numbers. */
const TCP_MEMORY_FILE = '/proc/sys/net/ipv4/tcp_mem'
const TCP_MEMORY_FACTOR = 4
const LEGITIMATE_CALLERS = 200
const LEGITIMATE_SIZES = [4096, 65_536, 1_048_576]

/** Accepts connections, reads everything and answers each chunk, as a service that costs nothing would. */
const SINK = `
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n'))
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

/** What another caller saw of the service for a while. */
export interface Seen {
  readonly smallP99Ms: number
  readonly bigP99Ms: number
  readonly healthMs: number
  readonly peakMiB: number
  readonly uploads: number
  /** Of 200 callers at once with three files each, those that were answered 200; undefined in the ordinary plan. */
  readonly finished?: number
}

export interface Attack {
  readonly server: ServerProcess
  /** A CommonJS program; `process.argv.slice(1)` is the port and `args`. It opens its connections from 127.0.1.*. */
  readonly script: string
  readonly args?: readonly string[]
  /** How long each of both is looked at. */
  readonly forMs: number
}

/**
 * Has another caller use the service beside a generator that talks to something else (`quiet`), and then beside the same one that attacks
 * the service (`attacked`). The generator yields to all other processes.
 */
export async function measureAttack({
  server,
  script,
  args = [],
  forMs,
}: Attack): Promise<{ quiet: Seen; attacked: Seen }> {
  if (PLAN.isFull && process.getuid?.() === 0) makeRoomForBothEnds()
  await look(server, 500)
  const sink = spawn(process.execPath, ['-e', SINK], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void sink.kill('SIGKILL'))
  const sinkPort = await new Promise<string>((resolve) =>
    sink.stdout.once('data', (data) => resolve(String(data).trim())),
  )
  const idle = generate(script, [sinkPort, ...args])
  const quiet = await look(server, forMs)
  idle.kill('SIGKILL')
  sink.kill('SIGKILL')

  const attacker = generate(script, [server.url.port, ...args])
  const seen = await look(server, forMs)
  const attacked = PLAN.isFull ? { ...seen, finished: await legitimateCallers(server) } : seen
  attacker.kill('SIGKILL')
  return { quiet, attacked }
}

/** The process lives, within its memory; in the full plan, which has the machine to itself, nobody was held up either. */
export async function expectUnharmed(
  server: ServerProcess,
  name: string,
  seen: { quiet: Seen; attacked: Seen },
): Promise<void> {
  const { quiet, attacked } = seen
  const story = `${name}: ${JSON.stringify(seen)}`
  if (PLAN.isFull) process.stderr.write(`${story}\n`)
  expect(attacked.peakMiB, story).toBeLessThan(MAX_MIB)
  if (PLAN.isFull) {
    expect(attacked.healthMs, story).toBeLessThan(MAX_HEALTH_MS)
    expect(attacked.smallP99Ms, story).toBeLessThan(MAX_SMALL_FACTOR * Math.max(quiet.smallP99Ms, LEAST_P99_MS))
    expect(attacked.bigP99Ms, story).toBeLessThan(MAX_BIG_FACTOR * Math.max(quiet.bigP99Ms, LEAST_P99_MS))
    expect(attacked.finished, story).toBe(LEGITIMATE_CALLERS * LEGITIMATE_SIZES.length)
  }
  expect(await server.stop()).toEqual({ code: 0, signal: null })
}

/**
 * The generator's sockets share one kernel with the service's. Their send buffers (1,031 MiB of 300 uploads of 16 MiB; the service's receive
 * buffers: 311 MiB) fill the kernel's TCP memory, and it then drops packets of everybody, `/healthz` too. A real attacker's buffers are
 * on another machine.
 */
function makeRoomForBothEnds(): void {
  const before = readFileSync(TCP_MEMORY_FILE, 'utf8').trim()
  const pages = before.split(/\s+/).map((count) => Number(count) * TCP_MEMORY_FACTOR)
  writeFileSync(TCP_MEMORY_FILE, pages.join(' '))
  onTestFinished(() => writeFileSync(TCP_MEMORY_FILE, before))
}

function generate(script: string, args: readonly string[]): ChildProcess {
  const generator = spawn('nice', ['-n', '19', process.execPath, '-e', script, ...args], { stdio: 'inherit' })
  onTestFinished(() => void generator.kill('SIGKILL'))
  return generator
}

async function look({ url, pid }: ServerProcess, forMs: number): Promise<Seen> {
  const caller = sponsoredCaller('192.0.2.7')
  const end = performance.now() + forMs
  const timesMs = { small: [] as number[], big: [] as number[] }
  const putAgainAndAgain = async (kind: 'small' | 'big', sizeBytes: number, pauseMs: number): Promise<void> => {
    for (; performance.now() < end; await sleep(pauseMs)) {
      const startedAt = performance.now()
      expect((await upload(url, caller, newContent(sizeBytes))).status).toBe(200)
      timesMs[kind].push(performance.now() - startedAt)
    }
  }
  let healthMs = 0
  let peakMiB = 0
  const watch = async (): Promise<void> => {
    for (; performance.now() < end; await sleep(SMALL_PAUSE_MS)) {
      const startedAt = performance.now()
      expect((await send(url, 'GET', '/healthz')).status).toBe(200)
      healthMs = Math.max(healthMs, performance.now() - startedAt)
      const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      peakMiB = Math.max(peakMiB, Number(kib) / 1024)
    }
  }
  await Promise.all([
    putAgainAndAgain('small', SMALL_BYTES, SMALL_PAUSE_MS),
    putAgainAndAgain('big', BIG_BYTES, BIG_PAUSE_MS),
    watch(),
  ])
  return {
    smallP99Ms: Math.round(p99(timesMs.small)),
    bigP99Ms: Math.round(p99(timesMs.big)),
    healthMs: Math.round(healthMs),
    peakMiB: Math.round(peakMiB),
    uploads: timesMs.small.length + timesMs.big.length,
  }
}

/** How many of the files of 200 callers at once arrive. */
async function legitimateCallers({ url }: ServerProcess): Promise<number> {
  const counts = Array.from({ length: LEGITIMATE_CALLERS }, async (_, index) => {
    const caller = sponsoredCaller(`198.51.100.${index}`)
    let finished = 0
    for (const sizeBytes of LEGITIMATE_SIZES) {
      const { status } = await upload(url, caller, newContent(sizeBytes))
      if (status === 200) finished += 1
    }
    return finished
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

function p99(timesMs: number[]): number {
  timesMs.sort((one, other) => one - other)
  return timesMs[Math.floor((timesMs.length - 1) * 0.99)] ?? 0
}
