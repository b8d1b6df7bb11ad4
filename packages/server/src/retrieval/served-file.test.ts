import { parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { describe, expect, it } from 'vitest'
import type { FileRecord } from '../records/record-store.ts'
import { fileRecordOf } from '../testing/running/staging-fixture.ts'
import { servedFile } from './served-file.ts'

const V0 = parseContentId('Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD', sha256Hex)
const CBOR = parseContentId('bafyreih7dg6sh7njtqbjbqftslpcnzmzpkglwwv5bsjxnczlz3gzyx3p3q', sha256Hex)
const CAR = 'application/vnd.ipld.car; version=1'
const file = (overrides: Partial<FileRecord>) => fileRecordOf(overrides)

describe('servedFile', () => {
  it('gives bytes back as they were staged, for good', () => {
    const staged = file({ contentType: 'text/plain', filename: 'a.car' })
    expect(servedFile(V0, { file: staged, view: 'bytes' })).toEqual({
      file: staged,
      contentType: 'text/plain',
      filename: 'a.car',
      sha256: staged.sha256,
      isSettled: true,
    })
  })

  it.each([
    [CAR, 'trip.car', 'application/octet-stream', null],
    [CAR, 'TRIP.CAR', 'application/octet-stream', null],
    [CAR, 'photo.jpg', 'application/octet-stream', 'photo.jpg'],
    [CAR, null, 'application/octet-stream', null],
    ['image/jpeg', 'photo.jpg', 'image/jpeg', 'photo.jpg'],
  ])('takes of a CAR of type %s and name %s for the file in it %s and %s', (contentType, filename, type, name) => {
    expect(servedFile(V0, { file: file({ contentType, filename }), view: 'unixfs' })).toMatchObject({
      contentType: type,
      filename: name,
      sha256: undefined,
      isSettled: true,
    })
  })

  it('gives a CAR back as it is, and not for good: another with the same root may take its place', () => {
    expect(servedFile(CBOR, { file: file({ contentType: CAR }), view: 'car' })).toMatchObject({
      contentType: CAR,
      sha256: file({}).sha256,
      isSettled: false,
    })
  })

  it('gives the root block of a file in place of the file, and not for good', () => {
    const sha256 = V0.key.replace('dag-pb:', '')
    expect(servedFile(V0, { file: file({ sha256 }), view: 'bytes' })).toMatchObject({ isSettled: false })
  })
})
