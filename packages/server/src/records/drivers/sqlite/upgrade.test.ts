import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ALICE,
  account,
  BOB,
  commitAtOnce,
  digestOf,
  NOW,
  pending,
  pieceRootOf,
  served,
  stage,
  upload,
  WEEK,
} from '../../conformance/case.ts'
import { composed, partsOf, WHOLE_ROOT } from '../../conformance/composing.ts'
import { dealOf, enrol, NORTH, place } from '../../conformance/placing.ts'
import { SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts'
import type { RecordStore } from '../../record-store.ts'
import { beforeCopyAudits, expectMovedAudits, OLD_AUDITS } from '../../testing-old-audits.ts'
import { beforeNamedDeals, expectNamedDeals, OLD_ONCHAIN_DEALS } from '../../testing-old-onchain-deals.ts'
import { openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'

/** Bytes that fill overflow pages. */
const INLINE = Buffer.alloc(65_536, 'hello ')
const OLD = [
  { content: 'inline', place: 'inline', inline: INLINE, name: '' },
  { content: 'blob', place: 'blob', inline: null, name: '' },
  { content: 'named', place: 'blob', inline: null, name: 'myfile01' },
] as const

describe('data of version 1', () => {
  let dir: string
  let store: RecordStore
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    writeVersion1(join(dir, 'lade.db'))
    store = await openSqliteRecordStore({ file: join(dir, 'lade.db'), onFatal: () => {} })
  })
  afterEach(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const old = (content: string) => upload({ content })
  const rootsOf = async (principal: string) =>
    (await store.files.list({ principal, now: NOW, limit: 10 })).map(({ pieceRoot }) => pieceRoot)

  test('the first version is what was released', () => {
    const digest = createHash('sha256')
      .update(SQLITE_MIGRATIONS[0] ?? '')
      .digest('hex')
    expect(digest).toBe('63356ea1802382efb20f4dc2d20ec84e78232f59a1c4912627a38c9ba6b8d87b')
  })

  test('is served as before, without pieces', async () => {
    expect(await rootsOf(ALICE)).toEqual([null, null, null])
    expect(await served(store, old('inline').key)).toBe('inline as bytes')
    expect(await served(store, 'opaque:myfile01')).toBe('named as bytes')
    expect(Buffer.from((await store.files.inlineBytes(digestOf('inline'))) ?? [])).toEqual(INLINE)
    expect(await store.files.inlineBytes(digestOf('blob'))).toBeUndefined()
    expect(await store.content.pieces({ keys: [old('blob').key], now: NOW })).toEqual([undefined])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  test('gets its pieces when the same bytes come again, from anybody and in a retry', async () => {
    await stage(store, upload({ content: 'inline', principal: BOB, inline: INLINE }))
    expect(await rootsOf(ALICE)).toEqual([null, null, pieceRootOf('inline')])
    const retried = await commitAtOnce(store, old('blob'))
    expect(retried).toMatchObject({ outcome: 'retry', file: { pieceRoot: pieceRootOf('blob') }, usedBytes: 300 })
    expect(await rootsOf(ALICE)).toEqual([null, pieceRootOf('blob'), pieceRootOf('inline')])
    expect(await served(store, `piece:${pieceRootOf('blob')}:100`)).toBe('blob as bytes')
    expect(Buffer.from((await store.files.inlineBytes(digestOf('inline'))) ?? [])).toEqual(INLINE)
  })

  test('learns aliases and blocks like new data', async () => {
    const aliases = [{ key: `dag-pb:${digestOf('root')}`, view: 'bytes' }] as const
    const digests = createHash('sha256').update('root').digest()
    const dags = [{ kind: 'import', profile: 'unixfs-v1-2025', digests }] as const
    await commitAtOnce(store, upload({ content: 'blob', facts: { aliases, dags } }))
    expect(await served(store, `dag-pb:${digestOf('root')}`)).toBe('blob as bytes')
    const multihash = Buffer.concat([Buffer.from('1220', 'hex'), digests])
    expect(await store.blocks.find({ multihash, now: NOW })).toMatchObject({ kind: 'node', object: digestOf('blob') })
  })

  test.each([
    ['known piece', true],
    ['unknown piece', false],
  ])('lets go of inline bytes of a %s with the last file', async (_, isKnown) => {
    if (isKnown) await commitAtOnce(store, old('inline'))
    await store.files.remove({ principal: ALICE, key: old('inline').key, now: NOW })
    expect(await store.files.inlineBytes(digestOf('inline'))).toBeUndefined()
    expect(await pending(store)).toEqual([])
    const again = Buffer.from('again')
    await stage(store, upload({ content: 'inline', inline: again }))
    expect(Buffer.from((await store.files.inlineBytes(digestOf('inline'))) ?? [])).toEqual(again)
  })

  test('moves inline bytes to the blob store when a later upload put them there', async () => {
    await stage(store, upload({ content: 'inline', principal: BOB }))
    expect(await store.files.inlineBytes(digestOf('inline'))).toBeUndefined()
  })

  test('leaves a version 1 key with the bytes that had it before older ones turned out to', async () => {
    const pieceRoot = pieceRootOf('shared')
    const key = `piece-v1:${pieceRoot}`
    await stage(store, upload({ content: 'new', principal: BOB, facts: { pieceRoot } }))
    await commitAtOnce(store, upload({ content: 'blob', facts: { pieceRoot } }))
    await commitAtOnce(store, upload({ content: 'inline', facts: { pieceRoot } }))
    expect(await served(store, key)).toBe('new as bytes')
    const conflict = { outcome: 'conflict', object: digestOf('new') }
    expect(await commitAtOnce(store, upload({ content: 'blob', key, facts: { pieceRoot } }))).toEqual(conflict)
  })

  test('binds a version 1 key to the first of old bytes that turn out to have it', async () => {
    const pieceRoot = pieceRootOf('shared')
    for (const content of ['blob', 'inline', 'named'])
      await commitAtOnce(store, upload({ content, facts: { pieceRoot } }))
    expect(await served(store, `piece-v1:${pieceRoot}`)).toBe('blob as bytes')
  })
})

describe('data of version 2', () => {
  let dir: string
  let store: RecordStore
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    writeTwoFiles(join(dir, 'lade.db'), 2)
    store = await openSqliteRecordStore({ file: join(dir, 'lade.db'), onFatal: () => {} })
  })
  afterEach(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const listed = () => store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: 'live' })

  test('is served and counted as before', async () => {
    expect((await listed()).map(({ cid, pieceRoot, end }) => [cid, pieceRoot, end])).toEqual([
      ['cid-of-part 1', pieceRootOf('part 1'), null],
      ['cid-of-part 0', pieceRootOf('part 0'), null],
    ])
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  test('has deals that are found by their ids', async () => {
    const [latest] = await listed()
    expect(await store.files.byDeal({ principal: ALICE, dealId: 'd-0x0000000000000001' })).toEqual(latest)
    expect(await store.files.listDeals({ principal: ALICE, now: NOW, limit: 10 })).toHaveLength(2)
  })

  test('can be composed', async () => {
    const file = await composed(store, (await listed()).toReversed())
    expect(await partsOf(store, file.object, ['part 0', 'part 1'])).toEqual(['part 0', 'part 1'])
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 200 })
    await store.files.remove({ principal: ALICE, key: WHOLE_ROOT, now: NOW })
    expect(await pending(store)).toEqual([digestOf('part 0')])
    expect(await store.files.inlineBytes(digestOf('part 1'))).toBeUndefined()
  })

  test('keeps inline bytes where they are read last', () => {
    const connection = openConnection(join(dir, 'lade.db'))
    const columns = connection.pragma('table_info(objects)') as { readonly name: string }[]
    connection.close()
    const names = columns.map(({ name }) => name)
    // Of objects with inline bytes nobody asks for what is behind them.
    expect(names.slice(names.indexOf('inline') + 1)).toEqual(['put'])
  })
})

