import { describe, expect, it } from 'vitest'
import { queryOf } from '../../query.ts'
import { readCarOptions } from './car-options.ts'

const read = (query: string, accepted: Record<string, string> = {}) =>
  readCarOptions(queryOf(`/ipfs/x?${query}`), new Map(Object.entries(accepted)))

describe('readCarOptions', () => {
  it('gives the whole DAG, each block once, when nothing is asked', () => {
    expect(read('format=car')).toEqual({ scope: 'all', entityBytes: undefined, dups: false })
  })

  it.each(['block', 'entity', 'all'])('reads dag-scope=%s', (scope) => {
    expect(read(`dag-scope=${scope}`)).toMatchObject({ scope })
  })

  it.each([
    ['0:*', { from: 0, to: undefined }],
    ['0:0', { from: 0, to: 0 }],
    ['-1024:*', { from: -1024, to: undefined }],
    ['499:-1000', { from: 499, to: -1000 }],
    ['9007199254740991:*', { from: Number.MAX_SAFE_INTEGER, to: undefined }],
    ['5:3', { from: 5, to: 3 }],
  ])('reads entity-bytes=%s, which means the entity', (text, entityBytes) => {
    expect(read(`entity-bytes=${text}`)).toEqual({ scope: 'entity', entityBytes, dups: false })
    expect(read(`dag-scope=entity&entity-bytes=${text}`)).toMatchObject({ entityBytes })
  })

  it.each([
    ['car-dups=y', {}, true],
    ['car-dups=n', {}, false],
    ['', { dups: 'y' }, true],
    ['', { dups: 'n' }, false],
    ['car-dups=n', { dups: 'y' }, false],
    ['car-dups=y', { dups: 'n' }, true],
    ['car-version=1&car-order=dfs', { dups: 'y' }, true],
    ['car-order=unk', {}, false],
  ])('reads "%s" with %o as dups %s: the query wins', (query, accepted, dups) => {
    expect(read(query, accepted)).toMatchObject({ dups })
  })

  it.each([
    'dag-scope=',
    'dag-scope=ALL',
    'dag-scope=everything',
    'dag-scope=constructor',
    'entity-bytes=',
    'entity-bytes=0',
    'entity-bytes=:',
    'entity-bytes=0:',
    'entity-bytes=:5',
    'entity-bytes=*:5',
    'entity-bytes=*:*',
    'entity-bytes=a:b',
    'entity-bytes=0-5',
    'entity-bytes=%2B1:5',
    'entity-bytes=1.5:*',
    'entity-bytes=0x1:*',
    'entity-bytes=9007199254740992:*',
    'entity-bytes=0:99999999999999999999',
    'entity-bytes=0:*&dag-scope=all',
    'entity-bytes=0:*&dag-scope=block',
    'car-version=2',
    'car-version=',
    'car-order=bfs',
    'car-dups=yes',
    'car-dups=',
  ])('error: %s is bad_request', (query) => {
    expect(() => read(query)).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })
})
