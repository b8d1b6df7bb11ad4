import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALICE, digestOf, fileCommitOf, NOW, pieceRootOf, upload, WEEK } from '../../conformance/case.ts'
import type { NewPiece, Placement, UnreconciledPiece } from '../../record-store.ts'
import { prepareCopyReads } from '../../sql/copy-reads.ts'
import { preparePlacementReads } from '../../sql/placement-reads.ts'
import { prepareWrites } from '../../sql/writes.ts'
import { type Connection, openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { sqliteSql } from './sqlite-sql.ts'
import { atOnce } from './testing-at-once.ts'
import { FOREVER, PlacementModel } from './testing-placement-model.ts'

const PROVERS = ['north', 'south', 'west'] as const
/** Has the bytes of every piece, and keeps no data set of what it is given from now on. */
const HERE = 'west'
const CONTENTS = ['one', 'two', 'three'] as const

type EnrolledAs = 'wait' | 'whole' | 'slices' | 'keep'

type Command =
  | { readonly do: 'upload'; readonly content: number; readonly parkedAt: readonly number[] | undefined }
  | { readonly do: 'enrol'; readonly as: EnrolledAs; readonly copies: number }
  | { readonly do: 'remove' | 'want' | 'extend'; readonly content: number; readonly copies: number }
  | { readonly do: 'aggregate' | 'look' | 'mark all unreconciled' }
  | { readonly do: 'dissolve' | 'park' | 'park again' | 'fail' | 'retry' | 'add' | 'take out'; readonly pick: number }
  | { readonly do: 'reconcile'; readonly pick: number; readonly isOld: boolean; readonly isHopeless: boolean }
  | { readonly do: 'audit'; readonly pick: number; readonly passed: boolean; readonly isFinal: boolean }
  | { readonly do: 'end addition'; readonly pick: number; readonly as: 'confirmed' | 'rejected' | 'refused' }

const is = <Name extends string>(...names: Name[]) => fc.constantFrom(...names)
const rarely = fc.nat({ max: 5 }).map((number) => number === 0)
const content = fc.nat({ max: CONTENTS.length - 1 })
const copies = fc.integer({ min: 1, max: 3 })
const pick = fc.nat({ max: 20 })
const parkedAt = fc.option(fc.subarray([0, 1, 2]), { nil: undefined })
const uploaded = fc.record({ do: is('upload'), content, parkedAt })
const enrol = fc.record({ do: is('enrol'), as: is('wait', 'wait', 'whole', 'slices', 'slices', 'keep'), copies })
const end = fc.record({ do: is('end addition'), pick, as: is('confirmed', 'confirmed', 'rejected', 'refused') })
const command: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: uploaded, weight: 2 },
  { arbitrary: enrol, weight: 3 },
  { arbitrary: fc.record({ do: is('want', 'want', 'extend', 'remove'), content, copies }), weight: 5 },
  { arbitrary: fc.record({ do: is('aggregate', 'look', 'mark all unreconciled') }), weight: 2 },
  { arbitrary: fc.record({ do: is('reconcile'), pick, isOld: rarely, isHopeless: rarely }), weight: 9 },
  { arbitrary: fc.record({ do: is('park', 'add'), pick }), weight: 9 },
  { arbitrary: fc.record({ do: is('park again'), pick }), weight: 1 },
  { arbitrary: fc.record({ do: is('dissolve', 'fail', 'retry', 'take out'), pick }), weight: 3 },
  { arbitrary: fc.record({ do: is('audit'), pick, passed: fc.boolean(), isFinal: rarely }), weight: 4 },
  { arbitrary: end, weight: 3 },
)
/** Without some files at the beginning most commands have nothing to work on. */
const commands = fc
  .tuple(fc.array(uploaded, { minLength: 2, maxLength: 4 }), fc.array(command, { minLength: 20, maxLength: 80 }))
  .map(([first, then]): Command[] => [...first, ...then])

/** One sequence of commands on records that are empty. */
class Sequence {
  readonly #db: Connection
  readonly #writes
  readonly #reads
  readonly #copies
  readonly #model
  #now = NOW
  #looked: readonly UnreconciledPiece[] = []

  constructor(db: Connection) {
    this.#db = db
    this.#writes = atOnce(prepareWrites(sqliteSql(db)))
    this.#reads = atOnce(preparePlacementReads(sqliteSql(db)))
    this.#copies = atOnce(prepareCopyReads(sqliteSql(db)))
    this.#model = new PlacementModel(db)
  }

  run(of: Command): void {
    this.#now += 1
    this.#do(of)
    this.#model.check(this.#now)
  }

