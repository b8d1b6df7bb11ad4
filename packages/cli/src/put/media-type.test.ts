import { parseMediaType } from '@lade/core/wire'
import { describe, expect, it } from 'vitest'
import { mediaTypeOf } from './media-type.ts'

describe('mediaTypeOf', () => {
  it.each([
    ['photo.jpg', 'image/jpeg'],
    ['PHOTO.JPG', 'image/jpeg'],
    ['archive.tar.gz', 'application/gzip'],
    ['notes.txt', 'text/plain'],
    ['page.html', 'text/html'],
    ['Makefile', 'application/octet-stream'],
    ['png', 'application/octet-stream'],
    ['x.unheard-of', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ])('takes %j for %s, which the service takes', (name, type) => {
    expect(mediaTypeOf(name)).toBe(type)
    expect(parseMediaType(type)).toBe(type)
  })
})
