import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DagLayout, type DagNode } from './dag-layout.ts'
import { IMPORT_PROFILES, type ImportProfile } from './import-profile.ts'

const KIB = 1024
const MIB = 1024 * KIB
const V1 = IMPORT_PROFILES['unixfs-v1-2025']

function childrenOf(layout: DagLayout, node: DagNode): DagNode[] {
  return Array.from({ length: node.childCount }, (_, at) => layout.node(node.firstChild + at))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Down from the root, at each level into the child that `pick` says, checking each node against its children. */
function expectSoundPath(layout: DagLayout, picks: readonly number[]): void {
  let node = layout.node(layout.nodeCount - 1)
  expect(node).toMatchObject({ offsetBytes: 0, lengthBytes: layout.sizeBytes, index: 0 })
  for (const pick of picks) {
    if (node.kind === 'interior') expectSoundParent(layout, node)
    const child = childrenOf(layout, node)[Math.floor(pick * node.childCount)]
    if (child === undefined) break
    node = child
  }
  if (node.level === 0) expect(node.kind).toBe(layout.profile.leaves === 'raw' ? 'raw-leaf' : 'dag-pb-leaf')
}

function expectSoundParent(layout: DagLayout, node: DagNode): void {
  const children = childrenOf(layout, node)
  expect(children.length).toBeGreaterThan(0)
  expect(children.length).toBeLessThanOrEqual(layout.profile.linksPerNode)
  let offsetBytes = node.offsetBytes
  for (const child of children) {
    expect(child).toMatchObject({ level: node.level - 1, offsetBytes })
    offsetBytes += child.lengthBytes
  }
  expect(offsetBytes).toBe(node.offsetBytes + node.lengthBytes)
  expect(node.dagBytes).toBe(node.blockBytes + sum(children.map(({ dagBytes }) => dagBytes)))
  const runs = layout.childRuns(node.number)
  expect(runs.flatMap(({ count, dagBytes }) => Array.from({ length: count }, () => dagBytes))).toEqual(
    children.map(({ dagBytes }) => dagBytes),
  )
}

describe('DagLayout', () => {
  test('numbers the leaves from 0, then each level, the root last', () => {
    const layout = new DagLayout({ ...V1, chunkBytes: 10, linksPerNode: 2 }, 45)
    expect(layout.levels.map(({ firstNumber, count }) => [firstNumber, count])).toEqual([
      [0, 5],
      [5, 3],
      [8, 2],
      [10, 1],
    ])
    expect(layout.leafCount).toBe(5)
    expect(layout.nodeCount).toBe(11)
    expect(layout.node(4)).toMatchObject({ level: 0, index: 4, kind: 'raw-leaf', offsetBytes: 40, lengthBytes: 5 })
    // A last group of one gets a parent all the same.
    expect(layout.node(7)).toMatchObject({ level: 1, index: 2, firstChild: 4, childCount: 1, lengthBytes: 5 })
    expect(layout.node(9)).toMatchObject({ level: 2, index: 1, firstChild: 7, childCount: 1, offsetBytes: 40 })
    expect(layout.node(10)).toMatchObject({ level: 3, firstChild: 8, childCount: 2, offsetBytes: 0, lengthBytes: 45 })
  })

  test.each([
    ['unixfs-v0-2015', 0, 1],
    ['unixfs-v0-2015', 256 * KIB, 1],
    ['unixfs-v0-2015', 256 * KIB + 1, 3],
    ['unixfs-v0-2015', 174 * 256 * KIB, 175],
    ['unixfs-v0-2015', 174 * 256 * KIB + 1, 178],
    ['unixfs-v1-2025', 0, 1],
    ['unixfs-v1-2025', MIB, 1],
    ['unixfs-v1-2025', 1024 * MIB, 1025],
    ['unixfs-v1-2025', 1024 * MIB + 1, 1028],
    ['raw-1m-174', 1024 * MIB, 1024 + 6 + 1],
  ] as const)('%s, %i bytes: %i blocks', (name, sizeBytes, nodeCount) => {
    expect(new DagLayout(IMPORT_PROFILES[name], sizeBytes).nodeCount).toBe(nodeCount)
  })

  test('a leaf of no bytes is the DAG of an empty file', () => {
    const v0 = new DagLayout(IMPORT_PROFILES['unixfs-v0-2015'], 0)
    expect(v0.node(0)).toMatchObject({ kind: 'dag-pb-leaf', lengthBytes: 0, childCount: 0, blockBytes: 6, dagBytes: 6 })
    expect(new DagLayout(V1, 0).node(0)).toMatchObject({ kind: 'raw-leaf', blockBytes: 0, dagBytes: 0 })
    expect(v0.childRuns(0)).toEqual([])
  })

  test('every node is what its children add up to, at any size and depth', () => {
    const someProfile = fc.record({
      name: fc.constant('raw-256k-174' as const),
      chunkBytes: fc.integer({ min: 1, max: 2 * MIB }),
      linksPerNode: fc.integer({ min: 2, max: 1024 }),
      leaves: fc.constantFrom('raw' as const, 'dag-pb' as const),
    })
    const someBytes = fc.oneof(fc.nat({ max: 2 ** 30 }), fc.nat({ max: 2 ** 51 }))
    const somePicks = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
      minLength: 54,
      maxLength: 54,
    })
    fc.assert(
      fc.property(someProfile, someBytes, somePicks, (profile, sizeBytes, picks) => {
        // Tiny chunks of huge files would double the file in links.
        const layout = new DagLayout(profile, Math.min(sizeBytes, profile.chunkBytes * 2 ** 40))
        expectSoundPath(layout, picks)
        expectSoundPath(
          layout,
          picks.map(() => 0.999_999),
        )
      }),
      { numRuns: 300 },
    )
  })

  test.each(Object.values(IMPORT_PROFILES))('$name holds up to 2^53 − 1 bytes', (profile: ImportProfile) => {
    const layout = new DagLayout(profile, Number.MAX_SAFE_INTEGER)
    const { firstNumber } = layout.levels.at(-2) ?? { firstNumber: Number.NaN }
    const last = layout.node(layout.nodeCount - 2)
    expect(last.offsetBytes + last.lengthBytes).toBe(Number.MAX_SAFE_INTEGER)
    expectSoundParent(layout, layout.node(firstNumber))
    expectSoundParent(layout, last)
    const lastLeaf = layout.node(layout.leafCount - 1)
    expect(lastLeaf).toMatchObject({ level: 0, lengthBytes: profile.chunkBytes - 1 })
    expect(lastLeaf.offsetBytes).toBe(Number.MAX_SAFE_INTEGER - lastLeaf.lengthBytes)
  })

  test.each([-1, 0.5, 4, Number.NaN, Number.POSITIVE_INFINITY])('error: no node %d of 4', (number) => {
    const layout = new DagLayout({ ...V1, chunkBytes: 10 }, 25)
    expect(layout.nodeCount).toBe(4)
    expect(() => layout.node(number)).toThrow(TypeError)
    expect(() => layout.childRuns(number)).toThrow(TypeError)
  })

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('error: a file of %d bytes', (sizeBytes) => {
    expect(() => new DagLayout(V1, sizeBytes)).toThrow(TypeError)
  })

  test.each([{ chunkBytes: 0 }, { chunkBytes: 0.5 }, { linksPerNode: 1 }, { linksPerNode: 2.5 }])(
    'error: a profile with %o',
    (wrong) => {
      expect(() => new DagLayout({ ...V1, ...wrong }, 10)).toThrow(TypeError)
    },
  )

  test('error: a link whose Tsize would exceed 2^53 − 1', () => {
    expect(() => new DagLayout({ ...V1, chunkBytes: 1, linksPerNode: 2 }, Number.MAX_SAFE_INTEGER)).toThrow(TypeError)
  })
})
