import type { InfoResult } from '@lade/core/wire'
import { signal } from '@preact/signals'
import { api, messageOf } from './api.ts'

/** What this service says of itself; undefined until it has answered. */
export const info = signal<InfoResult | undefined>(undefined)
/** Why it does not say. */
export const infoProblem = signal<string | undefined>(undefined)

export async function loadInfo(): Promise<void> {
  infoProblem.value = undefined
  try {
    info.value = await api<InfoResult>('/api/info')
  } catch (error) {
    infoProblem.value = messageOf(error)
  }
}
