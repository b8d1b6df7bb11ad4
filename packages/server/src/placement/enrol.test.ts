import { joinPieces } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { describe, expect, it } from 'vitest'
import { openFakeProver } from '../proving/fake-prover.ts'
import type { Prover, ProverLimits } from '../proving/prover.ts'
import type { Enrolment, RecordStore, UnenrolledFile } from '../records/record-store.ts'
import { SUBTREE_RAW_BYTES } from './cut-pieces.ts'
import { enrolFiles } from './enrol.ts'

const MIB = 1024 * 1024
const ROOT = '11'.repeat(32)

/** Nodes that are no hash of anything; 32 bytes for each subtree. */
function rootsOf(subtrees: number): Uint8Array {
  return new Uint8Array(32 * subtrees).map((_, index) => (index % 32 === 31 ? 1 : index))
}

function fileOf(overrides: Partial<UnenrolledFile> = {}): UnenrolledFile {
  return {
    file: 7,
    object: 'aa'.repeat(32),
    sizeBytes: 2 * MIB,
    visibility: 'public',
    pieceRoot: ROOT,
    pieceSubtreeRoots: new Uint8Array(),
    parts: [],
    members: [],
    ...overrides,
  }
}

function partOf(object: string, subtrees: number, lastBytes = SUBTREE_RAW_BYTES): UnenrolledFile['parts'][number] {
  return {
    object,
    sizeBytes: (subtrees - 1) * SUBTREE_RAW_BYTES + lastBytes,
    pieceRoot: ROOT,
    pieceSubtreeRoots: subtrees === 1 ? new Uint8Array() : rootsOf(subtrees),
  }
}

interface Enrolling {
  readonly provers?: readonly Prover[]
  readonly aggregateBelowBytes?: number
  readonly limit?: number
}

/** Enrols up to `limit` of these files with provers of these limits; answers the transactions that this took. */
async function transactionsOf(
  files: readonly UnenrolledFile[],
  { provers = [prover()], aggregateBelowBytes = MIB, limit = 100 }: Enrolling,
) {
  const enrolled: { enrolments: readonly Enrolment[]; upTo: number }[] = []
  const placements = {
    enrolledUpTo: async () => enrolled.at(-1)?.upTo ?? 5,
    unenrolled: async ({ after, limit }: { after: number; limit: number }) =>
      files.filter(({ file }) => file > after).slice(0, limit),
    enrol: async (request: { enrolments: readonly Enrolment[]; upTo: number }) => void enrolled.push(request),
  }
  // Nothing else of the records is touched.
  const records = { placements } as unknown as RecordStore
  const aggregateTargetBytes = 64 * MIB
  const context = { records, provers, now: () => 0, copies: 2, aggregateBelowBytes, aggregateTargetBytes }
  expect(await enrolFiles(context, limit)).toBe(Math.min(limit, files.length))
  return enrolled
}

/** What becomes of these files. */
async function enrolmentsOf(files: readonly UnenrolledFile[], options: Enrolling = {}): Promise<readonly Enrolment[]> {
  const enrolled = await transactionsOf(files, options)
  expect(enrolled.map(({ upTo }) => upTo)).toEqual(files.length === 0 ? [] : [files.at(-1)?.file])
  return enrolled.flatMap(({ enrolments }) => enrolments)
}

function prover(limits: Partial<ProverLimits> = {}): Prover {
  return openFakeProver({ limits })
}

const LOCAL: Prover = { ...prover({ minimumBytes: 1, maximumBytes: Number.MAX_SAFE_INTEGER }), isLocal: true }

async function kindOf(file: Partial<UnenrolledFile>, options: Parameters<typeof enrolmentsOf>[1] = {}) {
  return (await enrolmentsOf([fileOf(file)], options)).map(({ as }) =>
    as.kind === 'pieces' ? as.pieces.map(({ sizeBytes }) => sizeBytes) : as.kind,
  )[0]
}

