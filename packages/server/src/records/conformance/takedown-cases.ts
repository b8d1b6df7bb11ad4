import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { blockedNameOf, blockedNameOfMultihash } from '../blocked-name.ts'
import type { CarCommit, RecordStore } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  digestOf,
  fileCommitOf,
  NOW,
  pending,
  pieceRootOf,
  reserve,
  stage,
  type Upload,
  upload,
  WEEK,
} from './case.ts'
import { compose, composed, handleOf, stageParts, WHOLE_ROOT } from './composing.ts'
import { dealOf, enrolWaiting, NORTH, placedFile, reconcile, unreconciledPieces } from './placing.ts'

const ROOT = `dag-pb:${digestOf('root')}`
const CAR_ROOT = `dag-pb:${digestOf('car root')}`

function multihashOf(word: string): Buffer {
  return Buffer.from(`1220${digestOf(word)}`, 'hex')
}

function carOf(words: readonly string[]): CarCommit {
  return {
    kind: 'car',
    multihashes: Buffer.concat(words.map(multihashOf)),
    multihashEnds: Uint32Array.from(words, (_, index) => 34 * (index + 1)),
    offsetBytes: Float64Array.from(words, (_, index) => 17 * index),
    sizeBytes: Uint32Array.from(words, () => 10),
  }
}

/** `hello` as a UnixFS file of the root `root`. */
const unixfs = (overrides: Partial<Upload> = {}): Upload =>
  upload({
    key: ROOT,
    facts: {
      aliases: [{ key: ROOT, view: 'bytes' }],
      dags: [
        {
          kind: 'import',
          profile: 'unixfs-v1-2025',
          digests: Buffer.concat(['leaf', 'root'].map((word) => Buffer.from(digestOf(word), 'hex'))),
        },
      ],
    },
    ...overrides,
  })

/** A CAR of these blocks, whose root is `car root`. */
const car = (content: string, words: readonly string[], overrides: Partial<Upload> = {}): Upload =>
  upload({
    content,
    key: CAR_ROOT,
    capBytes: 1e6,
    facts: { aliases: [{ key: CAR_ROOT, view: 'car' }], dags: [carOf(words)] },
    ...overrides,
  })

