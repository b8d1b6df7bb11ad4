import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startFleet } from '../../services/fleet.ts'
import { BUCKET, s3Settings } from '../../services/stack.ts'
import { type Caller, send, tokenCaller, upload } from '../caller.ts'
import { type Content, newContent, sha256Hex } from '../content.ts'
import { eventually } from '../eventually.ts'
import { atRest } from '../invariants.ts'
import { BOUNDLESS_QUOTAS } from '../load.ts'
import { PLAN } from '../plan.ts'
import { BASE_ENV } from '../server-process.ts'
import { useServers } from './harness.ts'
import { readStoredData } from './stored-data.ts'

const servers = useServers()
/** Bigger than what is kept in the records. */
const BLOB_BYTES = 70_000
/** Until a removal that was sent is in the gateway, which does not read it. */
const SENT_MS = 1500
const TAKEN_OVER_MS = 60_000

test('files that were uploaded again are there though a gateway executes their old removals then, also of dead instances', {
  timeout: 300_000 + PLAN.lateRemovalRounds * 120_000,
}, async () => {
  const { postgres, ceph } = servers()
  const gateway = await ceph.startGateway()
  onTestFinished(() => gateway.resume())
  const prefix = `late-${randomBytes(4).toString('hex')}`
  const database = await postgres.createDatabase(prefix)
  const fleet = await startFleet({
    size: 2,
    env: { ...BASE_ENV, ...BOUNDLESS_QUOTAS, LADE_DATABASE: database },
    envOf: (index) => s3Settings(index === 0 ? gateway.port : ceph.port, prefix),
  })
  onTestFinished(() => fleet.discard())
  const [removing, other] = fleet.instances
  if (removing === undefined || other === undefined) throw new TypeError('two instances were started')
  const caller = await tokenCaller(other.url)
  const read = () => readStoredData({ database, endpoint: ceph.endpoint, bucket: BUCKET, prefix })

  let tried = 0
  const lost: string[] = []
  for (let round = 0; round < PLAN.lateRemovalRounds; round += 1) {
    const contents = Array.from({ length: PLAN.lateRemovals }, () => newContent(BLOB_BYTES))
    await uploadAll(other.url, caller, contents)
    gateway.pause()
    const removals = contents.map(({ cid }) =>
      send(removing.url, 'DELETE', `/api/files/${cid}`, { headers: caller.headers }).catch(() => undefined),
    )
    await sleep(SENT_MS)
    // Every other time the instance lives, and its removals are still under way when the bytes come again.
    const isKilled = round % 2 === 0
    if (isKilled) {
      await removing.kill()
      const left = async () => (await read()).discards
      expect(await eventually(left, TAKEN_OVER_MS), fleet.log()).toEqual([])
    }
    await uploadAll(other.url, caller, contents)
    gateway.resume()
    await Promise.all(removals)
    if (isKilled) await removing.start()
    expect(await eventually(async () => atRest(await read()), TAKEN_OVER_MS), fleet.log()).toEqual([])
    for (const { cid } of contents) {
      const { status, body } = await send(other.url, 'GET', `/p/${cid}`)
      if (status !== 200 || sha256Hex(body) !== cid) lost.push(`${cid}: ${status}`)
      tried += 1
    }
  }
  expect(lost, `${lost.length} of ${tried} are lost`).toEqual([])
  expect(tried).toBe(PLAN.lateRemovalRounds * PLAN.lateRemovals)
})

async function uploadAll(origin: URL, caller: Caller, contents: readonly Content[]): Promise<void> {
  const answers = await Promise.all(contents.map((content) => upload(origin, caller, content)))
  expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body.toString())).toEqual([])
}