  #do(of: Command): void {
    const writes = this.#writes
    const now = this.#now
    switch (of.do) {
      case 'upload':
        this.#upload(CONTENTS[of.content] ?? '', of.parkedAt)
        break
      case 'enrol':
        this.#enrol(of.as, of.copies)
        break
      case 'remove':
        writes['files.remove']({ principal: ALICE, key: `sha256:${digestOf(CONTENTS[of.content] ?? '')}`, now })
        break
      case 'want':
      case 'extend': {
        const [file] = this.#numbers('SELECT sequence FROM files WHERE ended_at IS NULL', of.content)
        if (file !== undefined && of.do === 'want') writes['placements.want']({ file, copies: of.copies, now })
        if (file !== undefined && of.do === 'extend') {
          expect(writes['files.change']({ file, now, maxTermDays: 365, term: { termDays: 14 } }).outcome).toBe(
            'changed',
          )
        }
        break
      }
      case 'aggregate':
        this.#aggregate()
        break
      case 'look':
        this.#looked = this.#unreconciled()
        break
      case 'mark all unreconciled':
        writes['placements.markAllUnreconciled']({ now })
        break
      case 'dissolve': {
        const [piece] = this.#numbers('SELECT DISTINCT piece FROM aggregate_members', of.pick)
        if (piece === undefined) break
        this.#model.ending(() => writes['placements.dissolve']({ piece, now }))
        this.#model.dissolved(piece)
        break
      }
      case 'reconcile':
        this.#reconcile(of.isOld ? this.#looked : this.#unreconciled(), of.pick, of.isHopeless)
        break
      case 'park': {
        const [copy] = this.#numbers("SELECT id FROM copies WHERE state = 'pending'", of.pick)
        if (copy !== undefined) expect(writes['placements.parked']({ copy, now })).toBe(true)
        break
      }
      case 'park again': {
        const [copy] = this.#numbers("SELECT id FROM copies WHERE state = 'parked'", of.pick)
        if (copy !== undefined) writes['placements.parkAgain']({ copies: [copy], now })
        break
      }
      case 'add': {
        const prover = PROVERS[of.pick % PROVERS.length] ?? ''
        const parked = this.#numbers(`SELECT id FROM copies WHERE state = 'parked' AND prover = '${prover}'`)
        const opened = writes['placements.openAddition']({ prover, nonce: '', dataSetId: null, copies: parked, now })
        expect(opened?.copies.map(({ copy }) => copy.id)).toEqual(parked.length === 0 ? undefined : parked)
        break
      }
      case 'end addition':
        this.#endAddition(of.pick, of.as)
        break
      case 'fail':
      case 'retry': {
        const [copy] = this.#numbers('SELECT id FROM copies', of.pick)
        if (copy !== undefined && of.do === 'fail') {
          this.#model.ending(() => writes['placements.fail']({ copy, cause: 'lost', now }))
        }
        if (copy !== undefined && of.do === 'retry') writes['placements.retryLater']({ copy, nextAt: now + 5 })
        break
      }
      case 'audit': {
        const [copy] = this.#numbers("SELECT id FROM copies WHERE state = 'stored'", of.pick)
        const { passed, isFinal } = of
        const audit = { copy: copy ?? 0, at: now, seed: '', passed, cause: passed ? null : 'wrong', proof: null }
        const audited = { audit, nextAt: now, isFinal, isRetrievable: false }
        if (copy !== undefined) this.#model.ending(() => writes['placements.audited'](audited))
        break
      }
      case 'take out': {
        const copy = this.#model.toTakeOut[of.pick % Math.max(this.#model.toTakeOut.length, 1)]
        if (copy === undefined) break
        writes['placements.removed']({ copy, now })
        this.#model.takenOut(copy)
        break
      }
    }
  }

  #upload(word: string, parkedAt: readonly number[] | undefined): void {
    const now = this.#now
    const placement: Placement | undefined = parkedAt && {
      copiesWanted: 2,
      pieces: slicesOf(word),
      parkedAt: parkedAt.map((index) => PROVERS[index] ?? ''),
    }
    const of = upload({ content: word, capBytes: 1e9, now, expiresAt: now + WEEK, placement })
    this.#model.placing(() =>
      this.#writes['quotas.commitAtOnce']({ admit: of, commit: fileCommitOf(of, `d-0x${now}`) }),
    )
  }

  #enrol(as: EnrolledAs, copiesWanted: number): void {
    const [found] = this.#reads.unenrolled({ after: 0, limit: 1 })
    if (found === undefined) return
    const word = CONTENTS.find((one) => digestOf(one) === found.object) ?? ''
    const kinds = {
      wait: { kind: 'wait' },
      keep: { kind: 'keep' },
      whole: { kind: 'pieces', pieces: [wholeOf(word)] },
      slices: { kind: 'pieces', pieces: slicesOf(word) },
    } as const
    const enrolments = [{ file: found.file, copiesWanted, as: kinds[as] }]
    this.#writes['placements.enrol']({ now: this.#now, upTo: found.file, enrolments })
  }

  #aggregate(): void {
    const waiting = this.#reads.waiting({ limit: 10 })
    if (waiting.length === 0) return
    const pieceRoot = digestOf(waiting.map(({ object }) => object).join())
    const members = waiting.map(({ file }, index) => ({ file, paddedOffsetBytes: index * 128 }))
    expect(this.#writes['placements.aggregate']({ now: this.#now, pieceRoot, sizeBytes: 1_000, members })).toBe(true)
  }

  /** Reconciles a piece as somebody does who looked at it now, or a while ago. */
  #reconcile(from: readonly UnreconciledPiece[], index: number, isHopeless: boolean): void {
    const found = from[index % Math.max(from.length, 1)]
    if (found === undefined) return
    const { revision, copiesWanted } = found
    const piece = found.piece.id
    const live = found.copies.filter(({ endedAt }) => endedAt === null)
    const missing = Math.max(copiesWanted - live.length, 0)
    const free = PROVERS.filter((prover) => !live.some((copy) => copy.prover === prover))
    const failure = isHopeless && missing > 0 ? `nobody at ${this.#now}` : null
    const nextAt = failure === null ? null : this.#now + 10
    const chosen = isHopeless ? [] : free.slice(0, missing)
    const add = chosen.filter((prover) => prover !== HERE)
    const addStored = chosen.filter((prover) => prover === HERE)
    const release = live.slice(copiesWanted).map(({ id }) => id)
    const isCurrent = this.#unreconciled().some((one) => one.piece.id === piece && one.revision === revision)
    const reconciliation = { piece, revision, add, addStored, release, nextAt, failure, now: this.#now }
    this.#model.ending(() => this.#model.placing(() => this.#writes['placements.reconcile'](reconciliation)))
    if (isCurrent) this.#model.reconciled(piece, copiesWanted, failure)
  }

  #endAddition(index: number, as: 'confirmed' | 'rejected' | 'refused'): void {
    const open = this.#copies.additions()
    const { id: addition, copies: some } = open[index % Math.max(open.length, 1)] ?? {}
    if (addition === undefined || some === undefined) return
    const now = this.#now
    if (as === 'confirmed') {
      const pieceIds = some.map(({ copy }) => `${copy.id}`)
      this.#writes['placements.additionConfirmed']({ addition, dataSetId: '1', pieceIds, now })
      this.#model.added(some.map(({ copy }) => copy))
    } else {
      this.#writes['placements.additionRejected']({
        addition,
        now,
        nextAt: now,
        cause: as === 'refused' ? 'refused' : null,
      })
    }
  }

  #unreconciled(): readonly UnreconciledPiece[] {
    return this.#reads.unreconciled({ now: FOREVER, limit: 100 })
  }

  /** The first column of all rows, or of one of them. */
  #numbers(sql: string, index?: number): number[] {
    const all = this.#db.prepare<[], number>(sql).pluck().all()
    const one = index === undefined ? undefined : all[index % Math.max(all.length, 1)]
    return one === undefined ? (index === undefined ? all : []) : [one]
  }
}

