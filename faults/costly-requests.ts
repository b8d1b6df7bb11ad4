import { createHash } from 'node:crypto'
import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { batchOf, CAR_TYPE } from './batch-car.ts'
import { type Caller, send, upload } from './caller.ts'
import { mislabelledContent, newContent } from './content.ts'
import { costlyAdminRequests, costlySessionRequests } from './costly-account-requests.ts'
import { costlyFolderRequests, namedFolder } from './costly-folder-requests.ts'
import type { CostlyRequest } from './costly-request.ts'
import { costlyResumedRequests } from './costly-resumed-requests.ts'
import { costlySiteRequests, stageRules } from './costly-site-requests.ts'
import { PLAN } from './plan.ts'

const MIB = 1024 * 1024
const BLOCK_BYTES = 2 * MIB
const DAG_PB = 0x70
const RAW = 0x55
const SHA2_256 = 0x12
const IDENTITY = 0

/** A block whose links take long to read. */
interface LinkedBlock {
  readonly name: string
  readonly cid: CID
  readonly bytes: Uint8Array
}

function cidOf(codec: number, bytes: Uint8Array): CID {
  return CID.createV1(codec, createDigest(SHA2_256, createHash('sha256').update(bytes).digest()))
}

/** Identity CID of raw bytes: a link that carries its block. */
function identity(bytes: Uint8Array): CID {
  return CID.createV1(RAW, createDigest(IDENTITY, bytes))
}

