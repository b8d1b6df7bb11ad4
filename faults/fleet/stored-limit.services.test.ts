import { bytesText } from '@lade/core/errors'
import { expect, test } from 'vitest'
import { type Answer, type Caller, doorFor, errorCode, send, sponsoredCaller, tokenCaller, upload } from '../caller.ts'
import { type Content, newContent } from '../content.ts'
import { atRest } from '../invariants.ts'
import { PLAN } from '../plan.ts'
import { type FleetHarness, startHarness, useServers } from './harness.ts'
import { type Operator, operatorOf, TOKEN_KEY } from './operator.ts'

const MB = 1024 * 1024
const LIMIT_MB = 4
const REMOVED = 5
/** Neither size divides the limit. */
const KINDS = [
  { kind: 'in the database', sizeBytes: 60_007 },
  { kind: 'in the object store', sizeBytes: 100_003 },
]

const servers = useServers()

interface StoredPrincipal {
  readonly stored: { readonly bytes: number; readonly files: number }
}

test.each(KINDS)(
  'three instances store exactly what a limit of stored bytes has room for: $kind',
  async ({ sizeBytes }) => {
    const harness = await startHarness(servers(), TOKEN_KEY)
    const operator = await operatorOf()
    const fitting = Math.floor((LIMIT_MB * MB) / sizeBytes)
    for (let round = 0; round < PLAN.fleetStoredRounds; round += 1) {
      const user = await tokenCaller(harness.fleet.url)
      const address = sponsoredCaller(`198.51.100.${round}`)
      for (const [caller, code] of [
        [user, 'quota_exceeded'],
        [address, 'rate_limited'],
      ] as const) {
        const story = () => `round ${round} of ${caller.principal}\n${harness.log()}`
        const path = `/api/admin/principals/${encodeURIComponent(caller.principal)}`
        await operator(harness.fleet.url, 'PUT', `${path}/limits`, { storedMb: LIMIT_MB })
        const taken = await uploadAtOnce(harness, caller, { sizeBytes, count: PLAN.quotaUploads, code, story })
        expect(taken.length, story()).toBe(fitting)
        await expectStored(harness, operator, { path, files: fitting, bytes: fitting * sizeBytes, story })
        if (caller === address) continue

        // What is removed makes room for as much again, and for no more.
        await Promise.all(taken.slice(0, REMOVED).map((content, index) => remove(harness, { caller, content, index })))
        const again = await uploadAtOnce(harness, caller, { sizeBytes, count: REMOVED * 4, code, story })
        expect(again.length, story()).toBe(REMOVED)
        await expectStored(harness, operator, { path, files: fitting, bytes: fitting * sizeBytes, story })
      }
    }
  },
)

/** All uploads at once, spread over the instances. Those that are not taken are refused because of what is stored. */
async function uploadAtOnce(
  { fleet }: FleetHarness,
  caller: Caller,
  of: { readonly sizeBytes: number; readonly count: number; readonly code: string; readonly story: () => string },
): Promise<Content[]> {
  const contents = Array.from({ length: of.count }, () => newContent(of.sizeBytes))
  const answers = await Promise.all(
    contents.map((content, index) =>
      upload(instanceOf(fleet, index), caller, content, { door: doorFor(caller, index) }),
    ),
  )
  const refusals = answers.filter(({ status }) => status !== 200)
  const refusal = `429 ${of.code} of ${bytesText(LIMIT_MB * MB)} stored`
  expect(new Set(refusals.map(refusalOf)), of.story()).toEqual(new Set([refusal]))
  return contents.filter((_, index) => answers[index]?.status === 200)
}

/** Status, code and limit of a refusal. The answer to a batch names the limit in its sentence only. */
function refusalOf(answer: Answer): string {
  const { detail } = JSON.parse(answer.body.toString()) as { detail: string }
  return `${answer.status} ${errorCode(answer)} ${/of [\d,.]+ \w+ stored/.exec(detail)?.[0] ?? detail}`
}

async function expectStored(
  harness: FleetHarness,
  operator: Operator,
  of: { readonly path: string; readonly files: number; readonly bytes: number; readonly story: () => string },
): Promise<void> {
  for (const { url } of harness.fleet.instances) {
    const { stored } = await operator<StoredPrincipal>(url, 'GET', of.path)
    expect(stored, of.story()).toEqual({ files: of.files, bytes: of.bytes })
  }
  const data = await harness.read()
  const live = data.files.filter(({ principal, isLive }) => isLive && of.path.endsWith(encodeURIComponent(principal)))
  expect([live.length, live.reduce((sum, file) => sum + file.sizeBytes, 0)], of.story()).toEqual([of.files, of.bytes])
  expect(atRest(data), of.story()).toEqual([])
}

async function remove(
  { fleet }: FleetHarness,
  { caller, content, index }: { readonly caller: Caller; readonly content: Content; readonly index: number },
): Promise<void> {
  const answer = await send(instanceOf(fleet, index), 'DELETE', `/api/files/${content.cid}`, {
    headers: caller.headers,
  })
  expect(answer.status, answer.body.toString()).toBe(200)
}

function instanceOf({ instances }: FleetHarness['fleet'], index: number): URL {
  const instance = instances[index % instances.length]
  if (instance === undefined) throw new TypeError('nothing to ask')
  return instance.url
}
