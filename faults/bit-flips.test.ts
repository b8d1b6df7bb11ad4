import { cpSync, existsSync, readdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PLAN } from './plan.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { type StoredName, storeVariety } from './stored-variety.ts'
import { tempDirectory } from './temp-directory.ts'

/** Flips that are made at a time; they are looked at together. */
const FLIPS_PER_START = { database: 3, log: 1, objects: 12 } as const
type Place = keyof typeof FLIPS_PER_START

const agent = new http.Agent({ keepAlive: true })

interface Got {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** What came before the end, or before the connection was cut. */
  readonly body: Buffer
}

/** What a request is answered, also when the answer is cut off; undefined when nothing came back at all. */
function ask(origin: URL, method: string, path: string, headers: Record<string, string>): Promise<Got | undefined> {
  return new Promise((resolve) => {
    const { hostname, port } = origin
    const request = http.request({ hostname, port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      const done = (): void => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', done)
      response.on('close', done)
    })
    request.setTimeout(60_000, () => request.destroy())
    request.on('error', () => resolve(undefined))
    request.end()
  })
}

/** Everything wrong that was served of a name: bytes, or a length that the file does not have. */
async function wrongOf(origin: URL, name: StoredName, random: SeededRandom): Promise<string[]> {
  const { path, bytes, headers } = name
  const wrong: string[] = []
  const isOk = (status: number): boolean => status === 200 || status === 206
  const head = await ask(origin, 'HEAD', path, { ...headers })
  if (head !== undefined && isOk(head.status) && Number(head.headers['content-length']) !== bytes.length) {
    wrong.push(`HEAD ${path}: ${head.headers['content-length']} bytes`)
  }
  const from = random.between(0, bytes.length - 1)
  const to = Math.min(bytes.length - 1, from + random.betweenMagnitudes(1, bytes.length))
  for (const [start, end] of [
    [0, bytes.length],
    [from, to + 1],
  ] as const) {
    const range: Record<string, string> =
      start === 0 && end === bytes.length ? {} : { range: `bytes=${start}-${end - 1}` }
    const got = await ask(origin, 'GET', path, { ...headers, ...range })
    if (got === undefined || !isOk(got.status)) continue
    const truth = got.status === 206 ? bytes.subarray(start, end) : bytes
    const isPrefix =
      got.body.length <= truth.length && Buffer.compare(got.body, truth.subarray(0, got.body.length)) === 0
    // Fewer bytes than were announced are a cut, which no client takes for the file.
    const isWhole = Number(got.headers['content-length']) === truth.length
    if (!isPrefix || !isWhole)
      wrong.push(`GET ${path} ${JSON.stringify(range)}: ${got.status}, ${got.body.length} bytes`)
  }
  return wrong
}

async function flipOneBit(file: string, random: SeededRandom): Promise<string> {
  const at = random.between(0, statSync(file).size - 1)
  const bit = random.between(0, 7)
  const handle = await open(file, 'r+')
  const byte = new Uint8Array(1)
  await handle.read(byte, 0, 1, at)
  await handle.write(Uint8Array.of((byte[0] ?? 0) ^ (1 << bit)), 0, 1, at)
  await handle.close()
  return `${file}: byte ${at}, bit ${bit}`
}

function filesOf(dataDir: string, place: Place): string[] {
  if (place === 'database') return [join(dataDir, 'lade.db')]
  if (place === 'log')
    return [join(dataDir, 'lade.db-wal')].filter((file) => existsSync(file) && statSync(file).size > 0)
  return readdirSync(join(dataDir, 'objects'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /[0-9a-f]{2}\/[0-9a-f]{64}/.test(name))
    .map((name) => join(dataDir, 'objects', name))
}

/** A service on a copy of the data; undefined when it refuses to start. */
async function startOn(dataDir: string): Promise<ServerProcess | undefined> {
  try {
    return await startServer({ dataDir })
  } catch {
    return undefined
  }
}

test(`no wrong byte is served after ${PLAN.bitFlips} flips of a bit in database, log and objects`, {
  timeout: 7_200_000,
}, async () => {
  const random = seededRandom(runSeed)
  const counts = { flips: 0, starts: 0, refusedStarts: 0, ended: 0, wrong: 0 }
  const template = tempDirectory()
  const first = await startServer({ dataDir: template })
  const names = await storeVariety(first.url)
  for (const name of names) expect(await wrongOf(first.url, name, random), name.path).toEqual([])
  // Without a checkpoint there is a log to flip bits in.
  await first.kill()

  while (counts.flips < PLAN.bitFlips) {
    for (const place of ['database', 'objects', 'log'] as const) {
      const dataDir = join(tempDirectory(), 'data')
      cpSync(template, dataDir, { recursive: true })
      if (place === 'database') await (await startOn(dataDir))?.stop()
      const flips: string[] = []
      const files = filesOf(dataDir, place)
      for (let count = 0; count < FLIPS_PER_START[place] && files.length > 0; count += 1) {
        flips.push(await flipOneBit(random.pick(files), random))
      }
      counts.flips += flips.length
      counts.starts += 1
      const server = await startOn(dataDir)
      if (server === undefined) {
        counts.refusedStarts += 1
        continue
      }
      const wrong: string[] = []
      for (const name of names) wrong.push(...(await wrongOf(server.url, name, random)))
      counts.wrong += wrong.length
      expect(wrong, `seed ${runSeed}, flips ${flips.join('; ')}`).toEqual([])
      if ((await Promise.race([server.exited, Promise.resolve(undefined)])) !== undefined) counts.ended += 1
      await server.kill()
    }
  }
  console.log(`bit flips, seed ${runSeed}: ${JSON.stringify(counts)}, ${names.length} names`)
})
