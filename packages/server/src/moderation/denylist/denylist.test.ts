import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blake3 } from '@lade/node/hashing/blake'
import { sha256 } from '@lade/node/hashing/sha256'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Denylist } from './denylist.ts'
import { readDenylist } from './read-denylist.ts'

const FIXTURE = fileURLToPath(new URL('test.deny', import.meta.url))

/** A path of IPFS, as it is asked for. */
function asked(path: string) {
  const [cid = '', ...names] = path.split('/')
  const { multihash, code } = CID.parse(cid)
  return { multihash: multihash.bytes, codecs: [code], path: names.map(decodeURIComponent) }
}

describe('the rules of a denylist', () => {
  const denylist = new Denylist()
  let read: Awaited<ReturnType<typeof readDenylist>>
  beforeAll(async () => {
    read = await readDenylist(FIXTURE, denylist)
  })

  it('are all read, but for those of names of IPNS', () => {
    expect(read).toEqual({ rules: 11, ignored: 3, invalid: 0, shown: [] })
    expect(denylist.size).toBe(11)
  })

  it.each([
    'bafybeihvvulpp4evxj7x7armbqcyg6uezzuig6jp3lktpbovlqfkuqeuoq',
    'bafkreihvvulpp4evxj7x7armbqcyg6uezzuig6jp3lktpbovlqfkuqeuoq',
    'QmesfgDQ3q6prBy2Kg2gKbW4MAGuWiRP2DVuGA5MZSERLo',
    'QmesfgDQ3q6prBy2Kg2gKbW4MAGuWiRP2DVuGA5MZSERLo/below/it',
    'QmdWFA9FL52hx3j9EJZPQP1ZUH8Ygi5tLCX2cRDs6knSf8',
    'QmdWFA9FL52hx3j9EJZPQP1ZUH8Ygi5tLCX2cRDs6knSf8/my/path',
    'Qmah2YDTfrox4watLCr3YgKyBwvjq8FJZEFdWY6WtJ3Xt2/test',
    'Qmah2YDTfrox4watLCr3YgKyBwvjq8FJZEFdWY6WtJ3Xt2/testing',
    'QmTuvSQbEDR3sarFAN9kAeXBpiBCyYYNxdxciazBba11eC/test',
    'QmTuvSQbEDR3sarFAN9kAeXBpiBCyYYNxdxciazBba11eC/test/one',
    'QmUboz9UsQBDeS6Tug1U8jgoFkgYxyYood9NDyVURAY9pK/blocked',
    'QmUboz9UsQBDeS6Tug1U8jgoFkgYxyYood9NDyVURAY9pK/blocked/notthis',
    'bafybeiefwqslmf6zyyrxodaxx4vwqircuxpza5ri45ws3y5a62ypxti42e',
    'bafybeiefwqslmf6zyyrxodaxx4vwqircuxpza5ri45ws3y5a62ypxti42e/path',
    'bafybeidjwik6im54nrpfg7osdvmx7zojl5oaxqel5cmsz46iuelwf5acja',
    'QmVTF1yEejXd9iMgoRTFDxBv7HAz9kuZcQNBzHrceuK9HR',
  ])('block /ipfs/%s', (path) => expect(denylist.find(asked(path))).toMatchObject({ list: FIXTURE }))

  it.each([
    'bafybeihrw75yfhdx5qsqgesdnxejtjybscwuclpusvxkuttep6h7pkgmze',
    'bafkreiefwqslmf6zyyrxodaxx4vwqircuxpza5ri45ws3y5a62ypxti42e',
    'Qmah2YDTfrox4watLCr3YgKyBwvjq8FJZEFdWY6WtJ3Xt2',
    'Qmah2YDTfrox4watLCr3YgKyBwvjq8FJZEFdWY6WtJ3Xt2/tes',
    'QmTuvSQbEDR3sarFAN9kAeXBpiBCyYYNxdxciazBba11eC/one/test',
    'QmUboz9UsQBDeS6Tug1U8jgoFkgYxyYood9NDyVURAY9pK/blockednot',
    'QmUboz9UsQBDeS6Tug1U8jgoFkgYxyYood9NDyVURAY9pK/blocked/not',
    'QmUboz9UsQBDeS6Tug1U8jgoFkgYxyYood9NDyVURAY9pK/blocked/exceptions/all',
    'QmecDgNqCRirkc3Cjz9eoRBNwXGckJ9WvTdmY16HP88768',
  ])('let /ipfs/%s through', (path) => expect(denylist.find(asked(path))).toBeUndefined())

  it('say which line it was', () => {
    const found = denylist.find(asked('QmVTF1yEejXd9iMgoRTFDxBv7HAz9kuZcQNBzHrceuK9HR'))
    expect(found).toEqual({ list: FIXTURE, line: 29 })
  })
})

