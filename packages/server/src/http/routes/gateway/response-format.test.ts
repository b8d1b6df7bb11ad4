import { describe, expect, it } from 'vitest'
import { queryOf } from '../../query.ts'
import { askedFormat } from './response-format.ts'

const RAW = 'application/vnd.ipld.raw'
const CAR = 'application/vnd.ipld.car'
const JSON_TYPE = 'application/json'
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const ask = (query: string, accept?: string) => askedFormat(queryOf(`/ipfs/x?${query}`), accept)

describe('askedFormat', () => {
  it.each([
    ['format=raw', undefined, 'raw'],
    ['format=car', undefined, 'car'],
    ['format=raw', CAR, 'raw'],
    ['format=car', RAW, 'car'],
    ['format=car', `${CAR};version=2`, 'car'],
    ['', RAW, 'raw'],
    ['', CAR, 'car'],
    ['', `${CAR};order=dfs;dups=y`, 'car'],
    ['', `${CAR}; unheard-of=1; constructor=2`, 'car'],
    ['', `text/html, ${RAW};q=0.1, */*;q=0.9`, 'raw'],
    ['', `${RAW};q=0.5, ${CAR}`, 'car'],
    ['', `${RAW}, ${CAR}`, 'raw'],
    ['', `${CAR}, ${RAW}`, 'car'],
    ['', `${CAR};version=2, ${RAW};q=0.1`, 'raw'],
    ['', `${CAR};order=rnd, ${CAR};order=dfs;q=0.5, ${RAW};q=0.1`, 'car'],
    ['', `${JSON_TYPE}, ${RAW};q=0.1`, 'json'],
    ['', `${RAW}, ${JSON_TYPE};q=0.1`, 'raw'],
    ['', 'application/vnd.ipld.dag-json', 'dag-json'],
    ['', 'application/vnd.ipld.dag-cbor', 'dag-cbor'],
    ['', 'application/cbor', 'cbor'],
    ['', 'text/html, application/x-tar', 'tar'],
    ['format=tar', RAW, 'tar'],
    ['format=dag-json', RAW, 'dag-json'],
    ['format=dag-cbor', undefined, 'dag-cbor'],
    ['format=json', undefined, 'json'],
    ['format=cbor', undefined, 'cbor'],
  ])('takes "%s" with Accept %s for %s', (query, accept, format) => {
    expect(ask(query, accept)).toMatchObject({ format })
  })

  it('hands on the parameters of the CAR that can be given, also where the query names the format', () => {
    const accept = `${CAR};version=2;dups=n, ${CAR};version=1;dups=y;q=0.5`
    for (const query of ['format=car', '']) {
      expect(Object.fromEntries(ask(query, accept).carParameters)).toEqual({ version: '1', dups: 'y' })
    }
  })

  it.each([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/*', false],
    [BROWSER, true],
    [`text/html, ${JSON_TYPE};q=0.9`, true],
    ['constructor, __proto__, tostring', false],
    [`${RAW};q=0`, false],
    ['application/vnd.ipfs.ipns-record, */*', false],
  ])('takes no format with Accept %s for the content itself', (accept, isForBrowser) => {
    expect(ask('', accept)).toMatchObject({ format: undefined, isForBrowser })
  })

  it('knows whether the client takes something else than the format that it would rather have', () => {
    expect(ask('', `${JSON_TYPE}, text/plain, */*`)).toMatchObject({ format: 'json', isOptional: true })
    expect(ask('', JSON_TYPE)).toMatchObject({ format: 'json', isOptional: false })
    expect(ask('format=json', '*/*')).toMatchObject({ format: 'json', isOptional: false })
  })

  it.each([`${CAR};version=2`, `${CAR};order=rnd`])('error: Accept %s is not_acceptable', (accept) => {
    expect(() => ask('', accept)).toThrow(expect.objectContaining({ code: 'not_acceptable' }))
  })

  it.each([
    ['format=', RAW],
    ['format=RAW', undefined],
    ['format=html', undefined],
    ['format=constructor', undefined],
    ['format=ipns-record', undefined],
    ['', 'application/vnd.ipfs.ipns-record'],
  ])('error: "%s" with Accept %s is bad_request', (query, accept) => {
    expect(() => ask(query, accept)).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })
})
