import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { LadeError } from '../../errors/lade-error.ts'
import { bucketAt, hashOfName } from '../car/shard-bucket.ts'
import { fileBlock, inlineCid, pbBlock, rawBlock, TestStore, unixfsMessage, utf8 } from '../car/testing-cars.ts'
import { changeDirectory, type DirectoryChange, MAX_DIRECTORY_ENTRIES, resolvePath } from '../dag.ts'
import { sha256 } from '../testing-dag.ts'
import { encodeShard } from './encode-directory.ts'
import { fileEntry, folder, manyFiles, storedDirectory, symlink } from './testing-directories.ts'

const leaf = rawBlock(utf8('leaf'))

/** The code and message of the error that changes end in. */
async function refusalOf(store: TestStore, root: CID, ...changes: DirectoryChange[]): Promise<string> {
  try {
    await changeDirectory({ root, changes, getBlock: store.getBlock, sha256 })
  } catch (error) {
    if (LadeError.is(error)) return `${error.code}: ${error.message}`
    throw error
  }
  return expect.fail('The changes were made')
}

function storeOf(...blocks: Parameters<TestStore['put']>[0][]): TestStore {
  const store = new TestStore()
  for (const block of blocks) store.put(block)
  return store
}

const directoryData = new UnixFS({ type: 'directory' }).marshal()

