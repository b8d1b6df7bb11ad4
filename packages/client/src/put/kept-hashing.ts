import type { KnownSource } from '../platform/known-source.ts'
import { type PutJob, wantsOf } from './job.ts'
import { type Kept, type KeptOf, readKept, writeKept } from './kept-text.ts'

/** What an earlier attempt hashed, and where this one writes down what it does. */
export interface KeptHashing {
  readonly earlier: Kept
  /** Begins to save. What cannot be saved is hashed again some day, and nothing worse. */
  save(kept: Kept): void
  clear(): Promise<void>
}

/** Opens what is kept of a source; without a state, or for a source that nobody can recognise, that is nothing. */
export async function keepHashing(job: PutJob, source: KnownSource): Promise<KeptHashing> {
  const { state, limits } = job
  const { fingerprint, sizeBytes } = source
  if (state === undefined || fingerprint === undefined) {
    return { earlier: { parts: [], hashes: undefined }, save() {}, async clear() {} }
  }
  const of: KeptOf = { fingerprint, sizeBytes, partBytes: limits.partBytes, wants: wantsOf(job, sizeBytes) }
  const text = await state.load().catch(() => undefined)
  let latest: string | undefined
  let saving: Promise<void> | undefined
  const saveAll = async (): Promise<void> => {
    for (let next = latest; next !== undefined; next = latest) {
      latest = undefined
      await state.save(next).catch(() => {})
    }
    saving = undefined
  }
  return {
    earlier: readKept(text ?? '', of),
    save(kept) {
      latest = writeKept(kept, of)
      saving ??= saveAll()
    },
    async clear() {
      latest = undefined
      await saving
      await state.clear().catch(() => {})
    },
  }
}