function wholeOf(word: string): NewPiece {
  return { pieceRoot: pieceRootOf(word), sizeBytes: 100, object: digestOf(word), offsetBytes: 0 }
}

/** Two slices, of which every file has the first. */
function slicesOf(word: string): NewPiece[] {
  return [
    { ...wholeOf(word), pieceRoot: pieceRootOf('shared slice'), sizeBytes: 40 },
    { ...wholeOf(word), pieceRoot: pieceRootOf(`slice of ${word}`), sizeBytes: 60, offsetBytes: 40 },
  ]
}

describe('placements after any commands', () => {
  const dir = mkdtempSync(join(tmpdir(), 'lade-placement-model-'))
  let db: Connection
  beforeAll(() => {
    db = openConnection(join(dir, 'lade.db'))
    migrate(db)
  })
  afterAll(() => {
    db.close()
    rmSync(dir, { recursive: true, force: true })
  })

  test('deals stand as their copies say, and nothing that changed goes unreconciled', () => {
    fc.assert(
      fc.property(commands, (all) => {
        db.exec('BEGIN IMMEDIATE')
        try {
          const sequence = new Sequence(db)
          for (const one of all) sequence.run(one)
        } finally {
          db.exec('ROLLBACK')
        }
      }),
      { numRuns: 150 },
    )
  }, 120_000)
})
