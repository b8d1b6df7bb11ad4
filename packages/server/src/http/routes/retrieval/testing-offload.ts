import { sha256Hex } from '@lade/node/hashing/sha256'
import type { BlobLocation, BlobStore, LocationHeaders } from '../../../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../../../blobs/drivers/memory/memory-blob-store.ts'
import { runService } from '../../../testing/running/running-service.ts'

/** A memory store whose blobs can also be had from somewhere else. */
export interface LocatingStore extends BlobStore {
  /** What was asked for, in order. */
  readonly asked: (LocationHeaders & { readonly sha256: string })[]
}

export function locatingStore(locationOf: (sha256: string) => BlobLocation): LocatingStore {
  const asked: LocatingStore['asked'] = []
  return {
    ...openMemoryBlobStore(),
    asked,
    async locate(sha256, headers) {
      asked.push({ sha256, ...headers })
      return locationOf(sha256)
    },
  }
}

/** A service whose files may be sent by somebody else, and what the tests ask of it. */
export async function startService(blobs: BlobStore, env: Record<string, string>) {
  const service = await runService({ env, substitutes: { blobs } })
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await service.fetch(path, { headers, method, redirect: 'manual' })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const stage = async (bytes: Uint8Array, headers: Record<string, string> = {}, cid = sha256Hex(bytes)) => {
    const response = await service.upload(bytes, { cid, headers })
    if (response.status !== 200) throw new Error(await response.text())
    return (await response.json()) as { readonly pieceCid: string }
  }
  const { token } = await service.signUp()
  return { url: service.url, get, stage, token, remove: () => service.remove() }
}

export type Service = Awaited<ReturnType<typeof startService>>
