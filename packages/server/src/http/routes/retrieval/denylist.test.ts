import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256, sha256Hex } from '@lade/node/hashing/sha256'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, directoryDag, fileDag, patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const rawCidOf = (bytes: Uint8Array): CID => CID.createV1(0x55, createDigest(0x12, sha256.of(bytes)))
const doubleHashOf = (text: string): string =>
  `//${base58btc.baseEncode(createDigest(0x12, sha256.of(Buffer.from(text))).bytes)}`

describe('denylists', () => {
  let dir: string
  let list: string
  let service: RunningService
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-denylist-'))
    list = join(dir, 'one.deny')
    writeFileSync(list, 'version: 1\n---\n')
    writeFileSync(join(dir, 'two.deny'), '')
    service = await runService({ env: { LADE_DENYLIST: `${list},${join(dir, 'two.deny')}` } })
  })
  afterAll(async () => {
    await service.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  const statusOf = async (path: string, token?: string) => {
    const response = await service.fetch(path, { headers: bearer(token) })
    await response.arrayBuffer()
    return response.status
  }
  /** Adds lines, and waits until they are read. */
  const deny = async (...lines: string[]) => {
    const reads = () =>
      service.logged().filter(({ msg, file }) => msg === 'a denylist was read' && file === list).length
    const before = reads()
    appendFileSync(list, `${lines.join('\n')}\n`)
    while (reads() === before) await sleep(50)
  }

  it('block by plain and by hashed rules, under every alias, once they have changed', async () => {
    const [one, two] = [patternBytes(300_000, 201), patternBytes(300_000, 202)]
    for (const [bytes, rule] of [
      [one, (root: CID) => `/ipfs/${root}`],
      [two, (root: CID) => doubleHashOf(base58btc.baseEncode(root.multihash.bytes))],
    ] as const) {
      const { root } = await fileDag(bytes, { profile: 'unixfs-v0-2015' })
      const uploaded = await service.upload(bytes, { cid: root.toString() })
      const { pieceCid } = (await uploaded.json()) as { pieceCid: string }
      const paths = [
        `/p/${root}`,
        `/p/${sha256Hex(bytes)}`,
        `/p/${pieceCid}`,
        `/piece/${pieceCid}`,
        `/ipfs/${root}?format=raw`,
        `/ipfs/${root}?format=car`,
      ]
      for (const path of paths) expect(await statusOf(path), path).toBe(200)
      await deny(rule(root))
      for (const path of paths) expect(await statusOf(path), path).toBe(451)
      const again = await service.upload(bytes, { cid: root.toString() })
      expect(again.status).toBe(451)
      await deny(`!${rule(root)}`)
      for (const path of paths) expect(await statusOf(path), path).toBe(200)
    }
  })

  it('block small answers that are in memory', async () => {
    const bytes = Buffer.from('denied later')
    await service.upload(bytes)
    const path = `/p/${sha256Hex(bytes)}`
    for (let round = 0; round < 3; round += 1) expect(await statusOf(path)).toBe(200)
    await deny(`/ipfs/${rawCidOf(bytes)}`)
    expect(await statusOf(path)).toBe(451)
  })

  it('block paths below a root, plain and hashed, and no other path', async () => {
    const contents = ['a', 'b', 'c'].map((word) => Buffer.from(`content ${word}`))
    const folder = await directoryDag(Object.fromEntries(contents.map((bytes, index) => [`${index} x.txt`, bytes])))
    const car = await carOf(folder.root, folder.blocks)
    const headers = { 'content-type': 'application/vnd.ipld.car' }
    expect((await service.upload(car, { cid: folder.root.toString(), headers })).status).toBe(200)
    const name = base58btc.baseEncode(folder.root.multihash.bytes)
    await deny(`/ipfs/${folder.root}/0%20x.txt`, doubleHashOf(`${name}/1 x.txt`))
    const statuses = [0, 1, 2].map((index) => statusOf(`/ipfs/${folder.root}/${index}%20x.txt?format=car`))
    expect(await Promise.all(statuses)).toEqual([451, 451, 200])
    expect(await statusOf(`/ipfs/${folder.root}?format=raw`)).toBe(200)
  })

  it('refuse an upload at its end that is known by a rule, and a CAR with a block of one', async () => {
    const bytes = patternBytes(3000, 203)
    await deny(`/ipfs/${rawCidOf(bytes)}`)
    expect((await service.upload(bytes, { cid: 'opaque000001' })).status).toBe(451)
    const folder = await directoryDag({ 'in-a-folder.bin': bytes })
    const headers = { 'content-type': 'application/vnd.ipld.car' }
    const car = await carOf(folder.root, folder.blocks)
    expect((await service.upload(car, { cid: folder.root.toString(), headers })).status).toBe(451)
  })

  it('tell the owner, and are listed for the operator', async () => {
    const { token } = await service.signUp()
    const bytes = Buffer.from('mine, and denied')
    await service.upload(bytes, { token })
    await deny(`/ipfs/${rawCidOf(bytes)}`)
    const answer = (await (await service.fetch(`/p/${sha256Hex(bytes)}`, { headers: bearer(token) })).json()) as object
    expect(answer).toMatchObject({ error: 'blocked', reason: 'A denylist of this service names it.' })
    const blocks = await service.fetch('/api/admin/blocks', { headers: bearer(await service.mint(['admin'])) })
    expect(await blocks.json()).toMatchObject({ blocks: [], denylists: [{ file: list, invalid: 0 }, { rules: 0 }] })
  })

  it('stay as they were while a file is gone or wrong', async () => {
    const bytes = Buffer.from('stays denied')
    await service.upload(bytes)
    await deny(`/ipfs/${rawCidOf(bytes)}`)
    writeFileSync(list, 'version: 2\n---\n')
    const failed = () => service.logged().some(({ msg }) => String(msg).startsWith('a denylist cannot be read'))
    while (!failed()) await sleep(50)
    expect(await statusOf(`/p/${sha256Hex(bytes)}`)).toBe(451)
  })

  it('error: a list that cannot be read ends the start', async () => {
    await expect(runService({ env: { LADE_DENYLIST: join(dir, 'missing.deny') } })).rejects.toThrow(
      /^Lade cannot use the denylist .*missing\.deny \(LADE_DENYLIST\): /,
    )
  })
})