export function takedownCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const block = (store: RecordStore, key: string, overrides: { reason?: string; deletes?: boolean } = {}) =>
    store.takedowns.block({
      name: blockedNameOf(key),
      cid: `cid of ${key}`,
      reason: 'A reason.',
      by: 'admin',
      now: NOW,
      deletes: false,
      ...overrides,
    })
  const lift = (store: RecordStore, key: string) =>
    store.takedowns.lift({ name: blockedNameOf(key), by: 'admin', now: NOW })
  /** What holds, by the objects and names that it reaches. */
  const reached = async (store: RecordStore) => {
    const { changed } = await store.takedowns.changes({ since: 0 })
    const holding = changed.filter(({ takedown }) => takedown.liftedAt === null)
    return {
      names: holding.flatMap(({ names }) => names).sort(),
      whole: holding.flatMap(({ objects }) => objects.filter(({ isWhole }) => isWhole).map(({ object }) => object)),
      touched: holding.flatMap(({ objects }) => objects.filter(({ isWhole }) => !isWhole).map(({ object }) => object)),
    }
  }
  const isFound = async (store: RecordStore, word: string) =>
    (await store.blocks.find({ multihash: multihashOf(word), now: NOW })) !== undefined

  it('reach the object by whichever of its names, and every other name of it', async (store) => {
    const keys = [
      ROOT,
      `sha256:${digestOf('hello')}`,
      `piece:${pieceRootOf('hello')}:100`,
      `piece-v1:${pieceRootOf('hello')}`,
    ]
    await stage(store, unixfs())
    for (const key of keys) {
      await block(store, key)
      const { names, whole, touched } = await reached(store)
      expect([whole, touched]).toEqual([[digestOf('hello')], []])
      expect(names).toEqual(
        [
          `multihash:1220${digestOf('hello')}`,
          `multihash:1220${digestOf('root')}`,
          `piece-v1:${pieceRootOf('hello')}`,
          `piece:${pieceRootOf('hello')}:100`,
        ].sort(),
      )
      await lift(store, key)
    }
  })

  it('reach what an opaque id leads to, and a blake3 alias', async (store) => {
    const blake = `blake3:${digestOf('blake')}`
    await stage(store, upload({ key: 'opaque:myfile01', facts: { aliases: [{ key: blake, view: 'bytes' }] } }))
    await block(store, 'opaque:myfile01')
    const { names, whole } = await reached(store)
    expect(whole).toEqual([digestOf('hello')])
    expect(names).toEqual(expect.arrayContaining(['opaque:myfile01', `multihash:1e20${digestOf('blake')}`]))
  })

  it('are kept for content that is not here', async (store) => {
    const outcome = await block(store, `sha256:${digestOf('nothing')}`)
    expect(outcome).toMatchObject({ files: 0, ended: 0, deleted: [], containing: [] })
    expect(await reached(store)).toEqual({ names: [`multihash:1220${digestOf('nothing')}`], whole: [], touched: [] })
  })

  it('reach other objects of the same root, and objects that were composed of blocked ones', async (store) => {
    await stage(store, car('first car', ['car root', 'leaf']))
    await stage(store, car('second car', ['leaf', 'car root'], { principal: BOB }))
    const parts = await stageParts(store)
    await composed(store, parts)
    await block(store, CAR_ROOT)
    expect((await reached(store)).whole).toEqual([digestOf('first car'), digestOf('second car')])
    await lift(store, CAR_ROOT)
    await block(store, `sha256:${digestOf('part 0')}`)
    const { whole, names } = await reached(store)
    expect(whole).toEqual([digestOf('part 0'), handleOf('whole', 200)])
    expect(names).toContain(blockedNameOf(WHOLE_ROOT))
    expect(names).not.toContain(`multihash:1220${digestOf('part 1')}`)
  })

  it('touch objects that have a blocked block among others, and leave the other blocks of these', async (store) => {
    await stage(store, upload())
    await stage(store, car('folder', ['car root', 'hello', 'other']))
    const outcome = await block(store, `sha256:${digestOf('hello')}`)
    expect(outcome).toMatchObject({ files: 1, ended: 0, containing: ['cid-of-folder'] })
    expect(await reached(store)).toMatchObject({ whole: [digestOf('hello')], touched: [digestOf('folder')] })
    expect(await isFound(store, 'other')).toBe(true)
  })

  it('take the blocks below a root away, but for those that another file has', async (store) => {
    await stage(store, car('folder', ['car root', 'leaf', 'other']))
    await stage(store, upload({ content: 'other', principal: BOB }))
    await block(store, CAR_ROOT)
    expect([await isFound(store, 'leaf'), await isFound(store, 'other')]).toEqual([false, true])
    expect(await store.takedowns.hasBlock(multihashOf('leaf'))).toBe(true)
    expect(await store.takedowns.hasBlock(multihashOf('nothing'))).toBe(false)
    await lift(store, CAR_ROOT)
    expect([await isFound(store, 'leaf'), await store.takedowns.hasBlock(multihashOf('leaf'))]).toEqual([true, false])
  })

  it('are found by whoever asks what has changed, as they are lifted, and in a list', async (store) => {
    expect(await store.takedowns.changes({ since: 0 })).toEqual({ revision: 0, changed: [] })
    const { takedown } = await block(store, ROOT)
    const { revision, changed } = await store.takedowns.changes({ since: 0 })
    expect(takedown).toMatchObject({ reason: 'A reason.', blockedBy: 'admin', blockedAt: NOW, liftedAt: null })
    expect([revision, changed.map((one) => one.takedown)]).toEqual([await store.takedowns.revision(), [takedown]])
    expect(await store.takedowns.changes({ since: revision })).toEqual({ revision, changed: [] })
    expect(await store.takedowns.list({ limit: 10 })).toEqual([takedown])
    expect(await store.takedowns.list({ limit: 10, before: takedown.id })).toEqual([])
    expect(await lift(store, ROOT)).toEqual({ ...takedown, liftedAt: NOW })
    expect(await lift(store, ROOT)).toBeUndefined()
    const after = await store.takedowns.changes({ since: revision })
    expect(after.changed).toMatchObject([{ takedown: { liftedAt: NOW }, names: [], objects: [] }])
    expect(await store.takedowns.list({ limit: 10 })).toEqual([])
  })

  it('are one for each name, with the latest reason', async (store) => {
    const first = await block(store, ROOT)
    const again = await block(store, `sha256:${digestOf('root')}`, { reason: 'Another.' })
    expect(again.takedown).toEqual({ ...first.takedown, reason: 'Another.' })
    expect(await store.takedowns.list({ limit: 10 })).toHaveLength(1)
  })

  itAcrossRestart('hold after a restart', async (store, restart) => {
    await stage(store, unixfs())
    await block(store, ROOT)
    const before = await reached(store)
    expect(await reached(await restart())).toEqual(before)
  })

  itWithTwo('refuse an upload that was held against older ones, and record nothing of it', async (store, other) => {
    const of = upload()
    const takedownRevision = await store.takedowns.revision()
    const id = await reserve(store, of)
    await block(other, of.key)
    const late = { ...fileCommitOf(of, `d-0x${randomUUID()}`), takedownRevision }
    expect(await store.quotas.commit({ reservationId: id, ...late })).toEqual({ outcome: 'takedowns_changed' })
    expect(await store.quotas.commitAtOnce({ admit: of, commit: late })).toEqual({ outcome: 'takedowns_changed' })
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    const parts = await stageParts(store)
    const charged = await account(store)
    expect(await compose(store, parts, { takedownRevision })).toEqual({ outcome: 'takedowns_changed' })
    expect(await account(store)).toEqual(charged)
    const now = { ...late, takedownRevision: await store.takedowns.revision() }
    expect((await store.quotas.commitAtOnce({ admit: of, commit: now })).outcome).toBe('recorded')
  })

  it('end the files and let go of the bytes where that is asked for, of wholes and parts too', async (store) => {
    const parts = await stageParts(store)
    await composed(store, parts)
    await stage(store, upload({ content: 'part 0', principal: BOB, visibility: 'private' }))
    const outcome = await block(store, `sha256:${digestOf('part 0')}`, { deletes: true })
    expect(outcome).toMatchObject({ files: 2, ended: 2, takedown: { isDeleted: true } })
    expect(outcome.deleted).toEqual([digestOf('part 0')])
    expect([...(await pending(store, NOW))].sort()).toEqual([digestOf('part 0'), digestOf('part 1')].sort())
    expect((await account(store)).stored).toBe(0)
    expect((await account(store, BOB)).stored).toBe(0)
    expect(await store.quotas.checkDrift()).toEqual([])
    expect((await store.files.serving({ key: `sha256:${digestOf('part 0')}`, now: NOW })).outcome).toBe('gone')
  })

  it('let go of bytes at once that were to stay for a while', async (store) => {
    const of = upload()
    await stage(store, of)
    await store.files.expire({ now: NOW + WEEK, limit: 10, keepMs: WEEK })
    expect(await pending(store, NOW + WEEK)).toEqual([])
    await block(store, of.key, { deletes: true })
    expect(await pending(store, NOW + WEEK)).toEqual([digestOf('hello')])
    expect(await store.files.revive({ now: NOW, limit: 10, keepMs: WEEK })).toBe(0)
  })

  it('leave files and bytes where nothing else is asked for', async (store) => {
    await stage(store, upload())
    expect(await block(store, upload().key)).toMatchObject({ files: 1, ended: 0, deleted: [] })
    expect([(await account(store)).stored, await pending(store)]).toEqual([100, []])
  })

  it('close deals, so that provers release their copies, until they are lifted', async (store) => {
    const { file, piece } = await placedFile(store, 'proved')
    await block(store, file.key)
    expect((await dealOf(store, file)).status).toBe('staged')
    expect(await unreconciledPieces(store)).toEqual([piece])
    const [found] = await store.placements.unreconciled({ now: NOW, limit: 1 })
    expect(found).toMatchObject({ copiesWanted: 0, copies: [{ prover: NORTH }] })
    expect((await reached(store)).names).toContain(`piece:${pieceRootOf('hello')}:100`)
    await reconcile(store, { piece })
    await lift(store, file.key)
    const [again] = await store.placements.unreconciled({ now: NOW, limit: 1 })
    expect(again).toMatchObject({ copiesWanted: 1 })
  })

  it('keep files from provers that nobody has placed yet, and that become public', async (store) => {
    const file = await stage(store, upload())
    await block(store, file.key)
    const unenrolled = await store.placements.unenrolled({ after: 0, limit: 10 })
    expect(unenrolled).toMatchObject([{ file: file.sequence, visibility: 'private' }])
    await enrolWaiting(store, [file])
    expect(await store.placements.waiting({ limit: 10 })).toEqual([])
    for (const visibility of ['private', 'public'] as const) {
      await store.files.change({ file: file.sequence, now: NOW, maxTermDays: 100, visibility })
    }
    expect(await store.placements.unenrolled({ after: file.sequence, limit: 10 })).toEqual([])
    await lift(store, file.key)
    expect(await store.placements.unenrolled({ after: file.sequence, limit: 10 })).toMatchObject([
      { visibility: 'public' },
    ])
  })

  it('dissolve aggregates, whose other members wait again', async (store) => {
    const one = await stage(store, upload({ content: 'one' }))
    const two = await stage(store, upload({ content: 'two' }))
    await enrolWaiting(store, [one, two])
    const members = [one, two].map(({ sequence }, index) => ({ file: sequence, paddedOffsetBytes: 128 * index }))
    const pieceRoot = pieceRootOf('aggregate')
    await store.placements.aggregate({ now: NOW, pieceRoot, sizeBytes: 1000, members })
    await block(store, one.key)
    expect((await store.placements.waiting({ limit: 10 })).map(({ file }) => file)).toEqual([two.sequence])
    expect(await store.placements.pieceOf({ pieceRoot, sizeBytes: 1000 })).toBeUndefined()
    expect((await reached(store)).names).toContain(`piece:${pieceRoot}:1000`)
    await lift(store, one.key)
    expect((await store.placements.waiting({ limit: 10 })).map(({ file }) => file)).toEqual([
      one.sequence,
      two.sequence,
    ])
  })

  it('are in the audit log, when they are made and lifted', async (store) => {
    await block(store, ROOT)
    await lift(store, ROOT)
    const lines = await store.audit.lines({ after: 0, limit: 10 })
    expect(lines.map(({ line }) => JSON.parse(line))).toMatchObject([
      { action: 'content.blocked', actor: 'admin', subject: `content:cid of ${ROOT}`, detail: { reason: 'A reason.' } },
      { action: 'content.unblocked', actor: 'admin', subject: `content:cid of ${ROOT}` },
    ])
  })

  it('tell the names of an object', async (store) => {
    await stage(store, unixfs({ principal: ALICE }))
    expect(await store.takedowns.namesOf(digestOf('hello'))).toContain(blockedNameOfMultihash(multihashOf('root')))
    expect(await store.takedowns.namesOf(digestOf('nothing'))).toEqual([])
  })
}