describe('changeDirectory', () => {
  test('reads and makes the blocks on the way alone, in a folder of 20,000 files', async () => {
    const { root, store, blocks } = storedDirectory([...manyFiles(20_000, 'one/two/'), fileEntry('other/file')])
    expect(blocks.length).toBeGreaterThan(2000)
    const changes = [{ put: fileEntry('one/two/new file') }]
    const changed = await changeDirectory({ root, changes, getBlock: store.getBlock, sha256 })
    // The root, one, the root of two, and a shard or two below it.
    expect(store.asked.length).toBeLessThanOrEqual(5)
    expect(changed.blocks.length).toBeLessThanOrEqual(6)
    expect(changed.blocks.at(-1)?.cid).toEqual(changed.root)
  })

  test('reads shards of a folder that shrinks until it has counted 256 KiB of links', async () => {
    const { root, store } = storedDirectory(manyFiles(20_000))
    const changes = [{ remove: 'a file with a long name 7.txt' }]
    await changeDirectory({ root, changes, getBlock: store.getBlock, sha256 })
    expect(store.asked.length).toBeGreaterThan(5)
    expect(store.asked.length).toBeLessThan(100)
  })

  test('does nothing for no changes, and for those that change nothing', async () => {
    const { root, dagBytes, store } = storedDirectory([fileEntry('a/b'), folder('c'), symlink('d', 'a')])
    const changes = [{ put: fileEntry('a/b') }, { put: folder('c') }, { put: symlink('d', 'a') }, { put: folder('a') }]
    for (const made of [[], changes]) {
      const changed = await changeDirectory({ root, changes: made, getBlock: store.getBlock, sha256 })
      expect(changed.root.toString()).toBe(root.toString())
      expect(changed.dagBytes).toBe(dagBytes)
      expect(changed.blocks).toEqual([])
    }
  })

  test('puts a file in place of a folder that is removed before', async () => {
    const { root, store } = storedDirectory([fileEntry('a/b')])
    expect(await refusalOf(store, root, { put: fileEntry('a') })).toBe(
      'bad_request: There is a folder at "a". Remove it before you put a file there.',
    )
    const changes = [{ remove: 'a' }, { put: fileEntry('a') }]
    const changed = await changeDirectory({ root, changes, getBlock: store.getBlock, sha256 })
    expect(changed.root).toEqual(storedDirectory([fileEntry('a')]).root)
  })

  test('reads an inline folder from its CID', async () => {
    const empty = inlineCid(0x70, Uint8Array.of(0x0a, 2, 8, 1))
    const changed = await changeDirectory({
      root: empty,
      changes: [{ put: fileEntry('a') }],
      getBlock: new TestStore().getBlock,
      sha256,
    })
    expect(changed.root).toEqual(storedDirectory([fileEntry('a')]).root)
  })

  test('sorts the links of an unsorted directory and drops names that it has twice', async () => {
    const Links = ['b', 'a', 'b'].map((Name, index) => ({ Hash: fileEntry(`${index}`).cid, Name, Tsize: 1 }))
    // The encoder of dag-pb refuses both, so the block is put together from its parts.
    const links = Links.map((link) => pbBlock({ Links: [link] }).bytes)
    const bytes = Uint8Array.from([...links.flatMap((link) => [...link]), 0x0a, 2, 8, 1])
    const root = { cid: CID.createV1(0x70, rawBlock(bytes).cid.multihash), bytes }
    const changed = await changeDirectory({
      root: root.cid,
      changes: [{ put: fileEntry('c') }],
      getBlock: storeOf(root).getBlock,
      sha256,
    })
    const entries = [{ ...fileEntry('1'), path: 'a' }, { ...fileEntry('0'), path: 'b' }, fileEntry('c')]
    expect(changed.root).toEqual(storedDirectory(entries).root)
  })

  test('error: paths, targets and numbers that a build refuses', async () => {
    const { root, store } = storedDirectory([])
    for (const path of ['', 'a//b', '..', 'a/\0']) {
      expect(await refusalOf(store, root, { remove: path })).toMatch(/^bad_request/)
      expect(await refusalOf(store, root, { put: fileEntry(path) })).toMatch(/^bad_request/)
    }
    expect(await refusalOf(store, root, { put: symlink('a', '') })).toMatch(/is empty/)
    const put = { put: fileEntry('a') }
    const tooMany = Array.from({ length: MAX_DIRECTORY_ENTRIES + 1 }, () => put)
    expect(await refusalOf(store, root, ...tooMany)).toMatch(/more than 100,000 changes/)
  })

  test('error: a path to remove that is not there', async () => {
    const { root, store } = storedDirectory([fileEntry('a/b'), ...manyFiles(6000, 'big/')])
    for (const path of ['x', 'a/x', 'a/b/c', 'x/y', 'big/x']) {
      expect(await refusalOf(store, root, { remove: path })).toBe(`not_found: There is no "${path}" in the directory.`)
    }
    expect(await refusalOf(store, root, { remove: 'a' }, { remove: 'a/b' })).toMatch(/^not_found/)
  })

  test('error: a file that is used as a folder', async () => {
    const file = fileBlock([{ cid: leaf.cid, sizeBytes: 4 }])
    const { root, store } = storedDirectory([
      fileEntry('raw'),
      { path: 'pb', kind: 'file', cid: file.cid, dagBytes: 100, sizeBytes: 4 },
      symlink('link', 'x'),
    ])
    store.put(file)
    for (const name of ['raw', 'pb', 'link']) {
      const used = `bad_request: In the path "${name}/a", "${name}" is a file. Remove it before you put a folder there.`
      expect(await refusalOf(store, root, { put: fileEntry(`${name}/a`) })).toBe(used)
    }
    expect(await refusalOf(store, root, { put: symlink('new', 'x') }, { put: folder('new') })).toMatch(
      /"new" is a file/,
    )
  })

  test('error: a root that is no directory, or not stored', async () => {
    const file = fileBlock([{ cid: leaf.cid, sizeBytes: 4 }])
    for (const block of [leaf, file]) {
      expect(await refusalOf(storeOf(block), block.cid)).toBe(
        `bad_request: The block ${block.cid} is not a UnixFS directory.`,
      )
    }
    expect(await refusalOf(new TestStore(), file.cid)).toBe(`not_found: The block ${file.cid} is not stored here.`)
  })

  test('error: a block on the way that is missing or damaged', async () => {
    const { root, store, blocks } = storedDirectory([...manyFiles(6000, 'big/'), fileEntry('a/b')])
    const { terminal } = await resolvePath(root, ['a'], store.getBlock)
    const other = blocks.find(({ cid }) => cid.toString() === terminal?.toString()) ?? expect.fail()
    const change = { put: fileEntry('a/c') }
    store.delete(other.cid)
    expect(await refusalOf(store, root, change)).toMatch(/^not_found: The block bafy\w+ is not stored here\.$/)
    store.put({ cid: other.cid, bytes: utf8('no block') })
    expect(await refusalOf(store, root, change)).toMatch(/^bad_request: .* does not decode/)
    const big = await resolvePath(root, ['big'], storeOf(...blocks).getBlock)
    for (const { cid, bytes } of blocks) {
      if (bytes.length > 1000 && cid.toString() !== big.terminal?.toString()) store.put({ cid, bytes: other.bytes })
    }
    expect(await refusalOf(store, root, { put: fileEntry('big/x') })).toMatch(/^bad_request/)
  })

  test('error: a directory with a mode, or with a name that is no UTF-8', async () => {
    const Links = [{ Hash: leaf.cid, Name: 'a', Tsize: 4 }]
    const withMode = pbBlock({ Data: new UnixFS({ type: 'directory', mode: 0o700 }).marshal(), Links })
    const withoutTsize = pbBlock({ Data: directoryData, Links: [{ Hash: leaf.cid, Name: 'a' }] })
    const named = pbBlock({ Data: directoryData, Links })
    const bytes = named.bytes.map((byte) => (byte === 'a'.charCodeAt(0) ? 0xff : byte))
    const latin1 = { cid: CID.createV1(0x70, rawBlock(bytes).cid.multihash), bytes }
    for (const block of [withMode, withoutTsize, latin1]) {
      expect(await refusalOf(storeOf(block), block.cid, { put: fileEntry('b') })).toMatch(
        /^bad_request: The directory block \w+ is not as the import profile unixfs-v1-2025 writes it/,
      )
    }
  })

  test('error: a shard that names itself ends within a few blocks', async () => {
    const { cid } = rawBlock(utf8('any'))
    const itself = CID.createV1(0x70, cid.multihash)
    const links = Array.from({ length: 256 }, (_, bucket) => {
      return { cid: itself, dagBytes: 1, bucket, nameBytes: undefined }
    })
    const store = storeOf({ cid: itself, bytes: encodeShard(links) })
    expect(await refusalOf(store, itself, { put: fileEntry('a') })).toMatch(/^bad_request: .* does not match/)
    expect(store.asked.length).toBeLessThan(12)
  })

  test('shards that lead to nothing are not followed without an end', async () => {
    // Eight levels of shards, each 256 times the next: nobody can read all ways of it.
    const entry = { cid: leaf.cid, dagBytes: 4, nameBytes: utf8('other') }
    let below = {
      cid: CID.createV1(0x70, rawBlock(utf8('0')).cid.multihash),
      bytes: encodeShard([{ ...entry, bucket: 0 }]),
    }
    const store = storeOf(below)
    const first = bucketAt(hashOfName('a'), 256, 0)
    for (let level = 1; level < 8; level += 1) {
      const { cid } = below
      const shards = Array.from({ length: 256 }, (_, bucket) => {
        const isEntry = level === 7 && bucket === first
        return isEntry
          ? { cid: leaf.cid, dagBytes: 4, bucket, nameBytes: utf8('a') }
          : { cid, dagBytes: 1, bucket, nameBytes: undefined }
      })
      below = { cid: CID.createV1(0x70, rawBlock(utf8(`${level}`)).cid.multihash), bytes: encodeShard(shards) }
      store.put(below)
    }
    const changes = [{ remove: 'a' }]
    await changeDirectory({ root: below.cid, changes, getBlock: store.getBlock, sha256 })
    expect(store.asked.length).toBeLessThan(100)
  })

  test('error: shards of another fanout or hash, without entries, or with names in the wrong bucket', async () => {
    const { root, store, blocks } = storedDirectory(manyFiles(6000))
    const shards = blocks.filter(({ cid }) => !cid.equals(root))
    const change = { put: fileEntry('a file with a long name 1.txt', 'y') }
    const wrongs = [encodeShard([]), shards[0]?.bytes, shards[1]?.bytes]
    for (const wrong of wrongs) {
      const exchanged = storeOf(...blocks)
      for (const { cid } of shards) exchanged.put({ cid, bytes: wrong ?? expect.fail() })
      // All shards but one are wrong, and the way may lead through that one.
      const both = [change, { put: fileEntry('a file with a long name 2.txt', 'y') }]
      expect(await refusalOf(exchanged, root, ...both)).toMatch(/^bad_request/)
    }
    const data = unixfsMessage([1, 5], [2, Uint8Array.of(1)], [5, 0x22], [6, 16])
    const small = pbBlock({ Data: data, Links: [{ Hash: leaf.cid, Name: '0a', Tsize: 4 }] })
    expect(await refusalOf(storeOf(small), small.cid, change)).toMatch(/unixfs-v1-2025/)
    expect(store.asked).toEqual([])
  })
})
