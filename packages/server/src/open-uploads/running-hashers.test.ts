import { BodyBill } from '@lade/node/budget/body-bill'
import { hashContentHere } from '@lade/node/hashing/content-hasher'
import { afterEach, expect, test, vi } from 'vitest'
import { RunningHashers } from './running-hashers.ts'

const NO_BUDGET = { require: () => {}, spend: () => {}, takeBack: () => {} }
const hashers = new RunningHashers()
afterEach(() => hashers.close())

function running() {
  const wanted = { blake3: false, blake2b256: false, profiles: [], carRoot: undefined }
  const hasher = hashContentHere(wanted, undefined)
  const discard = vi.spyOn(hasher, 'discard')
  return { hasher, discard, bill: new BodyBill({ budget: NO_BUDGET, principal: 'ip:192.0.2.7' }) }
}

test('gives a hasher to whoever continues where it is, once', () => {
  const one = running()
  hashers.put('a', one, 10)
  expect(hashers.take('a', 10)?.hasher).toBe(one.hasher)
  expect(hashers.take('a', 10)).toBeUndefined()
  expect(one.discard).not.toHaveBeenCalled()
})

test('forgets one that has hashed other bytes than there are', () => {
  const one = running()
  hashers.put('a', one, 10)
  expect(hashers.take('a', 9)).toBeUndefined()
  expect(hashers.take('a', 10)).toBeUndefined()
  expect(one.discard).toHaveBeenCalledOnce()
})

test('keeps 64, and forgets the one that waits longest', () => {
  const all = Array.from({ length: 65 }, () => running())
  for (const [index, one] of all.entries()) hashers.put(`${index}`, one, 1)
  expect(all.filter(({ discard }) => discard.mock.calls.length > 0)).toEqual([all[0]])
  expect(hashers.take('64', 1)?.hasher).toBe(all[64]?.hasher)
})
