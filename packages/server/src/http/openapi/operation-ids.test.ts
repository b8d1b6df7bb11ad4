import { describe, expect, it } from 'vitest'
import { operationNames } from './operation-ids.ts'

describe('names of operations', () => {
  it('are what the route says', () => {
    expect(operationNames()('post', '/api/upload', 'uploadFile')).toBe('uploadFile')
  })

  it('come from method and path where the route says nothing', () => {
    const nameOf = operationNames()
    expect(nameOf('put', '/api/things/{thingId}/parts')).toBe('putApiThingsByThingIdParts')
    expect(nameOf('get', '/.well-known/jwks.json')).toBe('getWellKnownJwksJson')
  })

  it('differ for the methods of one route', () => {
    const nameOf = operationNames()
    expect(['get', 'head'].map((method) => nameOf(method, '/p/{cid}', 'getContent'))).toEqual([
      'getContent',
      'headContent',
    ])
    expect(['post', 'put'].map((method) => nameOf(method, '/api/upload', 'uploadFile'))).toEqual([
      'uploadFile',
      'putUploadFile',
    ])
  })

  it('differ for two paths of the same name', () => {
    const nameOf = operationNames()
    const names = ['/api/tokens', '/api/tokens/list', '/api/token-list'].map((path) =>
      nameOf('get', path, 'listTokens'),
    )
    expect(names).toEqual(['listTokens', 'getListTokens', 'getApiTokenList'])
  })
})
