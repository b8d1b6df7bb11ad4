import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HEIGHTS, measureCalls, measureProofs, type ProofGas } from './testing/measure-gas.ts'

const PAGE = join(import.meta.dirname, '../../../docs/protocol/marketplace.md')
/** A figure of the page may differ so much from a new measurement: hashes have more or fewer zero bytes. */
const TOLERANCE = 0.02
/** What one proved period of 1 GiB may take, opening included: 2.5 times what one leaf took in the first version. */
const MOST_FOR_1_GIB = 305_837

/** The rows of the tables of the page, by their first cells; figures as numbers. */
const rows = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
const figure = (cell: string | undefined) => Number(cell?.replaceAll(',', ''))

function expectNear(name: string, written: number, measured: number): void {
  const isNear = Math.abs(written - measured) <= TOLERANCE * measured
  expect(isNear ? name : `${name}: the page says ${written}, measured ${measured}`).toBe(name)
}

describe('the gas that the page names', () => {
  it('is what calls take', async () => {
    const measured = Object.entries(await measureCalls())
    expect(measured).toHaveLength(11)
    for (const [call, gas] of measured) {
      // The first table of the page says what calls do.
      const row = rows.find(([first, second]) => first === call && !Number.isNaN(figure(second)))
      expectNear(call, figure(row?.[1]), gas)
    }
  }, 120_000)

  it.each([
    ['Prague', 'prague'],
    ['before EIP-7623', 'cancun'],
  ] as const)(
    'is what proved periods take: %s',
    async (rules, hardfork) => {
      const measured = Object.entries(await measureProofs(hardfork))
      expect(measured.map(([size]) => size)).toEqual(Object.keys(HEIGHTS))
      for (const [size, gas] of measured) {
        const row = rows.find(([first, second]) => first === size && second === rules)
        const [, , open, prove, together, openInBatch, proveInBatch, togetherInBatch] = (row ?? []).map(figure)
        const written = { open, prove, openInBatch, proveInBatch }
        for (const [name, value] of Object.entries(gas)) {
          expectNear(`${size}, ${name}`, written[name as keyof ProofGas] ?? 0, value)
        }
        expectNear(`${size}, together`, together ?? 0, gas.open + gas.prove)
        expectNear(`${size}, together in a batch`, togetherInBatch ?? 0, gas.openInBatch + gas.proveInBatch)
      }
    },
    120_000,
  )

  it('is at most 2.5 times that of the first version, alone and in a batch', async () => {
    const { '1 GiB': gas } = await measureProofs('prague')
    expect((gas?.open ?? Infinity) + (gas?.prove ?? Infinity)).toBeLessThanOrEqual(MOST_FOR_1_GIB)
    expect((gas?.openInBatch ?? Infinity) + (gas?.proveInBatch ?? Infinity)).toBeLessThanOrEqual(MOST_FOR_1_GIB)
  }, 120_000)
})
