import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import type { Logger } from 'pino'
import type { BlobStore } from './blobs/blob-store.ts'
import { openFsBlobStore } from './blobs/drivers/fs/fs-blob-store.ts'
import type { Chain } from './chain/chain.ts'
import { type Config, type RemoteProverSetting, tokenKeyMaterial } from './config/config.ts'
import { type LocalProverOptions, openLocalProver } from './proving/drivers/local/local-prover.ts'
import type { Prover } from './proving/prover.ts'
import { keyFileName, openKeyFile } from './tokens/key-file.ts'
import { watchKeyFile } from './tokens/key-file-watch.ts'
import { SigningKey } from './tokens/signing-key.ts'
import { SigningKeys } from './tokens/signing-keys.ts'

/** What drivers are opened in. */
export interface DriverSurroundings {
  readonly now: () => number
  readonly log: Logger
  /** What to undo, in the order it was done. */
  readonly closers: (() => Promise<void> | void)[]
}

/** Kept free whatever the settings say, so that the records have room to remove files on a full disk. */
const RECORDS_ROOM_BYTES = 4 * 1024 * 1024

/** @returns undefined where no storage is bound. */
export async function openBlobs(config: Config): Promise<BlobStore | undefined> {
  if (config.storage.kind === 'none') return undefined
  const minFreeBytes = Math.max(config.minFreeBytes, RECORDS_ROOM_BYTES)
  return openFsBlobStore({ dir: config.storage.dir, minFreeBytes })
}

/** The keys that tokens are signed with, followed while their file is replaced. */
export async function openKeys(config: Config, { now, log, closers }: DriverSurroundings): Promise<SigningKeys> {
  if (config.tokenKey !== undefined) {
    return new SigningKeys(await SigningKey.fromMaterial(tokenKeyMaterial(config.tokenAlg, config.tokenKey)))
  }
  const alg = config.tokenAlg
  const file = join(config.dataDir, keyFileName(alg))
  const keys = new SigningKeys()
  try {
    const { key, warnings } = await openKeyFile({ file, alg, now: new Date(now()) })
    for (const warning of warnings) log.warn(warning)
    keys.replace(key)
  } catch (error) {
    if (!LadeError.has(error, 'auth_offline')) throw error
    // Sponsored uploads and retrieval go on; what needs a token answers auth_offline.
    log.error({ err: error.cause ?? error }, 'no signing key can be read or created')
  }
  const watch = watchKeyFile({
    file,
    alg,
    keys,
    onChange: (key) => {
      log.warn({ keyId: key.id }, 'the signing key was replaced: tokens signed before are invalid')
    },
  })
  closers.push(() => watch.close())
  return keys
}

/**
 * The chain on which wallets and deals are.
 *
 * @returns undefined where none is configured.
 * @throws {Error} when its node answers and is not what the configuration says; `chain_offline` when it does not answer and
 *   nothing says which chain it should be.
 */
export async function openChain({ chain }: Config): Promise<Chain | undefined> {
  if (chain === undefined) return undefined
  const { rpcUrl, chainId, usdc, marketplace } = chain
  // Loaded when it is needed, since it takes longer than all the rest of a start.
  const { openEvmChain } = await import('./chain/drivers/evm/evm-chain.ts')
  return openEvmChain({
    rpcUrl: rpcUrl.reveal(),
    ...(chainId !== undefined && { chainId }),
    usdc,
    ...(marketplace !== undefined && {
      marketplace: marketplace.contract,
      privateKey: marketplace.privateKey.reveal() as `0x${string}`,
    }),
  })
}

/** Every prover that the configuration names, in its order. */
export async function openProvers(
  config: Config,
  { closers, readPiece }: Pick<DriverSurroundings, 'closers'> & LocalProverOptions,
): Promise<readonly Prover[]> {
  const openRemote = config.provers.some(({ kind }) => kind !== 'local') ? await remoteOpener(config) : undefined
  const provers = config.provers.flatMap((setting) =>
    setting.kind === 'local' ? openLocalProver({ readPiece }) : (openRemote?.(setting) ?? []),
  )
  for (const prover of provers) closers.push(() => prover.close())
  return provers
}

/** Loaded when it is needed, as the chain is: what signs for Curio takes long to load. */
async function remoteOpener({ curioKey }: Config): Promise<(setting: RemoteProverSetting) => Prover> {
  const { openHttpProver } = await import('./proving/drivers/http/http-prover.ts')
  if (curioKey === undefined) return openHttpProver
  const { privateKeyToAccount } = await import('viem/accounts')
  const signer = privateKeyToAccount(curioKey.reveal() as `0x${string}`)
  return (setting) => openHttpProver({ ...setting, signer })
}
