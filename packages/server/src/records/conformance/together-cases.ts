import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import { addressPrincipal } from '../../quotas/principal.ts'
import type { AtOnceOutcome, FileCommit, RecordStore } from '../record-store.ts'
import {
  account,
  type Cases,
  commitAtOnce,
  fileCommitOf,
  HOUR,
  NOW,
  overBytes,
  stage,
  type Upload,
  upload,
  WEEK,
} from './case.ts'

/** Records uploads of one caller together; what they have in common is said by the first. */
function commitTogether(
  store: RecordStore,
  uploads: readonly Upload[],
  more: Partial<FileCommit> = {},
): Promise<readonly AtOnceOutcome[]> {
  const [admit] = uploads
  if (admit === undefined) throw new TypeError('nothing to record')
  const commits = uploads.map((of) => ({ ...fileCommitOf(of, `d-0x${randomUUID()}`), ...more }))
  return store.quotas.commitTogether({ admit, commits })
}

/** What is the same for two callers that send the same. */
function tellOf(outcome: AtOnceOutcome): unknown {
  if (outcome.outcome === 'recorded' || outcome.outcome === 'retry') {
    const { outcome: name, usedBytes, day, file } = outcome
    return { name, usedBytes, day, sizeBytes: file.sizeBytes, end: file.end }
  }
  if (outcome.outcome !== 'over_quota') return outcome
  const { network, ...over } = outcome.over
  return { ...outcome, over: { ...over, isOfNetwork: network !== undefined } }
}

const SENT = {
  word: fc.integer({ min: 0, max: 5 }),
  sizeBytes: fc.constantFrom(0, 1, 99, 100, 101, 250),
  isOver: fc.boolean(),
}
const sent = fc.record(SENT)
const limits = fc.record({
  capBytes: fc.constantFrom(300, 500, 1_000),
  capFiles: fc.constantFrom(2, 4, 100),
  capStoredBytes: fc.constantFrom(undefined, 250, 450),
  hasToken: fc.boolean(),
  isAddress: fc.boolean(),
})