describe('enrolFiles', () => {
  it('looks at nothing when nothing is new', async () => {
    expect(await enrolmentsOf([])).toEqual([])
  })

  it('takes as many files as it may in one transaction', async () => {
    const files = Array.from({ length: 200 }, (_, index) => fileOf({ file: 6 + index }))
    const sizes = async (limit: number) =>
      (await transactionsOf(files, { limit })).map(({ enrolments }) => enrolments.length)
    expect(await sizes(150)).toEqual([150])
    expect(await sizes(500)).toEqual([200])
  })

  it('makes a file one piece of its own', async () => {
    const piece = { pieceRoot: ROOT, sizeBytes: 2 * MIB, object: 'aa'.repeat(32), offsetBytes: 0 }
    expect(await enrolmentsOf([fileOf()])).toEqual([
      { file: 7, copiesWanted: 2, as: { kind: 'pieces', pieces: [piece] } },
    ])
  })

  it('keeps private files, and files whose piece is not known', async () => {
    expect(await kindOf({ visibility: 'private' })).toBe('keep')
    expect(await kindOf({ pieceRoot: null })).toBe('keep')
    expect(await kindOf({ sizeBytes: 2e9, pieceSubtreeRoots: new Uint8Array() })).toBe('keep')
  })

  it('lets files wait that are smaller than asked for, or than any prover takes', async () => {
    expect(await kindOf({ sizeBytes: MIB - 1 })).toBe('wait')
    expect(await kindOf({ sizeBytes: MIB })).toEqual([MIB])
    const options = { aggregateBelowBytes: 0, provers: [prover({ minimumBytes: 500 }), prover({ minimumBytes: 127 })] }
    expect(await kindOf({ sizeBytes: 126 }, options)).toBe('wait')
    expect(await kindOf({ sizeBytes: 127 }, options)).toEqual([127])
  })

  it('lets no file wait that fits no aggregate', async () => {
    expect(await kindOf({ sizeBytes: 60 * MIB }, { aggregateBelowBytes: 100 * MIB })).toEqual([60 * MIB])
    expect(await kindOf({ sizeBytes: 30 * MIB }, { aggregateBelowBytes: 100 * MIB })).toBe('wait')
  })

  it('neither waits nor slices where this process is the only prover', async () => {
    expect(await kindOf({ sizeBytes: 5 }, { provers: [LOCAL] })).toEqual([5])
    expect(await kindOf({ sizeBytes: 5e9, pieceSubtreeRoots: rootsOf(38) }, { provers: [LOCAL] })).toEqual([5e9])
    expect(await kindOf({ sizeBytes: 5 }, { provers: [LOCAL, prover()] })).toBe('wait')
  })

  it('slices what is bigger than the smallest maximum', async () => {
    const sizeBytes = 10 * SUBTREE_RAW_BYTES + 5
    const provers = [prover(), prover({ maximumBytes: 4 * SUBTREE_RAW_BYTES })]
    const file = { sizeBytes, pieceSubtreeRoots: rootsOf(11) }
    expect(await kindOf(file, { provers })).toEqual(
      [4, 4, 2].map((count) => count * SUBTREE_RAW_BYTES).with(2, 2 * SUBTREE_RAW_BYTES + 5 + 0),
    )
  })

  it('hands a composed file over by the pieces of its parts, each cut by itself', async () => {
    const parts = [partOf('b', 2), partOf('c', 6), partOf('d', 1, 900)]
    const whole = joinPieces(
      parts.map(({ sizeBytes, pieceSubtreeRoots }) => ({
        root: Buffer.from(ROOT, 'hex'),
        rawSizeBytes: sizeBytes,
        subtreeRoots: pieceSubtreeRoots,
      })),
    )
    const file = fileOf({
      sizeBytes: whole.rawSizeBytes,
      pieceRoot: hexOf(whole.root),
      pieceSubtreeRoots: whole.subtreeRoots,
      parts,
    })
    const [small] = await enrolmentsOf([file], { provers: [prover({ maximumBytes: 4 * SUBTREE_RAW_BYTES })] })
    const placesOf = (enrolment: Enrolment | undefined) =>
      enrolment?.as.kind === 'pieces'
        ? enrolment.as.pieces.map((piece) =>
            'members' in piece ? piece.members.length : [piece.object, piece.offsetBytes / SUBTREE_RAW_BYTES],
          )
        : enrolment?.as.kind
    expect(placesOf(small)).toEqual([
      ['b', 0],
      ['c', 0],
      ['c', 4],
      ['d', 0],
    ])
    const [big] = await enrolmentsOf([file], { provers: [prover({ maximumBytes: 16 * SUBTREE_RAW_BYTES })] })
    expect(placesOf(big)).toEqual([[file.object, 0]])
    const picky = prover({ maximumBytes: 4 * SUBTREE_RAW_BYTES, minimumBytes: 1000 })
    const [whole9] = await enrolmentsOf([file], { provers: [picky] })
    expect(placesOf(whole9)).toEqual([
      [file.object, 0],
      [file.object, 4],
      [file.object, 7],
    ])
  })

  describe('of a folder', () => {
    const member = (object: string, sizeBytes: number): UnenrolledFile['members'][number] => ({
      object,
      sizeBytes,
      pieceRoot: ROOT,
      pieceSubtreeRoots: new Uint8Array(),
    })
    const piecesOf = async (members: UnenrolledFile['members'], options: Parameters<typeof enrolmentsOf>[1] = {}) => {
      const [enrolment] = await enrolmentsOf([fileOf({ sizeBytes: 300, members })], options)
      if (enrolment?.as.kind !== 'pieces') throw new Error('it has no pieces')
      return enrolment.as.pieces.map((piece) =>
        'members' in piece ? piece.members.map(({ object }) => object) : piece.object,
      )
    }

    it.each(['a network', 'this process alone'])(
      'puts small files together with its directories, for %s',
      async (who) => {
        const members = [member('small', 500), member('big', 3 * MIB), member('tiny', 1)]
        const provers = who === 'a network' ? [prover()] : [LOCAL]
        expect(await piecesOf(members, { provers })).toEqual([['small', 'aa'.repeat(32), 'tiny'], 'big'])
      },
    )

    it('makes as many aggregates as are needed', async () => {
      const members = Array.from({ length: 5000 }, (_, index) => member(`${index}`, 4096))
      const pieces = await piecesOf(members)
      expect(pieces.flat()).toHaveLength(5001)
      // An index of 64 MiB has 512 places.
      expect(pieces).toHaveLength(Math.ceil(5001 / 512))
    })

    it('keeps a private one', async () => {
      const [enrolment] = await enrolmentsOf([fileOf({ visibility: 'private', members: [member('a', 500)] })])
      expect(enrolment?.as.kind).toBe('keep')
    })
  })
})
