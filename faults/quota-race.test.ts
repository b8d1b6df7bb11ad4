import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Caller, doorFor, errorCode, sponsoredCaller, tokenCaller, upload } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { atRest } from './invariants.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const MB = 1024 * 1024
const QUOTA_MB = 4

/** Small ones live in the database, large ones in files. Neither divides the quota. */
const SIZES = [
  { kind: 'in the database', sizeBytes: 60_007 },
  { kind: 'in files', sizeBytes: 100_003 },
]
const CASES = SIZES.flatMap((size) => [1, 2].map((processes) => ({ ...size, processes })))

let servers: ServerProcess[]

async function start(processes: number): Promise<void> {
  const dataDir = tempDirectory()
  const env = { LADE_SPONSORED_DAILY_MB: String(QUOTA_MB) }
  servers = await Promise.all(Array.from({ length: processes }, () => startServer({ dataDir, env })))
}

/** All uploads at once, spread over the processes; callers take turns. */
function uploadAtOnce(callers: readonly Caller[], sizeBytes: number): Promise<Answer[]> {
  const contents = Array.from({ length: PLAN.quotaUploads }, () => newContent(sizeBytes))
  return Promise.all(
    contents.map((content, index) => {
      const server = servers[index % servers.length]
      const caller = callers[index % callers.length]
      if (server === undefined || caller === undefined) throw new TypeError('nobody to upload, or nothing to upload to')
      return upload(server.url, caller, content, { door: doorFor(caller, index) })
    }),
  )
}

/** Holds a round against the quota: as many are taken as fit, the others are told why not, and the charge is exact. */
function expectExactly(
  answers: readonly Answer[],
  round: { principal: string; sizeBytes: number; code: string },
): void {
  const fitting = Math.floor((QUOTA_MB * MB) / round.sizeBytes)
  const taken = answers.filter((answer) => answer.status === 200).length
  expect(taken).toBe(fitting)
  const refusals = answers.filter((answer) => answer.status !== 200)
  expect(new Set(refusals.map((answer) => `${answer.status} ${errorCode(answer)}`))).toEqual(
    new Set([`429 ${round.code}`]),
  )
  const data = readDataDirectory(servers[0]?.dataDir ?? '')
  expect(data.usage.get(round.principal)).toBe(fitting * round.sizeBytes)
  expect(atRest(data)).toEqual([])
}

beforeEach(() => {
  servers = []
})

describe('a quota with room for some of many uploads at once', () => {
  test.each(CASES)('takes exactly those that fit: a user, $kind, $processes process(es)', async (subject) => {
    const { sizeBytes, processes } = subject
    await start(processes)
    for (let round = 0; round < PLAN.quotaRounds; round += 1) {
      const user = await tokenCaller(servers[0]?.url ?? new URL('http://127.0.0.1'), QUOTA_MB)
      const answers = await uploadAtOnce([user], sizeBytes)
      expectExactly(answers, { principal: user.principal, sizeBytes, code: 'quota_exceeded' })
    }
  })

  test.each(CASES)('takes exactly those that fit: an IPv4 address, $kind, $processes process(es)', async (subject) => {
    const { sizeBytes, processes } = subject
    await start(processes)
    for (let round = 0; round < PLAN.quotaRounds; round += 1) {
      const address = `198.51.100.${round}`
      const plain = sponsoredCaller(address)
      const mapped = sponsoredCaller(`::ffff:${address}`)
      const answers = await uploadAtOnce([plain, mapped], sizeBytes)
      expectExactly(answers, { principal: plain.principal, sizeBytes, code: 'rate_limited' })
    }
  })

  test.each(CASES)('takes exactly those that fit: one IPv6 /64, $kind, $processes process(es)', async (subject) => {
    const { sizeBytes, processes } = subject
    await start(processes)
    for (let round = 0; round < PLAN.quotaRounds; round += 1) {
      // Each in a /48 of its own, whose day has no room for twenty of them.
      const prefix = `2001:db8:${(round + 1).toString(16)}:7`
      const hosts = Array.from({ length: PLAN.quotaUploads }, (_, host) =>
        sponsoredCaller(`${prefix}:${(host + 1).toString(16)}::${(host * 7).toString(16)}`),
      )
      const answers = await uploadAtOnce(hosts, sizeBytes)
      expectExactly(answers, { principal: `ip:${prefix}::/64`, sizeBytes, code: 'rate_limited' })
    }
  })
})
