import { alignedTable } from './aligned-table.ts'
import type { MachineFacts } from './machine-facts.ts'
import type { BusyCores, Row, Sample, SampledVariant } from './sample.ts'
import { median } from './statistics.ts'
import { judge, medianOf } from './verdict.ts'

/** A thread or a machine this busy has no more to give; the rest goes to waiting for one another. */
const FULL = 0.9

/** Renders the rows for people: the ratios, then every variant, then what kept Lade from being faster. */
export function renderReport(rows: readonly Row[], machine: MachineFacts): string {
  const bounds = rows.flatMap((row) => boundOf(row, machine.cores) ?? [])
  return [
    describeMachine(machine),
    alignedTable([RATIO_HEAD, ...rows.map(ratioCells)]),
    alignedTable([VARIANT_HEAD, ...rows.flatMap(variantLines)]),
    ...(bounds.length === 0 ? [] : [['What bounds Lade', ...bounds].join('\n')]),
  ].join('\n\n')
}

const RATIO_HEAD = ['', 'Lade', 'baseline', 'unit', 'ratio', 'of rounds', 'target', '', 'Lade peak', 'baseline peak']

function ratioCells(row: Row): string[] {
  const { baseline, ladeMedian, baselineMedian, ratio, ratioRange, reached } = judge(row)
  return [
    row.what,
    rounded(ladeMedian),
    rounded(baselineMedian),
    row.unit,
    ratio.toFixed(2),
    ratioRange.map((value) => value.toFixed(2)).join('–'),
    row.targetRatio === undefined ? '' : `≥ ${row.targetRatio}`,
    reached === undefined ? '' : reached ? '✓' : '✗',
    peakMemory(row.lade),
    peakMemory(baseline),
  ]
}

const VARIANT_HEAD = [
  'every variant',
  'median',
  'slowest',
  'fastest',
  'unit',
  'a CPU second',
  'p50 ms',
  'p99 ms',
  'peak memory',
]

function variantLines(row: Row): string[][] {
  const { baseline } = judge(row)
  const variants = [row.lade, ...row.baselines, ...row.others]
  return [[row.what], ...variants.map((variant) => variantCells(row, variant, variant === baseline))]
}

function variantCells(row: Row, variant: SampledVariant, isBaseline: boolean): string[] {
  const values = variant.samples.map(({ value }) => value)
  return [
    `  ${variant.name}${isBaseline ? '  [baseline]' : ''}`,
    rounded(medianOf(variant)),
    rounded(Math.min(...values)),
    rounded(Math.max(...values)),
    row.unit,
    aCpuSecond(variant),
    medianCell(variant, (sample) => sample.latencyMs?.p50),
    medianCell(variant, (sample) => sample.latencyMs?.p99),
    peakMemory(variant),
  ]
}

function boundOf(row: Row, cores: number): string | undefined {
  const busyOf = (pick: (busy: BusyCores) => number) =>
    medianDefined(row.lade, ({ busyCores }) => busyCores && pick(busyCores))
  const server = busyOf((busy) => busy.server)
  const thread = busyOf((busy) => busy.busiestServerThread)
  const machine = busyOf((busy) => busy.machine)
  if (server === undefined || thread === undefined || machine === undefined) return undefined
  const bound = boundName({ server, busiestServerThread: thread, machine }, cores)
  return (
    `  ${row.what}: ${bound} (server ${server.toFixed(2)} cores, its busiest thread ${thread.toFixed(2)}; ` +
    `machine ${machine.toFixed(2)} of ${cores})`
  )
}

function boundName(busy: BusyCores, cores: number): string {
  if (busy.busiestServerThread >= FULL) return 'one thread of the server is full'
  if (busy.machine >= FULL * cores) return 'all cores are full, with the load process and whatever else runs'
  return 'nothing is full: waiting, for the disk or for one another'
}

function describeMachine(machine: MachineFacts): string {
  const { cpuModel, cores, memoryBytes, kernel, node, nginx, wrk, loadAverage, dirIsMemory } = machine
  const gibibytes = Math.round(memoryBytes / 1024 ** 3)
  return [
    `${cpuModel}, ${cores} cores, ${gibibytes} GiB; Linux ${kernel}; Node.js ${node}; nginx ${nginx ?? 'absent'}; wrk ${wrk ?? 'absent'}`,
    ...(nginx === undefined
      ? ['Without nginx the download and GET ratios are against node:http streams and have no target.']
      : []),
    ...(dirIsMemory ? ['The temporary folder is in memory: the upload rows say nothing about a disk. Use --dir.'] : []),
    ...(loadAverage > 0.5 ? [`The machine was busy before the run (load ${loadAverage.toFixed(1)}).`] : []),
  ].join('\n')
}

function peakMemory({ samples }: SampledVariant): string {
  const peaks = samples.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? [])
  return peaks.length === 0 ? '' : `${Math.round(Math.max(...peaks) / 1024 ** 2)} MiB`
}

function medianCell(variant: SampledVariant, pick: (sample: Sample) => number | undefined): string {
  return medianDefined(variant, pick)?.toFixed(1) ?? ''
}

/** What one second of the server's processor time did. */
function aCpuSecond(variant: SampledVariant): string {
  const done = medianDefined(variant, ({ value, busyCores }) => busyCores && value / busyCores.server)
  return done === undefined ? '' : rounded(done)
}

function medianDefined(variant: SampledVariant, pick: (sample: Sample) => number | undefined): number | undefined {
  const values = variant.samples.flatMap((sample) => pick(sample) ?? [])
  return values.length === 0 ? undefined : median(values)
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString('en')
}
