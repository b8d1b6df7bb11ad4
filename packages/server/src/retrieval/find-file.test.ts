import { aliasesOf, parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { findFile } from './find-file.ts'
import { openObject } from './open-object.ts'

const BYTES = Buffer.from('found')
const SHA256 = sha256Hex(BYTES)

describe('findFile', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const find = (text = SHA256, principal?: string) =>
    findFile(fixture.records, { cid: parseContentId(text, sha256Hex), now: fixture.clock.now, principal })
  const remove = (principal: string) =>
    fixture.records.files.remove({ principal, key: `sha256:${SHA256}`, now: fixture.clock.now })

  it('finds a file under every name of its bytes', async () => {
    await fixture.stage(BYTES)
    const { hex, legacy, cidV1 } = aliasesOf(SHA256)
    for (const name of [hex, hex.toUpperCase(), legacy, cidV1, cidV1.toUpperCase()]) {
      expect(await find(name)).toMatchObject({ file: { sha256: SHA256 }, view: 'bytes' })
    }
  })

  it('lets accounts decide before sponsored callers, and each see their own file', async () => {
    const sponsored = { name: 'sponsored', owner: null, rights: undefined } as const
    await fixture.stage(BYTES, {
      tier: { ...sponsored, principal: 'ip:192.0.2.1' },
      head: { contentType: 'text/early' },
    })
    expect(await find()).toMatchObject({ file: { contentType: 'text/early' } })
    await fixture.stage(BYTES, { head: { contentType: 'text/owner' } })
    await fixture.stage(BYTES, { tier: { principal: 'user:2' }, head: { contentType: 'text/later' } })
    expect(await find()).toMatchObject({ file: { contentType: 'text/owner' } })
    expect(await find(SHA256, 'user:2')).toMatchObject({ file: { contentType: 'text/later' } })
    expect(await find(SHA256, 'user:3')).toMatchObject({ file: { contentType: 'text/owner' } })
  })

  it('lets the earliest live public file decide, whoever comes later', async () => {
    await fixture.stage(BYTES, { head: { contentType: 'text/first' } })
    await fixture.stage(BYTES, { tier: { principal: 'user:2' }, head: { contentType: 'text/html' } })
    expect(await find()).toMatchObject({ file: { contentType: 'text/first' } })
    await remove(PRINCIPAL)
    expect(await find()).toMatchObject({ file: { contentType: 'text/html' } })
  })

  it('shows a private file to its owner only', async () => {
    await fixture.stage(BYTES, { head: { visibility: 'private' } })
    await expect(find()).rejects.toMatchObject({ code: 'not_found' })
    await expect(find(SHA256, 'user:2')).rejects.toMatchObject({ code: 'not_found' })
    expect(await find(SHA256, PRINCIPAL)).toMatchObject({ file: { visibility: 'private' } })
  })

  it('finds an opaque id by the bytes it is bound to, and in its own case only', async () => {
    await fixture.stage(BYTES, { cid: 'myfile0001' })
    expect(await find('myfile0001')).toMatchObject({ file: { sha256: SHA256 }, view: 'bytes' })
    await expect(find('MYFILE0001')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('refuses what was never staged as not_found, and what has ended as gone with the reason', async () => {
    await expect(find()).rejects.toMatchObject({ code: 'not_found' })
    await fixture.stage(BYTES)
    await remove(PRINCIPAL)
    await expect(find()).rejects.toMatchObject({ code: 'gone', evidence: { reason: 'removed' } })
    await fixture.stage(BYTES, { head: { termDays: 1 } })
    fixture.clock.now += 86_400_000
    await expect(find()).rejects.toMatchObject({ code: 'gone', evidence: { reason: 'expired' } })
  })
})

describe('openObject', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  it('opens bytes where they are', async () => {
    const { file } = await fixture.stage(BYTES)
    const object = await openObject(fixture, file)
    if (object.kind !== 'blob') throw new Error('these bytes are in the blob store')
    expect(object.body.sizeBytes).toBe(BYTES.length)
    await object.body.close()
    const small = Buffer.from('inline')
    const inline = await fixture.stage(small, { deps: { inlineBytes: 100 } })
    expect(await openObject(fixture, inline.file)).toEqual({ kind: 'inline', bytes: small })
  })

  it('error: bytes that a record promises and the store lacks, or has in another size, are storage_failed', async () => {
    const { file } = await fixture.stage(BYTES)
    await expect(openObject(fixture, { ...file, sizeBytes: 1 })).rejects.toMatchObject({ code: 'storage_failed' })
    await fixture.blobs.delete({ sha256: SHA256, put: '' })
    await expect(openObject(fixture, file)).rejects.toMatchObject({ code: 'storage_failed' })
  })

  it('error: a store that cannot be read is storage_failed and not an absence', async () => {
    const { file } = await fixture.stage(BYTES)
    fixture.blobs.fail('open')
    await expect(openObject(fixture, file)).rejects.toMatchObject({ code: 'storage_failed' })
  })
})
