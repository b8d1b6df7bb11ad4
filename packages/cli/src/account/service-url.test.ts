import { describe, expect, it } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { isReadableOnTheWay, readServiceUrl } from './service-url.ts'

describe('readServiceUrl', () => {
  it.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['HTTPS://Lade.Example:443/', 'https://lade.example'],
    [' https://lade.example/staging// ', 'https://lade.example/staging'],
    ['http://[::1]:80', 'http://[::1]'],
  ])('reads %j as %s', (text, url) => {
    expect(readServiceUrl(text, '--url')).toBe(url)
  })

  it.each([
    '',
    'lade.example',
    'ftp://lade.example',
    'https://a:secret@lade.example',
    'https://lade.example/?a',
    'https://lade.example/#a',
  ])('refuses %j, and does not repeat it', (text) => {
    const refuse = () => readServiceUrl(text, '--url')
    expect(refuse).toThrow(UsageError)
    expect(refuse).toThrow(/^--url must be a URL such as/)
    expect(refuse).not.toThrow(/secret/)
  })
})

describe('isReadableOnTheWay', () => {
  it('is so for plain http to another machine only', () => {
    expect(['http://lade.example', 'http://10.0.0.1', 'http://127.example'].map(isReadableOnTheWay)).toEqual([
      true,
      true,
      true,
    ])
    expect(
      ['https://lade.example', 'http://127.0.0.2:80', 'http://localhost', 'http://[::1]'].map(isReadableOnTheWay),
    ).toEqual([false, false, false, false])
  })
})
