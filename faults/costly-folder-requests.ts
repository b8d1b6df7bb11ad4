import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import type { CostlyRequest } from './costly-request.ts'

const RAW = 0x55
const IDENTITY = 0x00
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
  return ['/ipfs/', '/p/'].flatMap((door) =>
    paths.flatMap(({ what, path, statuses }) =>
      (path.includes('format=tar') ? ['head'] : ['get', 'head']).map((method) => ({
        route: `${method} ${door}{cid}/{path}`,
        what,
        path: `${door}${path}`,
        statuses,
      })),
    ),
  )
}
