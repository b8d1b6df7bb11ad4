import type { Usage, UsageDay } from './record-store.ts'

/** One call of the quota rules, with everything that it depends on. */
export type QuotaCall =
  | {
      readonly name: 'reserve'
      readonly id: string
      readonly principal: string
      readonly instance: string
      readonly day: string
      readonly key: string
      readonly sizeBytes: number
      readonly capBytes: number
      readonly maxInFlight: number
      readonly now: number
    }
  | {
      readonly name: 'commit'
      readonly id: string
      readonly principal: string
      readonly key: string
      readonly sha256: string
      readonly sizeBytes: number
      readonly expiresAt: number
      readonly now: number
    }
  | { readonly name: 'release'; readonly id: string }
  | { readonly name: 'lapse'; readonly ids: readonly string[]; readonly now: number }
  | { readonly name: 'bury'; readonly instance: string; readonly now: number }
  | { readonly name: 'remove'; readonly principal: string; readonly key: string; readonly now: number }
  | { readonly name: 'sweep'; readonly now: number }

/** What a caller learns, without what only the store decides (sequences, deal ids). */
export type QuotaAnswer = Readonly<Record<string, string | number | boolean>>

interface Reservation {
  readonly principal: string
  readonly instance: string
  readonly day: string
  readonly bytes: number
  readonly capBytes: number
}

interface StagedFile {
  readonly principal: string
  readonly key: string
  readonly sizeBytes: number
  readonly expiresAt: number
}

/**
 * The quota rules in plain collections: the least that answers as a record store must.
 *
 * A file is live until its term ends, whether or not anybody has swept it, so `sweep` changes nothing here.
 */
export class QuotaModel {
  #reservations = new Map<string, Reservation>()
  #live: StagedFile[] = []
  #charges = new Map<string, { principal: string; date: string; bytes: number; files: number }>()
  #bound = new Map<string, string>()

  clone(): QuotaModel {
    const copy = new QuotaModel()
    copy.#reservations = new Map(this.#reservations)
    copy.#live = [...this.#live]
    copy.#charges = new Map(this.#charges)
    copy.#bound = new Map(this.#bound)
    return copy
  }

  apply(call: QuotaCall): QuotaAnswer {
    switch (call.name) {
      case 'reserve':
        return this.#reserve(call)
      case 'commit':
        return this.#commit(call)
      case 'release':
        this.#reservations.delete(call.id)
        return {}
      case 'lapse':
        for (const id of call.ids) this.#reservations.delete(id)
        return {}
      case 'bury':
        return { reservations: this.#bury(call.instance) }
      case 'remove': {
        const file = this.#liveFile(call)
        this.#live = this.#live.filter((other) => other !== file)
        return { removed: file !== undefined }
      }
      case 'sweep':
        return {}
    }
  }

  usage({ principal, today, now }: { principal: string; today: string; now: number }): Usage {
    const days: UsageDay[] = [...this.#charges.values()]
      .filter((charge) => charge.principal === principal)
      .map(({ date, bytes, files }) => ({ date, bytes, files }))
      .sort((one, other) => (one.date < other.date ? -1 : 1))
    const stored = this.#live.filter((file) => file.principal === principal && file.expiresAt > now)
    const bytes = stored.reduce((sum, file) => sum + file.sizeBytes, 0)
    return { days, reservedBytes: this.#reservedBytes(principal, today), stored: { bytes, files: stored.length } }
  }

  #reserve(call: Extract<QuotaCall, { name: 'reserve' }>): QuotaAnswer {
    const { id, principal, instance, day, capBytes } = call
    const inFlight = [...this.#reservations.values()].filter((other) => other.principal === principal).length
    if (inFlight >= call.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
    const bytes = this.#liveFile(call) === undefined ? call.sizeBytes : 0
    const usedBytes = this.#usedBytes(principal, day)
    if (bytes > 0 && usedBytes + bytes > capBytes) return { outcome: 'over_quota', usedBytes }
    this.#reservations.set(id, { principal, instance, day, bytes, capBytes })
    return { outcome: 'reserved', reservedBytes: bytes, usedBytes: usedBytes + bytes }
  }

  #commit(call: Extract<QuotaCall, { name: 'commit' }>): QuotaAnswer {
    const { id, principal, key, sha256, sizeBytes, expiresAt } = call
    const held = this.#reservations.get(id)
    if (held === undefined) return { outcome: 'lost' }
    const bound = this.#bound.get(key)
    if (bound !== undefined && bound !== sha256) return { outcome: 'conflict', sha256: bound }
    if (this.#liveFile(call) !== undefined) {
      this.#reservations.delete(id)
      return { outcome: 'retry', usedBytes: this.#usedBytes(principal, held.day) }
    }
    const others = this.#usedBytes(principal, held.day) - held.bytes
    if (held.bytes < sizeBytes && others + sizeBytes > held.capBytes) {
      return { outcome: 'over_quota', usedBytes: others }
    }
    this.#reservations.delete(id)
    this.#bound.set(key, sha256)
    this.#live = this.#live.filter((file) => file.principal !== principal || file.key !== key)
    this.#live.push({ principal, key, sizeBytes, expiresAt })
    this.#charge(principal, held.day, sizeBytes)
    return { outcome: 'recorded', usedBytes: others + sizeBytes }
  }

  #charge(principal: string, date: string, bytes: number): void {
    const name = `${principal} ${date}`
    const before = this.#charges.get(name) ?? { bytes: 0, files: 0 }
    this.#charges.set(name, { principal, date, bytes: before.bytes + bytes, files: before.files + 1 })
  }

  #bury(instance: string): number {
    const ids = [...this.#reservations].filter(([, held]) => held.instance === instance).map(([id]) => id)
    for (const id of ids) this.#reservations.delete(id)
    return ids.length
  }

  #liveFile({ principal, key, now }: { principal: string; key: string; now: number }): StagedFile | undefined {
    return this.#live.find((file) => file.principal === principal && file.key === key && file.expiresAt > now)
  }

  #reservedBytes(principal: string, day: string): number {
    return [...this.#reservations.values()]
      .filter((held) => held.principal === principal && held.day === day)
      .reduce((sum, held) => sum + held.bytes, 0)
  }

  #usedBytes(principal: string, day: string): number {
    return (this.#charges.get(`${principal} ${day}`)?.bytes ?? 0) + this.#reservedBytes(principal, day)
  }
}
