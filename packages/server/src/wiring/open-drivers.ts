import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { StartError } from '@lade/node/settings'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openFsBlobStore } from '../blobs/drivers/fs/fs-blob-store.ts'
import type { Chain } from '../chain/chain.ts'
import { type Config, type RemoteProverSetting, tokenKeyMaterial } from '../config/config.ts'
import { describeDatabase, describeStorage } from '../config/describe.ts'
import type { Mailer } from '../mail/mailer.ts'
import { type LocalProverOptions, openLocalProver } from '../proving/drivers/local/local-prover.ts'
import { LevelCache } from '../proving/level-cache.ts'
import type { Prover } from '../proving/prover.ts'
import type { DatabaseState } from '../records/database-state.ts'
import type { Timeouts } from '../records/drivers/postgres/timeouts.ts'
import { openInstanceLocks } from '../records/drivers/sqlite/instance-locks.ts'
import { openSqliteRecordStore } from '../records/drivers/sqlite/sqlite-record-store.ts'
import type { InstanceLocks } from '../records/instance-locks.ts'
import type { RecordStore, RecordsState } from '../records/record-store.ts'
import { openKeptKey, watchKeptKey } from '../tokens/kept-key.ts'
import { keyFileName, openKeyFile } from '../tokens/key-file.ts'
import { watchKeyFile } from '../tokens/key-file-watch.ts'
import { SigningKey } from '../tokens/signing-key.ts'
import { SigningKeys } from '../tokens/signing-keys.ts'
import { traceCall } from '../tracing/tracing.ts'
import { refuseOlderInstances } from './refuse-older-instances.ts'
import type { RetryCounters } from './retry-counters.ts'
import { startReason } from './start-reason.ts'

/** What drivers are opened in. */
export interface DriverSurroundings {
  readonly log: Logger
  /** What to undo, in the order it was done. */
  readonly closers: (() => Promise<void> | void)[]
}

/**
 * Undoes what was done, the last first. What cannot be undone keeps nothing else from it.
 *
 * @throws what the first closer threw that failed.
 */
