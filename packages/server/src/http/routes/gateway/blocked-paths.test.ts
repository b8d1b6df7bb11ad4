import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directoryDag } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { answerAt, uploadDag } from './testing-folders.ts'

describe('blocked content in a folder', () => {
  let service: RunningService
  let dir: string
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-denylist-'))
    const sub = await directoryDag({
      'denied.txt': Buffer.from('denied by its path'),
      'index.html': Buffer.from('denied index'),
    })
    writeFileSync(
      join(dir, 'one.deny'),
      `version: 1\n---\n/ipfs/${sub.root}/denied.txt\n/ipfs/${sub.root}/index.html\n`,
    )
    service = await runService({ env: { LADE_DENYLIST: join(dir, 'one.deny') } })
  })
  afterAll(async () => {
    await service.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  it('is refused by its CID, at every door, and what is beside it is not', async () => {
    const bytes = Buffer.from('to be taken down')
    const root = await uploadDag(service, await directoryDag({ 'a/bad.txt': bytes, 'a/good.txt': Buffer.from('good') }))
    expect((await answerAt(service, `/ipfs/${root}/a/bad.txt`)).status).toBe(200)
    const cid = CID.createV1(0x55, await sha256.digest(bytes)).toString()
    const blocked = await service.fetch('/api/admin/blocks', {
      method: 'POST',
      headers: { ...bearer(await service.mint(['admin'])), 'content-type': 'application/json' },
      body: JSON.stringify({ cid, reason: 'A complaint' }),
    })
    expect(blocked.status).toBe(200)
    for (const door of ['ipfs', 'p']) {
      for (const query of ['', '?format=raw', '?format=car', '?format=tar']) {
        expect((await answerAt(service, `/${door}/${root}/a/bad.txt${query}`)).status, query).toBe(451)
      }
      const good = await answerAt(service, `/${door}/${root}/a/good.txt`)
      expect([good.status, good.text]).toEqual([200, 'good'])
      expect((await answerAt(service, `/${door}/${root}/a/`)).text).toContain('bad.txt')
    }
    expect((await answerAt(service, `/ipfs/${root}?format=tar`)).status).toBe(451)
  })

  it('is refused by a path below a folder that the path comes through, as a page of it, too', async () => {
    const files = { 'denied.txt': Buffer.from('denied by its path'), 'index.html': Buffer.from('denied index') }
    const within = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`sub/${name}`, bytes]))
    const root = await uploadDag(service, await directoryDag(within))
    for (const path of ['denied.txt', 'index.html', '']) {
      expect((await answerAt(service, `/ipfs/${root}/sub/${path}`)).status, path).toBe(451)
    }
    expect((await answerAt(service, `/ipfs/${root}/sub/?format=json`)).status).toBe(200)
  })
})
