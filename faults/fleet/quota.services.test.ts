import { expect, test } from 'vitest'
import { type Answer, type Caller, doorFor, errorCode, sponsoredCaller, tokenCaller, upload } from '../caller.ts'
import { newContent } from '../content.ts'
import { atRest } from '../invariants.ts'
import { PLAN } from '../plan.ts'
import { type FleetHarness, startHarness, useServers } from './harness.ts'

const MB = 1024 * 1024
const QUOTA_MB = 4
/** Neither size divides the quota. */
const KINDS = [
  { kind: 'in the database', sizeBytes: 60_007 },
  { kind: 'in the object store', sizeBytes: 100_003 },
]

const servers = useServers()

/** All uploads at once, spread over the instances. */
function uploadAtOnce({ fleet }: FleetHarness, caller: Caller, sizeBytes: number): Promise<Answer[]> {
  const contents = Array.from({ length: PLAN.quotaUploads }, () => newContent(sizeBytes))
  return Promise.all(
    contents.map((content, index) => {
      const instance = fleet.instances[index % fleet.instances.length]
      if (instance === undefined) throw new TypeError('nothing to upload to')
      return upload(instance.url, caller, content, { door: doorFor(caller, index) })
    }),
  )
}

test.each(KINDS)(
  'three instances take exactly the uploads for which a quota has room: $kind',
  async ({ sizeBytes }) => {
    const harness = await startHarness(servers(), { LADE_SPONSORED_DAILY_MB: String(QUOTA_MB) })
    const fitting = Math.floor((QUOTA_MB * MB) / sizeBytes)
    for (let round = 0; round < PLAN.fleetQuotaRounds; round += 1) {
      const callers: readonly (readonly [Caller, string])[] = [
        [await tokenCaller(harness.fleet.url, QUOTA_MB), 'quota_exceeded'],
        [sponsoredCaller(`198.51.100.${round}`), 'rate_limited'],
      ]
      for (const [caller, code] of callers) {
        const answers = await uploadAtOnce(harness, caller, sizeBytes)
        const refusals = answers.filter(({ status }) => status !== 200)
        const story = `round ${round} of ${caller.principal}\n${harness.log()}`
        expect(new Set(refusals.map((answer) => `${answer.status} ${errorCode(answer)}`)), story).toEqual(
          new Set([`429 ${code}`]),
        )
        expect(answers.length - refusals.length, story).toBe(fitting)
        const data = await harness.read()
        expect(data.usage.get(caller.principal), story).toBe(fitting * sizeBytes)
        expect(atRest(data), story).toEqual([])
      }
    }
  },
)
