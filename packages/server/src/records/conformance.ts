import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { CommitOutcome, FileRecord, RecordStore, ReserveOutcome, TokenRecord } from './record-store.ts'

/** What the suite needs to know to exercise one record store. */
export interface RecordStoreSubject {
  /** Opens an empty store, before every test. */
  open(): Promise<RecordStore>
  /** Closes it and removes what it stored. */
  discard(store: RecordStore): Promise<void>
  /** Closes the store and opens the same data again, as after a restart. Absent for volatile stores. */
  reopen?(store: RecordStore): Promise<RecordStore>
  /** Opens another handle on the same data, as another process has. The suite closes it. */
  openSecond?(store: RecordStore): Promise<RecordStore>
  /** Makes the medium fail from the next call on. */
  breakNext?(store: RecordStore): void
  /** Gaps this store admits to, by exact test title. A gap that passes is a failure. */
  gaps?: readonly { readonly test: string; readonly because: string }[]
}

const DAY = '2026-11-21'
const NOW = Date.UTC(2026, 10, 21, 12)
const HOUR = 3_600_000
const WEEK = 7 * 24 * HOUR
const ALICE = 'user:alice'
const BOB = 'user:bob'

/** One upload, from its reservation to its commit. Content is a word, and its digest is the digest of that word. */
interface Upload {
  readonly content: string
  readonly key: string
  readonly principal: string
  readonly instanceId: string
  readonly day: string
  readonly now: number
  readonly leaseUntil: number
  readonly sizeBytes: number
  readonly capBytes: number
  readonly maxInFlight: number
  readonly expiresAt: number
  readonly inline: Uint8Array | undefined
  readonly filename: string | null
  readonly contentType: string
  readonly visibility: 'public' | 'private'
}

function upload(overrides: Partial<Upload> = {}): Upload {
  const content = overrides.content ?? 'hello'
  return {
    content,
    key: `sha256:${digestOf(content)}`,
    principal: ALICE,
    instanceId: 'instance-a',
    day: DAY,
    now: NOW,
    leaseUntil: NOW + HOUR,
    sizeBytes: 100,
    capBytes: 1_000,
    maxInFlight: 1_000,
    expiresAt: NOW + WEEK,
    inline: undefined,
    filename: null,
    contentType: 'text/plain',
    visibility: 'public',
    ...overrides,
  }
}

function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

async function tryReserve(store: RecordStore, of: Upload): Promise<{ id: string; reserved: ReserveOutcome }> {
  const id = randomUUID()
  const reserved = await store.quotas.reserve({ ...of, reservationId: id })
  return { id, reserved }
}

async function reserve(store: RecordStore, of: Upload): Promise<string> {
  const { id, reserved } = await tryReserve(store, of)
  expect(reserved.outcome).toBe('reserved')
  return id
}

function claim(store: RecordStore, reservationId: string, of: Upload) {
  return store.quotas.claim({ reservationId, key: of.key, sha256: digestOf(of.content) })
}

function commit(store: RecordStore, reservationId: string, of: Upload): Promise<CommitOutcome> {
  return store.quotas.commit({
    reservationId,
    now: of.now,
    inline: of.inline,
    file: {
      principal: of.principal,
      key: of.key,
      cid: `cid-of-${of.content}`,
      sha256: digestOf(of.content),
      sizeBytes: of.sizeBytes,
      contentType: of.contentType,
      filename: of.filename,
      visibility: of.visibility,
      owner: `${of.principal}@example.org`,
      sponsored: false,
      verified: true,
      termDays: 7,
      uploadedAt: of.now,
      expiresAt: of.expiresAt,
      dealId: `d-0x${reservationId}`,
    },
  })
}

/** Reserve, claim and commit, all of which must go well. */
async function stage(store: RecordStore, of: Upload): Promise<FileRecord> {
  const id = await reserve(store, of)
  if (of.inline === undefined) expect(await claim(store, id, of)).toMatchObject({ outcome: 'claimed' })
  const committed = await commit(store, id, of)
  if (committed.outcome !== 'recorded') throw new Error(`The upload ended as ${committed.outcome}.`)
  return committed.file
}

/** Stages the content, ends it, and leaves its bytes as a pending discard. */
async function stageAndRemove(store: RecordStore, of: Upload): Promise<void> {
  await stage(store, of)
  await store.files.remove({ principal: of.principal, key: of.key, now: of.now })
}

function pending(store: RecordStore): Promise<readonly string[]> {
  return store.discards.pending({ instanceId: 'somebody', limit: 100 })
}

/** The charge, the reservations and the stored bytes of a principal on the suite's day. */
async function account(store: RecordStore, principal = ALICE) {
  const usage = await store.quotas.usage({ principal, fromDay: DAY, today: DAY, now: NOW })
  return { charged: usage.days[0]?.bytes ?? 0, reserved: usage.reservedBytes, stored: usage.stored.bytes }
}

function counted<Item extends { readonly outcome: string }>(items: readonly Item[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of items) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

function times<Value>(count: number, run: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => run(index))
}

interface Cases {
  it(title: string, run: (store: RecordStore) => Promise<void>): void
  itWithTwo(title: string, run: (store: RecordStore, other: RecordStore) => Promise<void>): void
  itAcrossRestart(title: string, run: (store: RecordStore, restart: () => Promise<RecordStore>) => Promise<void>): void
  itBroken(title: string, run: (store: RecordStore, breakNow: () => void) => Promise<void>): void
}

/**
 * Declares the cases that every record store passes, whatever its engine.
 *
 * @example
 * describeRecordStore('sqlite', { open: openOnTempFile, discard: closeAndRemove })
 */
export function describeRecordStore(name: string, subject: RecordStoreSubject): void {
  describe(`records on ${name}`, () => {
    const titles = new Set<string>()
    const cases = casesOf(subject, titles)
    describe('reservations and charges', () => quotaCases(cases))
    describe('races', () => raceCases(cases))
    describe('opaque keys', () => opaqueCases(cases))
    describe('claims and discards', () => discardCases(cases))
    describe('instances', () => instanceCases(cases))
    describe('serving', () => servingCases(cases))
    describe('files', () => fileCases(cases))
    describe('listing', () => listCases(cases))
    describe('tokens', () => tokenCases(cases))
    describe('the store itself', () => lifecycleCases(cases))
    for (const gap of subject.gaps ?? []) {
      if (!titles.has(gap.test)) throw new TypeError(`No test is called "${gap.test}".`)
    }
  })
}

