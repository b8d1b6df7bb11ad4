import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import type { CostlyRequest } from './costly-request.ts'

const RAW = 0x55
const SHA2_256 = 0x12
const IDENTITY = 0x00
/** Of one request that makes a directory. */
const ENTRIES = 10_000
/** As many as fit into a block. */
const NAMES = 38_000

/** A folder of one block, with as many names as one has. Every file in it is in the link to it. */
export function namedFolder(): Uint8Array {
  const Hash = CID.createV1(RAW, createMultihash(IDENTITY, Buffer.from('text')))
  const Links = Array.from({ length: NAMES }, (_, index) => ({ Name: `${index}`.padStart(28, 'n'), Tsize: 4, Hash }))
  return dagPb.encode(dagPb.prepare({ Data: new UnixFS({ type: 'directory' }).marshal(), Links }))
}

/** The worst requests that are known for paths in folders. @param blocks - what is staged, by its root. */
export function costlyFolderRequests(
  folder: { readonly cid: string },
  blocks: readonly { readonly name: string; readonly cid: { toString(): string } }[],
): CostlyRequest[] {
  const paths = [
    { what: 'the list of 38,000 names', path: `${folder.cid}/`, statuses: [200] },
    { what: 'none of 38,000 names', path: `${folder.cid}/nothing`, statuses: [404] },
    { what: 'an archive of 38,000 files', path: `${folder.cid}/?format=tar`, statuses: [200, 406] },
    ...blocks.map(({ name, cid }) => ({ what: name, path: `${cid}/0/1`, statuses: [200, 404, 406, 501] })),
  ]
  const json = { 'Content-Type': 'application/json' }
  const unknown = Array.from({ length: ENTRIES }, (_, index) => ({
    path: `folder ${index % 100}/file ${index}`,
    cid: CID.createV1(RAW, createMultihash(SHA2_256, Buffer.from(`${index}`.padStart(32, '0')))).toString(),
  }))
  const links = unknown.map(({ path }) => ({ path, kind: 'symlink', target: 'nowhere' }))
  const make = { route: 'post /api/directories', path: '/api/directories', headers: json }
  const directories: CostlyRequest[] = [
    { ...make, what: '10,000 files that are not here', body: bodyOf({ entries: unknown }), statuses: [422] },
    { ...make, what: '10,000 symlinks in 100 folders', body: bodyOf({ entries: links }), statuses: [200] },
    {
      ...make,
      what: '10,000 symlinks in one folder',
      body: bodyOf({ entries: links.map(({ path, ...link }) => ({ path: path.replace('/', ' '), ...link })) }),
      statuses: [200],
    },
    {
      ...make,
      what: 'the removal of 10,000 paths that are not there',
      body: bodyOf({ from: folder.cid, remove: unknown.map(({ path }) => path) }),
      statuses: [404],
    },
    {
      route: 'get /api/files/{cid}/entries',
      what: 'a page of 38,000 names',
      path: `/api/files/${folder.cid}/entries?limit=1000`,
      statuses: [200],
    },
  ]
  const reads = ['/ipfs/', '/p/'].flatMap((door) =>
    paths.flatMap(({ what, path, statuses }) =>
      (path.includes('format=tar') ? ['head'] : ['get', 'head']).map((method) => ({
        route: `${method} ${door}{cid}/{path}`,
        what,
        path: `${door}${path}`,
        statuses,
      })),
    ),
  )
  return [...directories, ...reads]
}

function bodyOf(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
