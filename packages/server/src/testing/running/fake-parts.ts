import { randomUUID } from 'node:crypto'
import { dagCid } from '@lade/core/content'
import { DagLayout, foldLeaves, IMPORT_PROFILES, type ImportProfileName } from '@lade/core/dag'
import { joinPieces, pieceCidV1, pieceCidV2, rawCapacityBytes, SUBTREE_HEIGHT } from '@lade/core/piece'
import { PART_BYTES } from '@lade/core/wire'
import { sha256, sha256Hex } from '@lade/node/hashing/sha256'
import { utcDay } from '../../quotas/utc-day.ts'
import type { FileRecord, ImportCommit, NewFile } from '../../records/record-store.ts'
import { PRINCIPAL, type StagingFixture } from './staging-fixture.ts'

/** A file of which there is everything but the bytes: digests that a check of them could have left. */
export interface FakePart {
  readonly sha256: string
  readonly sizeBytes: number
  readonly imports: readonly ImportCommit[]
  readonly piece: { readonly root: Uint8Array; readonly rawSizeBytes: number; readonly subtreeRoots: Uint8Array }
}

const digestOf = (word: string): Buffer => sha256.of(Buffer.from(word)) as Buffer
/** A digest that the root of a piece can be. */
const nodeOf = (word: string): Buffer => {
  const node = Buffer.from(digestOf(word))
  node[31] = (node[31] ?? 0) & 0x3f
  return node
}

/** @param profiles - those that the file keeps its leaves of, invented for each kind of leaf. */
export function fakePart(
  name: string,
  sizeBytes = PART_BYTES,
  profiles: readonly ImportProfileName[] = ['unixfs-v1-2025'],
): FakePart {
  const subtrees = Math.ceil(sizeBytes / rawCapacityBytes(SUBTREE_HEIGHT))
  const subtreeRoots = Buffer.concat(Array.from({ length: subtrees }, (_, index) => nodeOf(`${name} tree ${index}`)))
  const isOne = subtrees === 1
  const imports = profiles.map((profile): ImportCommit => {
    const { chunkBytes, leaves } = IMPORT_PROFILES[profile]
    const layout = new DagLayout(IMPORT_PROFILES[profile], sizeBytes)
    const digests = Array.from({ length: layout.leafCount }, (_, leaf) =>
      digestOf(`${name} ${chunkBytes} ${leaves} ${leaf}`),
    )
    return { kind: 'import', profile, digests: foldLeaves(layout, Buffer.concat(digests), sha256).digests }
  })
  return {
    sha256: sha256Hex(Buffer.from(name)),
    sizeBytes,
    imports,
    piece: {
      root: isOne ? subtreeRoots : nodeOf(`${name} piece`),
      rawSizeBytes: sizeBytes,
      subtreeRoots: isOne ? Buffer.alloc(0) : subtreeRoots,
    },
  }
}

/** Records the file as staged under its sha2-256, without charging anything to a quota that matters. */
export async function recordPart(
  { records, clock }: StagingFixture,
  part: FakePart,
  overrides: Partial<NewFile> = {},
): Promise<FileRecord> {
  const { now } = clock
  const { sizeBytes } = part
  const file = {
    principal: PRINCIPAL,
    key: `sha256:${part.sha256}`,
    cid: part.sha256,
    sizeBytes,
    contentType: 'application/octet-stream',
    filename: null,
    visibility: 'public',
    owner: null,
    sponsored: false,
    verified: true,
    termDays: 30,
    uploadedAt: now,
    expiresAt: now + 30 * 86_400_000,
    dealId: `d-0x${randomUUID().replaceAll('-', '')}`,
    ...overrides,
    sha256: part.sha256,
  } as const
  const { principal, key } = file
  const capBytes = Number.MAX_SAFE_INTEGER
  const outcome = await records.quotas.commitAtOnce({
    admit: { principal, key, day: utcDay(now), sizeBytes, capBytes, capFiles: capBytes, maxInFlight: 100, now },
    commit: {
      now,
      inline: undefined,
      content: {
        pieceRoot: Buffer.from(part.piece.root).toString('hex'),
        pieceSubtreeRoots: part.piece.subtreeRoots,
        aliases: [],
        dags: part.imports,
      },
      file,
    },
  })
  if (!('file' in outcome)) throw new Error(`the part ended as ${outcome.outcome}`)
  return outcome.file
}

/** The parts one behind the other, as a piece. */
export function pieceOf(parts: readonly FakePart[]) {
  const piece = joinPieces(parts.map((part) => part.piece))
  return {
    sizeBytes: piece.rawSizeBytes,
    pieceV1: pieceCidV1(piece.root),
    pieceV2: pieceCidV2(piece),
    pieceRoot: Buffer.from(piece.root).toString('hex'),
  }
}

/** The parts one behind the other, as a piece and as a UnixFS file of leaves that all of them keep. */
export function wholeOf(parts: readonly FakePart[], profile: ImportProfileName = 'unixfs-v1-2025') {
  const piece = pieceOf(parts)
  const { chunkBytes, leaves } = IMPORT_PROFILES[profile]
  const kept = parts.map((part) => {
    const leafCount = Math.ceil(part.sizeBytes / chunkBytes)
    const dag = part.imports.find((each) => {
      const other = IMPORT_PROFILES[each.profile as ImportProfileName]
      return other.chunkBytes === chunkBytes && other.leaves === leaves
    })
    return dag?.digests.subarray(0, 32 * leafCount) ?? Buffer.from(part.sha256, 'hex')
  })
  const dag = foldLeaves(new DagLayout(IMPORT_PROFILES[profile], piece.sizeBytes), Buffer.concat(kept), sha256)
  return { ...piece, dag, unixfs: dagCid(dag) }
}
