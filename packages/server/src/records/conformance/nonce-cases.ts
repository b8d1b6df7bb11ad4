import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { type Cases, HOUR, NOW, times } from './case.ts'

const ACCOUNT = 'wallet:8453:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const OTHER_ACCOUNT = 'wallet:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export function nonceCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  const use = (store: RecordStore, nonce = 'n1', account = ACCOUNT, until = NOW + HOUR) =>
    store.nonces.use({ account, nonce, until })
  const issue = (store: RecordStore, nonce: string, until = NOW + HOUR) => store.nonces.issue({ nonce, until })
  const redeem = (store: RecordStore, nonce: string, now = NOW) => store.nonces.redeem({ nonce, now })
  const expire = (store: RecordStore, now = NOW, limit = 100) => store.nonces.expire({ now, limit })
  const firstOf = (answers: readonly boolean[]) => answers.filter((isFirst) => isFirst).length

  it('takes each nonce of an account once', async (store) => {
    expect(await use(store)).toBe(true)
    expect(await use(store)).toBe(false)
    expect(await use(store, 'n2')).toBe(true)
    expect(await use(store, 'n1', OTHER_ACCOUNT)).toBe(true)
  })

  it('knows which nonces were used, and by whom', async (store) => {
    expect(await store.nonces.isUsed({ account: ACCOUNT, nonce: 'n1' })).toBe(false)
    await use(store)
    expect(await store.nonces.isUsed({ account: ACCOUNT, nonce: 'n1' })).toBe(true)
    expect(await store.nonces.isUsed({ account: OTHER_ACCOUNT, nonce: 'n1' })).toBe(false)
    expect(await store.nonces.isUsed({ account: ACCOUNT, nonce: 'n2' })).toBe(false)
  })

  it('knows which nonces it handed out, until they are taken back or their time is over', async (store) => {
    const isIssued = (nonce: string, now = NOW) => store.nonces.isIssued({ nonce, now })
    await issue(store, 'ours', NOW + 10)
    expect(await isIssued('ours', NOW + 9)).toBe(true)
    expect(await isIssued('ours', NOW + 10)).toBe(false)
    expect(await isIssued('n1')).toBe(false)
    await use(store)
    expect(await isIssued('n1')).toBe(false)
    await redeem(store, 'ours')
    expect(await isIssued('ours')).toBe(false)
  })

  it('tells nonces apart by every code unit', async (store) => {
    for (const nonce of ['n', 'N', 'n ', ' n', 'ń', 'n\u0301']) expect(await use(store, nonce)).toBe(true)
    expect(await use(store, 'N')).toBe(false)
  })

  it('remembers a nonce that was used also when it is past its time and nobody has swept it', async (store) => {
    expect(await use(store, 'n1', ACCOUNT, NOW - 1)).toBe(true)
    expect(await use(store)).toBe(false)
  })

  it('lets one of 100 uses at once be the first', async (store) => {
    expect(firstOf(await Promise.all(times(100, () => use(store))))).toBe(1)
  })

  itWithTwo('lets one of 100 uses at once through two handles be the first', async (store, other) => {
    expect(firstOf(await Promise.all(times(100, (index) => use(index % 2 === 0 ? store : other))))).toBe(1)
  })

  it('takes back what it handed out, once', async (store) => {
    await issue(store, 'ours')
    expect(await redeem(store, 'ours')).toBe(true)
    expect(await redeem(store, 'ours')).toBe(false)
    expect(await redeem(store, 'never handed out')).toBe(false)
  })

  it('takes back nothing from the moment on at which its time is over', async (store) => {
    await issue(store, 'ours', NOW + 10)
    expect(await redeem(store, 'ours', NOW + 10)).toBe(false)
    expect(await redeem(store, 'ours', NOW + 9)).toBe(true)
  })

  it('keeps what it handed out apart from what wallets use', async (store) => {
    await issue(store, 'same')
    expect(await use(store, 'same')).toBe(true)
    expect(await redeem(store, 'same')).toBe(true)
    expect(await use(store, 'same')).toBe(false)
    expect(await redeem(store, 'same')).toBe(false)
  })

  itWithTwo('takes back a nonce once of 100 times through two handles', async (store, other) => {
    await issue(store, 'ours')
    expect(firstOf(await Promise.all(times(100, (index) => redeem(index % 2 === 0 ? store : other, 'ours'))))).toBe(1)
  })

  it('forgets what is past its time, oldest first and no more than asked for', async (store) => {
    for (const [index, nonce] of ['c', 'a', 'b'].entries()) await use(store, nonce, ACCOUNT, NOW - index)
    await use(store, 'still good', ACCOUNT, NOW + 1)
    await issue(store, 'ours', NOW - 9)
    expect(await expire(store, NOW, 2)).toBe(2)
    expect(await use(store, 'b')).toBe(true)
    expect(await use(store, 'a')).toBe(false)
    expect(await expire(store)).toBe(2)
    expect(await expire(store)).toBe(0)
    expect(await use(store, 'a')).toBe(true)
    expect(await use(store, 'still good')).toBe(false)
  })

  itAcrossRestart('remembers what was used and what was handed out', async (store, restart) => {
    await use(store)
    await issue(store, 'ours')
    const again = await restart()
    expect(await use(again)).toBe(false)
    expect(await redeem(again, 'ours')).toBe(true)
  })

  itBroken('error: a broken medium is storage_failed, and never a nonce that is new', async (store, breakNow) => {
    await use(store)
    breakNow()
    const failed = { code: 'storage_failed' }
    await expect(use(store, 'n2')).rejects.toMatchObject(failed)
    await expect(redeem(store, 'n2')).rejects.toMatchObject(failed)
  })
}
