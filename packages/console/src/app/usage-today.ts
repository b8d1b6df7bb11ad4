import type { UsageResult } from '@lade/core/wire'
import { signal } from '@preact/signals'
import { api } from './api.ts'
import { noteEnded } from './session.ts'

/** What is used of the quota of who has signed in; undefined for nobody, and where the session may not ask. */
export const usage = signal<UsageResult | undefined>(undefined)

export async function loadUsage(): Promise<void> {
  try {
    usage.value = await api<UsageResult>('/api/usage')
  } catch (error) {
    usage.value = undefined
    noteEnded(error)
  }
}
