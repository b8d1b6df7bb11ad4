import { importer } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'

/** The CID that `ipfs-unixfs-importer` gives a file with the parameters of `unixfs-v1-2025`. */
export function unixfsV1Cid(bytes: Uint8Array): Promise<string> {
  return cidByImporter(bytes, { chunkBytes: 1_048_576, linksPerNode: 1024, isRaw: true })
}

/** The CID that it gives one with the parameters of `unixfs-v0-2015`. */
export function unixfsV0Cid(bytes: Uint8Array): Promise<string> {
  return cidByImporter(bytes, { chunkBytes: 262_144, linksPerNode: 174, isRaw: false })
}

interface Cutting {
  readonly chunkBytes: number
  readonly linksPerNode: number
  readonly isRaw: boolean
}

/** The blocks of a file by the text of their CIDs, and its root, however it is cut. */
export async function importFile(bytes: Uint8Array, { chunkBytes, linksPerNode, isRaw }: Cutting) {
  const blocks = new Map<string, Uint8Array>()
  const blockstore = {
    put: async <Name extends { toString(): string }>(cid: Name, block: unknown) => {
      if (!(block instanceof Uint8Array)) throw new TypeError('the importer stored something else than bytes')
      blocks.set(cid.toString(), block)
      return cid
    },
  }
  const options = {
    cidVersion: isRaw ? (1 as const) : (0 as const),
    rawLeaves: isRaw,
    chunker: fixedSize({ chunkSize: chunkBytes }),
    layout: balanced({ maxChildrenPerNode: linksPerNode }),
  }
  for await (const { cid } of importer([{ content: bytes }], blockstore, options)) return { root: cid, blocks }
  throw new TypeError('the importer made nothing')
}

async function cidByImporter(bytes: Uint8Array, cutting: Cutting): Promise<string> {
  return (await importFile(bytes, cutting)).root.toString()
}