describe('readDenylist', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-denylist-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const CONTENT = 'QmVTF1yEejXd9iMgoRTFDxBv7HAz9kuZcQNBzHrceuK9HR'
  const OTHER = 'QmesfgDQ3q6prBy2Kg2gKbW4MAGuWiRP2DVuGA5MZSERLo'
  let files = 0
  const read = async (text: string, denylist = new Denylist()) => {
    files += 1
    const file = join(dir, `${files}.deny`)
    writeFileSync(file, text)
    return { denylist, file, ...(await readDenylist(file, denylist)) }
  }
  const doubleHashed = (code: number, digest: Uint8Array) =>
    `//${base58btc.baseEncode(createDigest(code, digest).bytes)}\n`

  it('needs no header, and no line feed at the end', async () => {
    const { denylist, rules } = await read(`/ipfs/${CONTENT}`)
    expect([rules, denylist.find(asked(CONTENT))?.line]).toEqual([1, 1])
  })

  it('counts lines from the beginning of the file, behind comments, empty ones and carriage returns', async () => {
    const { denylist } = await read(`version: 1\r\n---\r\n# one\r\n\r\n/ipfs/${CONTENT}\r\n`)
    expect(denylist.find(asked(CONTENT))?.line).toBe(5)
  })

  it('lets the last rule decide, over all lists', async () => {
    const first = await read(`/ipfs/${CONTENT}\n!/ipfs/${CONTENT}\n/ipfs/${OTHER}\n`)
    expect(first.denylist.find(asked(CONTENT))).toBeUndefined()
    const second = await read(`!/ipfs/${OTHER}\n`, first.denylist)
    expect(second.denylist.find(asked(OTHER))).toBeUndefined()
    const third = await read(`/ipfs/${CONTENT}\n`, first.denylist)
    expect(third.denylist.find(asked(CONTENT))).toEqual({ list: third.file, line: 1 })
  })

  it('reads double hashes of every hash function that blocks have, of contents and of paths', async () => {
    for (const [code, hash] of [
      [0x12, sha256],
      [0x1e, blake3],
    ] as const) {
      const { denylist } = await read(
        doubleHashed(code, hash.of(Buffer.from(CONTENT))) + doubleHashed(code, hash.of(Buffer.from(`${OTHER}/a b/c`))),
      )
      for (const path of [CONTENT, `${CONTENT}/x`, `${OTHER}/a%20b/c`]) expect(denylist.find(asked(path))).toBeDefined()
      for (const path of [OTHER, `${OTHER}/a%20b`, `${OTHER}/a%20b/c/d`]) {
        expect(denylist.find(asked(path))).toBeUndefined()
      }
    }
  })

  it('blocks a multihash that is written as one, in whatever CID it is asked for', async () => {
    const digest = createDigest(0x1e, blake3.of(Buffer.from('x')))
    const { denylist } = await read(`/ipfs/${base58btc.baseEncode(digest.bytes)}\n`)
    expect(denylist.find(asked(CID.createV1(0x71, digest).toString()))).toBeDefined()
  })

  it('leaves out what is no rule, and says which lines those are', async () => {
    const lines = [`/ipfs/${CONTENT}`, 'http://x', '/ipfs/nothing', '//short', `/ipfs/${OTHER}/%`]
    const unknown = doubleHashed(0x11, Buffer.alloc(20))
    const { rules, invalid, shown } = await read(`${lines.join('\n')}\n${unknown}`)
    expect([rules, invalid, shown.map((line) => line.split(':')[0])]).toEqual([
      1,
      5,
      ['line 2', 'line 3', 'line 4', 'line 5', 'line 6'],
    ])
    expect(shown[4]).toContain('0x11')
  })

  it.each([
    ['its header is not valid YAML', 'a: b: c\n---\n'],
    ['its version is 2, and only version 1 is known', 'version: 2\n---\n'],
    ['its header is not a YAML map', '- a\n---\n'],
    ['line 2 has more than 2 MiB', `/ipfs/${CONTENT}\n#${'x'.repeat(2 * 1_048_576)}`],
  ])('error: %s', async (message, text) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  it('takes a header of more than a MiB for lines that are no rules', async () => {
    const { rules, invalid } = await read(`${'x: 12345678\n'.repeat(100_000)}---\n/ipfs/${CONTENT}\n`)
    expect([rules, invalid]).toEqual([1, 100_001])
  })
})
