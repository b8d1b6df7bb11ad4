import * as dagPb from '@ipld/dag-pb'
import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { describe, expect, test } from 'vitest'
import { hex, importFiles, patternBytes, pbBlock, rawBlock, unixfsMessage, utf8 } from './car/testing-cars.ts'
import { varintBytes } from './car/varint.ts'
import { readUnixfsNode, type UnixfsNode } from './unixfs-file.ts'

const child = rawBlock(utf8('child')).cid
const links = (...names: (string | undefined)[]) =>
  names.map((Name) => (Name === undefined ? { Hash: child } : { Hash: child, Name }))
const pb = (Data: Uint8Array | undefined, Links: dagPb.PBLink[] = []) =>
  pbBlock(Data === undefined ? { Links } : { Data, Links }).bytes
const read = (...node: Parameters<typeof pb>): UnixfsNode => readUnixfsNode(dagPb.code, pb(...node))
const faultOf = (node: UnixfsNode) => (node.kind === 'fault' ? `${node.of}: ${node.reason}` : node.kind)

describe('readUnixfsNode', () => {
  test('takes a raw block for a file of its bytes', () => {
    const bytes = utf8('raw')
    expect(readUnixfsNode(0x55, bytes)).toEqual({ kind: 'file', sizeBytes: 3, data: bytes, children: [] })
  })

  test('takes a block of any other codec for no UnixFS', () => {
    for (const codec of [0x71, 0x0129, 0x51, 0x85]) expect(readUnixfsNode(codec, utf8('x'))).toEqual({ kind: 'other' })
  })

  test('reads leaves of the types File and Raw', () => {
    for (const type of ['file', 'raw'] as const) {
      const data = new UnixFS({ type, data: utf8('leaf') }).marshal()
      expect(read(data)).toEqual({ kind: 'file', sizeBytes: 4, data: utf8('leaf'), children: [] })
    }
  })

  test('gives the bytes inside a node as a view of the block', () => {
    const bytes = pb(new UnixFS({ type: 'file', data: utf8('leaf') }).marshal())
    const node = readUnixfsNode(dagPb.code, bytes)
    expect(node.kind === 'file' && node.data.buffer).toBe(bytes.buffer)
  })

  test('reads every node of an imported file, and its parts add up', async () => {
    const bytes = patternBytes(5000)
    for (const rawLeaves of [true, false]) {
      const { root, store } = await importFiles([{ content: bytes }], {
        rawLeaves,
        chunker: fixedSize({ chunkSize: 300 }),
      })
      const node = readUnixfsNode(root.code, (await store.getBlock(root)) ?? new Uint8Array())
      expect(node).toMatchObject({ kind: 'file', sizeBytes: 5000 })
      expect(node.kind === 'file' && node.children.map(({ sizeBytes }) => sizeBytes)).toEqual([
        ...new Array(16).fill(300),
        200,
      ])
    }
  })

  test('agrees with ipfs-unixfs on any file node', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat({ max: 2 ** 24 })), (data, sizes) => {
        const unixfs = new UnixFS({ type: 'file', data, blockSizes: sizes.map(BigInt) })
        const node = read(unixfs.marshal(), links(...sizes.map(() => undefined)))
        expect(node.kind === 'file' && hex(node.data)).toBe(hex(data))
        expect(node.kind === 'file' && BigInt(node.sizeBytes)).toBe(unixfs.fileSize())
        expect(node.kind === 'file' && node.children.map(({ sizeBytes }) => sizeBytes)).toEqual(sizes)
      }),
    )
  })

  test('reads sizes beyond 32 bits exactly', () => {
    const sizes = [2 ** 31, 2 ** 32 + 1, 2 ** 52 + 3]
    const sum = sizes.reduce((total, size) => total + size)
    const node = read(unixfsMessage([1, 2], [3, sum], ...sizes.map((size) => [4, size] as const)), links('', '', ''))
    expect(node).toMatchObject({ kind: 'file', sizeBytes: sum, children: sizes.map((sizeBytes) => ({ sizeBytes })) })
  })

  test('reads block sizes that are packed into one field', () => {
    const data = unixfsMessage([1, 2], [3, 430], [4, Uint8Array.from([...varintBytes(130), ...varintBytes(300)])])
    expect(read(data, links('', undefined))).toMatchObject({
      kind: 'file',
      sizeBytes: 430,
      children: [{ sizeBytes: 130 }, { sizeBytes: 300 }],
    })
  })

  test('does not look at Tsize, mode or mtime', () => {
    const unixfs = new UnixFS({ type: 'file', blockSizes: [5n], mode: 0o700, mtime: { secs: -5n, nsecs: 7 } })
    expect(read(unixfs.marshal(), [{ Hash: child, Tsize: 1 }])).toMatchObject({ kind: 'file', sizeBytes: 5 })
  })

  test('refuses a file whose links and block sizes are not equally many', () => {
    const data = new UnixFS({ type: 'file', blockSizes: [5n] }).marshal()
    expect(faultOf(read(data))).toBe('file: It has 0 links but 1 block sizes.')
    expect(faultOf(read(data, links('', '')))).toBe('file: It has 2 links but 1 block sizes.')
  })

  test('refuses a file whose parts do not add up to what it announces', () => {
    expect(faultOf(read(unixfsMessage([1, 2], [2, utf8('four')], [3, 5])))).toBe(
      'file: It declares 5 bytes, but its parts have 4.',
    )
    expect(faultOf(read(unixfsMessage([1, 2], [2, utf8('four')])))).toBe(
      'file: It declares 0 bytes, but its parts have 4.',
    )
    expect(read(unixfsMessage([1, 2]))).toEqual({ kind: 'file', sizeBytes: 0, data: new Uint8Array(), children: [] })
  })

  test('refuses a file that names its parts, and one larger than numbers are exact', () => {
    const data = unixfsMessage([1, 2], [3, 5], [4, 5])
    expect(faultOf(read(data, links('part')))).toBe('file: Its links to the parts of a file have names.')
    const huge = unixfsMessage([1, 2], [3, 2 ** 60], [4, 2 ** 60])
    expect(faultOf(read(huge, links('')))).toBe('file: It declares more than 2^53 bytes.')
  })

  test('lists a directory in its own order, repeated names too', () => {
    const data = new UnixFS({ type: 'directory' }).marshal()
    const node = read(data, links('a', 'b', 'b'))
    expect(node.kind === 'directory' && node.entries.map(({ name }) => name)).toEqual(['a', 'b', 'b'])
  })

  test('reads a shard: buckets by their digits, entries by their names, next shards by having none', () => {
    const data = new UnixFS({ type: 'hamt-sharded-directory', hashType: 0x22n, fanout: 256n, data: utf8('bits') })
    expect(read(data.marshal(), links('0Aname', 'FF'))).toEqual({
      kind: 'hamt',
      fanout: 256,
      hashCode: 0x22,
      links: [
        { bucket: '0A', name: 'name', cid: child },
        { bucket: 'FF', name: undefined, cid: child },
      ],
    })
    expect(faultOf(read(data.marshal(), links('F')))).toBe('shard: One of its links has no bucket.')
  })

  test('refuses a shard whose number of buckets is none that is in use', () => {
    for (const fanout of [0, 4, 255, 2048]) {
      expect(faultOf(read(unixfsMessage([1, 5], [5, 0x22], [6, fanout])))).toBe(
        `shard: Its fanout is ${fanout}, which is not a power of two from 8 to 1024.`,
      )
    }
  })

  test('takes dag-pb without UnixFS in it, and UnixFS that holds no bytes, for other', () => {
    for (const data of [
      undefined,
      new Uint8Array(),
      utf8('no protobuf'),
      unixfsMessage([3, 4]),
      unixfsMessage([1, 9]),
    ]) {
      expect(read(data, links('x'))).toEqual({ kind: 'other' })
    }
  })

  test('reads a symbolic link, and the path that it leads to', () => {
    const symlink = new UnixFS({ type: 'symlink', data: utf8('../a target') }).marshal()
    expect(read(symlink)).toEqual({ kind: 'symlink', target: utf8('../a target') })
  })

  test('says that bytes are no dag-pb, and throws for none', () => {
    expect(faultOf(readUnixfsNode(dagPb.code, utf8('x')))).toBe('block: It does not decode as dag-pb.')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(readUnixfsNode(dagPb.code, bytes).kind).toMatch(/^(?:file|directory|hamt|symlink|other|fault)$/)
        expect(read(bytes).kind).toMatch(/^(?:file|directory|hamt|symlink|other|fault)$/)
      }),
    )
  })
})
