import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mediaTypeOfName, SNIFFED_BYTES, sniffedMediaType, withCharset } from './content-media-type.ts'

const sniffed = (text: string, encoding: BufferEncoding = 'utf8') => sniffedMediaType(Buffer.from(text, encoding), true)

describe('mediaTypeOfName', () => {
  it.each([
    ['page.html', 'text/html'],
    ['PHOTO.JPG', 'image/jpeg'],
    ['site.css', 'text/css'],
    ['program.js', 'text/javascript'],
    ['data.json', 'application/json'],
    ['png', undefined],
    ['x.unheard-of', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of %s is %s', (name, type) => {
    expect(mediaTypeOfName(name)).toBe(type)
  })
})

describe('sniffedMediaType', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n\0\0', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
    ['\0\0\0\x20ftypisom', 'video/mp4'],
    ['\x1a\x45\xdf\xa3', 'video/webm'],
    ['%PDF-1.7', 'application/pdf'],
    ['PK\x03\x04', 'application/zip'],
    ['\0asm\x01', 'application/wasm'],
    ['\0\x01\x02', 'application/octet-stream'],
    ['\xc3(', 'application/octet-stream'],
  ])('%j is %s', (bytes, type) => {
    expect(sniffed(bytes, 'latin1')).toBe(type)
  })

  it.each([
    ['hello\n', 'text/plain'],
    ['', 'text/plain'],
    ['zażółć', 'text/plain'],
    ['{"a": [1, null]}', 'application/json'],
    [' [1]\n', 'application/json'],
    ['{not json}', 'text/plain'],
    ['"text"', 'text/plain'],
    ['[1, 2', 'text/plain'],
    ['<!DOCTYPE html><p>', 'text/html'],
    ['\ufeff\n <html lang="en">', 'text/html'],
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['<?xml version="1.0"?>\n<svg >', 'image/svg+xml'],
    ['<?xml version="1.0"?><a/>', 'text/xml'],
    ['<htmlx>', 'text/plain'],
  ])('%j is %s', (text, type) => {
    expect(sniffed(text)).toBe(type)
  })

  it('takes what is longer than what it sees for JSON by how it begins', () => {
    const long = `{"list": [${'1, '.repeat(SNIFFED_BYTES)}1]}`
    expect(sniffedMediaType(Buffer.from(long.slice(0, SNIFFED_BYTES)), false)).toBe('application/json')
  })

  it('does not mind a character that is cut off at the end', () => {
    expect(sniffedMediaType(Buffer.from('zażółć').subarray(0, 9), false)).toBe('text/plain')
  })

  it('answers any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isWhole) => {
        expect(sniffedMediaType(bytes, isWhole)).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/)
      }),
    )
  })
})

describe('withCharset', () => {
  it('says of text that is UTF-8 that it is, and of nothing else', () => {
    expect(withCharset('text/css', Buffer.from('ż'))).toBe('text/css; charset=utf-8')
    expect(withCharset('text/css', Buffer.from('\xe9t\xe9', 'latin1'))).toBe('text/css')
    expect(withCharset('application/json', Buffer.from('{}'))).toBe('application/json')
  })
})