describe('data of version 4', () => {
  let dir: string
  let store: RecordStore
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    writeTwoFiles(join(dir, 'lade.db'), 4)
    store = await openSqliteRecordStore({ file: join(dir, 'lade.db'), onFatal: () => {} })
  })
  afterEach(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const listed = () => store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: 'live' })

  test('has files that are enrolled like others', async () => {
    expect(await store.placements.enrolledUpTo()).toBe(0)
    const found = await store.placements.unenrolled({ after: 0, limit: 10 })
    expect(found.map(({ object, pieceRoot }) => [object, pieceRoot])).toEqual(
      ['part 0', 'part 1'].map((word) => [digestOf(word), pieceRootOf(word)]),
    )
    for (const file of (await listed()).toReversed()) await enrol(store, file)
    expect(await store.placements.unenrolled({ after: 0, limit: 10 })).toEqual([])
    const [file] = await listed()
    if (file === undefined) throw new Error('two files')
    const [{ id: piece = 0 } = {}] = (await dealOf(store, file)).pieces
    await place(store, { file, piece, prover: NORTH, as: 'proved' })
    expect(await store.files.listDeals({ principal: ALICE, now: NOW, limit: 10, status: 'active' })).toEqual([file])
  })

  test('has files that end without ever having been enrolled', async () => {
    for (const { key } of await listed()) await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await store.placements.unenrolled({ after: 0, limit: 10 })).toEqual([])
    expect(await store.placements.counts()).toEqual({ copies: [], deals: [], waiting: 0 })
    expect(await pending(store)).toEqual([digestOf('part 0')])
  })
})