function casesOf(subject: RecordStoreSubject, titles: Set<string>): Cases {
  const { openSecond, reopen, breakNext } = subject
  const gaps = new Set(subject.gaps?.map((gap) => gap.test))

  function declare(title: string, isAble: boolean, run: (opened: { store: RecordStore }) => Promise<void>): void {
    titles.add(title)
    const declared = gaps.has(title) ? test.fails : test.skipIf(!isAble)
    declared(title, async () => {
      const opened = { store: await subject.open() }
      try {
        await run(opened)
      } finally {
        await subject.discard(opened.store)
      }
    })
  }

  return {
    it: (title, run) => declare(title, true, ({ store }) => run(store)),
    itWithTwo: (title, run) =>
      declare(title, openSecond !== undefined, async ({ store }) => {
        const other = await subject.openSecond?.(store)
        if (other === undefined) throw new TypeError('This subject has no second handle.')
        try {
          await run(store, other)
        } finally {
          await other.close()
        }
      }),
    itAcrossRestart: (title, run) =>
      declare(title, reopen !== undefined, (opened) =>
        run(opened.store, async () => {
          opened.store = (await subject.reopen?.(opened.store)) ?? opened.store
          return opened.store
        }),
      ),
    itBroken: (title, run) =>
      declare(title, breakNext !== undefined, ({ store }) => run(store, () => subject.breakNext?.(store))),
  }
}

