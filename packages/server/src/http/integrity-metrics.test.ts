import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { integrityMetrics } from './integrity-metrics.ts'

describe('integrityMetrics', () => {
  const counts = { transient: 1, quarantined: 2, left: 0, unreadable: 3, missing: 4, inline: 5 }
  const damage = { counters: () => counts }
  const records = { damagedCount: async () => 6, withoutChunksCount: async () => 7 }
  const unverifiedReads = () => 8
  const orphans = async () => ({ waiting: 9, isStopped: true })
  const linesOf = async (registry: Registry) =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  it('counts damage by kind and the bytes that were scrubbed, and says when the last scrub ended', async () => {
    const registry = new Registry()
    let scrubbedBytes = 5
    const scrub = { scrubbedBytes: () => scrubbedBytes, lastFinishedAt: async () => 1_700_000_000_500, orphans }
    integrityMetrics(registry, { damage, scrub, records, unverifiedReads })
    await linesOf(registry)
    scrubbedBytes = 1024
    expect(await linesOf(registry)).toEqual([
      'lade_blob_damage_total{kind="transient"} 1',
      'lade_blob_damage_total{kind="quarantined"} 2',
      'lade_blob_damage_total{kind="left"} 0',
      'lade_blob_damage_total{kind="unreadable"} 3',
      'lade_blob_damage_total{kind="missing"} 4',
      'lade_blob_damage_total{kind="inline"} 5',
      'lade_scrub_bytes_total 1024',
      'lade_scrub_last_finished_seconds 1700000000.5',
      'lade_orphans 9',
      'lade_orphan_removal_stopped 1',
      'lade_damaged_objects 6',
      'lade_blobs_without_chunk_digests 7',
      'lade_unverified_ranges_total 8',
    ])
  })

  it('says nothing of a scrub that never came to an end', async () => {
    const registry = new Registry()
    const scrub = { scrubbedBytes: () => 0, lastFinishedAt: async () => undefined, orphans }
    integrityMetrics(registry, { damage, scrub, records, unverifiedReads })
    expect(await linesOf(registry)).not.toContainEqual(expect.stringContaining('last_finished_seconds'))
  })

  it('asks about orphans once a scrape', async () => {
    const registry = new Registry()
    let questions = 0
    const counted = () => {
      questions += 1
      return orphans()
    }
    const scrub = { scrubbedBytes: () => 0, lastFinishedAt: async () => undefined, orphans: counted }
    integrityMetrics(registry, { damage, scrub, records, unverifiedReads })
    await linesOf(registry)
    expect(questions).toBe(1)
    await linesOf(registry)
    expect(questions).toBe(2)
  })
})
