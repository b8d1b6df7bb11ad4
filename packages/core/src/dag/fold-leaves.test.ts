import { describe, expect, test } from 'vitest'
import { DagLayout } from './dag-layout.ts'
import { foldLeaves } from './fold-leaves.ts'
import { IMPORT_PROFILES } from './import-profile.ts'
import { hashDags, sha256 } from './testing-dag.ts'

describe('foldLeaves', () => {
  const bytes = Uint8Array.from({ length: 97 }, (_, at) => at)

  test.each(['raw', 'dag-pb'] as const)('leaf digests of parts make up the DAG of the whole, %s leaves', (leaves) => {
    const profile = { ...IMPORT_PROFILES['raw-1m-174'], leaves, chunkBytes: 8, linksPerNode: 3 }
    const leafDigests = [bytes.subarray(0, 32), bytes.subarray(32, 96), bytes.subarray(96)].flatMap((part) => {
      const { leafCount } = new DagLayout(profile, part.length)
      return hashDags([profile], part.length, [part]).flatMap(({ digests }) => [...digests.subarray(0, 32 * leafCount)])
    })
    const folded = foldLeaves(new DagLayout(profile, bytes.length), Uint8Array.from(leafDigests), sha256)
    expect([folded]).toEqual(hashDags([profile], bytes.length, [bytes]))
  })

  test.each([0, 31, 33, 64])('error: %i bytes of digests for one leaf', (length) => {
    const layout = new DagLayout(IMPORT_PROFILES['unixfs-v0-2015'], bytes.length)
    expect(() => foldLeaves(layout, new Uint8Array(length), sha256)).toThrow(TypeError)
  })
})
