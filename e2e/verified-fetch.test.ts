/**
 * `@helia/verified-fetch`, pointed at one Lade and at nothing else of the network, reads what was uploaded under the CIDs
 * that IPFS tools print, checks every block by itself, and is never given a tampered one.
 *
 * Run it as `npm run e2e` in the root. It needs no network beyond loopback.
 */
import assert from 'node:assert/strict'
import { createCipheriv, createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type CreateVerifiedFetchInit, createVerifiedFetch, type VerifiedFetch } from '@helia/verified-fetch'
import { importer } from 'ipfs-unixfs-importer'
import { startOwnServer } from '../acceptance/own-server.ts'
import type { OwnServer } from '../acceptance/server-under-test.ts'

const MIB = 1_048_576
const CHUNK_BYTES = MIB
/** However long it may take, no read of this suite may go on for ever: this client retries until it is told to stop. */
const READ_TIMEOUT_MS = 240_000
const REFUSAL_TIMEOUT_MS = 6_000

let server: OwnServer
before(async () => {
  server = await startOwnServer({
    LADE_SPONSORED_FILE_MB: '400',
    LADE_SPONSORED_DAILY_MB: '2000',
    LADE_MIN_FREE_MB: '0',
    LADE_LOG_LEVEL: 'silent',
  })
})
after(() => server.discard())

/** A file whose bytes can be made again from its seed, chunk by chunk. */
interface SeededFile {
  readonly sizeBytes: number
  chunks(): Iterable<Buffer>
}

/** The keystream of ChaCha20 under the sha2-256 of the seed. */
function seededFile(seed: string, sizeBytes: number): SeededFile {
  return {
    sizeBytes,
    *chunks() {
      const cipher = createCipheriv('chacha20', createHash('sha256').update(seed).digest(), Buffer.alloc(16))
      for (let left = sizeBytes; left > 0; left -= CHUNK_BYTES) {
        yield cipher.update(Buffer.alloc(Math.min(left, CHUNK_BYTES)))
      }
    },
  }
}

function sha256Of(chunks: Iterable<Uint8Array>): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

function bytesOf(file: SeededFile, from: number, to: number): Buffer {
  const parts: Buffer[] = []
  let offset = 0
  for (const chunk of file.chunks()) {
    if (offset + chunk.length > from && offset < to) parts.push(chunk.subarray(Math.max(0, from - offset), to - offset))
    offset += chunk.length
  }
  return Buffer.concat(parts)
}

type Profile = 'unixfs-v0-2015' | 'unixfs-v1-2025'
interface BlockId {
  toString(): string
  readonly multihash: { readonly digest: Uint8Array }
}

/** The root that IPFS tools print for the file under one of the profiles of IPIP-0499, and the ids of all its blocks. */
async function importFile(file: SeededFile, profile: Profile): Promise<{ root: string; blocks: readonly BlockId[] }> {
  const blocks: BlockId[] = []
  // Only the ids are kept.
  const store = {
    async put<Key extends BlockId>(cid: Key): Promise<Key> {
      blocks.push(cid)
      return cid
    },
  }
  for await (const { cid } of importer([{ content: file.chunks() }], store, { profile })) {
    return { root: cid.toString(), blocks }
  }
  throw new Error('the importer printed no root')
}

function upload(cid: string, file: SeededFile): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': file.sizeBytes }
    const url = new URL(`/api/upload?cid=${cid}`, server.baseUrl)
    const outgoing = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        body += text
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    outgoing.on('error', reject)
    const send = async (): Promise<void> => {
      for (const chunk of file.chunks()) {
        if (!outgoing.write(chunk)) await new Promise((drained) => outgoing.once('drain', drained))
      }
      outgoing.end()
    }
    send().catch(reject)
  })
}

/** Where a client looks for blocks. Without `routers`, those of the public network would be asked. */
type Sources = Pick<CreateVerifiedFetchInit, 'gateways' | 'routers'>

/** A client without a cache of an earlier one. It is stopped when `use` ends. */
async function withClient<Result>(
  use: (read: VerifiedFetch) => Promise<Result>,
  sources: Sources = { gateways: [server.baseUrl.origin], routers: [] },
): Promise<Result> {
  const read = await createVerifiedFetch({
    ...sources,
    allowLocal: true,
    allowInsecure: true,
    libp2pConfig: { addresses: { listen: [] }, transports: [], peerDiscovery: [], services: {} },
  })
  try {
    return await use(read)
  } finally {
    await read.stop()
  }
}

async function hashBody(response: Response): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of response.body ?? []) {
    hash.update(chunk)
    sizeBytes += chunk.length
  }
  return { sha256: hash.digest('hex'), sizeBytes }
}

const rangeHeader = (from: number, to: number) => ({ Range: `bytes=${from}-${to - 1}` })

