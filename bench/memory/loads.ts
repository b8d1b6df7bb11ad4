import type { BenchRun } from '../bench-run.ts'
import type { DownloadInput } from '../load/download.ts'
import type { ManyUploadsInput } from '../load/many-uploads.ts'
import type { SmallGetInput } from '../load/small-get.ts'
import { sendSmallUploads } from '../measures/send-small-uploads.ts'
import { bigBody, uploadBigBody } from '../measures/upload.ts'
import type { RunningServer } from '../running-processes.ts'
import { portOf } from '../servers/lade.ts'
import { smallBodyCids } from '../stamped-body.ts'

const MIB = 1024 * 1024
const SMALL_BYTES = 4096
const TIMEOUT_MS = 600_000
const OBJECTS = 1000
const SEED = 9
const MANY = { uploads: 200, sizeBytes: 96 * MIB, bytesPerSecond: 1.5 * MIB, seed: 8 }

export const LOAD_NAMES = ['upload', 'download', 'many-uploads', 'small-uploads', 'small-gets'] as const
export type LoadName = (typeof LOAD_NAMES)[number]

export interface LoadOptions {
  readonly sizeBytes: number
  readonly seconds: number
}

/** One load on a service of its own. */
export interface MemoryLoad {
  readonly what: string
  /** What may be resident at the most during it. */
  readonly targetBytes: number
  /** Stores what it needs. The service is started anew after it. */
  readonly prepare?: (server: RunningServer, token: string) => Promise<unknown>
  readonly apply: (server: RunningServer, token: string) => Promise<unknown>
}

/** The loads by name. */
export function memoryLoads(run: BenchRun, { sizeBytes, seconds }: LoadOptions): Record<LoadName, MemoryLoad> {
  const gibibytes = `${sizeBytes / 1024 / MIB} GiB`
  return {
    upload: {
      what: `one upload of ${gibibytes}`,
      targetBytes: 200 * MIB,
      apply: (server, token) => uploadBigBody(run, server, bigBody(7, sizeBytes), token),
    },
    download: {
      what: `one download of ${gibibytes}`,
      targetBytes: 200 * MIB,
      prepare: (server, token) => uploadBigBody(run, server, bigBody(7, sizeBytes), token),
      apply: (server) => {
        const { sha256 } = bigBody(7, sizeBytes)
        const input: DownloadInput = { port: portOf(server), path: `/p/${sha256}`, sizeBytes }
        return run.processes.runScript(new URL('../load/download.ts', import.meta.url), input, TIMEOUT_MS)
      },
    },
    'many-uploads': {
      what: `${MANY.uploads} uploads of ${MANY.sizeBytes / MIB} MiB side by side`,
      targetBytes: 300 * MIB,
      apply: (server, token) => {
        const input: ManyUploadsInput = { ...MANY, port: portOf(server), tokens: [token] }
        return run.processes.runScript(new URL('../load/many-uploads.ts', import.meta.url), input, TIMEOUT_MS)
      },
    },
    'small-uploads': {
      what: `4 KiB uploads, 32 connections, ${seconds} s`,
      targetBytes: 250 * MIB,
      apply: (server, token) =>
        sendSmallUploads(run, server, {
          tokens: [token],
          connections: 32,
          seconds,
          sizeBytes: SMALL_BYTES,
          seed: SEED,
        }),
    },
    'small-gets': smallGets(run, seconds),
  }
}

function smallGets(run: BenchRun, seconds: number): MemoryLoad {
  return {
    what: `GETs of ${OBJECTS} objects of 4 KiB, 64 connections, ${seconds} s`,
    targetBytes: 250 * MIB,
    prepare: (server, token) =>
      sendSmallUploads(run, server, {
        tokens: [token],
        connections: 32,
        seconds: 60,
        sizeBytes: SMALL_BYTES,
        seed: SEED,
        maxBodies: OBJECTS,
      }),
    apply: (server) => {
      const paths = smallBodyCids(SEED, SMALL_BYTES, OBJECTS).map((cid) => `/p/${cid}`)
      const input: SmallGetInput = { port: portOf(server), paths, connections: 64, seconds }
      const script = new URL('../load/small-get.ts', import.meta.url)
      return run.processes.runScript(script, input, TIMEOUT_MS)
    },
  }
}
