import { describe, expect, it } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { readFileLink } from './file-link.ts'

const CID = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'

describe('readFileLink', () => {
  it.each([
    [CID, { cid: CID }],
    ['myfile01', { cid: 'myfile01' }],
    [`ipfs://${CID}`, { cid: CID }],
    [`ipfs://${CID}/?filename=a`, { cid: CID }],
    [`http://127.0.0.1:8080/p/${CID}`, { cid: CID, serviceUrl: 'http://127.0.0.1:8080' }],
    [`https://lade.example/p/${CID}?share=a.b`, { cid: CID, serviceUrl: 'https://lade.example', share: 'a.b' }],
    [`https://example.org/lade/p/${CID}#top`, { cid: CID, serviceUrl: 'https://example.org/lade' }],
    [`${CID}/photos/100%`, { cid: CID, path: 'photos/100%' }],
    [`ipfs://${CID}/photos/a%20b.jpg`, { cid: CID, path: 'photos/a b.jpg' }],
    [`https://lade.example/p/${CID}/`, { cid: CID, serviceUrl: 'https://lade.example' }],
    [`https://lade.example/ipfs/${CID}/a.jpg`, { cid: CID, path: 'a.jpg', serviceUrl: 'https://lade.example' }],
    [`https://lade.example/ipfs/${CID}?format=raw`, { cid: CID, serviceUrl: 'https://lade.example' }],
  ])('reads %s', (text, link) => expect(readFileLink(text)).toEqual(link))

  it.each([
    ['https://lade.example/', 'does not lead to a file'],
    ['https://lade.example/api/info', 'does not lead to a file'],
    [`ftp://lade.example/p/${CID}`, 'does not lead to a file'],
    ['ipfs://', 'has no content id'],
  ])('refuses %s, and says why', (text, sentence) => {
    expect(() => readFileLink(text)).toThrow(UsageError)
    expect(() => readFileLink(text)).toThrow(sentence)
  })
})
