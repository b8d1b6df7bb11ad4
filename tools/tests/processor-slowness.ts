/** What the reference costs on the machine that the limits of processor time are for, while nothing else runs. */
const REFERENCE_MS = 9
const SAMPLES = 9

const rows = Array.from({ length: 20_000 }, (_, index) => ({ path: `folder ${index % 100}/file ${index}`, index }))

/** JSON, objects and strings: what requests cost most with. */
function referenceMs(): number {
  const before = process.cpuUsage()
  const texts = new Map<string, number>()
  for (const { path, index } of JSON.parse(JSON.stringify(rows)) as typeof rows) texts.set(path.toUpperCase(), index)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * How many times as slow as the machine of the limits this one is at the moment; at least 1. A virtual machine whose host is busy can be several
 * times as slow, also by its processor time.
 */
export function processorSlowness(): number {
  const samples = Array.from({ length: SAMPLES }, referenceMs).sort((a, b) => a - b)
  const median = samples[(SAMPLES - 1) / 2] ?? Number.NaN
  return Math.max(1, median / REFERENCE_MS)
}