for (const [name, sizeBytes] of [
  ['1 byte', 1],
  ['3 MiB', 3 * MIB],
  ['300 MiB', 300 * MIB],
] as const) {
  describe(`a file of ${name}`, () => {
    const file = seededFile(`e2e ${name}`, sizeBytes)
    const sha256 = sha256Of(file.chunks())

    for (const [version, profile] of [
      ['CIDv1', 'unixfs-v1-2025'],
      ['CIDv0', 'unixfs-v0-2015'],
    ] as const) {
      test(`is taken under its ${version}, and read by it, whole and in part`, async () => {
        const { root: cid } = await importFile(file, profile)
        assert.match(cid, version === 'CIDv0' ? /^Qm/ : /^baf/)
        const { status, body } = await upload(cid, file)
        assert.equal(status, 200, body)
        const result: unknown = JSON.parse(body)
        assert.partialDeepStrictEqual(result, { cid, sha256, verified: true, size: sizeBytes })

        await withClient(async (read) => {
          const whole = await read(`ipfs://${cid}`, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })
          assert.equal(whole.status, 200)
          assert.deepEqual(await hashBody(whole), { sha256, sizeBytes })
        })

        // A client that has no block yet, so that the range is fetched by itself.
        const from = Math.floor(sizeBytes / 2)
        const to = Math.min(sizeBytes, from + 300_000)
        await withClient(async (read) => {
          const part = await read(`ipfs://${cid}`, {
            headers: rangeHeader(from, to),
            signal: AbortSignal.timeout(READ_TIMEOUT_MS),
          })
          assert.equal(part.status, 206)
          assert.equal(part.headers.get('content-range'), `bytes ${from}-${to - 1}/${sizeBytes}`)
          assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytesOf(file, from, to)))
        })
      })
    }
  })
}

describe('a service that a client knows as its router only', () => {
  const sources = (): Sources => ({ gateways: [], routers: [server.baseUrl.origin] })

  test('names its gateway, from which the client reads the whole file', async () => {
    const file = seededFile('e2e router', 5 * MIB)
    const { root: cid } = await importFile(file, 'unixfs-v1-2025')
    assert.equal((await upload(cid, file)).status, 200)
    await withClient(async (read) => {
      const whole = await read(`ipfs://${cid}`, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })
      assert.equal(whole.status, 200)
      assert.deepEqual(await hashBody(whole), { sha256: sha256Of(file.chunks()), sizeBytes: file.sizeBytes })
    }, sources())
  })

  test('names nobody for a file that it does not have', async () => {
    const { root: cid } = await importFile(seededFile('e2e absent', 3 * MIB), 'unixfs-v1-2025')
    await withClient(async (read) => {
      const signal = AbortSignal.timeout(REFUSAL_TIMEOUT_MS)
      await assert.rejects(async () => {
        const response = await read(`ipfs://${cid}`, { signal })
        if (!response.ok) throw new Error(`answered ${response.status}`)
      })
    }, sources())
  })
})

describe('a stored file that somebody has changed on the disk', () => {
  const file = seededFile('e2e tampered', 3 * MIB)
  const place = 2 * MIB + 1234

  for (const [version, profile] of [
    ['CIDv1', 'unixfs-v1-2025'],
    ['CIDv0', 'unixfs-v0-2015'],
  ] as const) {
    test(`is never given as the file by its ${version}, and the blocks that are whole still are`, async () => {
      const { root: cid, blocks } = await importFile(file, profile)
      const { status, body } = await upload(cid, file)
      assert.equal(status, 200, body)
      await flipBit(sha256Of(file.chunks()), place)
      try {
        assert.equal(await countUnreadable(blocks), 1)
        await withClient(async (read) => {
          const signal = AbortSignal.timeout(REFUSAL_TIMEOUT_MS)
          await assert.rejects(async () => {
            const response = await read(`ipfs://${cid}`, { signal })
            if (response.ok) await hashBody(response)
            else throw new Error(`answered ${response.status}`)
          })
        })
        await withClient(async (read) => {
          const signal = AbortSignal.timeout(READ_TIMEOUT_MS)
          const part = await read(`ipfs://${cid}`, { headers: rangeHeader(100, 200), signal })
          assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytesOf(file, 100, 200)))
        })
      } finally {
        await flipBit(sha256Of(file.chunks()), place)
      }
      await withClient(async (read) => {
        const whole = await read(`ipfs://${cid}`, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })
        assert.equal((await hashBody(whole)).sha256, sha256Of(file.chunks()))
      })
    })
  }
})

/** How many of these blocks the gateway does not give; those that it gives must be right. */
async function countUnreadable(blocks: readonly BlockId[]): Promise<number> {
  let unreadable = 0
  for (const cid of blocks) {
    const response = await fetch(new URL(`/ipfs/${cid}?format=raw`, server.baseUrl))
    const bytes = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200) unreadable += 1
    else assert.deepEqual(createHash('sha256').update(bytes).digest(), Buffer.from(cid.multihash.digest))
  }
  return unreadable
}

/** Changes one bit of a stored object, or changes it back. */
async function flipBit(sha256: string, place: number): Promise<void> {
  const object = await open(join(server.dataDir, 'objects', sha256.slice(0, 2), sha256), 'r+')
  try {
    const byte = Buffer.alloc(1)
    await object.read(byte, 0, 1, place)
    byte.writeUInt8(byte.readUInt8(0) ^ 1, 0)
    await object.write(byte, 0, 1, place)
  } finally {
    await object.close()
  }
}
