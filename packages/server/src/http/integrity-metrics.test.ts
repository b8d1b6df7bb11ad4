import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { integrityMetrics } from './integrity-metrics.ts'

describe('integrityMetrics', () => {
  const counts = { transient: 1, quarantined: 2, left: 0, unreadable: 3, missing: 4 }
  const damage = { counters: () => counts }
  const linesOf = async (registry: Registry) =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  it('counts damage by kind and the bytes that were scrubbed, and says when the last scrub ended', async () => {
    const registry = new Registry()
    let scrubbedBytes = 5
    const scrub = { scrubbedBytes: () => scrubbedBytes, lastFinishedAt: async () => 1_700_000_000_500 }
    integrityMetrics(registry, { damage, scrub })
    await linesOf(registry)
    scrubbedBytes = 1024
    expect(await linesOf(registry)).toEqual([
      'lade_blob_damage_total{kind="transient"} 1',
      'lade_blob_damage_total{kind="quarantined"} 2',
      'lade_blob_damage_total{kind="left"} 0',
      'lade_blob_damage_total{kind="unreadable"} 3',
      'lade_blob_damage_total{kind="missing"} 4',
      'lade_scrub_bytes_total 1024',
      'lade_scrub_last_finished_seconds 1700000000.5',
    ])
  })

  it('says nothing of a scrub that never came to an end', async () => {
    const registry = new Registry()
    integrityMetrics(registry, { damage, scrub: { scrubbedBytes: () => 0, lastFinishedAt: async () => undefined } })
    expect(await linesOf(registry)).not.toContainEqual(expect.stringContaining('last_finished_seconds'))
  })
})
