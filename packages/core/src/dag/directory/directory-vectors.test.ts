import { createCipheriv, createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { cidOf, TestStore } from '../car/testing-cars.ts'
import { buildDirectory, walkDirectory } from '../dag.ts'
import { sha256 } from '../testing-dag.ts'
import { BlockList } from './block-list.ts'
import { directoryLink } from './directory-link.ts'
import { encodeSymlink } from './encode-directory.ts'
import { ShardTrie } from './shard-trie.ts'
import { fileEntry, linkEntry } from './testing-directories.ts'

interface DirectoryVector {
  readonly origin: string
  readonly root: string
  readonly dagBytes: number
  readonly entries: readonly { readonly path: string; readonly cid: string; readonly dagBytes: number }[]
}

const VECTORS: readonly DirectoryVector[] = JSON.parse(
  readFileSync(new URL('../../../../../vectors/directory/directories.json', import.meta.url), 'utf8'),
)
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz01234567890-_'

/** The names of Kubo's test: characters chosen by the key stream of ChaCha20 under the hash of a seed. */
function kuboNames(lastNameLength: number): string[] {
  const key = createHash('sha256').update('hamt-unixfs-v1-2025').digest()
  const stream = createCipheriv('chacha20', key, new Uint8Array(16)).update(new Uint8Array(2 ** 20))
  return Array.from({ length: 4766 }, (_, index) => {
    const length = index === 4765 ? lastNameLength : 11
    return Array.from(
      stream.subarray(11 * index, 11 * index + length),
      (byte) => ALPHABET[byte % ALPHABET.length],
    ).join('')
  })
}

describe('directories that Kubo made', () => {
  test.each(VECTORS)('$origin', ({ root, dagBytes, entries }) => {
    const built = buildDirectory({ entries: entries.map(linkEntry), sha256 })
    expect({ root: built.root.toString(), dagBytes: built.dagBytes }).toEqual({ root, dagBytes })
  })

  test.each([
    [262_144, 21, 'bafybeic3h7rwruealwxkacabdy45jivq2crwz6bufb5ljwupn36gicplx4'],
    [262_145, 22, 'bafybeiegvuterwurhdtkikfhbxcldohmxp566vpjdofhzmnhv6o4freidu'],
  ])('IPIP-0499: 4,766 files, %i bytes in one block', (blockBytes, lastNameLength, root) => {
    const entries = kuboNames(lastNameLength).map((name) => fileEntry(name, 'x'))
    const built = buildDirectory({ entries, sha256 })
    expect(built.root.toString()).toBe(root)
    expect(built.blocks.length === 1).toBe(blockBytes === 262_144)
    if (built.blocks.length === 1) expect(built.blocks[0]?.bytes).toHaveLength(blockBytes)
  })

  test('the 1,000 files of single-layer-hamt-with-multi-block-files.car, which is sharded below the threshold', async () => {
    const file = { cid: CID.parse('bafybeigcisqd7m5nf3qmuvjdbakl5bdnh4ocrmacaqkpuh77qjvggmt2sa'), dagBytes: 1271 }
    const names = Array.from({ length: 1000 }, (_, index) => `${index + 1}.txt`)
    const made = new BlockList(sha256)
    const { cid } = ShardTrie.of(names.map((name) => directoryLink(name, file))).encode(made)
    expect(cid.toString()).toBe('bafybeidbclfqleg2uojchspzd4bob56dqetqjsj27gy2cq3klkkgxtpn4i')
    expect(made.blocks.at(-1)?.bytes).toHaveLength(12_046)
    const store = new TestStore()
    for (const block of made.blocks) store.put(block)
    const entries = await Array.fromAsync(walkDirectory({ root: cid, getBlock: store.getBlock }))
    expect(entries.map(({ name }) => name).sort()).toEqual(names.sort())
    expect(entries[0]).toMatchObject(file)
  })

  test('the symlink of symlink.car', () => {
    expect(cidOf(0x70, encodeSymlink('foo'), { version: 0 }).toString()).toBe(
      'QmTB8BaCJdCH5H3k7GrxJsxgDNmNYGGR71C58ERkivXoj5',
    )
  })
})
