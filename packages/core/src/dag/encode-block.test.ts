import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { DagLayout } from './dag-layout.ts'
import { encodeBlock } from './encode-block.ts'
import { IMPORT_PROFILES } from './import-profile.ts'

// That every block is the importer's own, byte for byte, is what reference-importer.test.ts shows.
describe('encodeBlock', () => {
  const chunk = Uint8Array.from([1, 2, 3])
  const raw = new DagLayout({ ...IMPORT_PROFILES['unixfs-v1-2025'], chunkBytes: 3 }, 6)
  const wrapped = new DagLayout({ ...IMPORT_PROFILES['unixfs-v0-2015'], chunkBytes: 3 }, 6)

  test('a raw leaf is the chunk itself, and no copy', () => {
    expect(encodeBlock(raw, 1, { chunk })).toBe(chunk)
  })

  test('a dag-pb leaf is a node with the chunk as UnixFS data', () => {
    expect(base16.baseEncode(encodeBlock(wrapped, 1, { chunk }))).toBe('0a0908021203010203' + '1803')
  })

  test('an interior node links to its children by the digests handed in', () => {
    const childDigests = Uint8Array.from({ length: 64 }, (_, at) => at)
    const block = base16.baseEncode(encodeBlock(raw, 2, { childDigests }))
    expect(block).toContain(base16.baseEncode(childDigests.subarray(0, 32)))
    expect(block).toContain(base16.baseEncode(childDigests.subarray(32)))
    expect(block).toHaveLength(2 * raw.node(2).blockBytes)
  })

  test('error: a source of the other kind', () => {
    expect(() => encodeBlock(raw, 0, { childDigests: new Uint8Array(64) })).toThrow('is a leaf')
    expect(() => encodeBlock(raw, 2, { chunk })).toThrow("children's digests")
  })

  test('error: a source of the wrong length', () => {
    expect(() => encodeBlock(raw, 0, { chunk: new Uint8Array(2) })).toThrow(TypeError)
    expect(() => encodeBlock(wrapped, 0, { chunk: new Uint8Array(4) })).toThrow(TypeError)
    expect(() => encodeBlock(raw, 2, { childDigests: new Uint8Array(32) })).toThrow(TypeError)
  })

  test('error: no such node', () => {
    expect(() => encodeBlock(raw, 3, { chunk })).toThrow(TypeError)
  })
})
