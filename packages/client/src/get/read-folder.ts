import type { ContentId } from '@lade/core/content'
import { parseContentId } from '@lade/core/content'
import { answerOf, DagReadError, resolvePath, walkDirectory } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { CID } from 'multiformats/cid'
import type { FolderNode, ReadFolderOptions } from '../folder-options.ts'
import { type OptionNames, refuseUnknownOptions } from '../known-options.ts'
import type { GetContext } from './get.ts'
import { asCid, fetchBlock } from './read-dag.ts'

const OPTIONS: OptionNames<ReadFolderOptions> = { path: true, signal: true }
const RAW = 0x55
const DAG_PB = 0x70
/** A folder in which folders lie that deep leads to itself, or is made to be endless. */
const MAX_DEPTH = 256

/** See `LadeClient.readFolder`. */
export async function* readFolder(
  { http, platform }: GetContext,
  cid: string,
  options: ReadFolderOptions = {},
): AsyncGenerator<FolderNode, void, undefined> {
  refuseUnknownOptions('readFolder', options, OPTIONS)
  const { path = '', signal } = options
  const id: ContentId = parseContentId(cid, (bytes) => bytesToHex(platform.sha256.of(bytes)))
  const root = id.cid === undefined ? undefined : asCid(id.cid)
  if (root === undefined || (root.code !== RAW && root.code !== DAG_PB)) {
    throw new LadeError('invalid_cid', { reason: `${JSON.stringify(cid)} is not the CID of a folder or of a file.` })
  }
  const getBlock = (block: CID) => fetchBlock({ http, tools: platform, signal }, block)
  try {
    const names = path.split('/').filter((name) => name !== '')
    const { terminal } = await resolvePath(root, names, getBlock)
    if (terminal === undefined) throw new LadeError('not_found', {}, { detail: `There is no ${path} in ${cid}.` })
    yield* nodesFrom(terminal, { names: [], dagBytes: undefined }, getBlock)
  } catch (error) {
    if (!(error instanceof DagReadError)) throw error
    if (error.fault === 'missing') throw new LadeError('not_found', {}, { cause: error })
    const reason = `The block ${error.cid} cannot be read as a folder.`
    throw new LadeError('unexpected_answer', { httpStatus: 200, reason }, { cause: error })
  }
}

interface Place {
  readonly names: readonly string[]
  readonly dagBytes: number | undefined
}

async function* nodesFrom(
  cid: CID,
  { names, dagBytes }: Place,
  getBlock: (cid: CID) => Promise<Uint8Array | undefined>,
): AsyncGenerator<FolderNode, void, undefined> {
  // A raw block is a file, and its bytes are nobody's business here.
  if (cid.code !== DAG_PB) {
    yield { kind: 'file', names, cid: cid.toString(), sizeBytes: cid.code === RAW ? dagBytes : undefined }
    return
  }
  const bytes = await getBlock(cid)
  if (bytes === undefined) throw new DagReadError('missing', cid)
  const node = answerOf({ ask: 'node' }, cid.code, bytes)
  switch (node.kind) {
    case 'file':
      yield { kind: 'file', names, cid: cid.toString(), sizeBytes: node.sizeBytes }
      return
    case 'symlink':
      yield { kind: 'symlink', names, cid: cid.toString(), target: node.target }
      return
    case 'directory':
    case 'hamt':
      if (names.length > MAX_DEPTH) throw new DagReadError('inconsistent', cid)
      yield { kind: 'folder', names, cid: cid.toString() }
      for await (const entry of walkDirectory({ root: cid, getBlock })) {
        const below = { names: [...names, entry.name], dagBytes: entry.dagBytes }
        yield* nodesFrom(entry.cid, below, getBlock)
      }
      return
    default:
      throw new DagReadError('inconsistent', cid)
  }
}