export async function closeAll(closers: DriverSurroundings['closers']): Promise<void> {
  const failures: unknown[] = []
  for (const close of closers.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Kept free on the disks of the records and of the objects, whatever the settings say. */
const RECORDS_ROOM_BYTES = 4 * 1024 * 1024

/** What {@link openRecords} opens. */
export interface OpenedRecords {
  readonly records: RecordStore
  /** By which those who share the records tell who lives. */
  readonly locks: InstanceLocks
  /** Absent where the records are in a file of SQLite. */
  readonly databaseState?: () => DatabaseState
}

export interface OpenRecordsOptions extends DriverSurroundings {
  readonly onFatal: (error: Error) => void
  /** How long one read may take on PostgreSQL. @default what a request can wait for */
  readonly readTimeoutMs?: number
}

/** Opens the records where the configuration has them. */
export async function openRecords(
  config: Config,
  { log, closers, onFatal, readTimeoutMs }: OpenRecordsOptions,
): Promise<OpenedRecords> {
  const place = describeDatabase(config.database)
  if (config.database.kind === 'sqlite') {
    const { file } = config.database
    const locks = openInstanceLocks({ dir: join(config.dataDir, 'instances') })
    const options = {
      minFreeBytes: Math.max(config.minFreeBytes, RECORDS_ROOM_BYTES),
      beforeUpgrade: refuseOlderInstances({ locks, place, engine: 'sqlite' }),
      onState: reportState(log),
    }
    const records = await orStartError(place, () => openSqliteRecordStore({ file, onFatal, ...options }))
    closers.push(() => records.close())
    return { records, locks }
  }
  const { maxConnections } = config.database
  const url = config.database.url.reveal()
  // Loaded when it is needed, as the chain is.
  const { openPostgresRecordStore } = await import('../records/drivers/postgres/postgres-record-store.ts')
  const { openPostgresInstanceLocks } = await import('../records/drivers/postgres/instance-locks.ts')
  const onWarning = (sentence: string): void => log.warn(sentence)
  const locks = openPostgresInstanceLocks({ url })
  closers.push(() => locks.close())
  const beforeUpgrade = refuseOlderInstances({ locks, place, engine: 'postgres' })
  const records = await orStartError(place, () =>
    openPostgresRecordStore({ url, maxConnections, onWarning, beforeUpgrade, timeouts: readTimeouts(readTimeoutMs) }),
  )
  closers.push(() => records.close())
  return { records, locks, databaseState: () => records.state() }
}

function readTimeouts(readTimeoutMs: number | undefined): Partial<Timeouts> {
  if (readTimeoutMs === undefined) return {}
  // The server is to refuse before the answer is given up.
  return { readStatementMs: readTimeoutMs, readSilenceMs: readTimeoutMs + 5000 }
}

/** Says once what keeps the records from being written, and when they can be again. */
function reportState(log: Logger): (state: RecordsState, cause: Error | undefined) => void {
  let said: string | undefined
  return (state, cause) => {
    const what = `${state} ${cause?.message}`
    if (what === said) return
    said = what
    if (state === 'writable') log.warn('the records can be written again')
    else log.error({ err: cause, state }, 'the records are read-only; trying the disk again every two seconds')
  }
}

interface OpenBlobsOptions {
  readonly log?: Logger
  readonly records?: Pick<RecordStore, 'inventory'>
  readonly retries?: RetryCounters
}

/** @returns undefined where no storage is bound. */
export async function openBlobs(
  config: Config,
  { log, records, retries }: OpenBlobsOptions = {},
): Promise<BlobStore | undefined> {
  const { storage } = config
  switch (storage.kind) {
    case 'none':
      return undefined
    case 'file': {
      const minFreeBytes = Math.max(config.minFreeBytes, RECORDS_ROOM_BYTES)
      return orStartError(storage.dir, () => openFsBlobStore({ dir: storage.dir, minFreeBytes }))
    }
    case 's3': {
      const { openS3BlobStore } = await import('../blobs/drivers/s3/s3-blob-store.ts')
      const { redirectSeconds } = config.retrieval
      const onTrait = (sentence: string): void => log?.warn(sentence)
      const putsOf = records && ((sha256: string) => records.inventory.puts(sha256))
      return orStartError(describeStorage(storage), () =>
        openS3BlobStore({
          ...storage,
          onTrait,
          onRetry: retries?.of('s3'),
          putsOf,
          ...(redirectSeconds > 0 && { redirectSeconds }),
        }),
      )
    }
  }
}

async function orStartError<Opened>(place: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`Lade cannot use ${place}: ${startReason(error)}`, { cause: error })
  }
}

