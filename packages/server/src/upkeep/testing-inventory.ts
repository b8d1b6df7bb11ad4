import { LadeError } from '@lade/core/errors'
import type { BlobInRecords, Fence, InventoryRecords } from '../records/record-store.ts'
import type { ScrubRecords } from './scrub.ts'

/** What a scrub asks the records, in memory, to be changed by a test at will. */
export interface MemoryInventory extends ScrubRecords {
  /** What objects need, by digest. */
  readonly needed: Map<string, number>
  /** Digests that an upload in flight has claimed. */
  readonly claimed: Set<string>
  /** Digests whose removal was planned. */
  readonly adopted: string[]
  readonly marks: Map<string, string>
  /** Gives the lease of a name to somebody else, whoever has it. */
  take(name: string, holder: string): void
}

export function openMemoryInventory(): MemoryInventory {
  const needed = new Map<string, number>()
  const claimed = new Set<string>()
  const adopted: string[] = []
  const marks = new Map<string, string>()
  const leases = new Map<string, { holder: string; until: number; number: number }>()

  const inventory: InventoryRecords = {
    async stored({ after, limit }) {
      return [...needed]
        .map(([sha256, sizeBytes]): BlobInRecords => ({ sha256, sizeBytes }))
        .filter(({ sha256 }) => sha256 > after)
        .sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
        .slice(0, limit)
    },
    async adopt({ sha256 }) {
      if (needed.has(sha256) || claimed.has(sha256)) return false
      adopted.push(sha256)
      return true
    },
    mark: async (name) => marks.get(name),
    async setMark({ name, value }) {
      marks.set(name, value)
    },
  }

  return {
    needed,
    claimed,
    adopted,
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
        inventory: {
          ...inventory,
          async adopt(request) {
            requireFence()
            return inventory.adopt(request)
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
