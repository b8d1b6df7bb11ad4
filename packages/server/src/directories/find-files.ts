import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ContentId, MAX_BLOCK_BYTES } from '@lade/core/content'
import { announcedDagBytes, answerOf, DagLayout, IMPORT_PROFILES, type ImportProfileName } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { MAX_ENTRIES_NAMED } from '@lade/core/wire'
import type { CID } from 'multiformats/cid'
import type { FoundMember, ObjectHandle, RecordStore, Visibility } from '../records/record-store.ts'
import { cidOf } from '../retrieval/content-cid.ts'
import { type Spender, spending } from '../uploads/spending.ts'

const RAW = 0x55
const DAG_PB = 0x70
/** The sha2-256 of no bytes. An empty file is a block that every folder has of its own. */
const EMPTY_KEY = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Keys that are looked up before others have a turn: where the records are in a file, that is done on this thread. */
const KEYS_AT_ONCE = 500

/** A file that a directory is to link to, as it was asked for. */
export interface AskedFile {
  readonly path: string
  readonly id: ContentId
  /** False where it was sent for the directory, and is to be no file of its own any more. */
  readonly isKept: boolean
}

/** A file that is stored, as a link to it needs it. */
export interface StoredFile {
  readonly cid: CID
  readonly sizeBytes: number
  readonly dagBytes: number
  /** What it is stored in; undefined for an empty file. */
  readonly member: Extract<FoundMember, { readonly outcome: 'found' }> | undefined
}

export interface FindFilesDeps {
  readonly records: Pick<RecordStore, 'folders'>
  readonly budget: Spender['budget']
  /** A block of the object. */
  readonly readBlock: (cid: CID, within: ObjectHandle) => Promise<Uint8Array | undefined>
}

export interface FindFilesInput {
  readonly principal: string
  readonly files: readonly AskedFile[]
  readonly visibility: Visibility
  readonly now: number
}

/**
 * Finds the files that a directory is to have, by their CIDs: each is looked up once, however many paths lead to it. No byte of a file is
 * read, but the root blocks of those that were uploaded as a CAR.
 *
 * @returns the files by the key of their CID.
 * @throws {LadeError} `bad_request` for ids that a directory cannot link to; `missing_entries`; `private_entries` where the directory is to be
 *   public.
 */
export async function findFiles(
  { records, budget, readBlock }: FindFilesDeps,
  { principal, files, visibility, now }: FindFilesInput,
): Promise<ReadonlyMap<string, StoredFile>> {
  const asked = new Map(files.map((file) => [linkedKeyOf(file), file.id]))
  const keys = [...asked.keys()].filter((key) => key !== EMPTY_KEY)
  const found = new Map<string, StoredFile>()
  const missing: string[] = []
  const hidden: string[] = []
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    if (at > 0) await nextTurn()
    const some = keys.slice(at, at + KEYS_AT_ONCE)
    const members = await spending({ budget, principal, work: 'links' }, () =>
      records.folders.find({ principal, keys: some, now }),
    )
    for (const [index, key] of some.entries()) {
      const [member, id] = [members[index], asked.get(key)]
      if (member === undefined || id === undefined) continue
      const stored = member.outcome === 'found' ? await storedFileOf(readBlock, { key, id, member }) : undefined
      if (stored === undefined) missing.push(id.text)
      else if (visibility === 'public' && stored.member?.isPublic === false) hidden.push(id.text)
      else found.set(key, stored)
    }
  }
  if (missing.length > 0) {
    throw new LadeError('missing_entries', { missing: missing.slice(0, MAX_ENTRIES_NAMED), count: missing.length })
  }
  if (hidden.length > 0) {
    throw new LadeError('private_entries', { entries: hidden.slice(0, MAX_ENTRIES_NAMED), count: hidden.length })
  }
  const empty = asked.get(EMPTY_KEY)
  if (empty?.cid !== undefined)
    found.set(EMPTY_KEY, { cid: cidOf(empty.cid), sizeBytes: 0, dagBytes: 0, member: undefined })
  return found
}

