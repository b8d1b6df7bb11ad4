import { describe, expect, it } from 'vitest'
import { exchangeOf, openExchange, requestIdMaker } from './exchange.ts'
import { requestOf } from './testing-request.ts'

describe('requestIdMaker', () => {
  it('makes ids that differ within a maker and between makers, and are safe in a header', () => {
    const makers = [requestIdMaker(), requestIdMaker()]
    const ids = makers.flatMap((make) => Array.from({ length: 1000 }, make))
    expect(new Set(ids).size).toBe(2000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
  })
})

describe('exchangeOf', () => {
  it('is what was opened for this request', () => {
    const request = requestOf({})
    const lingering = { discard: () => () => {} }
    const exchange = openExchange(request, { requestId: 'r-1', startedAt: 5, lingering })
    expect(exchangeOf(request)).toBe(exchange)
    expect(exchange).toMatchObject({ requestId: 'r-1', startedAt: 5, notes: {} })
  })

  it('error: a request that did not come through the server is a mistake of the program', () => {
    expect(() => exchangeOf(requestOf({}))).toThrow(TypeError)
  })
})
