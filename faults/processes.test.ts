import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, errorCode, send, sponsoredCaller, tokenCaller, upload } from './caller.ts'
import { childrenOf, isRunning } from './child-processes.ts'
import { newContent, sha256Hex } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { eventually } from './eventually.ts'
import { atRest, brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS, eightCallers, startLoad } from './load.ts'
import { FULL_PLAN_ONLY, PLAN } from './plan.ts'
import { openSocket, uploadHead } from './raw-upload.ts'
import { runSeed, seededRandom } from './seeded-random.ts'
import { MAIN, type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const MB = 1024 * 1024
const MEMBERS = 3
/** A member that dies is started again after a second, and then starts as slowly as the machine is. */
const REPLACED_MS = 60_000
/** Two rounds of upkeep, and what the machine may be late. */
const CLEANUP_MS = 12_000

function startThree(
  env: Readonly<Record<string, string>> = {},
  onSpawned: (pid: number) => void = () => {},
): Promise<ServerProcess> {
  return startServer({ env: { LADE_PROCESSES: String(MEMBERS), ...env }, onSpawned })
}

/** The members of `server`, each of which is ended with the test. */
function membersOf(server: ServerProcess): number[] {
  const members = childrenOf(server.pid)
  onTestFinished(() => {
    for (const pid of members) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  })
  return members
}

function stillRunning(pids: readonly number[]): string[] {
  return pids.filter(isRunning).map((pid) => `process ${pid} still runs`)
}

/** What begins every request id of the process that answered. */
function answeredBy(answer: Answer): string {
  return /^[^-]+(?=-)/.exec(String(answer.headers['x-request-id']))?.[0] ?? ''
}

/** One answer to `path` from each of the processes on the port. Which one takes a connection is by chance. */
async function askEach(server: ServerProcess, path: string): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (let rounds = 0; rounds < 50 && answers.size < MEMBERS; rounds += 1) {
    const some = await Promise.all(Array.from({ length: 4 * MEMBERS }, () => send(server.url, 'GET', path)))
    for (const answer of some) answers.set(answeredBy(answer), answer)
  }
  return answers
}