/** The keys that tokens are signed with, followed while they are replaced. */
export async function openKeys(
  config: Config,
  { records, now, log, closers }: DriverSurroundings & { readonly records: RecordStore; readonly now: () => number },
): Promise<SigningKeys> {
  const alg = config.tokenAlg
  if (config.tokenKey !== undefined) {
    return new SigningKeys(await SigningKey.fromMaterial(tokenKeyMaterial(alg, config.tokenKey)))
  }
  const keys = new SigningKeys()
  const onChange = (key: SigningKey): void => {
    const [last] = key.previous
    if (last === undefined) log.warn({ keyId: key.id }, 'the signing key was replaced: older tokens are invalid')
    else {
      const acceptedUntil = new Date(last.acceptedUntilSeconds * 1000).toISOString()
      log.warn({ keyId: key.id, acceptedUntil }, 'the signing key was replaced: the old one is accepted for a while')
    }
  }
  // Instances on other machines have no data directory in common, only the records.
  const watch =
    config.database.kind === 'sqlite'
      ? await followKeyFile(join(config.dataDir, keyFileName(alg)))
      : await followKeptKey()
  closers.push(() => watch.close())
  return keys

  async function followKeyFile(file: string): Promise<{ close(): void }> {
    const open = (): Promise<void> =>
      orOffline(async () => {
        const { key, warnings } = await openKeyFile({ file, alg, now: new Date(now()) })
        for (const warning of warnings) log.warn(warning)
        return key
      })
    await open()
    // A first start on a disk that takes no writes has none.
    records.disk?.beforeWritable(async () => {
      if (keys.currentId() === undefined) await open()
    })
    return watchKeyFile({ file, alg, keys, onChange })
  }

  async function followKeptKey(): Promise<{ close(): void }> {
    const { secrets } = records
    await orOffline(() => openKeptKey({ secrets, alg, now: new Date(now()) }))
    return watchKeptKey({ secrets, alg, keys, onChange })
  }

  /** Without a key sponsored uploads and retrieval go on; what needs a token answers auth_offline. */
  async function orOffline(open: () => Promise<SigningKey>): Promise<void> {
    try {
      keys.replace(await open())
    } catch (error) {
      if (!LadeError.has(error, 'auth_offline')) throw error
      log.error({ err: error.cause ?? error }, 'the signing key cannot be read or created')
    }
  }
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
  const { rpcUrl, chainId, usdc, balanceWindowBlocks, marketplace } = chain
  // Loaded when it is needed, since it takes longer than all the rest of a start.
  const { openEvmChain } = await import('../chain/drivers/evm/evm-chain.ts')
  return openEvmChain({
    rpcUrl: rpcUrl.reveal(),
    ...(chainId !== undefined && { chainId }),
    usdc,
    balanceWindowBlocks,
    ...(marketplace !== undefined && {
      marketplaces: marketplace.contracts,
      privateKey: marketplace.privateKey.reveal() as `0x${string}`,
    }),
  })
}

/** Sends login codes. @returns undefined where nobody signs up by email. */
export async function openMailer({ signup, mail }: Config): Promise<Mailer | undefined> {
  if (signup !== 'email' || mail === undefined) return undefined
  const { openSmtpMailer } = await import('../mail/drivers/smtp/smtp-mailer.ts')
  return openSmtpMailer(mail)
}

/** Where the local prover finds what uploads have learned of the trees of pieces. */
export function openLevels({ dataDir, minFreeBytes }: Config): LevelCache {
  return new LevelCache({ dir: join(dataDir, 'levels'), minFreeBytes: Math.max(minFreeBytes, RECORDS_ROOM_BYTES) })
}

interface OpenProversOptions extends Pick<DriverSurroundings, 'closers'>, LocalProverOptions {
  readonly retries: RetryCounters
}

/** Every prover that the configuration names, in its order. */
export async function openProvers(
  config: Config,
  { closers, retries, ...local }: OpenProversOptions,
): Promise<readonly Prover[]> {
  const hasRemote = config.provers.some(({ kind }) => kind !== 'local')
  const openRemote = hasRemote ? await remoteOpener(config, retries) : undefined
  const provers = config.provers.flatMap((setting) =>
    setting.kind === 'local' ? openLocalProver(local) : (openRemote?.(setting) ?? []),
  )
  for (const prover of provers) closers.push(() => prover.close())
  return provers
}

/** Loaded when it is needed, as the chain is: what signs for Curio takes long to load. */
async function remoteOpener(
  { curioKey }: Config,
  retries: RetryCounters,
): Promise<(setting: RemoteProverSetting) => Prover> {
  const { openHttpProver } = await import('../proving/drivers/http/http-prover.ts')
  const surroundings = { trace: traceCall, onRetry: retries.of('prover') }
  if (curioKey === undefined) return (setting) => openHttpProver({ ...setting, ...surroundings })
  const { privateKeyToAccount } = await import('viem/accounts')
  const signer = privateKeyToAccount(curioKey.reveal() as `0x${string}`)
  return (setting) => openHttpProver({ ...setting, ...surroundings, signer })
}
