import {
  concatHex,
  encodeFunctionData,
  getCreate2Address,
  hexToBytes,
  pad,
  serializeErc6492Signature,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address, Chain } from '../../chain.ts'
import { messageOf, otherHalf, signer, signFor } from '../../conformance/signatures.ts'
import { type AnvilNetwork, type EvmFixture, startAnvilNetwork } from './testing/anvil-network.ts'
import { openRelay } from './testing/relay.ts'

const message = messageOf('a message')

describe('wallets that are contracts', () => {
  let network: AnvilNetwork
  let fixture: EvmFixture
  let chain: Chain
  let factory: Address
  beforeAll(async () => {
    network = await startAnvilNetwork()
    fixture = await network.openFixture()
    chain = fixture.chain
    factory = await network.deploy({ ...network.wallets().factory, args: [] })
  })
  afterAll(async () => {
    await fixture.close()
    await network.stop()
  })

  let salts = 0
  /** A wallet that its owner has not deployed yet, with a signature that says how to. */
  const undeployedWallet = async () => {
    salts += 1
    const owner = privateKeyToAccount(generatePrivateKey())
    const salt = pad(toHex(salts))
    const args = [owner.address, salt] as const
    const data = encodeFunctionData({ abi: network.wallets().factory.abi, functionName: 'deploy', args })
    const bytecode = concatHex([network.wallets().wallet.bytecode, pad(owner.address)])
    const account = getCreate2Address({ from: factory, salt, bytecode })
    const inner = await owner.signMessage({ message: { raw: message } })
    const wrap = (signature: `0x${string}`, address = factory) =>
      hexToBytes(serializeErc6492Signature({ address, data, signature }))
    return { owner, account, args, inner, wrap }
  }

  it('takes a signature of a wallet that is not deployed yet', async () => {
    const { account, inner, wrap } = await undeployedWallet()
    await expect(chain.isSignedBy({ account, message, signature: wrap(inner) })).resolves.toBe(true)
    // It still is not.
    await expect(chain.isSignedBy({ account, message, signature: hexToBytes(inner) })).resolves.toBe(false)
  })

  it('takes the same signature after the wallet was deployed, wrapped or not', async () => {
    const { account, args, inner, wrap } = await undeployedWallet()
    const call = { address: factory, abi: network.wallets().factory.abi, functionName: 'deploy', args, chain: null }
    await network.client.writeContract(call)
    await fixture.mine()
    await expect(chain.isSignedBy({ account, message, signature: wrap(inner) })).resolves.toBe(true)
    await expect(chain.isSignedBy({ account, message, signature: hexToBytes(inner) })).resolves.toBe(true)
  })

  it('refuses a wrapped signature of another message, another account or another factory', async () => {
    const { owner, account, inner, wrap } = await undeployedWallet()
    const other = await undeployedWallet()
    const elsewhere = await owner.signMessage({ message: { raw: messageOf('else') } })
    await expect(chain.isSignedBy({ account, message, signature: wrap(elsewhere) })).resolves.toBe(false)
    await expect(chain.isSignedBy({ account: other.account, message, signature: wrap(inner) })).resolves.toBe(false)
    await expect(chain.isSignedBy({ account, message, signature: wrap(inner, network.usdc) })).resolves.toBe(false)
  })

  it('refuses a wrapped signature of an account with a key, in either spelling', async () => {
    const { wrap } = await undeployedWallet()
    for (const signature of [await signFor(message), otherHalf(await signFor(message))]) {
      const wrapped = { account: signer.address, message, signature: wrap(toHex(signature)) }
      await expect(chain.isSignedBy(wrapped)).resolves.toBe(false)
    }
  })

  it('refuses what is wrapped wrongly', async () => {
    const magic = hexToBytes(`0x${'6492'.repeat(16)}`)
    for (const lengthBytes of [32, 64, 300]) {
      const signature = new Uint8Array(lengthBytes).fill(7)
      signature.set(magic, lengthBytes - 32)
      await expect(chain.isSignedBy({ account: factory, message, signature })).resolves.toBe(false)
    }
  })

  it('refuses contracts that fail, never end, are no wallets or answer anything but the word', async () => {
    const { account, signature } = await fixture.contractWallet(message)
    const wrongWord = await network.deploy({ ...network.wallets().wrongWord, args: [] })
    const refused = [
      { account, signature: signature.subarray(0, 64) },
      { account, signature: new Uint8Array(65) },
      { account: wrongWord, signature },
      { account: network.usdc, signature },
    ]
    for (const request of refused) await expect(chain.isSignedBy({ ...request, message })).resolves.toBe(false)
  })

  it('looks nowhere else for a contract that asks to', async () => {
    const elsewhere = await openRelay()
    const account = await network.deploy({ ...network.wallets().lookElsewhere, args: [elsewhere.url] })
    await expect(chain.isSignedBy({ account, message, signature: new Uint8Array(65).fill(1) })).resolves.toBe(false)
    expect(elsewhere.asked).toEqual([])
    await elsewhere.close()
  })
})
