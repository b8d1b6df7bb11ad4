import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import http from 'node:http'
import type { SeededRandom } from './seeded-random.ts'
import type { StoredName } from './stored-variety.ts'

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
export async function wrongAnswers(origin: URL, name: StoredName, random: SeededRandom): Promise<string[]> {
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

/** Flips a bit of a file, and says which. */
export async function flipOneBitOf(file: string, random: SeededRandom): Promise<string> {
  const { sizeBytes, at, bit } = bitWithin(statSync(file).size, random)
  const handle = await open(file, 'r+')
  const byte = new Uint8Array(1)
  await handle.read(byte, 0, 1, at)
  await handle.write(Uint8Array.of((byte[0] ?? 0) ^ (1 << bit)), 0, 1, at)
  await handle.close()
  return `${file}: byte ${at} of ${sizeBytes}, bit ${bit}`
}

/** A bit of `sizeBytes`, each as likely as any other. */
export function bitWithin(sizeBytes: number, random: SeededRandom): { sizeBytes: number; at: number; bit: number } {
  return { sizeBytes, at: random.between(0, sizeBytes - 1), bit: random.between(0, 7) }
}