describe('data of version 7', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  test('has its deals and copies counted, and goes on counting', async () => {
    const file = join(dir, 'lade.db')
    writeTwoFiles(file, 7)
    writePlacements(file)
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    expect(await store.placements.counts()).toEqual({
      copies: [
        { prover: 'north', state: 'parked', count: 1 },
        { prover: 'south', state: 'failed', count: 1 },
      ],
      deals: [{ status: 'staged', count: 1 }],
      waiting: 1,
    })
    await store.placements.fail({ copy: 1, cause: 'lost', now: NOW })
    const { copies } = await store.placements.counts()
    expect(copies.map(({ prover, state, count }) => `${prover} ${state} ${count}`)).toEqual([
      'north failed 1',
      'south failed 1',
    ])
    await store.close()
  })
})

describe('data from before rejections were counted', () => {
  test('has its rejections counted apart from other failures, and its data sets for bytes', async () => {
    const before = SQLITE_MIGRATIONS.findIndex((sql) => sql.includes('ADD COLUMN rejections'))
    const dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    writeTwoFiles(file, 7)
    writePlacements(file)
    const connection = openConnection(file)
    migrate(connection, SQLITE_MIGRATIONS.slice(0, before))
    connection.exec("UPDATE copies SET attempts = 2; INSERT INTO data_sets (prover, data_set_id) VALUES ('north', '7')")
    connection.close()
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    const [due] = await store.placements.due({ state: 'parked', now: NOW, limit: 10 })
    expect(due?.copy).toMatchObject({ id: 1, attempts: 0, rejections: 2 })
    expect(await store.placements.dataSetOf({ prover: 'north', holds: 'bytes' })).toBe('7')
    expect(await store.placements.dataSetOf({ prover: 'north', holds: 'cars' })).toBeUndefined()
    expect(await store.placements.carCandidates({ limit: 10 })).toMatchObject([{ dag: null }])
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

describe('data of version 8', () => {
  test('has its planned removals, each of what a digest had, and due at once', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    const connection = openConnection(file)
    migrate(connection, SQLITE_MIGRATIONS.slice(0, 8))
    const insert = connection.prepare('INSERT INTO discards (sha256, created_at, instance) VALUES (?, ?, ?)')
    insert.run(digestOf('one'), NOW, null)
    insert.run(digestOf('two'), NOW + 1, 'instance-a')
    connection.close()
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    const blobs = ['one', 'two'].map((content) => ({ sha256: digestOf(content), put: '' }))
    expect(await store.discards.pending({ instanceId: 'instance-a', now: 0, limit: 10 })).toEqual(blobs)
    expect(await store.discards.pending({ instanceId: 'instance-b', now: 0, limit: 10 })).toEqual(blobs.slice(0, 1))
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

describe('data of version 14', () => {
  const [ONE, TWO] = ['ip:2001:db8:1:1::/64', 'ip:2001:db8:1:2::/64']
  const of = (principal: string, overrides = {}) => upload({ content: 'next', principal, sizeBytes: 1, ...overrides })
  let store: RecordStore
  let dir: string
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    const connection = openConnection(file)
    migrate(connection, SQLITE_MIGRATIONS.slice(0, 14))
    // Of each /64 a file of 700 bytes that is gone, a composed one that was charged nothing, and an upload in flight.
    connection.exec(`INSERT INTO objects (id, sha256, size_bytes, place) VALUES (1, 'aa', 700, 'none')`)
    for (const principal of [ONE, TWO]) {
      for (const bytes of [700, 0]) {
        connection.exec(`INSERT INTO files (object, principal, name, cid, content_type, visibility, sponsored, verified, term_days,
          uploaded_at, expires_at, ended_at, deal_id, charged_day, charged_bytes)
          VALUES (1, '${principal}', '', 'cid', 'text/plain', 'public', 1, 1, 7, 0, 1, 1, 'd-0x00', '2026-11-21', ${bytes})`)
      }
      connection.exec(`INSERT INTO usage (principal, day, bytes, files) VALUES ('${principal}', '2026-11-21', 700, 1);
        INSERT INTO reservations (id, instance, principal, day, bytes, cap_bytes, lease_until)
          VALUES ('${principal}', 'old', '${principal}', '2026-11-21', 50, 1000, ${NOW})`)
    }
    connection.close()
    store = await openSqliteRecordStore({ file, onFatal: () => {} })
  })
  afterEach(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  test('has the files of its days counted, and what was charged to a /48', async () => {
    expect(await store.quotas.checkDrift()).toEqual([])
    const { days } = await store.quotas.usage({ principal: ONE, fromDay: '2026-11-21', today: '2026-11-21', now: NOW })
    expect(days).toEqual([{ date: '2026-11-21', bytes: 700, files: 2 }])
    const over = { used: 1_500, limit: 1_440, network: 'ip:2001:db8:1::/48' }
    const third = of('ip:2001:db8:1:3::/64', { capBytes: 90 })
    expect(await store.quotas.preview(third)).toMatchObject({ outcome: 'over_quota', over: { unit: 'bytes', ...over } })
    expect(await store.quotas.preview({ ...third, capBytes: 94 })).toMatchObject({ outcome: 'reserved' })
    // Two recorded, one in flight.
    expect(await store.quotas.preview(of(ONE, { capFiles: 3 }))).toMatchObject({ over: { unit: 'files', used: 3 } })
  })

  test('goes on being counted', async () => {
    await commitAtOnce(store, of(ONE))
    expect(await store.quotas.checkDrift()).toEqual([])
    const next = of('ip:2001:db8:1:3::/64', { day: '2026-11-22', sizeBytes: 1, capBytes: 1_000 })
    const others = await Promise.all([4, 5, 6].map((group) => commitAtOnce(store, { ...next, content: `${group}` })))
    expect(others.map(({ outcome }) => outcome)).toEqual(['recorded', 'recorded', 'recorded'])
    expect(await store.quotas.checkDrift()).toEqual([])
  })
})

describe('data of the version whose triggers count files', () => {
  test('keeps what they counted, and has no file counted twice', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    const day = '2026-11-22'
    const connection = openConnection(file)
    const before = SQLITE_MIGRATIONS.findIndex((migration) => migration.includes('DROP TRIGGER composed_files_counted'))
    migrate(connection, SQLITE_MIGRATIONS.slice(0, before))
    connection.exec(`INSERT INTO objects (id, sha256, size_bytes, place) VALUES (1, 'aa', 9, 'none');
      INSERT INTO usage (principal, day, bytes, files) VALUES ('${ALICE}', '${day}', 9, 1)`)
    // A composed file, which a trigger counts, and another one.
    for (const bytes of [0, 9]) {
      connection.exec(`INSERT INTO files (object, principal, name, cid, content_type, visibility, sponsored, verified, term_days,
        uploaded_at, expires_at, ended_at, deal_id, charged_day, charged_bytes)
        VALUES (1, '${ALICE}', '', 'cid', 'text/plain', 'public', 1, 1, 7, 0, 1, 1, 'd-0x00', '${day}', ${bytes})`)
    }
    connection.close()
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    const daysNow = async () =>
      (await store.quotas.usage({ principal: ALICE, fromDay: day, today: day, now: NOW })).days
    expect(await daysNow()).toEqual([{ date: day, bytes: 9, files: 2 }])
    await commitAtOnce(store, upload({ principal: ALICE, day, content: 'empty', sizeBytes: 0 }))
    await commitAtOnce(store, upload({ principal: ALICE, day, content: 'next', sizeBytes: 1 }))
    expect(await daysNow()).toEqual([{ date: day, bytes: 10, files: 4 }])
    expect(await store.quotas.checkDrift()).toEqual([])
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

describe('data from before limits by caller', () => {
  const SUB = 'alice'
  const TODAY = '2026-11-21'

  test('keeps days exact that had begun, for tokens, and counts what is stored in networks', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    const connection = openConnection(file)
    const before = SQLITE_MIGRATIONS.findIndex((migration) => migration.includes('CREATE TABLE token_usage'))
    migrate(connection, SQLITE_MIGRATIONS.slice(0, before))
    connection.exec(`INSERT INTO objects (id, sha256, size_bytes, place) VALUES (1, 'aa', 250, 'none')`)
    for (const principal of [`user:${SUB}`, 'ip:2001:db8:1:1::/64']) {
      connection.exec(`INSERT INTO files (object, principal, name, cid, content_type, visibility, sponsored, verified, term_days,
          uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
          VALUES (1, '${principal}', '', 'cid', 'text/plain', 'public', 1, 1, 7, 0, ${NOW + WEEK}, 'd-0x00', '${TODAY}', 250);
        INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files) VALUES ('${principal}', '${TODAY}', 250, 1, 250, 1);
        INSERT INTO reservations (id, instance, principal, day, bytes, cap_bytes, lease_until)
          VALUES ('${principal}', 'old', '${principal}', '${TODAY}', 30, 1000, ${NOW})`)
    }
    connection.close()
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    const token = { id: 'one', capBytes: 300 }
    const of = (principal: string, sizeBytes: number, limits: object) =>
      store.quotas.preview(upload({ content: 'next', principal, sizeBytes, ...limits }))
    const own = { unit: 'bytes', which: 'token', used: 280, limit: 300 }
    expect(await of(`user:${SUB}`, 21, { token })).toMatchObject({ outcome: 'over_quota', over: own })
    expect(await of(`user:${SUB}`, 20, { token })).toMatchObject({ outcome: 'reserved' })
    const other = 'ip:2001:db8:1:2::/64'
    const shared = { which: 'stored', used: 280, limit: 320, network: 'ip:2001:db8:1::/48' }
    // One /64 may have 20, and the /48 sixteen times that.
    expect(await of(other, 20, { capStoredBytes: 20 })).toMatchObject({ outcome: 'reserved' })
    expect(await of(other, 17, { capStoredBytes: 18 })).toMatchObject({ over: { ...shared, limit: 288 } })
    expect(await store.quotas.checkDrift()).toEqual([])
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

describe('data from before deals had the names of their contracts', () => {
  test('gets them from the transactions that proposed the deals', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    const connection = openConnection(file)
    migrate(connection, beforeNamedDeals(SQLITE_MIGRATIONS))
    connection.exec(OLD_ONCHAIN_DEALS.replaceAll('ROOT', `X'${digestOf('piece')}'`))
    connection.close()
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    await expectNamedDeals(store)
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

describe('data from before the audits of a copy were in one row', () => {
  test('is shown as before, without old proofs, and moved', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
    const file = join(dir, 'lade.db')
    const connection = openConnection(file)
    migrate(connection, beforeCopyAudits(SQLITE_MIGRATIONS))
    connection.exec(OLD_AUDITS.replaceAll('ROOT', `X'${digestOf('piece')}'`))
    connection.close()
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    await expectMovedAudits(store)
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
})

/** An open deal that waits, a closed one, and two copies. */
function writePlacements(file: string): void {
  const connection = openConnection(file)
  connection.exec(`
    INSERT INTO deals (file, copies_wanted, status, status_at, waits, closed_at)
      SELECT sequence, 1, 'staged', 0, 1, CASE WHEN sequence > 1 THEN 1 END FROM files;
    INSERT INTO pieces (id, object, offset_bytes, size_bytes, piece_root, revision, wanted, is_short, status)
      SELECT 70, id, 0, size_bytes, piece_root, 1, 1, 0, 'staged' FROM objects LIMIT 1;
    INSERT INTO copies (id, piece, prover, state, attempts, next_at, ended_at, to_remove, onchain)
      VALUES (1, 70, 'north', 'parked', 0, 0, NULL, 0, 0), (2, 70, 'south', 'failed', 0, 0, 1, 0, 0);`)
  connection.close()
}

/** Alice's two files, each of 100 bytes, as the program of that time left them. */
function writeTwoFiles(file: string, version: 2 | 4 | 7): void {
  const connection = openConnection(file)
  migrate(connection, SQLITE_MIGRATIONS.slice(0, version))
  const insertObject = connection.prepare(
    'INSERT INTO objects (sha256, size_bytes, place, piece_root, inline) VALUES (?, 100, ?, ?, ?)',
  )
  const insertFile = connection.prepare(
    `INSERT INTO files (object, principal, name, cid, content_type, filename, visibility, owner, sponsored, verified,
       term_days, uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
     VALUES (?, ?, '', ?, 'text/plain', NULL, 'public', NULL, 0, 1, 7, ?, ?, ?, '2026-11-21', 100)`,
  )
  for (const [index, inline] of [null, INLINE].entries()) {
    const content = `part ${index}`
    const place = inline === null ? 'blob' : 'inline'
    const root = Buffer.from(pieceRootOf(content), 'hex')
    const object = insertObject.run(digestOf(content), place, root, inline).lastInsertRowid
    insertFile.run(object, ALICE, `cid-of-${content}`, NOW, NOW + WEEK, `d-0x000000000000000${index}`)
  }
  connection.prepare('INSERT INTO usage (principal, day, bytes, files) VALUES (?, ?, 200, 2)').run(ALICE, '2026-11-21')
  connection.close()
}

/** Alice's files, each of 100 bytes, as the program of that time left them. */
function writeVersion1(file: string): void {
  const connection = openConnection(file)
  migrate(connection, SQLITE_MIGRATIONS.slice(0, 1))
  const insertObject = connection.prepare(
    'INSERT INTO objects (sha256, size_bytes, place, inline) VALUES (?, 100, ?, ?)',
  )
  const insertFile = connection.prepare(
    `INSERT INTO files (object, principal, name, cid, content_type, filename, visibility, owner, sponsored, verified,
       term_days, uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
     VALUES (?, ?, ?, ?, 'text/plain', NULL, 'public', NULL, 0, 1, 7, ?, ?, 'd-0x00', '2026-11-21', 100)`,
  )
  const insertName = connection.prepare('INSERT INTO names (name, object) VALUES (?, ?)')
  for (const { content, place, inline, name } of OLD) {
    const object = insertObject.run(digestOf(content), place, inline).lastInsertRowid
    insertFile.run(object, ALICE, name, `cid-of-${content}`, NOW, NOW + WEEK)
    if (name !== '') insertName.run(name, object)
  }
  connection.prepare('INSERT INTO usage (principal, day, bytes, files) VALUES (?, ?, 300, 3)').run(ALICE, '2026-11-21')
  connection.close()
}
