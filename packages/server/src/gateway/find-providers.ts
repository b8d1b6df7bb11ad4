import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { GATEWAY_PROTOCOL, type ProviderRecord } from '@lade/core/wire'
import type { CID } from 'multiformats/cid'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { RecordStore } from '../records/record-store.ts'
import { BlockSource } from '../retrieval/block-source.ts'
import { gatewayAddress } from './gateway-address.ts'
import { isWanted } from './provider-filter.ts'

const RAW = 0x55

export interface FindProvidersDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
  readonly now: () => number
  readonly moderation: Pick<Moderation, 'content'>
  readonly publicUrl: () => string
  /** The peer id of this service. */
  readonly peerId: () => Promise<string>
}

export interface FindProvidersInput {
  readonly cid: CID
  /** As they are in the query, separated by commas; empty for all. */
  readonly filterProtocols: string
  readonly filterAddrs: string
}

/**
 * This service as the provider of a block, where its gateway would answer that block now: it is part of live public content, and is not known
 * to be damaged.
 *
 * @throws {LadeError} `storage_offline`, `storage_failed`.
 * @see https://specs.ipfs.tech/routing/http-routing-v1/
 */
export async function findProviders(deps: FindProvidersDeps, input: FindProvidersInput): Promise<ProviderRecord[]> {
  const address = gatewayAddress(deps.publicUrl())
  if (address === undefined || !isWanted(new Set([GATEWAY_PROTOCOL]), input.filterProtocols)) return []
  if (!isWanted(address.protocols, input.filterAddrs)) return []
  if (!(await isServed(deps, input.cid))) return []
  return [{ Schema: 'peer', ID: await deps.peerId(), Addrs: [address.multiaddr], Protocols: [GATEWAY_PROTOCOL] }]
}

async function isServed({ records, ...deps }: FindProvidersDeps, cid: CID): Promise<boolean> {
  const source = new BlockSource({ records, ...deps })
  try {
    const found = await source.find(cid)
    // An identity CID carries its block: nobody has to be asked for it.
    if (found === undefined || found.place.kind === 'identity') return false
    if (found.sizeBytes > MAX_BLOCK_BYTES && cid.code !== RAW) return false
    return (await records.integrity.damageOf(found.place.object)) === undefined
  } catch (error) {
    if (LadeError.has(error, 'blocked')) return false
    throw error
  } finally {
    await source.close()
  }
}
