import { alignedTable } from '../aligned-table.ts'
import type { MeasuredMemory } from './measure-memory.ts'

const REST_TARGET_MIB = 120
/** A minute after a load the service may have this much more than before it. */
const MOST_KEPT = 1.2
const HEAD = ['MiB resident', 'at rest', 'peak', 'target', '', 'later', 'of rest', '', 'own at rest', 'own later']

/** A line for each load. `own` is what is not mapped from files. */
export function renderMemory(measured: readonly MeasuredMemory[], restSeconds: number): string {
  const rows = measured.map(({ load, atRest, later }) => {
    const kept = later.residentBytes / atRest.residentBytes
    return [
      load.what,
      mebibytes(atRest.residentBytes),
      mebibytes(later.peakBytes),
      `≤ ${mebibytes(load.targetBytes)}`,
      mark(later.peakBytes <= load.targetBytes),
      mebibytes(later.residentBytes),
      kept.toFixed(2),
      mark(kept <= MOST_KEPT),
      mebibytes(atRest.anonymousBytes),
      mebibytes(later.anonymousBytes),
    ]
  })
  return [
    alignedTable([HEAD, ...rows]),
    `At rest ${REST_TARGET_MIB} is wanted, 20 s after the start; ${restSeconds} s later, at most ${MOST_KEPT} of it.`,
  ].join('\n')
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0)
}

function mark(isReached: boolean): string {
  return isReached ? '✓' : '✗'
}
