import { createHash } from 'node:crypto'
import * as dagPb from '@ipld/dag-pb'
import { carHeader, carSection } from '@lade/core/dag'
import { CAR_MEDIA_TYPE } from '@lade/core/wire'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { type Caller, send } from './caller.ts'
import type { CostlyRequest } from './costly-request.ts'

const RAW = 0x55
const SHA2_256 = 0x12
/** As many of the shortest rules with a placeholder as a `_redirects` file has room for. */
const RULES = 9362
const DOMAIN = 'sites.example'

/** Settings of a service that has sites. */
export const SITES_ENV = { LADE_SITES_URL: `http://*.ipfs.${DOMAIN}` } as const

/** Uploads a site that has nothing but rules. @returns its root. */
export async function stageRules(origin: URL, { headers }: Caller): Promise<string> {
  const rules = Buffer.from('/:a /b\n'.repeat(RULES))
  const link = { Name: '_redirects', Tsize: rules.length, Hash: cidOf(RAW, rules) }
  const folder = dagPb.encode(dagPb.prepare({ Data: new UnixFS({ type: 'directory' }).marshal(), Links: [link] }))
  const root = cidOf(dagPb.code, folder)
  const sections = [carSection(root, folder.length), folder, carSection(link.Hash, rules.length), rules]
  const body = Buffer.concat([carHeader([root]), ...sections])
  const sent = { headers: { ...headers, 'Content-Type': CAR_MEDIA_TYPE }, body }
  const answer = await send(origin, 'POST', `/api/upload?cid=${root}`, sent)
  if (answer.status !== 200) throw new Error(`the rules were answered ${answer.status}: ${answer.body}`)
  return root.toString()
}

/** The worst requests that are known for the hosts of sites. @param root - of a site that has nothing but rules. */
export function costlySiteRequests(root: string): CostlyRequest[] {
  const headers = { Host: `${root}.ipfs.${DOMAIN}` }
  return ['get', 'head'].map((method) => ({
    route: `${method} {cid}.ipfs/{path}`,
    what: 'none of 9,362 rules',
    path: '/none/of/them',
    headers,
    statuses: [404],
  }))
}

function cidOf(codec: number, bytes: Uint8Array): CID {
  return CID.createV1(codec, createDigest(SHA2_256, createHash('sha256').update(bytes).digest()))
}
