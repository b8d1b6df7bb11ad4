import { describe, expect, it } from 'vitest'
import { credentialsOf, queryTokenHeaders } from './authenticate.ts'
import { queryOf } from './query.ts'
import { requestOf } from './testing-request.ts'

const TOKEN = 'pk_live_a.b.c'

function find(header: string | undefined, url = '/x', queryToken: 'accept' | 'refuse' = 'accept') {
  const lines = header === undefined ? [] : ['Authorization', header]
  return credentialsOf(requestOf({ url, lines }), queryOf(url), queryToken)
}

describe('credentialsOf', () => {
  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER   ${TOKEN}`])('takes the token of %s', (header) => {
    expect(find(header)).toEqual({ token: TOKEN, isQuery: false })
  })

  it.each([
    '',
    'Bearer',
    'Bearer ',
    TOKEN,
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN} x`,
    `Bearer\t${TOKEN}`,
    `Bearer ${TOKEN}, Bearer y`,
  ])('refuses %j instead of taking the request for an anonymous one', (header) =>
    expect(() => find(header)).toThrow(expect.objectContaining({ code: 'invalid_token' })),
  )

  it.each([
    [`Bearer "${TOKEN}"`, 'The token has quotation marks around it.'],
    [`Bearer '${TOKEN}'`, 'The token has quotation marks around it.'],
    ['Bearer $TOKEN', 'The token does not start with pk_live_.'],
    ['Bearer eyJ.a.b', 'The token does not start with pk_live_.'],
  ])('says what is wrong with %s', (header, fault) =>
    expect(() => find(header)).toThrow(`${fault} Send the token as "Authorization: Bearer pk_live_…".`),
  )

  it('takes the token of the query, also an empty one, which no key has signed', () => {
    expect(find(undefined, `/x?token=${TOKEN}`)).toEqual({ token: TOKEN, isQuery: true })
    expect(find(undefined, '/x?token=')).toEqual({ token: '', isQuery: true })
  })

  it('lets the header win, and a bad header is not mended by a good query', () => {
    expect(find(`Bearer ${TOKEN}`, '/x?token=other')).toEqual({ token: TOKEN, isQuery: false })
    expect(() => find('Basic x', `/x?token=${TOKEN}`)).toThrow(expect.objectContaining({ code: 'invalid_token' }))
  })

  it('refuses the query form where it is turned off, and leaves the header form alone', () => {
    expect(() => find(undefined, `/x?token=${TOKEN}`, 'refuse')).toThrow(
      expect.objectContaining({ code: 'invalid_token' }),
    )
    expect(find(`Bearer ${TOKEN}`, '/x', 'refuse')).toMatchObject({ token: TOKEN })
  })

  it('ignores credentials of another kind where that is asked for, and takes the query instead', () => {
    const ignoring = (header: string, url = '/x') =>
      credentialsOf(requestOf({ url, lines: ['Authorization', header] }), queryOf(url), 'accept', 'ignore')
    for (const header of ['', 'Basic x', 'Bearer eyJ.a.b', TOKEN]) expect(ignoring(header)).toBeUndefined()
    expect(ignoring('Basic x', `/x?token=${TOKEN}`)).toEqual({ token: TOKEN, isQuery: true })
    expect(ignoring(`Bearer ${TOKEN}`)).toEqual({ token: TOKEN, isQuery: false })
    for (const header of [`Bearer ${TOKEN} x`, `Bearer\t${TOKEN}`]) {
      expect(() => ignoring(header)).toThrow(expect.objectContaining({ code: 'invalid_token' }))
    }
  })

  it('is undefined for a request that carries none', () => {
    expect(find(undefined)).toBeUndefined()
    expect(find(undefined, '/x?Token=a&tokens=b')).toBeUndefined()
  })
})

describe('queryTokenHeaders', () => {
  it('says that the form is deprecated, since when and until when, and keeps caches away', () => {
    const headers = queryTokenHeaders(queryOf('/x?token=a'), 'https://lade.example/docs')
    expect(headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d+$/),
      link: '<https://lade.example/docs>; rel="deprecation"; type="text/html"',
      'cache-control': 'no-store',
    })
    expect(Date.parse(String(headers.sunset))).toBeGreaterThan(Number(String(headers.deprecation).slice(1)) * 1000)
  })

  it('says nothing without a token in the query', () => {
    expect(queryTokenHeaders(queryOf('/x?a=token'), 'https://lade.example/docs')).toEqual({})
  })
})