describe('three processes on one port', () => {
  test('answer side by side, print two lines between them, and serve what any of them staged', async () => {
    const server = await startThree()
    expect(membersOf(server)).toHaveLength(MEMBERS)
    const content = newContent(200_000)
    expect((await upload(server.url, sponsoredCaller('192.0.2.1'), content)).status).toBe(200)
    const answers = await askEach(server, `/p/${content.cid}`)
    expect(answers.size).toBe(MEMBERS)
    for (const answer of answers.values()) {
      expect([answer.status, sha256Hex(answer.body)]).toEqual([200, content.cid])
    }
    const lines = server.printed().trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain(`Lade is ready at ${server.url.origin} `)
    expect(lines[1]).toContain(`"${server.url.origin}/api/upload?cid=`)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(server.log()).toBe('')
  })

  test('take exactly the uploads for which a quota has room, in the database and in files', async () => {
    const quotaMb = 4
    const server = await startThree()
    membersOf(server)
    for (const sizeBytes of [60_007, 100_003]) {
      const user = await tokenCaller(server.url, quotaMb)
      const contents = Array.from({ length: PLAN.quotaUploads }, () => newContent(sizeBytes))
      const answers = await Promise.all(contents.map((content) => upload(server.url, user, content)))

      const fitting = Math.floor((quotaMb * MB) / sizeBytes)
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(fitting)
      const refusals = answers.filter((answer) => answer.status !== 200)
      expect(new Set(refusals.map((answer) => `${answer.status} ${errorCode(answer)}`))).toEqual(
        new Set(['429 quota_exceeded']),
      )
      expect(new Set(answers.map(answeredBy)).size).toBe(MEMBERS)
      const data = readDataDirectory(server.dataDir)
      expect(data.usage.get(user.principal)).toBe(fitting * sizeBytes)
      expect(atRest(data)).toEqual([])
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})

describe('SIGKILL of one of three processes on one port', () => {
  test.each(Array.from({ length: PLAN.memberKills }, (_, index) => index))(
    'loses no acknowledged upload, leaves the port answering, and brings a new process (%i)',
    async (index) => {
      const random = seededRandom(runSeed + 2000 + index)
      const ledger = new Ledger()
      const server = await startThree(BOUNDLESS_QUOTAS)
      const before = membersOf(server)
      const load = startLoad(server.url, { callers: await eightCallers(server.url), ledger, random })
      await sleep(random.between(300, 800))
      const victim = random.pick(before)
      process.kill(victim, 'SIGKILL')
      const startedBefore = ledger.stagings.length
      await sleep(700)
      const afterKill = ledger.stagings.slice(startedBefore)
      await load.stop()
      const story = `seed ${random.seed}, ${ledger.acks.length} acknowledged, ${ledger.unknowns.length} unknown, log:\n${server.log()}`
      expect(afterKill.filter((staging) => staging.outcome === 'ack').length, story).toBeGreaterThan(0)
      // Each caller has one upload under way at a time, so this is all that the dead one can have held.
      expect(ledger.unknowns.length, story).toBeLessThanOrEqual(8)
      expect(ledger.stagings.filter((staging) => staging.outcome === 'refused')).toEqual([])

      const missing = () => (childrenOf(server.pid).length === MEMBERS ? [] : ['a process was not replaced'])
      expect(await eventually(missing, REPLACED_MS), story).toEqual([])
      const after = membersOf(server)
      expect(after).not.toContain(victim)
      expect(after.filter((pid) => before.includes(pid))).toHaveLength(MEMBERS - 1)
      expect(await eventually(() => atRest(readDataDirectory(server.dataDir)), CLEANUP_MS), story).toEqual([])
      expect(await brokenInvariants(server, ledger), story).toEqual([])
      await ledger.retryUnknowns(server.url)
      expect(ledger.notAcked, story).toEqual([])
      expect(await brokenInvariants(server, ledger), `${story}, after the retries`).toEqual([])
      await expect
        .poll(async () => (await askEach(server, '/healthz')).size, { message: 'the new process takes no requests' })
        .toBe(MEMBERS)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
      expect(stillRunning(after)).toEqual([])
    },
  )
})

/** An upload of which half is sent, and what became of it. */
async function halfUpload(server: ServerProcess) {
  const content = newContent(200_000)
  const caller = sponsoredCaller('192.0.2.2')
  const socket = await openSocket(server.url)
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  const answer = once(socket, 'close').then(() => received)
  socket.write(uploadHead(server.url, caller, content))
  socket.write(content.bytes().subarray(0, 100_000))
  await sleep(200)
  return { finish: () => void socket.write(content.bytes().subarray(100_000)), answer }
}

describe('the end of the first of several processes', () => {
  test('by SIGTERM lets uploads finish everywhere, ends with 0, and leaves no process', async () => {
    const server = await startThree()
    const members = membersOf(server)
    const uploads = await Promise.all(Array.from({ length: 2 * MEMBERS }, () => halfUpload(server)))
    server.signal('SIGTERM')
    await sleep(300)
    await expect(openSocket(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    for (const upload of uploads) upload.finish()
    for (const upload of uploads) expect(await upload.answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await server.ended(10_000)).toEqual({ code: 0, signal: null })
    expect(stillRunning(members)).toEqual([])
    expect(server.log()).toBe('')
    expect(atRest(readDataDirectory(server.dataDir))).toEqual([])
  })

  test('by SIGTERM just after another one died starts no new process', async () => {
    const server = await startThree()
    const members = membersOf(server)
    // Enough for one that is not about to die to have some.
    const uploads = await Promise.all(Array.from({ length: 8 * MEMBERS }, () => halfUpload(server)))
    const [victim] = members
    if (victim === undefined) throw new TypeError('no process to end')
    process.kill(victim, 'SIGKILL')
    await sleep(100)
    server.signal('SIGTERM')
    // The uploads keep the drain going beyond the moment at which a replacement would have started.
    await sleep(1500)
    const running = childrenOf(server.pid)
    expect(running, 'the drain is over too early').not.toEqual([])
    expect(running.filter((pid) => !members.includes(pid))).toEqual([])
    for (const upload of uploads) upload.finish()
    expect(await server.ended(10_000)).toEqual({ code: 0, signal: null })
    expect(stillRunning(members)).toEqual([])
  })

  test('by SIGTERM while a new process is starting waits for that one as well', async () => {
    const server = await startServer({ env: { LADE_PROCESSES: '2' } })
    const before = membersOf(server)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    const isStarting = () => (membersOf(server).length === 2 ? [] : ['no new processes'])
    await sleep(100)
    expect(await eventually(isStarting, REPLACED_MS)).toEqual([])
    const members = membersOf(server)
    server.signal('SIGTERM')
    expect(await server.ended(15_000)).toEqual({ code: 0, signal: null })
    expect(stillRunning(members)).toEqual([])
  })

  test('by SIGKILL makes the others finish their uploads and end by themselves', async () => {
    const server = await startThree()
    const members = membersOf(server)
    const uploads = await Promise.all(Array.from({ length: MEMBERS }, () => halfUpload(server)))
    await server.kill()
    await sleep(300)
    for (const upload of uploads) upload.finish()
    for (const upload of uploads) expect(await upload.answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await eventually(() => stillRunning(members), 10_000)).toEqual([])
    expect(server.log()).toBe('')
    expect(atRest(readDataDirectory(server.dataDir))).toEqual([])
  })
})

interface FailedStart {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `lade serve` with three processes to its end, within a minute. A stream that ends was held by no process. */
async function failToStart(
  env: Readonly<Record<string, string>>,
  onSpawned: (pid: number) => void = () => {},
): Promise<FailedStart> {
  const { PATH = '' } = process.env
  // A group of its own, so that whatever it started can be ended with it.
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH, LADE_PROCESSES: String(MEMBERS), LADE_MIN_FREE_MB: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('a running process has no pid')
  onSpawned(pid)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  const end = await Promise.race([closed, sleep(60_000, undefined, { ref: false })])
  if (end !== undefined) return end
  process.kill(-pid, 'SIGKILL')
  await closed
  throw new Error(`It, or a process that it started, still runs after a minute:\n${stderr}`)
}

/** Kills every process that `pid` starts, as soon as it is there, until `count` are killed. */
async function killMembersAtStart(pid: number, count: number): Promise<void> {
  const killed = new Set<number>()
  while (killed.size < count && isRunning(pid)) {
    for (const member of childrenOf(pid)) {
      if (killed.has(member) || killed.size === count) continue
      killed.add(member)
      process.kill(member, 'SIGKILL')
    }
    await sleep(20)
  }
}

describe('processes that are killed before they are ready', () => {
  test('are started again, and the service starts', async () => {
    let killing: Promise<void> | undefined
    const server = await startThree({}, (pid) => {
      killing = killMembersAtStart(pid, 2)
    })
    await killing
    expect(membersOf(server)).toHaveLength(MEMBERS)
    expect((await askEach(server, '/healthz')).size).toBe(MEMBERS)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test.runIf(PLAN.isFull)('error: end the start with 1 and a sentence when that goes on', FULL_PLAN_ONLY, async () => {
    const end = await failToStart({ LADE_PORT: '0', LADE_DATA_DIR: tempDirectory() }, (pid) => {
      void killMembersAtStart(pid, Number.POSITIVE_INFINITY)
    })
    expect(end).toMatchObject({ code: 1, stdout: '' })
    expect(end.stderr).toContain('A process ended with SIGKILL before it was ready.\n')
  })
})

describe('a port that another service has', () => {
  const several = { LADE_PROCESSES: String(MEMBERS) }
  const one = { LADE_PROCESSES: '1' }

  test.each([
    {
      holder: 'several processes',
      holds: several,
      attempts: [
        { ...several, LADE_HOST: '127.0.0.1' },
        { ...several, LADE_HOST: '::' },
        { ...one, LADE_HOST: '0.0.0.0' },
      ],
    },
    { holder: 'one process', holds: one, attempts: [{ ...several, LADE_HOST: '0.0.0.0' }] },
  ])('error: is refused, also at wildcard addresses, when $holder of another folder have it', async (given) => {
    const { holds, attempts } = given
    const holder = await startServer({ env: holds })
    const ends = await Promise.all(
      attempts.map((env) => failToStart({ ...env, LADE_PORT: holder.url.port, LADE_DATA_DIR: tempDirectory() })),
    )
    for (const [index, end] of ends.entries()) {
      expect(end, end.stderr).toMatchObject({ code: 1, stdout: '' })
      const address = `${attempts[index]?.LADE_HOST}:${holder.url.port}`
      expect(end.stderr).toContain(
        `cannot listen on ${address} (LADE_HOST and LADE_PORT): another program uses this address.\n`,
      )
    }
    expect((await send(holder.url, 'GET', '/healthz')).status).toBe(200)
  })
})

describe('several processes that cannot start', () => {
  test('error: end with 1 and a sentence when the port is taken', async () => {
    const holder = createServer()
    holder.listen(0, '127.0.0.1')
    await once(holder, 'listening')
    onTestFinished(() => void holder.close())
    const { port } = holder.address() as AddressInfo
    const end = await failToStart({ LADE_PORT: String(port), LADE_DATA_DIR: tempDirectory() })
    expect(end).toMatchObject({ code: 1, stdout: '' })
    expect(end.stderr).toContain(
      `cannot listen on 127.0.0.1:${port} (LADE_HOST and LADE_PORT): another program uses this address.\n`,
    )
    expect(end.stderr).not.toMatch(/^\s+at /m)
  })

  test('error: end with 1 and a sentence when the data directory cannot be created', async () => {
    const file = join(tempDirectory(), 'file')
    writeFileSync(file, '')
    const end = await failToStart({ LADE_PORT: '0', LADE_DATA_DIR: join(file, 'data') })
    expect(end).toMatchObject({ code: 1, stdout: '' })
    expect(end.stderr).toContain(`${join(file, 'data')} (LADE_DATA_DIR): a part of the path is not a folder.\n`)
    expect(end.stderr).not.toMatch(/^\s+at /m)
  })
})
