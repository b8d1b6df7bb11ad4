import { alignedTable } from '../aligned-table.ts'
import type { Measured } from './measure.ts'

/** Operations may take this many times as long at the biggest size as at the smallest. */
const TARGET_RATIO = 1.5
/** Below this nobody notices: the timer, the event loop and the disk of the moment are most of it. */
const NOTICEABLE_MS = 0.5

/** Milliseconds at each size, and the ratio of the biggest to the smallest. */
export function renderMeasured(measured: readonly Measured[]): string {
  const sizes = measured.find(({ timings }) => timings.length > 0)?.timings.map(({ files }) => files) ?? []
  const heads = sizes.flatMap((files) => [`p50 at ${shortCount(files)}`, 'p99'])
  const rows = measured.map(({ operation, timings, failure }) => {
    if (failure !== undefined) return [operation, failure]
    const first = timings[0]
    const last = timings.at(-1)
    const [p50, p99] = [ratio(first?.p50Ms, last?.p50Ms), ratio(first?.p99Ms, last?.p99Ms)]
    const isAbove = p99 > TARGET_RATIO && (last?.p99Ms ?? 0) > NOTICEABLE_MS
    return [
      operation,
      ...timings.flatMap(({ p50Ms, p99Ms }) => [milliseconds(p50Ms), milliseconds(p99Ms)]),
      p50.toFixed(2),
      p99.toFixed(2),
      isAbove ? 'above' : '',
    ]
  })
  return alignedTable([['operation, ms', ...heads, 'p50 ratio', 'p99 ratio', ''], ...rows])
}

function ratio(first = 0, last = 0): number {
  return last / first
}

function milliseconds(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms.toPrecision(3)
}

function shortCount(count: number): string {
  if (count >= 1_000_000) return `${count / 1_000_000} M`
  return count >= 1000 ? `${count / 1000} k` : String(count)
}

/** Bytes of tables and indexes for one file, the biggest first. */
export function renderSizes(sizes: ReadonlyMap<string, number>, files: number): string {
  const rows = [...sizes].filter(([, bytes]) => bytes / files >= 0.5).sort(([, one], [, other]) => other - one)
  return alignedTable([['bytes a file', ''], ...rows.map(([name, bytes]) => [name, (bytes / files).toFixed(1)])])
}
