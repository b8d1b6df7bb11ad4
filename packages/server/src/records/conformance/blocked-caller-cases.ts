import { expect } from 'vitest'
import type { BlockCallerRequest, RecordStore } from '../record-store.ts'
import { ALICE, account, BOB, type Cases, digestOf, NOW, pending, stage, upload } from './case.ts'

const REQUEST: BlockCallerRequest = {
  kind: 'user',
  value: ALICE,
  given: 'alice@example.org',
  reason: 'Spam.',
  files: 'keep',
  by: 'admin',
  now: NOW,
}

export function blockedCallerCases({ it, itAcrossRestart }: Cases): void {
  const block = (store: RecordStore, overrides: Partial<BlockCallerRequest> = {}) =>
    store.blockedCallers.block({ ...REQUEST, ...overrides })

  it('are found by whoever asks what has changed, as they are let in again, and in a list', async (store) => {
    expect(await store.blockedCallers.changes({ since: 0 })).toEqual({ revision: 0, changed: [] })
    const caller = await block(store)
    const { by, now, ...given } = REQUEST
    expect(caller).toMatchObject({ ...given, blockedBy: by, blockedAt: now, isRemoving: false, liftedAt: null })
    const { revision, changed } = await store.blockedCallers.changes({ since: 0 })
    expect([revision, changed]).toEqual([await store.blockedCallers.revision(), [caller]])
    expect(await store.blockedCallers.list({ limit: 10 })).toEqual([caller])
    expect(await store.blockedCallers.list({ limit: 10, before: caller.id })).toEqual([])
    const lifted = await store.blockedCallers.lift({ id: caller.id, by: 'admin', now: NOW })
    expect(lifted).toEqual({ ...caller, liftedAt: NOW })
    expect(await store.blockedCallers.lift({ id: caller.id, by: 'admin', now: NOW })).toBeUndefined()
    expect((await store.blockedCallers.changes({ since: revision })).changed).toEqual([lifted])
    expect(await store.blockedCallers.list({ limit: 10 })).toEqual([])
  })

  it('are there once, with the latest reason; files that are to go still go', async (store) => {
    const first = await block(store, { files: 'remove' })
    const again = await block(store, { reason: 'More spam.', files: 'keep' })
    expect(again).toEqual({ ...first, reason: 'More spam.' })
    expect([again.files, again.isRemoving]).toEqual(['remove', true])
  })

  it('are in the audit log, without addresses', async (store) => {
    const { id } = await block(store)
    await block(store, { kind: 'network', value: '192.0.2.0/24', given: '192.0.2.0/24' })
    await store.blockedCallers.lift({ id, by: 'admin', now: NOW })
    const lines = await store.audit.lines({ after: 0, limit: 10 })
    expect(lines.map(({ line }) => JSON.parse(line))).toMatchObject([
      { action: 'caller.blocked', actor: 'admin', subject: ALICE, detail: { reason: 'Spam.', files: 'keep' } },
      { action: 'caller.blocked', actor: 'admin', subject: 'network' },
      { action: 'caller.unblocked', actor: 'admin', subject: ALICE },
    ])
    expect(JSON.stringify(lines)).not.toContain('192.0.2')
  })

  itAcrossRestart('hold after a restart, and so does what is to be removed', async (store, restart) => {
    const caller = await block(store, { files: 'remove' })
    const restarted = await restart()
    expect(await restarted.blockedCallers.removing()).toEqual([caller])
    await restarted.blockedCallers.removed(caller.id)
    expect(await restarted.blockedCallers.removing()).toEqual([])
    expect(await restarted.blockedCallers.list({ limit: 10 })).toEqual([{ ...caller, isRemoving: false }])
  })

  it('lose their files, a few at a time, with all that belongs to them', async (store) => {
    for (const content of ['one', 'two', 'three']) await stage(store, upload({ content }))
    await stage(store, upload({ content: 'one', principal: BOB }))
    const endFiles = () => store.blockedCallers.endFiles({ principal: ALICE, now: NOW, limit: 2 })
    expect([await endFiles(), await endFiles(), await endFiles()]).toEqual([2, 1, 0])
    expect([(await account(store)).stored, (await account(store, BOB)).stored]).toEqual([0, 100])
    expect([...(await pending(store))].sort()).toEqual([digestOf('three'), digestOf('two')].sort())
    expect(await store.quotas.checkDrift()).toEqual([])
    const files = await store.files.list({ principal: ALICE, now: NOW, limit: 10 })
    expect(new Set(files.map(({ end }) => end))).toEqual(new Set(['removed']))
  })

  it('are among the principals of live files', async (store) => {
    const addresses = ['ip:192.0.2.1', 'ip:192.0.2.2', 'ip:2001:db8::/64']
    for (const principal of [...addresses, ALICE]) await stage(store, upload({ principal, content: principal }))
    await store.files.remove({ principal: 'ip:192.0.2.1', key: `sha256:${digestOf('ip:192.0.2.1')}`, now: NOW })
    const principals = (after: string, limit = 10) => store.blockedCallers.principals({ prefix: 'ip:', after, limit })
    expect(await principals('')).toEqual(addresses.slice(1))
    expect(await principals('', 1)).toEqual(['ip:192.0.2.2'])
    expect(await principals('ip:192.0.2.2')).toEqual(['ip:2001:db8::/64'])
  })
}
