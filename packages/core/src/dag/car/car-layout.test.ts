import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import { DagLayout } from '../dag-layout.ts'
import { IMPORT_PROFILES } from '../import-profile.ts'
import { DAG_PB } from '../links.ts'
import { CarLayout, type CarSection } from './car-layout.ts'
import { carHeader, carSection } from './car-writer.ts'

const V1 = IMPORT_PROFILES['unixfs-v1-2025']
const CIDV1 = CID.createV1(DAG_PB, create(0x12, createHash('sha256').update('block').digest()))

/** The sections one after the other, by walking the DAG from its root. */
function walk(dag: DagLayout, number: number, offsetBytes: number): CarSection[] {
  const { blockBytes, firstChild, childCount } = dag.node(number)
  const sections = [{ node: number, offsetBytes, sizeBytes: carSection(CIDV1, blockBytes).length + blockBytes }]
  for (let child = 0; child < childCount; child += 1) {
    const { offsetBytes: from, sizeBytes } = sections.at(-1) ?? { offsetBytes: 0, sizeBytes: 0 }
    sections.push(...walk(dag, firstChild + child, from + sizeBytes))
  }
  return sections
}

describe('CarLayout', () => {
  test('says where every section is that a walk of the DAG comes to', () => {
    const shapes = fc.record({
      chunkBytes: fc.integer({ min: 1, max: 300 }),
      linksPerNode: fc.integer({ min: 2, max: 5 }),
      leaves: fc.constantFrom('raw' as const, 'dag-pb' as const),
      sizeBytes: fc.nat(4000),
      pick: fc.nat(),
    })
    fc.assert(
      fc.property(shapes, ({ chunkBytes, linksPerNode, leaves, sizeBytes, pick }) => {
        const profile = { ...V1, chunkBytes: Math.max(chunkBytes, Math.ceil(sizeBytes / 40)), linksPerNode, leaves }
        const dag = new DagLayout(profile, sizeBytes)
        const car = new CarLayout(dag)
        const sections = walk(dag, dag.nodeCount - 1, car.headerBytes)
        const last = sections.at(-1)
        expect(car.sizeBytes).toBe((last?.offsetBytes ?? 0) + (last?.sizeBytes ?? 0))
        for (const section of sections) {
          expect(car.sectionAt(section.offsetBytes)).toEqual(section)
          expect(car.sectionAt(section.offsetBytes + (pick % section.sizeBytes))).toEqual(section)
          expect(car.sectionAt(section.offsetBytes + section.sizeBytes - 1)).toEqual(section)
        }
      }),
    )
  })

  test('counts a header of one root, in which no section is', () => {
    const car = new CarLayout(new DagLayout(V1, 3_000_000))
    expect(car.headerBytes).toBe(carHeader([CIDV1]).length)
    expect(car.sectionAt(car.headerBytes)).toMatchObject({ node: 3 })
    for (const offset of [0, car.headerBytes - 1, car.sizeBytes, Number.NaN]) {
      expect(() => car.sectionAt(offset)).toThrow(TypeError)
    }
  })
})
