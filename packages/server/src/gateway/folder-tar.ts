import { posix } from 'node:path'
import { readUnixfsFile, type TreeEntry, walkTree } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { Header } from 'tar/header'
import { Pax } from 'tar/pax'
import type { DagReader } from '../retrieval/dag-reader.ts'
import type { GatewayResource } from './gateway-resource.ts'
import { inBatches } from './in-batches.ts'
import { readRefusal } from './read-refusal.ts'

const RECORD_BYTES = 512
/** An archive ends with two empty records. */
const END_RECORDS = 2
/** What Linux takes for one path. */
const MAX_PATH_BYTES = 4096

type TarType = 'File' | 'Directory' | 'SymbolicLink'

interface TarEntry {
  readonly path: string
  readonly type: TarType
  readonly sizeBytes?: number
  readonly target?: string
}

/**
 * A file or a folder as a TAR archive, made as it is read. Times and owners are those of nobody, so that the archive is the same each time.
 *
 * A name with `..` in it is resolved, and may lead to another place in the folder, but not out of it.
 *
 * @param reader - holds the walk to its limits: as many blocks and links as a CAR may have.
 * @param name - of the file or folder in the archive.
 * @returns the bytes, to be read once. They end by a `LadeError` for a name that leads out of the folder and for what is neither file nor
 *   folder (`not_acceptable`), for a block that is not here (`not_found`), and by those of the reader; when the archive is small, before
 *   any byte.
 * @throws {LadeError} `not_acceptable` for data of other codecs.
 * @see https://specs.ipfs.tech/ipips/ipip-0288/
 */
export function folderTar(reader: DagReader, resource: GatewayResource, name: string): AsyncIterable<Uint8Array> {
  if (resource.kind === 'data') {
    throw new LadeError('not_acceptable', {
      reason: 'Only UnixFS files and folders are available as TAR. Use format=raw.',
    })
  }
  return inBatches(withRefusals(archive(reader, resource, name)), reader, { isRestGiven: false })
}

async function* archive(
  reader: DagReader,
  resource: Exclude<GatewayResource, { kind: 'data' }>,
  name: string,
): AsyncGenerator<Uint8Array> {
  switch (resource.kind) {
    case 'file':
      yield* entryHead({ path: name, type: 'File', sizeBytes: resource.sizeBytes })
      yield* padded(bytesOf(resource), resource.sizeBytes)
      break
    case 'symlink':
      yield* entryHead({ path: name, type: 'SymbolicLink', target: resource.target })
      break
    case 'folder':
      for await (const entry of walkTree(resource.block.cid, reader)) yield* treeEntry(reader, entry, name)
  }
  yield new Uint8Array(END_RECORDS * RECORD_BYTES)
}

async function* treeEntry(
  reader: DagReader,
  { names, cid, node }: TreeEntry,
  name: string,
): AsyncGenerator<Uint8Array> {
  const path = pathIn(name, names)
  switch (node.kind) {
    case 'file':
      yield* entryHead({ path, type: 'File', sizeBytes: node.sizeBytes })
      yield* padded(readUnixfsFile({ root: cid, getBlock: reader }), node.sizeBytes)
      return
    case 'symlink':
      yield* entryHead({ path, type: 'SymbolicLink', target: node.target })
      return
    case 'directory':
    case 'hamt':
      yield* entryHead({ path: `${path}/`, type: 'Directory' })
      return
    default:
      throw new LadeError('not_acceptable', {
        reason: `${shown(path)} is neither a UnixFS file nor a folder, so the folder is not available as TAR.`,
      })
  }
}

function* entryHead({ path, type, sizeBytes = 0, target }: TarEntry): Generator<Uint8Array> {
  const fields = {
    path,
    type,
    size: sizeBytes,
    mode: type === 'Directory' ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    mtime: new Date(0),
    ...(target === undefined ? {} : { linkpath: target }),
  }
  const header = new Header(fields)
  const record = Buffer.alloc(RECORD_BYTES)
  if (header.encode(record))
    yield new Pax({ path, size: sizeBytes, ...(target === undefined ? {} : { linkpath: target }) }).encode()
  yield record
}

async function* padded(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk)
  const rest = sizeBytes % RECORD_BYTES
  if (rest > 0) yield new Uint8Array(RECORD_BYTES - rest)
}

async function* bytesOf({ open }: Extract<GatewayResource, { kind: 'file' }>): AsyncGenerator<Uint8Array> {
  const object = await open()
  if (object.kind === 'inline') {
    yield object.bytes
    return
  }
  try {
    yield* object.body.chunks()
  } finally {
    await object.body.close()
  }
}

/** @throws {LadeError} `not_acceptable` for a path that leads out of the folder, or is too long for file systems. */
function pathIn(name: string, names: readonly string[]): string {
  if (names.length === 0) return name
  const path = posix.normalize([name, ...names].join('/'))
  const isBelow = path.startsWith(`${name}/`) && path.length > name.length + 1 && !path.includes('\0')
  if (isBelow && Buffer.byteLength(path) <= MAX_PATH_BYTES) return path.replace(/\/$/, '')
  const reason = `The folder has ${shown(names.join('/'))} in it, which ${isBelow ? 'is too long for a path' : 'leads out of it'}, so it is not available as TAR.`
  throw new LadeError('not_acceptable', { reason })
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}

async function* withRefusals(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* parts
  } catch (error) {
    throw readRefusal(error)
  }
}
