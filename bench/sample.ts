/** Response times of one sample, in milliseconds, as the client saw them. */
export interface Latency {
  p50: number
  p99: number
}

/** How many cores were busy during the timed part: 1 is one core for all of that time. */
export interface BusyCores {
  /** All threads and child processes of the server together. */
  server: number
  /** The one server thread that worked most. Close to 1: that thread is the limit. */
  busiestServerThread: number
  /** Everything on the machine, the load process and strangers included. */
  machine: number
}

/** One timed run of one variant. Absent fields were not measurable there. */
export interface Sample {
  /** In the unit of its row. */
  value: number
  peakMemoryBytes?: number | undefined
  latencyMs?: Latency | undefined
  busyCores?: BusyCores | undefined
}

/** One competitor of a row: its name and how to take one sample of it. */
export interface Variant {
  name: string
  takeSample(round: number): Promise<Sample>
}

/** A variant with the samples taken of it, in the order of the rounds. */
export interface SampledVariant {
  name: string
  samples: Sample[]
}

/** One line of the result: Lade against the best of its baselines, with the rest printed for information. */
export interface Row {
  what: string
  unit: 'MiB/s' | '/s'
  /** Lade's median over the baseline's median is wanted at or above this; absent for a stand-in baseline. */
  targetRatio: number | undefined
  lade: SampledVariant
  /** The one with the best median counts. */
  baselines: SampledVariant[]
  others: SampledVariant[]
}
