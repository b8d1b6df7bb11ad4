import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { expect, test } from 'vitest'
import { decodeDagPb } from '../links.ts'
import { utf8Bytes } from '../utf8.ts'
import { directoryLink } from './directory-link.ts'
import { encodeDirectory } from './encode-directory.ts'
import { readPlainDirectory } from './plain-directory.ts'

const someCid = fc
  .tuple(fc.constantFrom(0x55, 0x70, 0x0129), fc.constantFrom(0, 0x12, 0xb220), fc.uint8Array({ maxLength: 40 }))
  .map(([codec, hash, digest]) => CID.createV1(codec, create(hash, digest)))
const someLink = fc
  .record({
    name: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\uFEFF', '\uFFFD', 'ü', 'x'.repeat(200))),
    cid: someCid,
    dagBytes: fc.oneof(fc.nat(300), fc.maxSafeNat()),
  })
  .map(({ name, ...root }) => directoryLink(name, root))
const someBlock = fc.array(someLink, { maxLength: 5 }).map(encodeDirectory)

/** A block with one byte that is another one, one more, or one less. */
const changedBlock = fc
  .tuple(someBlock, fc.nat(), fc.constantFrom('replace', 'insert', 'drop'), fc.nat(255))
  .map(([block, place, kind, byte]) => {
    const at = place % block.length
    const put = kind === 'drop' ? [] : [byte]
    return Uint8Array.from([...block.subarray(0, at), ...put, ...block.subarray(kind === 'insert' ? at : at + 1)])
  })

test('what it reads is what the block says, and is written again as the same bytes', () => {
  const check = (block: Uint8Array) => {
    const links = readPlainDirectory(block)
    if (links === undefined) return
    expect(encodeDirectory(links)).toEqual(block)
    const read = links.map(({ name, cid, dagBytes }) => ({ Name: name, Hash: cid.toString(), Tsize: dagBytes }))
    expect(read).toEqual(decodeDagPb(block)?.Links.map(({ Hash, ...link }) => ({ ...link, Hash: Hash.toString() })))
  }
  fc.assert(fc.property(someBlock, check))
  fc.assert(fc.property(changedBlock, check), { numRuns: 5_000 })
})

test('it reads every block with usual names and CIDs, also in shared memory', () => {
  const usualLink = someLink
    .filter(({ name }) => !utf8Bytes(name).includes(0xef))
    .filter(({ cid }) => cid.code < 0x80 && cid.multihash.code < 0x80)
  const blocks = fc.array(usualLink, { maxLength: 5 }).map(encodeDirectory)
  fc.assert(
    fc.property(blocks, (block) => {
      const shared = new Uint8Array(new SharedArrayBuffer(block.length))
      shared.set(block)
      expect(readPlainDirectory(block)).toHaveLength(decodeDagPb(block)?.Links.length ?? -1)
      expect(readPlainDirectory(shared)).toHaveLength(decodeDagPb(block)?.Links.length ?? -1)
    }),
  )
})
