import { carHeader, carSection } from '@lade/core/dag'
import { type BatchResult, CAR_MEDIA_TYPE, type DirectoryRequest, type UploadResult } from '@lade/core/wire'
import { sha256 } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Postgres, startPostgres } from '../../../../services/postgres.ts'
import { processorSlowness } from '../../../../tools/tests/processor-slowness.ts'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const FILES = 10_000
const FILES_PER_BATCH = 500
/** How long a directory of so many files may take, the median of three, on a machine that is not slowed down. */
const MAKE_MS = { SQLite: 1000, PostgreSQL: 3000 }
const CHANGE_MS = { SQLite: 1000, PostgreSQL: 3000 }

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres.discard())

describe.each(['SQLite', 'PostgreSQL'] as const)(`a folder of ${FILES} files on %s`, (engine) => {
  const files = Array.from({ length: FILES }, (_, index) => {
    const bytes = Buffer.alloc(400, `file ${index} `)
    return { path: `dir/file ${index}.txt`, bytes, cid: CID.createV1(0x55, createDigest(0x12, sha256.of(bytes))) }
  })
  let service: RunningService
  let token: string
  beforeAll(async () => {
    const env = { ...(engine === 'PostgreSQL' && { LADE_DATABASE: await postgres.createDatabase('many_entries') }) }
    service = await runService({ env: { ...env, LADE_LOG_LEVEL: 'error', LADE_TOKEN_DAILY_FILES: '1000000' } })
    token = (await service.signUp()).token
    for (let at = 0; at < FILES; at += FILES_PER_BATCH) {
      const blocks = files.slice(at, at + FILES_PER_BATCH)
      const car = Buffer.concat([
        carHeader(blocks.slice(0, 1).map(({ cid }) => cid)),
        ...blocks.flatMap(({ cid, bytes }) => [carSection(cid, bytes.length), bytes]),
      ])
      const response = await service.fetch('/api/batches', {
        method: 'POST',
        headers: { 'content-type': CAR_MEDIA_TYPE, ...bearer(token) },
        body: Uint8Array.from(car),
      })
      const answer = (await response.json()) as BatchResult
      expect(answer.files?.find(({ error }) => error !== undefined)).toBeUndefined()
      expect(answer.files).toHaveLength(blocks.length)
    }
  }, 120_000)
  afterAll(() => service.remove())

  const make = async (body: DirectoryRequest): Promise<{ ms: number; folder: UploadResult }> => {
    const startedAt = performance.now()
    const response = await service.fetch('/api/directories', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(token) },
      body: JSON.stringify(body),
    })
    const folder = (await response.json()) as UploadResult
    expect([response.status, folder]).toEqual([200, expect.objectContaining({ kind: 'folder' })])
    return { ms: performance.now() - startedAt, folder }
  }
  const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  const entries = (keep: boolean) => files.map(({ path, cid }) => ({ path, cid: cid.toString(), keep }))

  it('is made, changed and removed', async () => {
    const times = { make: [] as number[], change: [] as number[] }
    let last = ''
    for (const round of [1, 2, 3]) {
      const { ms, folder } = await make({ entries: [...entries(true), { path: `round ${round}`, kind: 'folder' }] })
      times.make.push(ms)
      const changed = await make({ from: folder.cid, remove: [`dir/file ${round}.txt`] })
      expect(changed.folder.files).toBe(FILES - 1)
      times.change.push(changed.ms)
      last = changed.folder.cid
    }
    const taken = await make({ entries: entries(false) })
    const startedAt = performance.now()
    for (const cid of [taken.folder.cid, last]) {
      const response = await service.fetch(`/api/files/${cid}`, { method: 'DELETE', headers: bearer(token) })
      expect(response.status).toBe(200)
    }
    const removeMs = (performance.now() - startedAt) / 2
    process.stderr.write(
      `${engine}: made in ${times.make.map(Math.round)} ms, changed in ${times.change.map(Math.round)} ms, ` +
        `made of what was sent for it in ${Math.round(taken.ms)} ms, removed in ${Math.round(removeMs)} ms\n`,
    )
    const slowness = processorSlowness()
    expect(median(times.make)).toBeLessThan(MAKE_MS[engine] * slowness)
    expect(median(times.change)).toBeLessThan(CHANGE_MS[engine] * slowness)
  }, 180_000)
})
