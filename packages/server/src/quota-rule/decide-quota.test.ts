import { NETWORK_SHARES } from '@lade/core/wire'
import { describe, expect, test } from 'vitest'
import { decideGrowth, decideQuota, type QuotaRequest, type QuotaState, remainingOf } from './decide-quota.ts'

const CAPS = { capBytes: 100, capFiles: 3 }
const ONE_OF_10 = { bytes: 10, files: 1 }
const used = (bytes: number, files = 1): QuotaState => ({ inFlight: 1, used: { bytes, files } })
const inNetwork = (bytes: number, files = 1): QuotaState => ({
  ...used(0, 0),
  network: { name: 'ip:2001:db8:1::/48', used: { bytes, files } },
})

describe('decideQuota', () => {
  test.each<[string, QuotaState, Partial<QuotaRequest>, number]>([
    ['what reaches the cap to the byte', used(90), { asked: ONE_OF_10 }, 90],
    ['the last file of the day', used(0, 2), { asked: ONE_OF_10 }, 0],
    ['nothing, at a cap that was lowered', used(200, 9), { asked: { bytes: 0, files: 0 } }, 200],
    [
      'what the upload has reserved, at a cap that was lowered',
      used(200, 9),
      { asked: ONE_OF_10, reservedBytes: 10 },
      190,
    ],
    ['any number in flight without a limit of them', { ...used(0), inFlight: 1000 }, { asked: ONE_OF_10 }, 0],
    ['what reaches the cap of the network', inNetwork(100 * NETWORK_SHARES - 10), { asked: ONE_OF_10 }, 0],
  ])('lets in %s', (_, state, request, usedBytes) => {
    expect(decideQuota(state, { asked: ONE_OF_10, ...CAPS, ...request })).toEqual({ outcome: 'fits', usedBytes })
  })

  test('refuses one byte more, and says how much is used', () => {
    expect(decideQuota(used(91), { asked: ONE_OF_10, ...CAPS })).toEqual({
      outcome: 'over_quota',
      usedBytes: 91,
      over: { unit: 'bytes', used: 91, limit: 100 },
    })
  })

  test('refuses one file more, also one without bytes', () => {
    expect(decideQuota(used(0, 3), { asked: { bytes: 0, files: 1 }, ...CAPS })).toEqual({
      outcome: 'over_quota',
      usedBytes: 0,
      over: { unit: 'files', used: 3, limit: 3 },
    })
  })

  test('refuses what its network has no room for, and names the network', () => {
    expect(decideQuota(inNetwork(100 * NETWORK_SHARES - 9), { asked: ONE_OF_10, ...CAPS })).toEqual({
      outcome: 'over_quota',
      usedBytes: 0,
      over: { unit: 'bytes', used: 1591, limit: 1600, network: 'ip:2001:db8:1::/48' },
    })
  })

  test('counts the reservation of the upload itself neither for the principal nor for its network', () => {
    const network = { name: 'ip:2001:db8:1::/48', used: { bytes: 100 * NETWORK_SHARES, files: 3 * NETWORK_SHARES } }
    expect(decideQuota({ ...used(100, 3), network }, { asked: ONE_OF_10, reservedBytes: 10, ...CAPS })).toEqual({
      outcome: 'fits',
      usedBytes: 90,
    })
  })

  test('asks for all of an upload that has reserved nothing, though its key was known', () => {
    expect(decideQuota(used(95), { asked: ONE_OF_10, reservedBytes: 0, ...CAPS }).outcome).toBe('over_quota')
  })

  test('names uploads in flight before the day', () => {
    const request = { asked: ONE_OF_10, ...CAPS, maxInFlight: 2 }
    expect(decideQuota({ ...used(100), inFlight: 2 }, request)).toEqual({ outcome: 'too_many_in_flight', inFlight: 2 })
    expect(decideQuota({ ...used(0), inFlight: 1 }, request).outcome).toBe('fits')
  })
})

describe('decideGrowth', () => {
  const growth = { asked: { bytes: 40, files: 1 }, leastBytes: 5, reservedBytes: 10, ...CAPS }

  test.each<[string, QuotaState, Partial<QuotaRequest>, number]>([
    ['all that is asked for', used(20), {}, 40],
    ['what is left of the day', used(85), {}, 25],
    ['what is left of the network', inNetwork(100 * NETWORK_SHARES - 3), { reservedBytes: 0 }, 3],
    ['the least of several limits', { ...used(85), storedBytes: 90 }, { capStoredBytes: 100 }, 20],
    ['what it has, at a cap that was lowered', used(200), { asked: { bytes: 10, files: 1 } }, 10],
  ])('gives %s', (_, state, request, bytes) => {
    const leastBytes = Math.min(growth.leastBytes, bytes)
    expect(decideGrowth(state, { ...growth, ...request, leastBytes })).toEqual({ outcome: 'fits', bytes })
  })

  test('refuses what does not fit even at the least, and says how much is used beside it', () => {
    expect(decideGrowth(used(100), { ...growth, leastBytes: 11 })).toEqual({
      outcome: 'over_quota',
      usedBytes: 90,
      over: { unit: 'bytes', used: 90, limit: 100 },
    })
    expect(decideGrowth(used(0, 3), { ...growth, reservedBytes: 0 })).toMatchObject({ over: { unit: 'files' } })
  })
})

test('what remains of a day is never less than nothing', () => {
  expect(remainingOf({ bytes: 90, files: 1 }, CAPS)).toEqual({ bytes: 10, files: 2 })
  expect(remainingOf({ bytes: 120, files: 4 }, CAPS)).toEqual({ bytes: 0, files: 0 })
})