/** Blocks of almost 2 MiB, each with as many links as its codec allows, or the slowest. */
function linkedBlocks(): LinkedBlock[] {
  const long = Buffer.alloc(305, 7)
  const jsonLinks = Array.from({ length: 4032 }, (_, index) => {
    const bytes = Buffer.from(long)
    bytes.writeUInt32LE(index)
    return identity(bytes)
  })
  const cborLinks = Array.from({ length: 260_000 }, () => identity(new Uint8Array()))
  const pbLinks = Array.from({ length: 47_000 }, (_, index) => ({
    Name: '',
    Tsize: 1,
    Hash: cidOf(RAW, Buffer.from(`child ${index}`)),
  }))
  const json = dagJson.encode(jsonLinks)
  const cbor = dagCbor.encode(cborLinks)
  const pb = dagPb.encode(dagPb.prepare({ Links: pbLinks }))
  for (const { length } of [json, cbor, pb]) if (length > BLOCK_BYTES) throw new TypeError(`a block of ${length} bytes`)
  return [
    { name: 'dag-json, 4,032 identity links', cid: cidOf(dagJson.code, json), bytes: json },
    { name: 'dag-cbor, 260,000 empty identity links', cid: cidOf(dagCbor.code, cbor), bytes: cbor },
    { name: 'dag-pb, 47,000 links', cid: cidOf(DAG_PB, pb), bytes: pb },
  ]
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
/** Some id that nobody has used, `index` places after `from`. */
const unknownId = (index: number): string => createHash('sha256').update(`unknown ${index}`).digest('hex')
const cid = (bytes: Uint8Array): string => cidOf(DAG_PB, bytes).toString()

/** The worst request that is known for each route. `user` has a token. */
export async function costlyRequests(
  origin: URL,
  { anybody, user, operator }: Readonly<Record<'anybody' | 'user' | 'operator', Caller>>,
): Promise<CostlyRequest[]> {
  const file = newContent(90 * 1024)
  const big = newContent(16 * MIB)
  for (const content of [file, big]) await requireOk(upload(origin, anybody, content))
  const own = newContent(4096)
  await requireOk(upload(origin, user, own))
  const { dealId } = JSON.parse((await requireOk(upload(origin, user, newContent(5000)))).toString()) as {
    dealId: string
  }
  for (let file = 0; file < PLAN.listedFiles; file += 20) {
    await Promise.all(Array.from({ length: 20 }, () => requireOk(upload(origin, user, newContent(16)))))
  }
  const blocks = linkedBlocks()
  for (const block of blocks) {
    const headers = { ...anybody.headers, 'Content-Type': 'application/octet-stream' }
    await requireOk(send(origin, 'POST', `/api/upload?cid=${block.cid}`, { headers, body: block.bytes }))
  }
  const folderBytes = namedFolder()
  const folder = { cid: cid(folderBytes) }
  const asBlock = { ...anybody.headers, 'Content-Type': 'application/octet-stream' }
  await requireOk(send(origin, 'POST', `/api/upload?cid=${folder.cid}`, { headers: asBlock, body: folderBytes }))
  const parts = Array.from({ length: 4096 }, (_, index) => unknownId(index))
  const many = Array.from({ length: 1000 }, (_, index) => unknownId(index))
  const wrong = mislabelledContent(MIB).bytes()
  const range = { Range: 'bytes=1048575-1048576' }
  return [
    {
      route: 'post /api/upload',
      what: '1 MiB under a wrong id',
      path: `/api/upload?cid=${unknownId(-1)}`,
      headers: { 'Content-Type': 'a/b' },
      body: wrong,
      statuses: [422],
    },
    {
      route: 'put /api/upload',
      what: '1 MiB under a wrong id',
      path: `/api/upload?cid=${unknownId(-4)}`,
      headers: { 'Content-Type': 'a/b' },
      body: wrong,
      statuses: [422],
    },
    {
      route: 'post /api/upload',
      what: '1 MiB under a wrong dag-pb id',
      path: `/api/upload?cid=${cid(Buffer.from('x'))}`,
      headers: { 'Content-Type': 'a/b' },
      body: wrong,
      statuses: [422],
    },
    ...blocks.map((block) => ({
      route: 'post /api/upload',
      what: `a CAR of one block: ${block.name}`,
      path: `/api/upload?cid=${block.cid}`,
      headers: { 'Content-Type': 'application/vnd.ipld.car' },
      body: carOf(block),
      statuses: [200, 400, 422],
    })),
    {
      route: 'post /api/compose',
      what: '4,096 unknown parts',
      path: `/api/compose?cid=${unknownId(-2)}`,
      headers: JSON_TYPE,
      body: json({ parts }),
      statuses: [422],
    },
    { route: 'get /p/{cid}', what: 'two bytes of a big file', path: `/p/${big.cid}`, headers: range, statuses: [206] },
    { route: 'head /p/{cid}', what: 'a file', path: `/p/${big.cid}`, statuses: [200] },
    {
      route: 'post /p/{cid}/challenge',
      what: '16 MiB',
      path: `/p/${big.cid}/challenge`,
      headers: JSON_TYPE,
      body: json({ nonce: 'a nonce' }),
      statuses: [200, 409],
    },
    ...blocks.flatMap((block): CostlyRequest[] => [
      {
        route: 'get /ipfs/{cid}',
        what: block.name,
        path: `/ipfs/${block.cid}?format=car&dag-scope=all&car-dups=y`,
        statuses: [200, 404, 406],
      },
      { route: 'head /ipfs/{cid}', what: block.name, path: `/ipfs/${block.cid}?format=car`, statuses: [200, 404, 406] },
    ]),
    ...costlyFolderRequests(folder, blocks),
    ...costlySiteRequests(await stageRules(origin, anybody)),
    {
      route: 'post /api/batches',
      what: '1,000 files under wrong ids',
      path: '/api/batches',
      headers: { 'Content-Type': CAR_TYPE },
      body: batchOf(many.map((id) => ({ sha256: id, bytes: Buffer.from(id) }))),
      statuses: [200],
    },
    {
      route: 'post /api/batches',
      what: '8 MiB in files under wrong ids, behind which the framing is broken',
      path: '/api/batches',
      headers: { 'Content-Type': CAR_TYPE },
      body: Buffer.concat([
        batchOf(many.map((id) => ({ sha256: id, bytes: wrong.subarray(0, 8000) }))),
        Buffer.alloc(1),
      ]),
      statuses: [400],
    },
    ...(await costlyResumedRequests(origin, user, cid(Buffer.from('x')))),
    {
      route: 'post /lfs/{repository}/objects/batch',
      what: '1,000 unknown objects',
      path: '/lfs/faults/objects/batch',
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ operation: 'upload', objects: many.map((oid) => ({ oid, size: 1 })) }),
      statuses: [200],
    },
    {
      route: 'put /lfs/{repository}/objects/{oid}',
      what: '1 MiB under a wrong id',
      path: `/lfs/faults/objects/${unknownId(-5)}`,
      headers: user.headers,
      body: wrong,
      statuses: [400],
    },
    {
      route: 'get /piece/{pieceCid}',
      what: 'an unknown piece',
      path: '/piece/baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq',
      statuses: [404],
    },
    {
      route: 'head /piece/{pieceCid}',
      what: 'an unknown piece',
      path: '/piece/baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq',
      statuses: [404],
    },
    { route: 'get /pdp/ping', what: 'alive', path: '/pdp/ping', statuses: [200] },
    {
      route: 'get /pdp/piece',
      what: 'an unknown piece',
      path: '/pdp/piece?pieceCid=baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq',
      statuses: [404],
    },
    {
      route: 'get /routing/v1/providers/{cid}',
      what: 'a file',
      path: `/routing/v1/providers/${blocks[0]?.cid}?filter-addrs=${'unknown,'.repeat(200)}`,
      statuses: [200],
    },
    {
      route: 'get /api/piece-cids',
      what: '100 cids',
      headers: user.headers,
      path: `/api/piece-cids?${many
        .slice(0, 100)
        .map((id) => `cid=${id}`)
        .join('&')}`,
      statuses: [200, 404],
    },
    {
      route: 'post /api/piece-cids',
      what: '1,000 cids',
      path: '/api/piece-cids',
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ cids: many }),
      statuses: [200],
    },
    {
      route: 'get /api/files',
      what: 'a filter that nothing passes',
      path: '/api/files?limit=1000&q=nothing-is-called-this',
      headers: user.headers,
      statuses: [200, 400],
    },
    {
      route: 'get /api/files',
      what: 'the longest page',
      path: '/api/files?limit=1000',
      headers: user.headers,
      statuses: [200],
    },
    {
      route: 'get /api/files/{cid}',
      what: 'a file',
      path: `/api/files/${own.cid}`,
      headers: user.headers,
      statuses: [200],
    },
    {
      route: 'patch /api/files/{cid}',
      what: 'a term that is too long',
      path: `/api/files/${own.cid}`,
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ termDays: 36_500 }),
      statuses: [400],
    },
    {
      route: 'delete /api/files/{cid}',
      what: 'an unknown file',
      path: `/api/files/${unknownId(-3)}`,
      headers: user.headers,
      statuses: [404],
    },
    {
      route: 'post /api/files/{cid}/share',
      what: 'a link',
      path: `/api/files/${own.cid}/share`,
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ ttlSeconds: 60 }),
      statuses: [200],
    },
    { route: 'get /api/usage', what: 'a user', path: '/api/usage', headers: user.headers, statuses: [200] },
    { route: 'get /api/deals', what: 'a page', path: '/api/deals?limit=1000', headers: user.headers, statuses: [200] },
    {
      route: 'get /api/deals/{dealId}',
      what: 'a deal',
      path: `/api/deals/${dealId}`,
      headers: user.headers,
      statuses: [200, 404],
    },
    {
      route: 'get /api/deals/{dealId}/proofs',
      what: 'a deal',
      path: `/api/deals/${dealId}/proofs`,
      headers: user.headers,
      statuses: [200, 404],
    },
    {
      route: 'post /api/deals/{dealId}/extend',
      what: 'a term that is too long',
      path: `/api/deals/${dealId}/extend`,
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ days: 100_000 }),
      statuses: [200, 400, 404],
    },
    {
      route: 'put /api/deals/{dealId}/redundancy',
      what: 'too many copies',
      path: `/api/deals/${dealId}/redundancy`,
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ copies: 16 }),
      statuses: [400, 404, 409],
    },
    {
      route: 'post /api/auth/signup',
      what: 'a label of every length',
      path: '/api/auth/signup',
      headers: JSON_TYPE,
      body: json({ email: 'cost@example.org', label: 'x'.repeat(60_000) }),
      statuses: [400],
    },
    { route: 'get /api/tokens', what: 'a user', path: '/api/tokens', headers: user.headers, statuses: [200] },
    { route: 'get /api/tokens/list', what: 'a user', path: '/api/tokens/list', headers: user.headers, statuses: [200] },
    {
      route: 'post /api/tokens/revoke',
      what: 'an unknown token',
      path: '/api/tokens/revoke',
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ jti: '00000000-0000-4000-8000-000000000000' }),
      statuses: [404],
    },
    { route: 'get /healthz', what: 'alive', path: '/healthz', statuses: [200] },
    { route: 'get /readyz', what: 'every dependency', path: '/readyz', statuses: [200, 503] },
    { route: 'get /api/info', what: 'limits', path: '/api/info', statuses: [200] },
    ...costlySessionRequests(origin, user, file.cid),
    ...costlyAdminRequests(operator, unknownId(-9)),
  ]
}

/** A CAR of this block alone. */
function carOf(block: LinkedBlock): Uint8Array {
  const header = dagCbor.encode({ version: 1, roots: [block.cid] })
  const section = Buffer.concat([block.cid.bytes, block.bytes])
  return Buffer.concat([varint(header.length), header, varint(section.length), section])
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Uint8Array.from([...bytes, rest])
}

async function requireOk(answering: ReturnType<typeof send>): Promise<Buffer> {
  const { status, body } = await answering
  if (status !== 200) throw new Error(`${status}: ${body}`)
  return body
}
