import { LadeError } from '@lade/core/errors'
import type {
  BlobInRecords,
  DamageKind,
  Fence,
  InlineObject,
  IntegrityRecords,
  InventoryRecords,
} from '../records/record-store.ts'
import type { DamageRecords } from './damage.ts'
import type { ScrubRecords } from './scrub.ts'

/** What a scrub asks the records, in memory, to be changed by a test at will. */
export interface MemoryInventory extends ScrubRecords, DamageRecords {
  /** What objects need, by digest. */
  readonly needed: Map<string, number>
  /** Digests that an upload in flight has claimed. */
  readonly claimed: Set<string>
  /** When orphans are removed, by digest. */
  readonly orphans: Map<string, number>
  readonly marks: Map<string, string>
  /** Bytes in the records. */
  readonly inline: Map<string, Uint8Array>
  /** Recorded digests of chunks. */
  readonly chunks: Map<string, Uint8Array>
  /** Blobs that an older version stored. */
  readonly withoutChunks: Set<string>
  readonly damagedObjects: Map<string, DamageKind>
  /** Gives the lease of a name to somebody else, whoever has it. */
  take(name: string, holder: string): void
}

export function openMemoryInventory(): MemoryInventory {
  const needed = new Map<string, number>()
  const claimed = new Set<string>()
  const orphans = new Map<string, number>()
  const marks = new Map<string, string>()
  const inline = new Map<string, Uint8Array>()
  const chunks = new Map<string, Uint8Array>()
  const withoutChunks = new Set<string>()
  const damagedObjects = new Map<string, DamageKind>()
  const leases = new Map<string, { holder: string; until: number; number: number }>()

  const inventory: InventoryRecords = {
    async stored({ after, limit }) {
      return [...needed]
        .map(([sha256, sizeBytes]): BlobInRecords => ({ sha256, put: '', sizeBytes }))
        .filter(({ sha256 }) => sha256 > after)
        .sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
        .slice(0, limit)
    },
    known: async (digests) => digests.filter((sha256) => needed.has(sha256) || claimed.has(sha256)),
    puts: async (sha256) => (needed.has(sha256) ? [''] : []),
    usePut: async () => false,
    forgetPuts: async () => {},
    async planOrphan({ sha256, dueAt }) {
      if (needed.has(sha256) || claimed.has(sha256) || orphans.has(sha256)) return false
      orphans.set(sha256, dueAt)
      return true
    },
    async letOrphansBe() {
      orphans.clear()
    },
    async keepAsOrphans({ dueAt }) {
      for (const sha256 of [...orphans.keys(), ...claimed]) orphans.set(sha256, dueAt)
      claimed.clear()
    },
    orphans: async () => orphans.size,
    mark: async (name) => marks.get(name),
    async setMark({ name, value }) {
      marks.set(name, value)
    },
  }

  const numberOf = (sha256: string): number => [...needed.keys()].indexOf(sha256) + 1
  const integrity: IntegrityRecords = {
    chunkDigests: async ({ sha256, from, count }) => chunks.get(sha256)?.slice(from * 32, (from + count) * 32),
    async setChunkDigests({ sha256, digests }) {
      chunks.set(sha256, digests)
      withoutChunks.delete(sha256)
    },
    async withoutChunks({ afterObject, limit }) {
      return [...withoutChunks]
        .map((sha256) => ({ number: numberOf(sha256), sha256, sizeBytes: needed.get(sha256) ?? 0 }))
        .filter(({ number }) => number > afterObject)
        .sort((one, other) => one.number - other.number)
        .slice(0, limit)
    },
    withoutChunksCount: async () => withoutChunks.size,
    async inlineObjects({ after, before, limit }) {
      const objects = [...inline]
        .map(([sha256, bytes]): InlineObject => ({ sha256, sizeBytes: bytes.length, bytes }))
        .filter(({ sha256 }) => sha256 > after && sha256 < before)
        .sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
        .slice(0, limit)
      return { objects, last: objects.at(-1)?.sha256 }
    },
    async setDamaged({ object, kind }) {
      damagedObjects.set(object, kind)
    },
    async clearDamaged(object) {
      damagedObjects.delete(object)
    },
    damageOf: async (object) => damagedObjects.get(object),
    damaged: async () => [],
    sealRows: async () => undefined,
    damagedCount: async () => damagedObjects.size,
  }

  return {
    inventory,
    integrity,
    files: { inlineBytes: async (sha256) => inline.get(sha256) },
    inline,
    chunks,
    withoutChunks,
    damagedObjects,
    needed,
    claimed,
    orphans,
    marks,
    take(name, holder) {
      leases.set(name, { holder, until: Number.POSITIVE_INFINITY, number: (leases.get(name)?.number ?? 0) + 1 })
    },
    leases: {
      async take({ name, holder, now, until }): Promise<Fence | undefined> {
        const lease = leases.get(name)
        if (lease !== undefined && lease.holder !== holder && lease.until > now) return undefined
        const number = lease === undefined ? 1 : lease.number + (lease.holder === holder ? 0 : 1)
        leases.set(name, { holder, until, number })
        return { name, number }
      },
      async giveBack({ name, holder }) {
        const lease = leases.get(name)
        if (lease?.holder === holder) leases.set(name, { ...lease, holder: '', until: 0 })
      },
    },
    underLease(fence) {
      const requireFence = (): void => {
        const { name = '', number = 0 } = fence() ?? {}
        if (leases.get(name)?.number !== number) throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
      }
      return {
        integrity,
        inventory: {
          ...inventory,
          async planOrphan(request) {
            requireFence()
            return inventory.planOrphan(request)
          },
          async setMark(request) {
            requireFence()
            return inventory.setMark(request)
          },
        },
      }
    },
  }
}
