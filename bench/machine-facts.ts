import { spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** `f_type` of file systems that live in memory (linux/magic.h: TMPFS_MAGIC, RAMFS_MAGIC). */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994, 0x858458f6])

/** What a reader must know about the machine to make sense of the figures. */
export interface MachineFacts {
  cpuModel: string
  cores: number
  memoryBytes: number
  kernel: string
  node: string
  nginx: string | undefined
  wrk: string | undefined
  /** Mean number of runnable tasks over the last minute, before the run. */
  loadAverage: number
  /** Whether the temporary folder is in memory, where durable writes cost nothing and the upload rows mean nothing. */
  dirIsMemory: boolean
}

/** Gathers the facts; `nginx` and `wrk` are absent when they cannot be run. */
export function readMachineFacts(dir: string): MachineFacts {
  return {
    cpuModel: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
    nginx: printedVersion('nginx', '-v'),
    wrk: printedVersion('wrk', '-v'),
    loadAverage: loadavg()[0] ?? 0,
    dirIsMemory: MEMORY_FILE_SYSTEMS.has(statfsSync(dir).type),
  }
}

function printedVersion(program: string, flag: string): string | undefined {
  const { error, stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8', timeout: 5000 })
  if (error !== undefined) return undefined
  return /(\d+\.\d+(?:\.\d+)?)/.exec(stdout + stderr)?.[1]
}
