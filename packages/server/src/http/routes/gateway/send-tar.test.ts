import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directoryDag, patternBytes, type TestDag } from '../../../retrieval/testing-dags.ts'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'
import { answerAt, uploadDag } from './testing-folders.ts'

const run = promisify(execFile)
const LONG = `${'long name '.repeat(20)}ź.txt`
const FILES = {
  'a.txt': Buffer.from('a'),
  'ą/ę/file-źł.txt': Buffer.from('I am a txt file'),
  'big.bin': patternBytes(1_500_001, 8),
  empty: Buffer.alloc(0),
  [`sub/${LONG}`]: Buffer.from('long'),
}

/** Directories in each other, the last with a file under this name. */
async function namedDag(...names: readonly string[]): Promise<TestDag> {
  const blocks = new Map<string, Uint8Array>()
  const bytes = Buffer.from('text')
  let cid: CID = CID.createV1(0x55, await sha256.digest(bytes))
  blocks.set(cid.toString(), bytes)
  for (const name of names.toReversed()) {
    const Data = new UnixFS({ type: 'directory' }).marshal()
    const block = dagPb.encode({ Data, Links: [{ Name: name, Hash: cid, Tsize: 4 }] })
    cid = CID.createV1(dagPb.code, await sha256.digest(block))
    blocks.set(cid.toString(), block)
  }
  return { root: cid, blocks }
}

describe('GET /ipfs/{cid}?format=tar', () => {
  let service: RunningService
  let dir: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_SPONSORED_DAILY_MB: '1000' } })
    dir = mkdtempSync(join(tmpdir(), 'lade-tar-'))
  })
  afterAll(async () => {
    await service.remove()
    rmSync(dir, { recursive: true, force: true })
  })
  /** What `tar` lists of an archive, having unpacked it. */
  const unpacked = async (bytes: Buffer): Promise<string[]> => {
    writeFileSync(join(dir, 'one.tar'), bytes)
    const options = { cwd: dir, env: { ...process.env, LC_ALL: 'C.UTF-8' } }
    await run('tar', ['xf', 'one.tar'], options)
    return (await run('tar', ['tf', 'one.tar', '--quoting-style=literal'], options)).stdout.trimEnd().split('\n')
  }

  it.each([
    ['plain', 1_000_000],
    ['sharded', 1],
  ])('is a folder of %s directories with all that is in it', async (_kind, shardSplitThresholdBytes) => {
    const root = await uploadDag(service, await directoryDag(FILES, { shardSplitThresholdBytes }))
    const answer = await answerAt(service, `/ipfs/${root}`, { headers: { accept: 'application/x-tar' } })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-tar',
      'content-disposition': `attachment; filename="${root}.tar"`,
      etag: `W/"${root}.x-tar"`,
      'accept-ranges': 'none',
      'content-location': `/ipfs/${root}?format=tar`,
    })
    const names = await unpacked(answer.bytes)
    expect(names.filter((name) => !name.endsWith('/')).sort()).toEqual(
      Object.keys(FILES)
        .map((name) => `${root}/${name}`)
        .sort(),
    )
    for (const [name, bytes] of Object.entries(FILES)) {
      expect(readFileSync(join(dir, root, name)).equals(bytes), name).toBe(true)
    }
    const again = await answerAt(service, `/ipfs/${root}?format=tar`)
    expect(again.bytes.equals(answer.bytes)).toBe(true)
  })

  it('is named after the last name of the path, and may be one file', async () => {
    const root = await uploadDag(service, await directoryDag(FILES))
    const file = await answerAt(service, `/ipfs/${root}/%C4%85/%C4%99/file-%C5%BA%C5%82.txt?format=tar`)
    expect(await unpacked(file.bytes)).toEqual(['file-źł.txt'])
    const folder = await answerAt(service, `/ipfs/${root}/%C4%85?format=tar&filename=test%D1%82.tar`)
    expect(await unpacked(folder.bytes)).toEqual(['ą/', 'ą/ę/', 'ą/ę/file-źł.txt'])
    expect(folder.headers['content-disposition']).toBe(
      `attachment; filename="test_.tar"; filename*=UTF-8''test%D1%82.tar`,
    )
    const head = await answerAt(service, `/ipfs/${root}?format=tar`, { method: 'HEAD' })
    expect([head.status, head.bytes.length]).toEqual([200, 0])
  })

  it.each([
    [['..']],
    [['../x']],
    [['a', '../../x']],
    [['a', '..']],
    [['/..', 'x']],
    [['a\0b']],
    [[...Array.from({ length: 20 }, () => 'x'.repeat(250))]],
  ])('error: a folder with %j in it is refused before any byte', async (names) => {
    const root = await uploadDag(service, await namedDag(...names))
    const answer = await answerAt(service, `/ipfs/${root}?format=tar`)
    expect(answer.json()).toMatchObject({ status: 406, error: 'not_acceptable' })
  })

  it('resolves a name that leads to another place in the folder', async () => {
    const root = await uploadDag(service, await namedDag('foobar', 'directory', '../file'))
    const names = await unpacked((await answerAt(service, `/ipfs/${root}?format=tar`)).bytes)
    expect(names.at(-1)).toBe(`${root}/foobar/file`)
  })
})
