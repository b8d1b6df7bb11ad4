import { describe, expect, test } from 'vitest'
import { IMPORT_PROFILES, type ImportProfileName } from './import-profile.ts'
import { profilesThatCanMatch } from './profiles-that-can-match.ts'
import { hashDags } from './testing-dag.ts'

const KIB = 1024
const MIB = 1024 * KIB

describe('profilesThatCanMatch', () => {
  test.each([
    [0, ['unixfs-v0-2015']],
    [1, ['unixfs-v0-2015']],
    [256 * KIB, ['unixfs-v0-2015']],
    [256 * KIB + 1, ['unixfs-v0-2015', 'raw-256k-174']],
    [MIB, ['unixfs-v0-2015', 'raw-256k-174']],
    [MIB + 1, ['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174']],
    [174 * MIB, ['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174']],
    [174 * MIB + 1, ['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174', 'raw-1m-174']],
    [Number.MAX_SAFE_INTEGER, ['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174', 'raw-1m-174']],
  ] as const)('%i bytes: %j', (sizeBytes, names) => {
    expect(profilesThatCanMatch({ sizeBytes })).toEqual(names)
  })

  test.each([0, 1, 256 * KIB, 256 * KIB + 1, MIB, MIB + 1])(
    'leaves out no dag-pb root and names none twice, %i bytes',
    (sizeBytes) => {
      const bytes = new Uint8Array(sizeBytes)
      const rootsUnder = (names: readonly ImportProfileName[]) =>
        names
          .flatMap((name) => hashDags([IMPORT_PROFILES[name]], sizeBytes, [bytes]))
          .filter(({ rootCodec }) => rootCodec === 'dag-pb')
          .map(({ root }) => root)
      const all = rootsUnder(Object.values(IMPORT_PROFILES).map(({ name }) => name))
      expect(rootsUnder(profilesThatCanMatch({ sizeBytes }))).toEqual([...new Set(all)])
    },
  )

  test.each([
    [1, 'unixfs-v0-2015', ['unixfs-v0-2015']],
    [1, 'unixfs-v1-2025', []],
    [MIB, 'raw-1m-174', []],
    [174 * MIB, 'unixfs-v1-2025', ['unixfs-v1-2025']],
    [174 * MIB, 'raw-1m-174', ['unixfs-v1-2025']],
    [174 * MIB + 1, 'raw-1m-174', ['raw-1m-174']],
    [174 * MIB + 1, 'unixfs-v1-2025', ['unixfs-v1-2025']],
    [174 * MIB + 1, 'raw-256k-174', ['raw-256k-174']],
  ] as const)('%i bytes under %s alone: %j', (sizeBytes, only, names) => {
    expect(profilesThatCanMatch({ sizeBytes, only })).toEqual(names)
  })

  test('error: no byte count', () => {
    expect(() => profilesThatCanMatch({ sizeBytes: -1 })).toThrow(TypeError)
  })
})
