import { expect } from 'vitest'
import { NOW } from './conformance/case.ts'
import type { RecordStore, ServingFile } from './record-store.ts'

/** Of the keys of a case so many are watched: the first ones, which the case says most about. */
const MAX_KEYS = 40
const KEY = /^(sha256|dag-pb|opaque|piece|piece-v1):/

/**
 * The same records, and a check behind every call: of all keys that any call named, each one that was found is found alike for as long as the
 * generation is the same. Keys are looked up as anybody may.
 */
export function watchServing(store: RecordStore): RecordStore {
  const keys = new Set<string>()
  const found = new Map<string, ServingFile>()
  let generation = generationOf(store)

  async function check(): Promise<void> {
    for (const key of keys) {
      const before = generationOf(store)
      const serving = await store.files.serving({ key, now: NOW }).catch(() => undefined)
      // Something else was written meanwhile.
      if (before === undefined || before !== generationOf(store)) continue
      if (before !== generation) found.clear()
      generation = before
      const known = found.get(key)
      if (known !== undefined) expect(serving, `${key} in generation ${generation}`).toEqual(known)
      else if (serving?.outcome === 'found' && serving.view !== 'inside') found.set(key, serving)
    }
  }

  const watched = <Of extends object>(part: Of): Of =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...given: unknown[]): unknown => {
          for (const key of keysIn(given)) if (keys.size < MAX_KEYS) keys.add(key)
          const answer: unknown = Reflect.apply(value, target, given)
          return answer instanceof Promise ? answer.finally(check) : answer
        }
      },
    })
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'object' && value !== null && name !== 'traits' ? watched(value) : value
    },
  })
}

/** Undefined where the store is closed or broken. */
function generationOf(store: RecordStore): number | undefined {
  try {
    return store.generation?.()
  } catch {
    return undefined
  }
}

function keysIn(value: unknown): string[] {
  if (typeof value === 'string') return KEY.test(value) ? [value] : []
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return []
  return Object.values(value).flatMap(keysIn)
}
