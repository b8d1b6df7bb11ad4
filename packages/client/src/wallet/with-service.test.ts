import { type FakeChain, openFakeChain } from '@lade/server/testing/fake-chain'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLadeClient, walletOf } from '../client.ts'
import { noise } from '../testing/noise.ts'
import { type OwnService, startOwnService } from '../testing/own-service.ts'
import { ANVIL_KEY, fakeWallet } from '../testing/wallets.ts'
import type { Wallet } from './wallet-options.ts'

const MIB = 1_048_576
const CHAIN_ID = 31_337
/** For 1 GiB a day. */
const ONE_USDC = 1_000_000n
const account = privateKeyToAccount(ANVIL_KEY)

let chain: FakeChain
let service: OwnService
beforeAll(async () => {
  chain = openFakeChain({ chainId: CHAIN_ID })
  chain.setBalance(account.address, ONE_USDC)
  // The endpoint is never asked, since the chain stands in its place.
  const env = { LADE_CHAIN_RPC: 'http://127.0.0.1:1', LADE_USDC: `0x${'2'.repeat(40)}`, LADE_USDC_PER_GIB: '1' }
  service = await startOwnService(env, { chain })
})
afterAll(() => service.remove())

const clientWith = (wallet: Wallet) => createLadeClient({ url: service.url, wallet })
const strangers = () => createLadeClient({ url: service.url })

describe.each<[string, () => Wallet]>([
  ['an account that signs each request', () => ({ account })],
  ['a wallet that signs in', () => walletOf(fakeWallet(account).provider)],
])('with a service, %s', (title, walletFor) => {
  const seed = title.length

  it('puts, lists, fetches, shares and removes what is its own', async () => {
    const client = clientWith(walletFor())
    const bytes = noise(300_000, seed)
    const put = await client.put(bytes, { visibility: 'private', filename: 'naïve plan.txt' })
    expect(put).toMatchObject({ owner: account.address, sponsored: false, term: '30 days' })
    expect(await client.put(bytes, { visibility: 'private' })).toMatchObject({
      dealId: put.dealId,
      owner: account.address,
    })
    expect((await client.files.page({ q: 'naïve plan' })).files.map(({ cid }) => cid)).toEqual([put.cid])
    await expect(strangers().get(put.cid)).rejects.toMatchObject({ code: 'not_found' })
    expect(Buffer.compare(await (await client.get(put.cid)).bytes(), bytes)).toBe(0)
    const { url } = await client.files.share(put.cid, { ttlSeconds: 60 })
    expect((await fetch(url)).status).toBe(200)
    expect(await client.deals.get(put.dealId)).toMatchObject({ cid: put.cid })
    expect((await client.pieceCids([put.cid])).items).toHaveLength(1)
    await client.files.remove(put.cid)
    await expect(client.get(put.cid)).rejects.toMatchObject({ code: 'gone' })
    expect(await client.usage()).toMatchObject({ email: null, userId: `eip155:${CHAIN_ID}:${account.address}` })
  })
})

describe('with a service, an account', () => {
  it('composes a file of parts, each of them signed over all of its bytes', async () => {
    const bytes = noise(127 * MIB + 5_000_001, 77)
    const { cid, size } = await clientWith({ account }).put(new Blob([bytes]))
    expect(size).toBe(bytes.length)
    const download = await strangers().get(cid)
    expect(Buffer.compare(await download.bytes(), bytes)).toBe(0)
  }, 60_000)

  it('puts as much as its USDC stands for, to the byte', async () => {
    const other = privateKeyToAccount(`0x${'7'.repeat(64)}`)
    const client = clientWith({ account: other })
    await expect(client.put(noise(1, 78))).rejects.toMatchObject({ code: 'quota_exceeded', evidence: { limit: 0 } })
    chain.setBalance(other.address, 1000n)
    const { quotaBytes } = await client.usage()
    expect(quotaBytes).toBe(Math.floor((1000 * 2 ** 30) / 1_000_000))
    await client.put(noise(quotaBytes, 79))
    await expect(client.put(noise(1, 80))).rejects.toMatchObject({ code: 'quota_exceeded' })
  })

  it('is told what is wrong with its signature', async () => {
    const wrongChain = clientWith({ account, chainId: 1 }).usage()
    await expect(wrongChain).rejects.toMatchObject({ code: 'invalid_signature' })
    await expect(wrongChain).rejects.toThrow('keyid names another chain; expected 31337.')
    const impostor = { address: `0x${'9'.repeat(40)}`, signMessage: account.signMessage }
    await expect(clientWith({ account: impostor }).usage()).rejects.toThrow(
      /This is not a signature of this request to \S+ by 0x9999/,
    )
  })
})
