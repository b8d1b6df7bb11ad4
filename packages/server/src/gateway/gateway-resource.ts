import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { resolvePath } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { CID } from 'multiformats/cid'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { BlockSource, FoundBlock } from '../retrieval/block-source.ts'
import type { DagReader } from '../retrieval/dag-reader.ts'
import type { OpenObject } from '../retrieval/open-bytes.ts'
import { openObject } from '../retrieval/open-object.ts'
import { unixfsBody } from '../retrieval/unixfs-body.ts'
import { readRefusal } from './read-refusal.ts'
import { refuseBlockedPaths } from './refuse-blocked-paths.ts'

/** The codecs whose blocks are given as they are, under a media type of their own. */
export type DataCodec = 'json' | 'cbor' | 'dag-json' | 'dag-cbor'

const RAW = 0x55
const DAG_PB = 0x70
const DATA_CODECS: ReadonlyMap<number, DataCodec> = new Map([
  [0x0200, 'json'],
  [0x51, 'cbor'],
  [0x0129, 'dag-json'],
  [0x71, 'dag-cbor'],
])

/** A file: of UnixFS, or a block of codec raw. */
export interface FileResource {
  readonly kind: 'file'
  readonly block: FoundBlock
  readonly sizeBytes: number
  /** Opens the bytes; the caller closes a blob's body. @throws {LadeError} `not_found`, `not_acceptable`, `storage_failed`, `over_budget`. */
  open(): Promise<OpenObject>
}

/** A directory of UnixFS. */
export interface FolderResource {
  readonly kind: 'folder'
  readonly block: FoundBlock
}

/** What a content path leads to. */
export type GatewayResource =
  | FileResource
  | FolderResource
  | { readonly kind: 'symlink'; readonly block: FoundBlock; readonly target: string }
  | { readonly kind: 'data'; readonly block: FoundBlock; readonly codec: DataCodec }

export interface ResourceDeps {
  readonly records: RecordStore
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly source: BlockSource
  readonly reader: DagReader
}

/**
 * What a block is: a file, a directory, a symbolic link, or data of another codec.
 *
 * @throws {LadeError} `not_acceptable` for a block that is none of these; `not_found`, `blocked`, `over_budget`, `storage_failed`.
 */
export async function resourceOf(deps: ResourceDeps, block: FoundBlock): Promise<GatewayResource> {
  const { reader } = deps
  const { cid, sizeBytes } = block
  if (cid.code === RAW) return { kind: 'file', block, sizeBytes, open: rawOpener(deps, block) }
  const codec = DATA_CODECS.get(cid.code)
  if (codec !== undefined) return { kind: 'data', block, codec }
  if (cid.code !== DAG_PB) throw unsupported(block, `has the codec 0x${cid.code.toString(16)}, which is not supported`)
  const { answer: node } = await reader.read(cid, { ask: 'node' }).catch((error: unknown) => {
    throw readRefusal(error)
  })
  switch (node.kind) {
    case 'file': {
      const faultOf = (error: Error): Error => readRefusal(error) as Error
      const body = unixfsBody({ reader, root: cid, sizeBytes: node.sizeBytes, faultOf })
      return { kind: 'file', block, sizeBytes: node.sizeBytes, open: async () => ({ kind: 'blob', body }) }
    }
    case 'directory':
    case 'hamt':
      return { kind: 'folder', block }
    case 'symlink':
      return { kind: 'symlink', block, target: node.target }
    default:
      throw unsupported(block, 'is dag-pb, but not a UnixFS file or directory')
  }
}

/**
 * The page that stands for a folder, `index.html`; undefined where there is none.
 *
 * @param path - how the folder was come to.
 * @throws {LadeError} as `fileNamed`.
 */
export function indexOf(
  deps: ModeratedDeps,
  { block }: FolderResource,
  path: PathToFolder,
): Promise<FileResource | undefined> {
  return fileNamed(deps, 'index.html', block.cid, path)
}

/** What content is refused by, too. */
export type ModeratedDeps = ResourceDeps & { readonly moderation: Pick<Moderation, 'content'> }

/** The root, what each of the names leads to, and the names. */
export interface PathToFolder {
  readonly roots: readonly CID[]
  readonly segments: readonly string[]
}

/**
 * The file of this name in a folder; undefined where there is none.
 *
 * @throws {LadeError} as `resourceOf`; `blocked` also for a file that a denylist names by its path.
 */
export async function fileNamed(
  deps: ModeratedDeps,
  name: string,
  folder: CID,
  path: PathToFolder,
): Promise<FileResource | undefined> {
  const { terminal, remainder } = await resolvePath(folder, [name], deps.reader).catch((error: unknown) => {
    throw readRefusal(error)
  })
  if (terminal === undefined || remainder.length > 0) return undefined
  refuseBlockedPaths(deps, path.roots, [...path.segments, name])
  const page = await deps.source.find(terminal)
  if (page === undefined) throw new LadeError('not_found', { reason: `The block ${terminal} is not stored here.` })
  const resource = await resourceOf(deps, page)
  return resource.kind === 'file' ? resource : undefined
}

/** The first bytes of a file, at most `length`. @throws {LadeError} as `FileResource.open`. */
export async function firstBytes({ sizeBytes, open }: FileResource, length: number): Promise<Uint8Array> {
  const object = await open()
  if (object.kind === 'inline') return object.bytes.subarray(0, length)
  const { body } = object
  const parts: Uint8Array[] = []
  try {
    const range = { offset: 0, length: Math.min(length, sizeBytes) }
    // A copy, since the memory of a chunk is used again for the next.
    for await (const chunk of body.chunks(range)) parts.push(Buffer.from(chunk))
  } finally {
    await body.close()
  }
  return Buffer.concat(parts)
}

/** A block is read and hashed once, to see what it is and to send it. */
function rawOpener({ records, blobs, source }: ResourceDeps, block: FoundBlock): FileResource['open'] {
  const { place, sizeBytes } = block
  if (place.kind === 'object' && sizeBytes > MAX_BLOCK_BYTES && blobs !== undefined) {
    return () => openObject({ records, blobs }, place)
  }
  let reading: Promise<Uint8Array> | undefined
  return async () => {
    reading ??= source.read(block)
    return { kind: 'inline', bytes: await reading }
  }
}

function unsupported({ cid }: FoundBlock, what: string): LadeError<'not_acceptable'> {
  return new LadeError('not_acceptable', { reason: `The block ${cid} ${what}. Use format=raw to get it.` })
}