export function togetherCases({ it }: Cases): void {
  it('records each of several uploads, in their order, and refuses what does not fit', async (store) => {
    const sizes = [400, 500, 101, 100, 1]
    const uploads = sizes.map((sizeBytes, index) => upload({ content: `file ${index}`, sizeBytes }))
    const outcomes = await commitTogether(store, uploads)
    expect(outcomes).toMatchObject([
      { outcome: 'recorded', usedBytes: 400, file: { sizeBytes: 400, end: null } },
      { outcome: 'recorded', usedBytes: 900 },
      overBytes(900),
      { outcome: 'recorded', usedBytes: 1_000 },
      overBytes(1_000),
    ])
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
    expect(await store.quotas.checkDrift()).toEqual([])
    expect(await commitTogether(store, uploads.slice(0, 2))).toMatchObject([
      { outcome: 'retry', usedBytes: 1_000 },
      { outcome: 'retry', usedBytes: 1_000 },
    ])
  })

  it('lets none of several uploads in under a key that names other bytes, and says so for that one alone', async (store) => {
    await stage(store, upload({ content: 'first', key: 'opaque:a-name' }))
    const outcomes = await commitTogether(store, [
      upload({ content: 'before' }),
      upload({ content: 'second', key: 'opaque:a-name' }),
      upload({ content: 'after' }),
    ])
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['recorded', 'conflict', 'recorded'])
  })

  it('records none of several uploads when takedowns have changed', async (store) => {
    const takedownRevision = (await store.takedowns.revision()) + 1
    const uploads = [upload({ content: 'one' }), upload({ content: 'two' })]
    expect(await commitTogether(store, uploads, { takedownRevision })).toEqual([
      { outcome: 'takedowns_changed' },
      { outcome: 'takedowns_changed' },
    ])
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
  })

  it('answers several uploads as if they came one after another, whatever they are and whichever limit is met', async (store) => {
    let round = 0
    const property = fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 12 }), limits, async (files, of) => {
      round += 1
      const callers = ['a', 'b'].map((side, index) =>
        of.isAddress ? addressPrincipal(`2001:db8:${round.toString(16)}${index}::1`) : `user:${round}-${side}`,
      )
      const { hasToken, isAddress, ...caps } = of
      const token = hasToken && !isAddress ? { id: 'a-token', capBytes: 350 } : undefined
      const [together, alone] = callers.map((principal) => {
        const common = { principal, ...caps, token, now: NOW, maxInFlight: 5 }
        return files.map(({ word, sizeBytes }) =>
          upload({
            ...common,
            content: `${principal} ${word} ${sizeBytes}`,
            sizeBytes,
            inline: Buffer.alloc(sizeBytes),
          }),
        )
      })
      if (together === undefined || alone === undefined) return
      // Some are there already, a part of them with a term that is over.
      for (const uploads of [together, alone]) {
        for (const [index, { isOver }] of files.entries()) {
          const one = uploads[index]
          if (one === undefined || index % 3 !== 0) continue
          await commitAtOnce(store, { ...one, now: NOW - HOUR, ...(isOver && { expiresAt: NOW - 1 }) })
        }
      }
      const answers = await commitTogether(store, together)
      const expected: AtOnceOutcome[] = []
      for (const one of alone) expected.push(await commitAtOnce(store, one))
      expect(answers.map(tellOf)).toEqual(expected.map(tellOf))
      const [mine, theirs] = await Promise.all(callers.map((principal) => account(store, principal)))
      expect(mine).toEqual(theirs)
      expect(await store.quotas.checkDrift()).toEqual([])
    })
    await fc.assert(property, { numRuns: 40 })
  })

  it('decides exactly about uploads of several callers at the same time', async (store) => {
    let round = 0
    const asked = fc.record({ caller: fc.integer({ min: 0, max: 3 }), ...SENT })
    const property = fc.asyncProperty(fc.array(asked, { minLength: 8, maxLength: 40 }), limits, async (files, of) => {
      round += 1
      // Two addresses of one network, and a user with a token and without one.
      const network = `2001:db8:${round.toString(16)}:`
      const principals = [
        ...['1', '2'].map((host) => addressPrincipal(`${network}${host}::1`)),
        `user:${round}`,
        `user:${round}`,
      ]
      const { capBytes, capFiles, capStoredBytes } = of
      const uploads = files.map(({ caller, word, sizeBytes, isOver }) =>
        upload({
          principal: principals[caller] ?? '',
          token: caller === 3 ? { id: `token ${round}`, capBytes: 350 } : undefined,
          ...{ capBytes, capFiles, capStoredBytes },
          content: `${round} ${word} ${sizeBytes}`,
          sizeBytes,
          inline: Buffer.alloc(sizeBytes),
          expiresAt: isOver ? NOW + 1 : NOW + WEEK,
        }),
      )
      await Promise.all(uploads.slice(0, 6).map((one) => commitAtOnce(store, { ...one, now: NOW - HOUR })))
      const answers = await Promise.all(
        uploads.map((one) => commitAtOnce(store, { ...one, now: NOW + 1, expiresAt: NOW + WEEK })),
      )
      // A file whose term is over counts as stored until it is ended.
      await store.files.expire({ now: NOW + 1, limit: 1000 })
      expect(await store.quotas.checkDrift()).toEqual([])
      for (const principal of new Set(principals)) {
        const { charged, stored } = await account(store, principal)
        expect([charged <= capBytes, stored <= (capStoredBytes ?? Infinity)]).toEqual([true, true])
      }
      for (const [index, one] of uploads.entries()) {
        const answer = answers[index]?.outcome
        expect(['recorded', 'retry', 'over_quota']).toContain(answer)
        // What is stored can become less, as terms end; everything else that was used up stays so. The same user may have the file by now.
        if (answer === 'over_quota' && capStoredBytes === undefined) {
          expect((await commitAtOnce(store, { ...one, now: NOW + 2 })).outcome).not.toBe('recorded')
        }
      }
      const made = Map.groupBy(uploads.keys(), (index) => `${uploads[index]?.principal} ${uploads[index]?.key}`)
      for (const places of made.values()) {
        expect(places.filter((place) => answers[place]?.outcome === 'recorded').length).toBeLessThanOrEqual(1)
      }
    })
    await fc.assert(property, { numRuns: 30 })
  })
}