function quotaCases({ it }: Cases): void {
  it('turns a reservation into a charge at the commit', async (store) => {
    const { id, reserved } = await tryReserve(store, upload())
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 100, usedBytes: 100 })
    expect(await account(store)).toEqual({ charged: 0, reserved: 100, stored: 0 })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
    const committed = await commit(store, id, upload())
    expect(committed).toMatchObject({ outcome: 'recorded', usedBytes: 100, file: { endedAt: null, end: null } })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('fills the cap to its last byte', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 400 }))
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 400, usedBytes: 1_000 })
  })

  it('refuses one byte over the cap and says how much is used', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 401 }))
    expect(reserved).toEqual({ outcome: 'over_quota', usedBytes: 600 })
    expect(await account(store)).toEqual({ charged: 600, reserved: 0, stored: 600 })
  })

  it('refuses when the cap was lowered below what is used', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 1, capBytes: 500 }))
    expect(reserved).toEqual({ outcome: 'over_quota', usedBytes: 600 })
  })

  it('counts what others of the same principal have reserved', async (store) => {
    await reserve(store, upload({ content: 'one', sizeBytes: 600, instanceId: 'instance-b' }))
    const { reserved } = await tryReserve(store, upload({ content: 'two', sizeBytes: 401 }))
    expect(reserved).toEqual({ outcome: 'over_quota', usedBytes: 600 })
  })

  it('keeps principals and days apart', async (store) => {
    await stage(store, upload({ sizeBytes: 1_000 }))
    await reserve(store, upload({ sizeBytes: 1_000, principal: BOB }))
    await reserve(store, upload({ content: 'next day', sizeBytes: 1_000, day: '2026-11-22' }))
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
  })

  it('charges a commit after midnight to the day of its reservation', async (store) => {
    const evening = upload({ day: '2026-11-20' })
    const id = await reserve(store, evening)
    await commit(store, id, upload())
    const usage = await store.quotas.usage({ principal: ALICE, fromDay: '2026-11-15', today: DAY, now: NOW })
    expect(usage.days).toEqual([{ date: '2026-11-20', bytes: 100, files: 1 }])
  })

  it('reserves nothing for a retry, even at a full quota, and charges nothing at its commit', async (store) => {
    const first = await stage(store, upload({ sizeBytes: 1_000, filename: 'first.txt' }))
    const retry = upload({ sizeBytes: 1_000, filename: 'second.txt', contentType: 'image/png' })
    const { id, reserved } = await tryReserve(store, retry)
    expect(reserved).toEqual({ outcome: 'reserved', reservedBytes: 0, usedBytes: 1_000 })
    expect(await commit(store, id, retry)).toEqual({ outcome: 'retry', file: first, usedBytes: 1_000 })
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
  })

  it('charges a retry whose file was removed in between', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, upload())
    await claim(store, id, upload())
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await commit(store, id, upload())).toMatchObject({ outcome: 'recorded', usedBytes: 200 })
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 100 })
  })

  it('refuses a retry whose file was removed in between and which no longer fits', async (store) => {
    await stage(store, upload({ sizeBytes: 600 }))
    const id = await reserve(store, upload({ sizeBytes: 600 }))
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await commit(store, id, upload({ sizeBytes: 600 }))).toEqual({ outcome: 'over_quota', usedBytes: 600 })
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store)).toEqual({ charged: 600, reserved: 0, stored: 0 })
  })

  it('charges a file again whose term has ended, swept or not', async (store) => {
    const first = await stage(store, upload({ expiresAt: NOW + 1 }))
    const again = upload({ now: NOW + 1 })
    const { id, reserved } = await tryReserve(store, again)
    expect(reserved).toMatchObject({ reservedBytes: 100 })
    expect(await commit(store, id, again)).toMatchObject({ outcome: 'recorded', usedBytes: 200 })
    expect(await store.files.bySequence(first.sequence)).toMatchObject({ endedAt: NOW + 1, end: 'expired' })
    expect(await pending(store)).toEqual([])
  })

  it('refuses more uploads in flight than allowed, and takes the next when one has ended', async (store) => {
    const few = (content: string) => upload({ content, maxInFlight: 2, sizeBytes: 1 })
    const first = await reserve(store, few('one'))
    const second = await reserve(store, few('two'))
    expect((await tryReserve(store, few('three'))).reserved).toEqual({ outcome: 'too_many_in_flight', inFlight: 2 })
    await reserve(store, { ...few('three'), principal: BOB })
    await store.quotas.release({ reservationId: first, now: NOW })
    await reserve(store, few('three'))
    await commit(store, second, few('two'))
    await reserve(store, few('four'))
  })

  it('returns a reservation once, however often it is released', async (store) => {
    const kept = upload({ content: 'kept', sizeBytes: 300 })
    await reserve(store, kept)
    const id = await reserve(store, upload())
    await Promise.all(times(8, () => store.quotas.release({ reservationId: id, now: NOW })))
    expect(await account(store)).toEqual({ charged: 0, reserved: 300, stored: 0 })
  })

  it('keeps the charge when a reservation is released after its commit', async (store) => {
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await pending(store)).toEqual([])
  })

  it('answers lost to a claim and a commit whose reservation was released', async (store) => {
    const id = await reserve(store, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'lost' })
    expect(await commit(store, id, upload())).toEqual({ outcome: 'lost' })
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
  })

  it('answers lost to a second commit of one reservation', async (store) => {
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    expect(await commit(store, id, upload({ content: 'other' }))).toEqual({ outcome: 'lost' })
  })

  it('returns leases that have ended, and only those', async (store) => {
    const ended = await reserve(store, upload({ content: 'ended', leaseUntil: NOW - 1 }))
    const ending = await reserve(store, upload({ content: 'ending', leaseUntil: NOW }))
    expect(await store.quotas.releaseExpired({ now: NOW })).toBe(1)
    expect(await store.quotas.releaseExpired({ now: NOW })).toBe(0)
    expect(await commit(store, ended, upload({ content: 'ended' }))).toEqual({ outcome: 'lost' })
    expect(await commit(store, ending, upload({ content: 'ending' }))).toMatchObject({ outcome: 'recorded' })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('extends the leases of one instance only', async (store) => {
    await reserve(store, upload({ content: 'alive', sizeBytes: 1 }))
    await reserve(store, upload({ content: 'dead', sizeBytes: 2, instanceId: 'instance-b' }))
    await store.quotas.extendLeases({ instanceId: 'instance-a', leaseUntil: NOW + 3 * HOUR })
    expect(await store.quotas.releaseExpired({ now: NOW + 2 * HOUR })).toBe(1)
    expect(await account(store)).toMatchObject({ reserved: 1 })
  })

  it('reports days with a charge in order, within the window, and what is stored now', async (store) => {
    for (const [index, day] of ['2026-11-20', '2026-11-14', '2026-11-15', DAY].entries()) {
      await stage(store, upload({ content: `file ${index}`, day, sizeBytes: 10 + index }))
    }
    await stage(store, upload({ content: 'short', sizeBytes: 500, expiresAt: NOW }))
    await stage(store, upload({ content: 'removed', sizeBytes: 50 }))
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    await reserve(store, upload({ content: 'yesterday', day: '2026-11-20', sizeBytes: 7 }))
    const usage = await store.quotas.usage({ principal: ALICE, fromDay: '2026-11-15', today: DAY, now: NOW })
    expect(usage).toEqual({
      days: [
        { date: '2026-11-15', bytes: 12, files: 1 },
        { date: '2026-11-20', bytes: 10, files: 1 },
        { date: DAY, bytes: 563, files: 3 },
      ],
      reservedBytes: 0,
      stored: { bytes: 46, files: 4 },
    })
  })

  it('reports nothing for a principal it never saw', async (store) => {
    const usage = await store.quotas.usage({ principal: 'user:nobody', fromDay: DAY, today: DAY, now: NOW })
    expect(usage).toEqual({ days: [], reservedBytes: 0, stored: { bytes: 0, files: 0 } })
  })

  it('counts exactly up to the largest safe integer', async (store) => {
    const most = Number.MAX_SAFE_INTEGER
    const huge = upload({ sizeBytes: most - 1, capBytes: most })
    expect(await stage(store, huge)).toMatchObject({ sizeBytes: most - 1 })
    const two = upload({ content: 'two', sizeBytes: 2, capBytes: most })
    expect((await tryReserve(store, two)).reserved).toEqual({ outcome: 'over_quota', usedBytes: most - 1 })
    const all = upload({ content: 'all', sizeBytes: most, capBytes: most })
    expect((await tryReserve(store, all)).reserved).toEqual({ outcome: 'over_quota', usedBytes: most - 1 })
    await stage(store, upload({ content: 'one', sizeBytes: 1, capBytes: most }))
    expect(await account(store)).toEqual({ charged: most, reserved: 0, stored: most })
    expect(await store.files.latest({ principal: ALICE, key: huge.key })).toMatchObject({ sizeBytes: most - 1 })
    expect(await store.quotas.audit()).toEqual([])
  })

  it('finds no drift after uploads that ended in every way', async (store) => {
    const contents = times(24, (index) => upload({ content: `file ${index}`, sizeBytes: 1 + index, capBytes: 10_000 }))
    await Promise.all(
      contents.map(async (one, index) => {
        const id = await reserve(store, one)
        if (index % 2 === 0) await claim(store, id, one)
        if (index % 3 === 0) return store.quotas.release({ reservationId: id, now: NOW })
        await commit(store, id, one)
        if (index % 5 === 0) await store.files.remove({ principal: ALICE, key: one.key, now: NOW })
        if (index % 7 === 0) await commit(store, await reserve(store, one), one)
      }),
    )
    await store.files.expire({ now: NOW + WEEK, limit: 5 })
    expect(await store.quotas.audit()).toEqual([])
    // A retry of a live file is free, so each content that was committed is charged once.
    const committed = contents.filter((_, index) => index % 3 !== 0).reduce((sum, one) => sum + one.sizeBytes, 0)
    expect(await account(store)).toMatchObject({ charged: committed, reserved: 0 })
  })
}

function raceCases({ it, itWithTwo }: Cases): void {
  const racer = (index: number) => upload({ content: `racer ${index}`, capBytes: 1_700 })

  it('admits exactly what fits of 200 reservations at once', async (store) => {
    const outcomes = await Promise.all(times(200, async (index) => (await tryReserve(store, racer(index))).reserved))
    expect(counted(outcomes)).toEqual({ reserved: 17, over_quota: 183 })
    expect(await account(store)).toMatchObject({ reserved: 1_700 })
  })

  itWithTwo('admits exactly what fits of 200 reservations through two handles', async (store, other) => {
    const outcomes = await Promise.all(
      times(200, async (index) => (await tryReserve(index % 2 === 0 ? store : other, racer(index))).reserved),
    )
    expect(counted(outcomes)).toEqual({ reserved: 17, over_quota: 183 })
    expect(await account(store)).toMatchObject({ reserved: 1_700 })
    expect(await account(other)).toMatchObject({ reserved: 1_700 })
  })

  it('charges one key of one principal once when it is committed 16 times at once', async (store) => {
    const one = upload({ capBytes: 1_600 })
    const ids = await Promise.all(times(16, () => reserve(store, one)))
    const outcomes = await Promise.all(ids.map((id) => commit(store, id, one)))
    expect(counted(outcomes)).toEqual({ recorded: 1, retry: 15 })
    const deals = new Set(outcomes.map((outcome) => 'file' in outcome && outcome.file.dealId))
    expect(deals.size).toBe(1)
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  itWithTwo('charges one key of one principal once through two handles', async (store, other) => {
    const one = upload({ capBytes: 1_600 })
    const ids = await Promise.all(times(16, (index) => reserve(index % 2 === 0 ? store : other, one)))
    const outcomes = await Promise.all(ids.map((id, index) => commit(index % 3 === 0 ? store : other, id, one)))
    expect(counted(outcomes)).toEqual({ recorded: 1, retry: 15 })
    expect(await account(other)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  itWithTwo('lets either the commit or the release of one reservation win, never both', async (store, other) => {
    const rounds = times(40, (index) => upload({ content: `round ${index}`, capBytes: 10_000 }))
    const ids = await Promise.all(rounds.map((one) => reserve(store, one)))
    const outcomes = await Promise.all(
      ids.map(async (id, index) => {
        const one = rounds[index] ?? upload()
        const released = other.quotas.release({ reservationId: id, now: NOW })
        const committed = await commit(store, id, one)
        await released
        return committed
      }),
    )
    const recorded = counted(outcomes).recorded ?? 0
    expect(recorded + (counted(outcomes).lost ?? 0)).toBe(40)
    expect(await account(store)).toEqual({ charged: recorded * 100, reserved: 0, stored: recorded * 100 })
  })

  it('charges each of two principals for the same bytes, and removing one leaves the other', async (store) => {
    await Promise.all([stage(store, upload()), stage(store, upload({ principal: BOB }))])
    expect(await account(store, BOB)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await account(store, ALICE)).toEqual({ charged: 100, reserved: 0, stored: 0 })
    expect(await account(store, BOB)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await pending(store)).toEqual([])
  })
}

function opaqueCases({ it, itWithTwo }: Cases): void {
  const named = (content: string, principal = ALICE) => upload({ content, principal, key: 'opaque:myfile01' })

  it('binds an opaque key to the first bytes', async (store) => {
    expect(await store.files.boundSha256('opaque:myfile01')).toBeUndefined()
    await stage(store, named('first'))
    expect(await store.files.boundSha256('opaque:myfile01')).toBe(digestOf('first'))
    await stage(store, named('first', BOB))
  })

  it('refuses other bytes under an opaque key, at the claim and at the commit', async (store) => {
    await stage(store, named('first'))
    const id = await reserve(store, named('second', BOB))
    const conflict = { outcome: 'conflict', sha256: digestOf('first') }
    expect(await claim(store, id, named('second', BOB))).toEqual(conflict)
    expect(await commit(store, id, named('second', BOB))).toEqual(conflict)
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store, BOB)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    expect(await pending(store)).toEqual([])
  })

  it('keeps the binding after the file is removed', async (store) => {
    await stageAndRemove(store, named('first'))
    const id = await reserve(store, named('second'))
    expect(await claim(store, id, named('second'))).toEqual({ outcome: 'conflict', sha256: digestOf('first') })
    expect(await store.files.boundSha256('opaque:myfile01')).toBe(digestOf('first'))
  })

  it('does not bind at the claim, only at the commit', async (store) => {
    const id = await reserve(store, named('first'))
    await claim(store, id, named('first'))
    expect(await store.files.boundSha256('opaque:myfile01')).toBeUndefined()
    await stage(store, named('second', BOB))
    expect(await commit(store, id, named('first'))).toEqual({ outcome: 'conflict', sha256: digestOf('second') })
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([digestOf('first')])
  })

  itWithTwo('gives an opaque key to one of two first uploads through two handles', async (store, other) => {
    const [mine, theirs] = await Promise.all([reserve(store, named('mine')), reserve(other, named('theirs', BOB))])
    const outcomes = await Promise.all([
      commit(store, mine, named('mine')),
      commit(other, theirs, named('theirs', BOB)),
    ])
    expect(counted(outcomes)).toEqual({ recorded: 1, conflict: 1 })
  })
}

function discardCases({ it }: Cases): void {
  const digest = digestOf('hello')

  it('moves an object to the blob store when a later upload put it there', async (store) => {
    await stage(store, upload({ inline: Buffer.from('hello') }))
    const id = await reserve(store, upload({ principal: BOB }))
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
    await commit(store, id, upload({ principal: BOB }))
    expect(await store.files.inlineBytes(digest)).toBeUndefined()
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans a discard with the last live file, not before', async (store) => {
    await stage(store, upload())
    await stage(store, upload({ principal: BOB }))
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([])
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans a discard for files that expire', async (store) => {
    await stage(store, upload({ expiresAt: NOW + 1 }))
    await stage(store, upload({ principal: BOB, expiresAt: NOW + 2 }))
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await pending(store)).toEqual([])
    await store.files.expire({ now: NOW + 2, limit: 10 })
    expect(await pending(store)).toEqual([digest])
  })

  it('cancels a planned discard by a claim', async (store) => {
    await stageAndRemove(store, upload())
    const id = await reserve(store, upload())
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
    expect(await pending(store)).toEqual([])
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(false)
  })

  it('answers busy to a claim while a discard is under way', async (store) => {
    await stageAndRemove(store, upload())
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(true)
    const id = await reserve(store, upload())
    expect(await claim(store, id, upload())).toEqual({ outcome: 'busy' })
    await store.discards.finish({ sha256: digest, instanceId: 'instance-a' })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
  })

  it('gives a discard to one taker', async (store) => {
    await stageAndRemove(store, upload())
    const takers = times(8, (index) => store.discards.begin({ sha256: digest, instanceId: `instance-${index}` }))
    expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(1)
    expect(await pending(store)).toEqual([])
  })

  it('gives a discard again to the taker that could not finish it, and lets nobody else finish it', async (store) => {
    await stageAndRemove(store, upload())
    const [own, other] = [
      { sha256: digest, instanceId: 'instance-a' },
      { sha256: digest, instanceId: 'instance-b' },
    ]
    expect(await store.discards.begin(own)).toBe(true)
    expect(await store.discards.pending({ instanceId: 'instance-a', limit: 10 })).toEqual([digest])
    await store.discards.finish(other)
    expect(await store.discards.begin(other)).toBe(false)
    expect(await store.discards.begin(own)).toBe(true)
    await store.discards.finish(own)
    expect(await store.discards.begin(own)).toBe(false)
  })

  it('gives no discard that nobody planned, and finishing one is harmless', async (store) => {
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(false)
    await store.discards.finish({ sha256: digest, instanceId: 'instance-a' })
    await store.discards.finish({ sha256: digest, instanceId: 'instance-a' })
  })

  it('drops a discard whose bytes are needed again', async (store) => {
    await stageAndRemove(store, upload())
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(false)
    expect(await pending(store)).toEqual([])
  })

  it('plans a discard when a claim ends that nobody else needs', async (store) => {
    const first = await reserve(store, upload())
    const second = await reserve(store, upload({ principal: BOB }))
    await claim(store, first, upload())
    await claim(store, second, upload())
    await store.quotas.release({ reservationId: first, now: NOW })
    expect(await pending(store)).toEqual([])
    await store.quotas.release({ reservationId: second, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans no discard when a claim ends whose bytes a file needs', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, upload({ principal: BOB }))
    await claim(store, id, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([])
  })

  it('plans no discard for a reservation that claimed nothing', async (store) => {
    const id = await reserve(store, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([])
  })

  it('waits for a claim when the last file goes', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, upload({ principal: BOB }))
    await claim(store, id, upload())
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([])
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans a discard for a claim whose lease ended', async (store) => {
    const id = await reserve(store, upload({ leaseUntil: NOW - 1 }))
    await claim(store, id, upload())
    await store.quotas.releaseExpired({ now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('lists planned discards oldest first and no more than asked', async (store) => {
    for (const [age, content] of ['c', 'a', 'b'].entries()) {
      await stageAndRemove(store, upload({ content, now: NOW + age }))
    }
    expect(await store.discards.pending({ instanceId: 'somebody', limit: 2 })).toEqual([digestOf('c'), digestOf('a')])
  })
}

function instanceCases({ it }: Cases): void {
  it('lists the instances that registered and were not buried', async (store) => {
    expect(await store.instances.list()).toEqual([])
    for (const instanceId of ['instance-b', 'instance-a']) await store.instances.register({ instanceId, now: NOW })
    expect(await store.instances.list()).toEqual(['instance-a', 'instance-b'])
    await store.instances.bury({ instanceId: 'instance-b', now: NOW })
    expect(await store.instances.list()).toEqual(['instance-a'])
  })

  it('returns the reservations of a buried instance and leaves those of others', async (store) => {
    await store.instances.register({ instanceId: 'instance-a', now: NOW })
    const dead = await reserve(store, upload({ content: 'dead' }))
    const alive = await reserve(store, upload({ content: 'alive', instanceId: 'instance-b' }))
    expect(await store.instances.bury({ instanceId: 'instance-a', now: NOW })).toEqual({ reservations: 1 })
    expect(await store.instances.bury({ instanceId: 'instance-a', now: NOW })).toEqual({ reservations: 0 })
    expect(await claim(store, dead, upload({ content: 'dead' }))).toEqual({ outcome: 'lost' })
    expect(await commit(store, dead, upload({ content: 'dead' }))).toEqual({ outcome: 'lost' })
    expect(await commit(store, alive, upload({ content: 'alive' }))).toMatchObject({ outcome: 'recorded' })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('turns the claims of a buried instance into discards, unless another needs the bytes', async (store) => {
    const shared = upload({ content: 'shared' })
    for (const one of [upload({ content: 'alone' }), shared, { ...shared, instanceId: 'instance-b' }]) {
      await claim(store, await reserve(store, one), one)
    }
    await store.instances.bury({ instanceId: 'instance-a', now: NOW })
    expect(await pending(store)).toEqual([digestOf('alone')])
  })

  it('plans again the discards that a buried instance had begun', async (store) => {
    await stageAndRemove(store, upload({ content: 'mine' }))
    await stageAndRemove(store, upload({ content: 'theirs' }))
    await store.discards.begin({ sha256: digestOf('mine'), instanceId: 'instance-a' })
    await store.discards.begin({ sha256: digestOf('theirs'), instanceId: 'instance-b' })
    await store.instances.bury({ instanceId: 'instance-a', now: NOW })
    expect(await pending(store)).toEqual([digestOf('mine')])
    expect(await store.discards.begin({ sha256: digestOf('mine'), instanceId: 'instance-b' })).toBe(true)
  })
}

function servingCases({ it }: Cases): void {
  const sha256 = digestOf('hello')

  it('knows nothing of a digest that was never staged', async (store) => {
    expect(await store.files.serving({ sha256, now: NOW, principal: ALICE })).toEqual({ outcome: 'absent' })
  })

  it('serves the earliest live public file, whoever asks', async (store) => {
    const first = await stage(store, upload({ filename: 'first.txt' }))
    const second = await stage(store, upload({ principal: BOB, filename: 'second.txt' }))
    expect(await store.files.serving({ sha256, now: NOW, principal: BOB })).toEqual({ outcome: 'found', file: first })
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await store.files.serving({ sha256, now: NOW })).toEqual({ outcome: 'found', file: second })
  })

  it('serves a public file before an earlier private one, also to the owner of the private one', async (store) => {
    await stage(store, upload({ visibility: 'private' }))
    const file = await stage(store, upload({ principal: BOB }))
    expect(await store.files.serving({ sha256, now: NOW, principal: ALICE })).toEqual({ outcome: 'found', file })
  })

  it('serves a private file to its principal only', async (store) => {
    const file = await stage(store, upload({ visibility: 'private' }))
    await stage(store, upload({ principal: BOB, visibility: 'private' }))
    expect(await store.files.serving({ sha256, now: NOW, principal: ALICE })).toEqual({ outcome: 'found', file })
    expect(await store.files.serving({ sha256, now: NOW, principal: 'user:eve' })).toEqual({ outcome: 'private' })
    expect(await store.files.serving({ sha256, now: NOW })).toEqual({ outcome: 'private' })
  })

  it('stops serving at the end of the term, swept or not', async (store) => {
    await stage(store, upload({ expiresAt: NOW + 10 }))
    expect(await store.files.serving({ sha256, now: NOW + 9 })).toMatchObject({ outcome: 'found' })
    expect(await store.files.serving({ sha256, now: NOW + 10 })).toEqual({ outcome: 'gone', end: 'expired' })
    await store.files.expire({ now: NOW + 10, limit: 10 })
    expect(await store.files.serving({ sha256, now: NOW + 10 })).toEqual({ outcome: 'gone', end: 'expired' })
  })

  it('says how the latest file ended', async (store) => {
    await stageAndRemove(store, upload())
    expect(await store.files.serving({ sha256, now: NOW })).toEqual({ outcome: 'gone', end: 'removed' })
    await stage(store, upload({ principal: BOB, expiresAt: NOW + 1 }))
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await store.files.serving({ sha256, now: NOW + 1 })).toEqual({ outcome: 'gone', end: 'expired' })
  })

  it('serves again what is staged again', async (store) => {
    await stageAndRemove(store, upload())
    const file = await stage(store, upload())
    expect(await store.files.serving({ sha256, now: NOW })).toEqual({ outcome: 'found', file })
  })
}

function fileCases({ it }: Cases): void {
  it('gives a file back as it was committed', async (store) => {
    const file = await stage(store, upload({ filename: 'größe 📦.txt', contentType: 'text/plain; charset="utf-8"' }))
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    expect(await store.files.latest({ principal: ALICE, key: upload().key })).toEqual(file)
    expect(file).toMatchObject({
      filename: 'größe 📦.txt',
      owner: 'user:alice@example.org',
      verified: true,
      termDays: 7,
    })
  })

  it('finds nothing under a sequence, a key or a principal that it does not know', async (store) => {
    const file = await stage(store, upload())
    expect(await store.files.bySequence(file.sequence + 1)).toBeUndefined()
    expect(await store.files.latest({ principal: ALICE, key: 'opaque:unknown1' })).toBeUndefined()
    expect(await store.files.latest({ principal: BOB, key: file.key })).toBeUndefined()
  })

  it('grows the sequence with every file, also after removals', async (store) => {
    const first = await stage(store, upload())
    await store.files.remove({ principal: ALICE, key: first.key, now: NOW })
    const second = await stage(store, upload())
    expect(second.sequence).toBeGreaterThan(first.sequence)
    expect(await store.files.latest({ principal: ALICE, key: first.key })).toEqual(second)
    expect(await store.files.bySequence(first.sequence)).toMatchObject({ end: 'removed' })
  })

  it('removes a file once, and only for its principal', async (store) => {
    const file = await stage(store, upload())
    expect(await store.files.remove({ principal: BOB, key: file.key, now: NOW })).toBeUndefined()
    const removed = { ...file, endedAt: NOW + 5, end: 'removed' }
    expect(await store.files.remove({ principal: ALICE, key: file.key, now: NOW + 5 })).toEqual(removed)
    expect(await store.files.remove({ principal: ALICE, key: file.key, now: NOW + 6 })).toBeUndefined()
    expect(await store.files.bySequence(file.sequence)).toEqual(removed)
  })

  it('answers one of several removals at once', async (store) => {
    const { key } = await stage(store, upload())
    const removals = await Promise.all(times(8, () => store.files.remove({ principal: ALICE, key, now: NOW })))
    expect(removals.filter((removed) => removed !== undefined)).toHaveLength(1)
  })

  it('counts a file as expired that is removed after its term', async (store) => {
    const { key, sequence } = await stage(store, upload({ expiresAt: NOW + 1 }))
    expect(await store.files.remove({ principal: ALICE, key, now: NOW + 2 })).toBeUndefined()
    expect(await store.files.bySequence(sequence)).toMatchObject({ end: 'expired', endedAt: NOW + 1 })
  })

  it('keeps the charge of a file that is removed or expired', async (store) => {
    await stageAndRemove(store, upload({ content: 'removed' }))
    await stage(store, upload({ content: 'expired', expiresAt: NOW + 1 }))
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 0 })
    expect(await store.quotas.audit()).toEqual([])
  })

  it('expires files oldest term first, at most as many as asked', async (store) => {
    const terms = [3, 1, 2, 9]
    const files = await Promise.all(
      terms.map((term) => stage(store, upload({ content: `term ${term}`, expiresAt: NOW + term }))),
    )
    const ends = () =>
      Promise.all(files.map(async ({ sequence }) => (await store.files.bySequence(sequence))?.endedAt ?? null))
    expect(await store.files.expire({ now: NOW + 3, limit: 2 })).toBe(2)
    expect(await ends()).toEqual([null, NOW + 1, NOW + 2, null])
    expect(await store.files.expire({ now: NOW + 3, limit: 2 })).toBe(1)
    expect(await store.files.expire({ now: NOW + 3, limit: 2 })).toBe(0)
    expect(await ends()).toEqual([NOW + 3, NOW + 1, NOW + 2, null])
  })

  it('gives inline bytes back until the last file that needs them has ended', async (store) => {
    const whole = Buffer.from('left hello right')
    const inline = whole.subarray(5, 10)
    await stage(store, upload({ inline }))
    await stage(store, upload({ principal: BOB, inline }))
    const read = async () => Buffer.from((await store.files.inlineBytes(digestOf('hello'))) ?? []).toString()
    expect(await read()).toBe('hello')
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await read()).toBe('hello')
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await store.files.inlineBytes(digestOf('hello'))).toBeUndefined()
    expect(await pending(store)).toEqual([])
  })

  it('gives every byte value and 1 MiB of inline bytes back', async (store) => {
    const inline = Buffer.alloc(1_048_576, Buffer.from(times(256, (index) => index)))
    await stage(store, upload({ inline }))
    const read = await store.files.inlineBytes(digestOf('hello'))
    expect(Buffer.compare(Buffer.from(read ?? []), inline)).toBe(0)
  })

  it('has no inline bytes for objects of the blob store or for unknown digests', async (store) => {
    await stage(store, upload())
    expect(await store.files.inlineBytes(digestOf('hello'))).toBeUndefined()
    expect(await store.files.inlineBytes(digestOf('unknown'))).toBeUndefined()
  })

  it('keeps keys apart that only look alike', async (store) => {
    const composed = upload({ content: 'nfc', key: 'opaque:caf\u00e9' })
    const decomposed = upload({ content: 'nfd', key: 'opaque:cafe\u0301' })
    const upper = upload({ content: 'upper', key: 'opaque:CAF\u00c9' })
    for (const one of [composed, decomposed, upper]) await stage(store, one)
    expect(await store.files.boundSha256(composed.key)).toBe(digestOf('nfc'))
    expect(await store.files.boundSha256(decomposed.key)).toBe(digestOf('nfd'))
    expect(await store.files.boundSha256(upper.key)).toBe(digestOf('upper'))
  })
}

function listCases({ it }: Cases): void {
  const list = async (store: RecordStore, filters: Partial<Parameters<RecordStore['files']['list']>[0]> = {}) => {
    const files = await store.files.list({ principal: ALICE, now: NOW, limit: 100, ...filters })
    return files.map((file) => file.filename)
  }
  const stageNamed = (store: RecordStore, filename: string, overrides: Partial<Upload> = {}) =>
    stage(store, upload({ content: filename, filename, capBytes: 1_000_000, ...overrides }))

  for (const count of [0, 1, 5, 100]) {
    it(`lists ${count} files newest first, page by page`, async (store) => {
      const names = times(count, (index) => `file ${index}`)
      for (const name of names) await stageNamed(store, name)
      const pages: string[] = []
      let beforeSequence: number | undefined
      for (;;) {
        const cursor = beforeSequence === undefined ? {} : { beforeSequence }
        const page = await store.files.list({ principal: ALICE, now: NOW, limit: 7, ...cursor })
        pages.push(...page.map((file) => file.filename ?? ''))
        if (page.length < 7) break
        beforeSequence = page.at(-1)?.sequence
      }
      expect(pages).toEqual(names.toReversed())
    })
  }

  it('lists the files of one principal, live and ended', async (store) => {
    await stageNamed(store, 'live')
    await stageNamed(store, 'removed')
    await stageNamed(store, 'other', { principal: BOB })
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    expect(await list(store)).toEqual(['removed', 'live'])
  })

  it('tells live, removed and expired files apart, swept or not', async (store) => {
    await stageNamed(store, 'live')
    await stageNamed(store, 'removed')
    await stageNamed(store, 'swept', { expiresAt: NOW - 1 })
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    await store.files.expire({ now: NOW, limit: 10 })
    await stageNamed(store, 'unswept', { expiresAt: NOW })
    expect(await list(store, { ended: 'live' })).toEqual(['live'])
    expect(await list(store, { ended: 'removed' })).toEqual(['removed'])
    expect(await list(store, { ended: 'expired' })).toEqual(['unswept', 'swept'])
  })

  it('searches a part of the name or the cid, with ASCII case folded', async (store) => {
    await stageNamed(store, 'Quarterly REPORT.pdf')
    await stageNamed(store, 'notes.txt')
    await stage(store, upload({ content: 'Unnamed', filename: null }))
    expect(await list(store, { search: 'report' })).toEqual(['Quarterly REPORT.pdf'])
    expect(await list(store, { search: 'Y rEpO' })).toEqual(['Quarterly REPORT.pdf'])
    expect(await list(store, { search: 'cid-of-UNNAMED' })).toEqual([null])
    expect(await list(store, { search: 'nowhere' })).toEqual([])
  })

  it('searches letters outside ASCII as they are', async (store) => {
    await stageNamed(store, 'Étude.mid')
    expect(await list(store, { search: 'ÉTUDE' })).toEqual(['Étude.mid'])
    expect(await list(store, { search: 'étude' })).toEqual([])
  })

  it('takes wildcards in a search and in a content type literally', async (store) => {
    await stageNamed(store, '100%.txt', { contentType: 'x/a%b; v=1' })
    await stageNamed(store, '100 percent_.txt', { contentType: 'x/aXb; v=1' })
    await stageNamed(store, 'back\\slash.txt', { contentType: 'x/a_b; v=1' })
    expect(await list(store, { search: '%' })).toEqual(['100%.txt'])
    expect(await list(store, { search: '_' })).toEqual(['100 percent_.txt'])
    expect(await list(store, { search: '\\' })).toEqual(['back\\slash.txt'])
    expect(await list(store, { contentType: 'x/a%b' })).toEqual(['100%.txt'])
    expect(await list(store, { contentType: 'x/a_b' })).toEqual(['back\\slash.txt'])
  })

  it('finds a content type with or without parameters, in any case', async (store) => {
    await stageNamed(store, 'plain', { contentType: 'text/plain' })
    await stageNamed(store, 'with charset', { contentType: 'Text/Plain;charset=utf-8' })
    await stageNamed(store, 'upper', { contentType: 'TEXT/PLAIN' })
    await stageNamed(store, 'longer', { contentType: 'text/plain-ish' })
    expect(await list(store, { contentType: 'text/plain' })).toEqual(['upper', 'with charset', 'plain'])
    expect(await list(store, { contentType: 'text/plain;charset=utf-8' })).toEqual(['with charset'])
    expect(await list(store, { contentType: 'text' })).toEqual([])
  })

  it('applies all filters together with the cursor', async (store) => {
    await stageNamed(store, 'a report', { contentType: 'text/html' })
    await stageNamed(store, 'b report', { contentType: 'text/html' })
    const cursor = await stageNamed(store, 'c report')
    await stageNamed(store, 'd report', { contentType: 'text/html' })
    const filters = { search: 'report', contentType: 'text/html', ended: 'live' } as const
    expect(await list(store, { ...filters, beforeSequence: cursor.sequence, limit: 1 })).toEqual(['b report'])
  })
}

function tokenCases({ it, itWithTwo }: Cases): void {
  const token = (overrides: Partial<TokenRecord> = {}): TokenRecord => ({
    jti: randomUUID(),
    sub: 'alice',
    email: 'alice@example.org',
    label: 'laptop',
    scopes: ['put', 'list'],
    quotaMb: 1_024,
    issuedAt: NOW,
    expiresAt: NOW + WEEK,
    lastUsedAt: null,
    revokedAt: null,
    ...overrides,
  })
  const signUp = (store: RecordStore, of: TokenRecord, address = '192.0.2.1', hour = 500_000) =>
    store.tokens.signUp({ token: of, address, hour, limit: 3 })

  it('gives a token back as it was issued', async (store) => {
    const issued = token({ label: 'Bürorechner 💻', scopes: [] })
    expect(await signUp(store, issued)).toEqual({ outcome: 'issued' })
    expect(await store.tokens.list({ sub: 'alice' })).toEqual([issued])
    expect(await store.tokens.list({ sub: 'bob' })).toEqual([])
  })

  it('limits signups by address and hour', async (store) => {
    const outcomes = await Promise.all(times(5, () => signUp(store, token())))
    expect(counted(outcomes)).toEqual({ issued: 3, limited: 2 })
    expect(await signUp(store, token())).toEqual({ outcome: 'limited', used: 3 })
    expect(await store.tokens.list({ sub: 'alice' })).toHaveLength(3)
    expect(await signUp(store, token(), '192.0.2.2')).toEqual({ outcome: 'issued' })
    expect(await signUp(store, token(), '192.0.2.1', 500_001)).toEqual({ outcome: 'issued' })
  })

  itWithTwo('limits signups through two handles', async (store, other) => {
    const outcomes = await Promise.all(times(8, (index) => signUp(index % 2 === 0 ? store : other, token())))
    expect(counted(outcomes)).toEqual({ issued: 3, limited: 5 })
  })

  it('lists tokens newest first, and those of one moment by the code points of their ids', async (store) => {
    const jtis = ['b', 'é', 'B', '\u{1F600}', '\uFB00']
    for (const [index, jti] of jtis.entries()) await signUp(store, token({ jti }), `192.0.2.${index}`)
    await signUp(store, token({ jti: 'newest', issuedAt: NOW + 1 }))
    const listed = await store.tokens.list({ sub: 'alice' })
    expect(listed.map(({ jti }) => jti)).toEqual(['newest', 'B', 'b', 'é', '\uFB00', '\u{1F600}'])
  })

  it('revokes a token at once and keeps the first time', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    expect(await store.tokens.revokedAt('one')).toBeUndefined()
    expect(await store.tokens.revoke({ jti: 'one', sub: 'alice', now: NOW + 1 })).toEqual({ revokedAt: NOW + 1 })
    expect(await store.tokens.revoke({ jti: 'one', sub: 'alice', now: NOW + 2 })).toEqual({ revokedAt: NOW + 1 })
    expect(await store.tokens.revokedAt('one')).toBe(NOW + 1)
    expect(await store.tokens.list({ sub: 'alice' })).toMatchObject([{ revokedAt: NOW + 1 }])
  })

  it('revokes no token of another user and none that it does not know', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    expect(await store.tokens.revoke({ jti: 'one', sub: 'bob', now: NOW })).toBeUndefined()
    expect(await store.tokens.revoke({ jti: 'two', sub: 'alice', now: NOW })).toBeUndefined()
    expect(await store.tokens.revokedAt('one')).toBeUndefined()
    expect(await store.tokens.revokedAt('two')).toBeUndefined()
  })

  it('remembers the latest use, in whatever order uses arrive', async (store) => {
    await signUp(store, token({ jti: 'one' }))
    await signUp(store, token({ jti: 'two', issuedAt: NOW - 1 }))
    await store.tokens.touch([
      { jti: 'one', usedAt: NOW + 9 },
      { jti: 'unknown', usedAt: NOW },
    ])
    await store.tokens.touch([{ jti: 'one', usedAt: NOW + 5 }])
    await store.tokens.touch([])
    const listed = await store.tokens.list({ sub: 'alice' })
    expect(listed.map(({ lastUsedAt }) => lastUsedAt)).toEqual([NOW + 9, null])
  })
}

function lifecycleCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  it('answers a check and names its engine', async (store) => {
    await store.check()
    expect(store.traits.engine).not.toBe('')
  })

  it('changes its generation with every change and not without one', async (store) => {
    if (store.generation === undefined) return
    const empty = store.generation()
    expect(store.generation()).toBe(empty)
    await reserve(store, upload())
    expect(store.generation()).not.toBe(empty)
  })

  itWithTwo('shows a change through another handle, and in the generation', async (store, other) => {
    const before = other.generation?.()
    const file = await stage(store, upload({ inline: Buffer.from('hello') }))
    if (before !== undefined) expect(other.generation?.()).not.toBe(before)
    expect(await other.files.bySequence(file.sequence)).toEqual(file)
    expect(await account(other)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  itAcrossRestart('survives a restart', async (store, restart) => {
    const file = await stage(store, upload({ inline: Buffer.from('hello') }))
    const open = upload({ content: 'open', sizeBytes: 7 })
    const id = await reserve(store, open)
    await stageAndRemove(store, upload({ content: 'removed', key: 'opaque:myfile01' }))
    await store.instances.register({ instanceId: 'instance-a', now: NOW })
    const again = await restart()
    expect(await again.files.bySequence(file.sequence)).toEqual(file)
    expect(Buffer.from((await again.files.inlineBytes(file.sha256)) ?? []).toString()).toBe('hello')
    expect(await again.files.boundSha256('opaque:myfile01')).toBe(digestOf('removed'))
    expect(await pending(again)).toEqual([digestOf('removed')])
    expect(await again.instances.list()).toEqual(['instance-a'])
    expect(await account(again)).toEqual({ charged: 200, reserved: 7, stored: 100 })
    expect(await commit(again, id, open)).toMatchObject({ outcome: 'recorded' })
  })

  itBroken('error: a broken medium is storage_failed, and never an absence', async (store, breakNow) => {
    const file = await stage(store, upload())
    breakNow()
    await expect(store.files.bySequence(file.sequence)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.files.serving({ sha256: file.sha256, now: NOW })).rejects.toMatchObject({
      code: 'storage_failed',
    })
    await expect(tryReserve(store, upload({ content: 'next' }))).rejects.toMatchObject({ code: 'storage_failed' })
  })

  it('finishes the writes that were asked for before it closes', async (store) => {
    const reservations = times(20, (index) => tryReserve(store, upload({ content: `file ${index}`, sizeBytes: 1 })))
    await store.close()
    expect(counted((await Promise.all(reservations)).map(({ reserved }) => reserved))).toEqual({ reserved: 20 })
  })

  it('closes twice without complaint', async (store) => {
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  it('refuses reads and writes after it is closed', async (store) => {
    await store.close()
    await expect(tryReserve(store, upload())).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.files.bySequence(1)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.check()).rejects.toMatchObject({ code: 'storage_failed' })
  })
}
