/** What the reference costs on the machine that the limits of processor time were written on, with nothing else running. */
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
 * How many times as long as there this machine takes for the same work at this time, at least 1. A virtual machine whose host is busy
 * takes several times as long, in processor time as well.
 */
export function processorSlowness(): number {
  const samples = Array.from({ length: SAMPLES }, referenceMs).sort((a, b) => a - b)
  const median = samples[(SAMPLES - 1) / 2] ?? Number.NaN
  return Math.max(1, median / REFERENCE_MS)
}
