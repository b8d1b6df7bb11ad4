import { describe, expect, test } from 'vitest'
import { FILE_KINDS, fileKindOf, KIND_TYPES } from './file-kind.ts'

describe('fileKindOf', () => {
  test.each([
    ['image/svg+xml', 'image'],
    ['VIDEO/mp4', 'video'],
    ['audio/ogg; codecs=opus', 'audio'],
    ['text/html;charset=utf-8', 'text'],
    ['application/ld+json ; profile="a+zip"', 'text'],
    ['application/xhtml+xml', 'text'],
    ['application/pdf', 'document'],
    ['text/rtf', 'document'],
    ['application/epub+zip', 'document'],
    ['application/vnd.oasis.opendocument.text', 'document'],
    ['application/zip', 'archive'],
    ['application/x+gzip', 'archive'],
    ['application/vnd.ipld.car; version=1', 'archive'],
    ['application/octet-stream', 'other'],
    ['application/vnd.lade.part', 'other'],
    ['font/woff2', 'other'],
    ['imagery/png', 'other'],
    ['', 'other'],
  ])('%s is %s', (mediaType, kind) => {
    expect(fileKindOf(mediaType)).toBe(kind)
  })

  test('has a rule for every kind but other, in lower case', () => {
    expect(new Set([...KIND_TYPES.map(({ kind }) => kind), 'other'])).toEqual(new Set(FILE_KINDS))
    for (const { prefixes = [], types = [], suffixes = [] } of KIND_TYPES)
      for (const text of [...prefixes, ...types, ...suffixes]) expect(text).toMatch(/^[a-z0-9+./-]+$/)
  })
})
