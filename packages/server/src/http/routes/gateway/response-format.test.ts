import { describe, expect, it } from 'vitest'
import { queryOf } from '../../query.ts'
import { askedFormat } from './response-format.ts'

const RAW = 'application/vnd.ipld.raw'
const CAR = 'application/vnd.ipld.car'
const FILE_URL = 'https://lade.example/p/bafy'
const ask = (query: string, accept?: string) => askedFormat(queryOf(`/ipfs/x?${query}`), accept, FILE_URL)

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
    ['', `application/json, ${RAW};q=0.1`, 'raw'],
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
    ['format=dag-json', undefined],
    ['format=dag-cbor', undefined],
    ['format=json', undefined],
    ['format=cbor', undefined],
    ['format=tar', undefined],
    ['format=ipns-record', undefined],
    ['format=dag-json', RAW],
    ['', 'application/vnd.ipld.dag-json'],
    ['', 'text/html, application/x-tar'],
    ['', `${CAR};version=2`],
    ['', `${CAR};order=rnd`],
  ])('error: "%s" with Accept %s is not_acceptable', (query, accept) => {
    expect(() => ask(query, accept)).toThrow(expect.objectContaining({ code: 'not_acceptable' }))
  })

  it.each([
    ['', undefined],
    ['', ''],
    ['', '*/*'],
    ['', 'application/*'],
    ['', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
    ['', 'constructor, __proto__, tostring'],
    ['', `${RAW};q=0`],
    ['format=', RAW],
    ['format=RAW', undefined],
    ['format=html', undefined],
    ['format=constructor', undefined],
  ])('error: "%s" with Accept %s is bad_request, which says what there is and where the file is', (query, accept) => {
    const refusal = expect.objectContaining({
      code: 'bad_request',
      message: expect.stringMatching(/format=raw.*format=car.*https:\/\/lade\.example\/p\/bafy$/),
    })
    expect(() => ask(query, accept)).toThrow(refusal)
  })
})
