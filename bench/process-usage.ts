import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Linux reports process times to user space in hundredths of a second, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100

/** Processor time that a process tree has used so far, in seconds. */
export interface CpuReading {
  totalSeconds: number
  /** By thread id; threads that ended are missing. */
  threadSeconds: Map<string, number>
}

/**
 * Reads the peak resident memory of `pid` and its descendants, summed, from `VmHWM`. Pages that two of the processes
 * share are counted twice, pages mapped from files count too.
 *
 * @returns bytes; `undefined` where there is no `/proc`, or once the process has ended.
 */
export function readPeakMemoryBytes(pid: number): number | undefined {
  let sumBytes: number | undefined
  for (const member of processTree(pid)) {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readProcFile(`${member}/status`) ?? '')?.[1]
    if (kibibytes !== undefined) sumBytes = (sumBytes ?? 0) + Number(kibibytes) * 1024
  }
  return sumBytes
}

/** Resident memory of a process, in bytes. */
export interface ResidentMemory {
  /** All of it. Pages that it shares with other processes count too. */
  readonly residentBytes: number
  /** What it has made itself: heaps, buffers and stacks. The rest is mapped from files, such as the program. */
  readonly anonymousBytes: number
  /** The most that was resident since the start, or since {@link forgetPeakMemory}. */
  readonly peakBytes: number
}

/** @throws {Error} where there is no `/proc`, or once the process has ended. */
export function readResidentMemory(pid: number): ResidentMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const bytes = (name: string): number => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    if (kibibytes === undefined) throw new Error(`/proc/${pid}/status has no ${name}`)
    return Number(kibibytes) * 1024
  }
  return { residentBytes: bytes('VmRSS'), anonymousBytes: bytes('RssAnon'), peakBytes: bytes('VmHWM') }
}

/** Has the peak of a process begin with what is resident now. */
export function forgetPeakMemory(pid: number): void {
  // See proc(5), clear_refs.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Reads the processor time of `pid`, its threads and its descendants; zero and empty where there is no `/proc`. */
export function readCpu(pid: number): CpuReading {
  const reading: CpuReading = { totalSeconds: 0, threadSeconds: new Map() }
  for (const member of processTree(pid)) {
    reading.totalSeconds += statSeconds(readProcFile(`${member}/stat`))
    for (const thread of listProcDir(`${member}/task`)) {
      reading.threadSeconds.set(thread, statSeconds(readProcFile(`${member}/task/${thread}/stat`)))
    }
  }
  return reading
}

/** What was used between two readings: all together, and by the thread that used most. */
export function cpuBetween(before: CpuReading, after: CpuReading): { totalSeconds: number; busiestSeconds: number } {
  let busiestSeconds = 0
  for (const [thread, seconds] of after.threadSeconds) {
    busiestSeconds = Math.max(busiestSeconds, seconds - (before.threadSeconds.get(thread) ?? 0))
  }
  return { totalSeconds: after.totalSeconds - before.totalSeconds, busiestSeconds }
}

/**
 * Seconds that all cores together were not idle since the machine started; zero where there is no `/proc`. Not from
 * `os.cpus()`, which leaves out soft interrupts, and with them most of what the loopback costs. Time that the host
 * took for other machines (steal) counts as not idle.
 */
export function readMachineBusySeconds(): number {
  const fields =
    /^cpu +(.*)$/m
      .exec(readProcFile('stat') ?? '')?.[1]
      ?.split(' ')
      .map(Number) ?? []
  // user nice system idle iowait irq softirq steal; the guest fields behind them are already in user and nice.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
}

/** Lists `pid` and its descendants, parents first; only `pid` where the kernel does not say. */
export function processTree(pid: number): number[] {
  const children = listProcDir(`${pid}/task`).flatMap((thread) =>
    (readProcFile(`${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(processTree)]
}

function statSeconds(stat: string | undefined): number {
  if (stat === undefined) return 0
  // The second field is the program's name in parentheses and may hold spaces: count from behind the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function readProcFile(path: string): string | undefined {
  return unlessGone(() => readFileSync(`/proc/${path}`, 'latin1'))
}

function listProcDir(path: string): string[] {
  return unlessGone(() => readdirSync(`/proc/${path}`)) ?? []
}

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
