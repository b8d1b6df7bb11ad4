import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DevnetFacts, DevnetOptions } from './devnet-facts.ts'
import { DEVNET_CHAIN_ID, startChain, startProver, startService } from './devnet-parts.ts'
import type { Part } from './part.ts'

/** A service, its provers and a chain that run on this machine. */
export interface Devnet {
  readonly facts: DevnetFacts
  /** Of the service, the provers and the chain, in that order. */
  readonly parts: readonly Part[]
  /** Ends all parts, and resolves when they are gone. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Brings up a chain with the contracts, provers that follow it, and a service that uses them; each a process of its own on 127.0.0.1.
 *
 * @throws {LocalError} when a part does not start; nothing is left running then.
 * @throws what the signal was aborted with.
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const parts: Part[] = []
  const stop = async (): Promise<void> => {
    // The service first, so that it does not take the end of the others for a failure.
    const [service, ...others] = parts.splice(0).reverse()
    await service?.stop()
    await Promise.all(others.map((part) => part.stop()))
  }
  try {
    const facts = await start(options, parts)
    return { facts, parts: parts.toReversed(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts the parts, each in the list as soon as it runs. */
async function start(options: DevnetOptions, parts: Part[]): Promise<DevnetFacts> {
  const { dir, proverCount } = options
  await mkdir(join(dir, 'logs'))
  const [chain, { contractAddresses, newAccount, setUpChain }] = await all([
    startChain(options, parts),
    // What talks to the chain takes as long to load as the chain to start.
    import('./chain-setup.ts'),
  ])
  const contracts = contractAddresses()
  const onChain = { ...chain, ...contracts }
  const [operator, wallet] = [newAccount(), newAccount()]
  const accounts = Array.from({ length: proverCount }, () => newAccount())
  const keyFile = join(dir, 'wallet.key')
  await writeFile(keyFile, `${wallet.privateKey}\n`, { mode: 0o600, flag: 'wx' })
  const [, ...provers] = await all([
    // The contracts come to be where they are known to come to be, while the provers start.
    setUpChain({
      rpcUrl: chain.rpcUrl,
      operator: operator.address,
      provers: accounts.map(({ address }) => address),
      wallet: wallet.address,
    }),
    ...accounts.map((account, index) => startProver(options, parts, onChain, { account, number: index + 1 })),
  ])
  const service = await startService(options, parts, onChain, { provers, operator })
  return {
    dir,
    service,
    chain: { ...chain, chainId: DEVNET_CHAIN_ID },
    ...contracts,
    provers,
    operator: operator.address,
    wallet: { address: wallet.address, keyFile },
  }
}

/** Waits for all, also when one fails, so that none of them starts after the rest were stopped. */
async function all<Values extends readonly unknown[]>(
  under: { [At in keyof Values]: Promise<Values[At]> },
): Promise<Values> {
  const failed = (await Promise.allSettled(under)).find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return Promise.all(under) as unknown as Promise<Values>
}
