import { join } from 'node:path'
import { LocalError } from '../usage-error.ts'
import type { NewAccount } from './chain-setup.ts'
import type { DevnetFacts, DevnetOptions, DevnetProver } from './devnet-facts.ts'
import { type Part, startPart } from './part.ts'

export const DEVNET_CHAIN_ID = 31_337
const MAIN = new URL('../main.ts', import.meta.url)
const KEEP_ANVIL = new URL('./keep-anvil.ts', import.meta.url)

/** So that what takes minutes, hours and days elsewhere can be watched. */
const SCHEDULE = {
  LADE_REDUNDANCY: '1',
  LADE_AGGREGATE_SECONDS: '5',
  LADE_AUDIT_SECONDS: '2',
  LADE_CHAIN_CONFIRMATIONS: '1',
  LADE_CHAIN_FINALITY_BLOCKS: '5',
  LADE_WALLET_BALANCE_BLOCKS: '1',
  LADE_DEAL_WAIT_MS: '15000',
  // Much more than storage costs, so that the pay of one period is more than nothing.
  LADE_DEAL_USDC_PER_GIB_DAY: '100',
  LADE_MIN_FREE_MB: '64',
}

/** Where the contracts are reached. */
export interface OnChain {
  readonly rpcUrl: string
  readonly usdc: string
  readonly marketplace: string
}

/** @throws {LocalError} where anvil is not installed, too. */
export async function startChain(options: DevnetOptions, parts: Part[]) {
  const part = await startPart({
    name: 'The chain',
    program: KEEP_ANVIL,
    args: [String(DEVNET_CHAIN_ID)],
    env: {},
    cwd: options.dir,
    logFile: join(options.dir, 'logs', 'chain.log'),
    signal: options.signal,
  })
  parts.push(part)
  const said: { rpcUrl: string; pid: number } | { error: string } = JSON.parse(part.firstLine)
  if ('error' in said) throw new LocalError(said.error)
  return said
}

export async function startProver(
  options: DevnetOptions,
  parts: Part[],
  { rpcUrl, marketplace }: OnChain,
  { account, number }: { readonly account: NewAccount; readonly number: number },
): Promise<DevnetProver> {
  const dir = join(options.dir, `prover-${number}`)
  const name = `Prover ${number}`
  const part = await startProcess(options, parts, {
    name,
    log: `prover-${number}`,
    args: ['prover'],
    env: {
      LADE_PROVER_PORT: '0',
      LADE_PROVER_DIR: dir,
      LADE_PROVER_FIND_DELAY_MS: '200',
      LADE_PROVER_CONFIRM_DELAY_MS: '500',
      LADE_PROVER_CHAIN_RPC: rpcUrl,
      LADE_PROVER_CHAIN_ID: String(DEVNET_CHAIN_ID),
      LADE_PROVER_MARKETPLACE: marketplace,
      LADE_PROVER_KEY: account.privateKey,
    },
  })
  return { name, url: urlIn(part), account: account.address, pid: part.pid, dir }
}

export async function startService(
  options: DevnetOptions,
  parts: Part[],
  { rpcUrl, usdc, marketplace }: OnChain,
  { provers, operator }: { readonly provers: readonly DevnetProver[]; readonly operator: NewAccount },
): Promise<DevnetFacts['service']> {
  const dataDir = join(options.dir, 'service')
  const part = await startProcess(options, parts, {
    name: 'The service',
    log: 'service',
    args: ['serve'],
    env: {
      LADE_PORT: String(options.port),
      LADE_DATA_DIR: dataDir,
      LADE_PROVER: provers.map(({ url, account }) => `${url}#${account}`).join(','),
      LADE_CHAIN_RPC: rpcUrl,
      LADE_CHAIN_ID: String(DEVNET_CHAIN_ID),
      LADE_USDC: usdc,
      LADE_MARKETPLACE: marketplace,
      LADE_CHAIN_KEY: operator.privateKey,
      ...SCHEDULE,
    },
  })
  return { url: urlIn(part), pid: part.pid, dataDir }
}

interface ProcessFacts {
  readonly name: string
  readonly log: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Starts this command line as a process of its own. */
async function startProcess(
  options: DevnetOptions,
  parts: Part[],
  { name, log, args, env }: ProcessFacts,
): Promise<Part> {
  const { dir, signal, onLogLine } = options
  const logFile = join(dir, 'logs', `${log}.log`)
  const part = await startPart({
    name,
    program: MAIN,
    args,
    env,
    cwd: dir,
    logFile,
    signal,
    onLogLine: (line) => onLogLine(name, line),
  })
  parts.push(part)
  return part
}

function urlIn({ name, firstLine }: Part): string {
  const url = /http:\/\/\S+/.exec(firstLine)?.[0]
  if (url === undefined) throw new LocalError(`${name} printed an unexpected first line: ${firstLine}`)
  return url
}
