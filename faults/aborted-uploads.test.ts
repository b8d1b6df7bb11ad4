import { describe, expect, test } from 'vitest'
import { type Caller, send, tokenCaller, upload } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { eventually } from './eventually.ts'
import { atRest } from './invariants.ts'
import { PLAN } from './plan.ts'
import { CUTS, cutUpload } from './raw-upload.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const KB = 1024
const MB = 1024 * KB
const SENDERS = 40
/** How soon after the end of its connection an upload must have left no trace. */
const REFUND_MS = 2000

/** After how many of its bytes an upload is cut: none, few, half, nearly all, all but one, or any number. */
const POINTS: readonly ((sizeBytes: number, random: SeededRandom) => number)[] = [
  () => 0,
  (sizeBytes) => Math.ceil(sizeBytes * 0.01),
  (sizeBytes) => Math.floor(sizeBytes * 0.5),
  (sizeBytes) => Math.floor(sizeBytes * 0.99),
  (sizeBytes) => sizeBytes - 1,
  (sizeBytes, random) => random.between(1, sizeBytes - 1),
]

async function cutMany(server: ServerProcess, user: Caller, random: SeededRandom): Promise<Map<string, number>> {
  const statuses = new Map<string, number>()
  let left = PLAN.abortedUploads
  async function cutOneAfterTheOther(): Promise<void> {
    while (left > 0) {
      left -= 1
      const content = newContent(random.betweenMagnitudes(1 * KB, 2 * MB))
      const cut = random.pick(CUTS)
      const sentBytes = random.pick(POINTS)(content.sizeBytes, random)
      const answer = await cutUpload(server.url, { caller: user, content, sentBytes, cut })
      const outcome = `${cut} ${answer === '' ? 'no answer' : answer.slice(9, 12)}`
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, () => cutOneAfterTheOther()))
  return statuses
}

describe('uploads that their sender cuts off', () => {
  test('leave no charge, no reservation, no row and no file', async () => {
    const random = seededRandom(runSeed)
    const env = { LADE_BODY_IDLE_SECONDS: '1', LADE_TOKEN_DAILY_MB: '100' }
    const server = await startServer({ env })
    const user = await tokenCaller(server.url)
    const statuses = await cutMany(server, user, random)
    const story = `seed ${random.seed}, log:\n${server.log()}`

    const traces = (): string[] => {
      const data = readDataDirectory(server.dataDir)
      const rows = data.files.map((file) => `file row: ${file.sha256}`)
      const usage = [...data.usage].map(([principal, bytes]) => `${principal} is charged ${bytes} bytes`)
      return [...atRest(data), ...rows, ...usage, ...[...data.blobs].map((sha256) => `file: ${sha256}`)]
    }
    expect(await eventually(traces, REFUND_MS), story).toEqual([])
    // Whoever falls silent is told so; whoever half-closed can still read why nothing was kept.
    const answered = [...statuses.keys()].filter((outcome) => !outcome.startsWith('rst')).sort()
    expect(answered, story).toEqual(['fin 400', 'stall 408'])

    const usage = await send(server.url, 'GET', '/api/usage', { headers: user.headers })
    expect(JSON.parse(usage.body.toString()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    const answer = await upload(server.url, user, newContent(2 * MB))
    expect(answer.status, story).toBe(200)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(server.log()).toBe('')
  })
})
