import { createHash } from 'node:crypto'
import { CarBlockIterator } from '@ipld/car'
import type { BatchResult, DirectoryEntryRequest, DirectoryRequest } from '@lade/core/wire'
import { importer } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'

/** What is at a path: the bytes of a file, the target of a symlink, or an empty folder. */
export type FolderContent = Uint8Array | string | undefined

/** The root that `ipfs-unixfs-importer` makes of a folder with the profile `unixfs-v1-2025`. */
export async function importFolder(tree: ReadonlyMap<string, FolderContent>): Promise<string> {
  const candidates = [...tree.keys()].sort().map((path) => {
    const content = tree.get(path)
    if (content === undefined) return { path }
    return typeof content === 'string' ? { path, link: content } : { path, content }
  })
  const store = { put: async (cid: CID) => cid }
  const options = { profile: 'unixfs-v1-2025' as const, wrapWithDirectory: true }
  let root = ''
  for await (const { cid } of importer(candidates as Parameters<typeof importer>[0], store, options)) {
    root = cid.toString()
  }
  return root
}

/** A folder of the fake service. */
export interface FakeFolder {
  readonly root: string
  readonly entries: readonly DirectoryEntryRequest[]
  readonly filename: string | null
}

/** The blocks of a batch, each checked by node:crypto; `take` stages one that holds. */
export async function takeBatch(
  body: Uint8Array,
  take: (bytes: Uint8Array, cid: string) => void,
): Promise<BatchResult> {
  const files: BatchResult['files'] = []
  for await (const { cid, bytes } of await CarBlockIterator.fromBytes(body)) {
    const isRight = Buffer.compare(createHash('sha256').update(bytes).digest(), cid.multihash.digest) === 0
    if (isRight) take(bytes, cid.toString())
    files.push({ cid: cid.toString(), size: bytes.length, ...(!isRight && { error: 'cid_mismatch', detail: 'wrong' }) })
  }
  return { files }
}

/** Makes a folder of staged files; `missing` are those that are not. The root is that of the reference importer. */
export async function makeFolder(
  { entries = [], filename = null }: DirectoryRequest,
  find: (cid: string) => Uint8Array | undefined,
): Promise<FakeFolder | { readonly missing: readonly string[] }> {
  const missing = new Set<string>()
  const tree = new Map<string, FolderContent>()
  for (const entry of entries) {
    if ('cid' in entry) {
      const bytes = find(entry.cid)
      if (bytes === undefined) missing.add(entry.cid)
      tree.set(entry.path, bytes)
    } else tree.set(entry.path, entry.kind === 'symlink' ? entry.target : undefined)
  }
  if (missing.size > 0) return { missing: [...missing] }
  return { root: await importFolder(tree), entries, filename }
}