/** The objects that a directory has for its members, and how many of its paths lead to each. */
export function membersOf(
  files: readonly AskedFile[],
  stored: ReadonlyMap<string, StoredFile>,
): ReadonlyMap<ObjectHandle, { readonly uses: number; readonly sizeBytes: number; readonly isOwn: boolean }> {
  const members = new Map<ObjectHandle, { uses: number; readonly sizeBytes: number; readonly isOwn: boolean }>()
  for (const { id } of files) {
    const member = stored.get(id.key)?.member
    if (member === undefined) continue
    const known = members.get(member.object)
    if (known !== undefined) known.uses += 1
    else members.set(member.object, { uses: 1, sizeBytes: member.sizeBytes, isOwn: member.isOwn })
  }
  return members
}

/** The objects of the files that were sent for the directory, and are to be no files of their own any more. */
export function takenOf(files: readonly AskedFile[], stored: ReadonlyMap<string, StoredFile>): readonly ObjectHandle[] {
  const taken = files.flatMap(({ id, isKept }) => (isKept ? [] : (stored.get(id.key)?.member?.object ?? [])))
  return [...new Set(taken)]
}

/** The key of a CID that a directory can link to. */
function linkedKeyOf({ path, id }: AskedFile): string {
  const codec = id.cid === undefined ? undefined : Number(id.cid.codec)
  if (codec === RAW || codec === DAG_PB) return id.key
  const name = JSON.stringify(path.slice(0, 80))
  throw new LadeError('bad_request', {
    reason: `The entry ${name} has the id ${id.text.slice(0, 80)}. A directory links to CIDs of UnixFS files (dag-pb) and of raw blocks only.`,
  })
}

/** What a link to a file says of it; undefined where the key leads to bytes that are not the file. */
async function storedFileOf(
  readBlock: FindFilesDeps['readBlock'],
  {
    key,
    id,
    member,
  }: {
    readonly key: string
    readonly id: ContentId
    readonly member: Extract<FoundMember, { readonly outcome: 'found' }>
  },
): Promise<StoredFile | undefined> {
  if (id.cid === undefined) return undefined
  const cid = cidOf(id.cid)
  const { sizeBytes, view, profile } = member
  if (cid.code === RAW) {
    if (view !== 'bytes') return undefined
    if (sizeBytes <= MAX_BLOCK_BYTES) return { cid, sizeBytes, dagBytes: sizeBytes, member }
    throw new LadeError('bad_request', {
      reason: `${id.text} names ${sizeBytes} bytes as one block, and a block can have at most ${MAX_BLOCK_BYTES}. Upload the file under its UnixFS CID.`,
    })
  }
  if (profile !== undefined) {
    const layout = new DagLayout(IMPORT_PROFILES[profile as ImportProfileName], sizeBytes)
    return { cid, sizeBytes, dagBytes: layout.node(layout.nodeCount - 1).dagBytes, member }
  }
  // The block of the root alone is no file.
  if (view !== 'unixfs' || key === `dag-pb:${member.object}`) return undefined
  const root = await readBlock(cid, member.object)
  const dagBytes = root && announcedDagBytes(root)
  const fileBytes = root && fileBytesOf(cid, root)
  if (dagBytes === undefined || fileBytes === undefined) {
    throw new LadeError('bad_request', {
      reason: `The root of ${id.text} does not say how big the file is. Upload the file again under its UnixFS CID.`,
    })
  }
  return { cid, sizeBytes: fileBytes, dagBytes, member }
}

function fileBytesOf(cid: CID, bytes: Uint8Array): number | undefined {
  const node = answerOf({ ask: 'node' }, cid.code, bytes)
  return node.kind === 'file' ? node.sizeBytes : undefined
}
