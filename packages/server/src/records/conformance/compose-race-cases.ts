import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  claim,
  commit,
  counted,
  digestOf,
  NOW,
  pending,
  reserve,
  tryReserve,
  upload,
} from './case.ts'
import { compose, handleOf, stageParts, WHOLE_ROOT } from './composing.ts'

const HANDLE = handleOf('whole', 200)

export function composeRaceCases({ itWithTwo }: Cases): void {
  const sorted = (words: readonly string[]) => words.map(digestOf).sort()
  const discards = async (store: RecordStore) => (await pending(store)).toSorted()

  itWithTwo('records one of two compositions of the same parts at once', async (store, other) => {
    for (let round = 0; round < 10; round += 1) {
      const parts = await stageParts(store)
      const outcomes = await Promise.all([compose(store, parts), compose(other, parts)])
      expect(counted(outcomes)).toEqual({ recorded: 1, retry: 1 })
      const rivals = await stageParts(store)
      const keys = ['one', 'two'].map((content) => ({ content, key: handleOf(content, 200) }))
      const [mine, theirs] = await Promise.all([compose(store, rivals, keys[0]), compose(other, rivals, keys[1])])
      expect(counted([mine, theirs])).toEqual({ recorded: 1, ended: 1 })
      for (const key of [HANDLE, ...keys.map((each) => each.key)]) {
        await store.files.remove({ principal: ALICE, key, now: NOW })
      }
      expect(await store.quotas.checkDrift()).toEqual([])
      expect(await discards(other)).toEqual(sorted(['part 0', 'part 1']))
    }
  })

  itWithTwo(
    'charges a repetition once, and never beyond the cap, with compositions and uploads at once',
    async (store, other) => {
      for (let round = 0; round < 10; round += 1) {
        const principal = `user:${round}`
        const [part, rival] = await stageParts(store, 2, { principal })
        if (part === undefined || rival === undefined) throw new Error('no parts')
        const [one, two, three] = ['one', 'two', 'three'].map((content) => ({
          content,
          key: handleOf(content, 200),
          principal,
        }))
        // 200 are used; there is room for one repetition more, or for the upload.
        const outcomes = await Promise.all([
          compose(store, [part, part], { ...one, capBytes: 300 }),
          compose(other, [part, part], { ...one, capBytes: 300 }),
          compose(other, [rival, rival], { ...two, capBytes: 300 }),
          tryReserve(store, upload({ ...three, sizeBytes: 100, capBytes: 300 })).then(({ reserved }) => reserved),
        ])
        const { charged, reserved } = await account(store, principal)
        expect(charged + reserved).toBe(300)
        const taken = outcomes.filter(({ outcome }) => outcome === 'recorded' || outcome === 'reserved')
        expect(taken).toHaveLength(1)
        expect(await store.quotas.checkDrift()).toEqual([])
      }
    },
  )

  itWithTwo('either takes a part or sees it removed, never half of it', async (store, other) => {
    for (let round = 0; round < 20; round += 1) {
      const parts = await stageParts(store)
      const [outcome, removed] = await Promise.all([
        compose(store, parts),
        other.files.remove({ principal: ALICE, key: parts[1]?.key ?? '', now: NOW }),
      ])
      expect(outcome.outcome).toBe(removed === undefined ? 'recorded' : 'ended')
      const kept = removed === undefined ? [] : [digestOf('part 1')]
      expect(await pending(other)).toEqual(kept)
      for (const key of [WHOLE_ROOT, parts[0]?.key ?? '']) await store.files.remove({ principal: ALICE, key, now: NOW })
    }
  })

  itWithTwo('is composed while a part is uploaded again', async (store, other) => {
    for (let round = 0; round < 10; round += 1) {
      const parts = await stageParts(store)
      const again = upload({ content: 'part 0', principal: BOB, capBytes: 100_000 })
      const id = await reserve(other, again)
      expect(await claim(other, id, again)).toEqual({ outcome: 'claimed' })
      const [outcome, uploaded] = await Promise.all([compose(store, parts), commit(other, id, again)])
      expect([outcome.outcome, uploaded.outcome]).toEqual(['recorded', 'recorded'])
      await store.files.remove({ principal: ALICE, key: WHOLE_ROOT, now: NOW })
      expect(await pending(store)).toEqual([digestOf('part 1')])
      await store.files.remove({ principal: BOB, key: again.key, now: NOW })
      expect(await discards(store)).toEqual(sorted(['part 0', 'part 1']))
    }
  })
}
