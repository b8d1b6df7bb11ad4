import { randomUUID } from 'node:crypto'
import { access } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { createDurableDirectory } from '@lade/node/disk/durable-directory'
import { isSystemError, systemReason } from '@lade/node/disk/system-error'
import type { ContentHashers } from '@lade/node/hashing/content-hasher'
import { startHashThreads } from '@lade/node/hashing/hash-threads'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { StartError } from '@lade/node/settings'
import { type Logger, pino } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { storedNoter } from './admin/stored-noter.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { Chain } from './chain/chain.ts'
import type { Config } from './config/config.ts'
import { countOldFolders } from './directories/count-old-folders.ts'
import { createApp } from './http/app.ts'
import { clientAddressReader } from './http/client-address.ts'
import { isLoopback } from './http/known-host.ts'
import { hidingAddresses } from './http/logged-address.ts'
import { RefusalLog } from './http/refusal-log.ts'
import { createRequestOrigin, isNameless } from './http/request-origin.ts'
import { RequestsInHand } from './http/requests-in-hand.ts'
import type { Service } from './http/service.ts'
import type { SlowReadersOptions } from './http/slow-readers.ts'
import { SQLITE_TURNS, UploadTurns } from './http/upload-turns.ts'
import { createOpenUploads } from './open-uploads/open-uploads.ts'
import { localPieces } from './placement/local-pieces.ts'
import { cacheLevels } from './proving/cache-levels.ts'
import type { Prover } from './proving/prover.ts'
import { networkOf } from './quota-rule/network-of.ts'
import { BlockReadings } from './retrieval/block-readings.ts'
import { createSessionKeeper } from './sessions/session-keeper.ts'
import { createAuthorizer } from './tokens/authorize.ts'
import { keyAgeReminder } from './tokens/key-age-reminder.ts'
import { keyNoter } from './tokens/key-noter.ts'
import { forwardingTracer, type Tracer } from './tracing/tracing.ts'
import { createUpkeep } from './upkeep/upkeep.ts'
import { Reservations } from './uploads/reservations.ts'
import { StallWatch } from './uploads/stall-watch.ts'
import { WalletChains } from './wallets/wallet-chains.ts'
import { isMember, startMember, startMembers } from './wiring/cluster.ts'
import { drain } from './wiring/drain.ts'
import { unlessUnwritable } from './wiring/hold-instance-lock.ts'
import type { Lade } from './wiring/lade.ts'
import { openBlocks } from './wiring/open-blocks.ts'
import { openData } from './wiring/open-data.ts'
import {
  closeAll,
  type DriverSurroundings,
  openChain,
  openKeys,
  openLevels,
  openMailer,
  openProvers,
} from './wiring/open-drivers.ts'
import { createPlacing } from './wiring/placement.ts'
import { registerInstance } from './wiring/register-instance.ts'
import { RetryCounters } from './wiring/retry-counters.ts'
import { warnOfSameSite } from './wiring/warn-of-same-site.ts'

export { isMember } from './wiring/cluster.ts'
export type { Lade } from './wiring/lade.ts'

/** How long callers have to read that the records failed, before the process ends. Nothing is written in that time. */
const LAST_ANSWERS_MS = 250

/** Parts that a test, or a program that embeds the service, may put in place of the configured ones. */
export interface Substitutes {
  readonly provers?: readonly Prover[]
  readonly chain?: Chain
  readonly blobs?: BlobStore
  readonly hashers?: ContentHashers
  readonly now?: () => number
  readonly log?: Logger
  /** How long readers have. @default a minute */
  readonly readerTimes?: Pick<SlowReadersOptions, 'idleMs' | 'minuteMs'>
  /** Called when the medium under the records failed. @default logs and ends the process with 1 */
  readonly onFatal?: (error: Error) => void
}

/**
 * Builds the service from its configuration, recovers from whatever happened before, and listens.
 *
 * @throws {Error} when the data cannot be opened or the port cannot be bound; nothing is left open then.
 *
 * @example
 * const lade = await startLade(readConfig({ env: { LADE_PORT: '0' } }))
 * lade.url // 'http://127.0.0.1:49321'
 */
export async function startLade(config: Config, substitutes: Substitutes = {}): Promise<Lade> {
  if (config.processes > 1 && !isMember) return startMembers(config.processes)
  if (isMember) return startMember(() => startHere(config, substitutes))
  return startHere(config, substitutes)
}

async function startHere(config: Config, substitutes: Substitutes): Promise<Lade> {
  const destination = pino.destination({ fd: 2, sync: false })
  const log = hidingAddresses(substitutes.log ?? pino({ level: config.logLevel }, destination), config.logAddresses)
  const flushLog = (): void => destination.flushSync()
  const closers: DriverSurroundings['closers'] = []
  try {
    return await start(config, substitutes, { log, flushLog, closers })
  } catch (error) {
    await closeAll(closers).catch((failure: unknown) => log.error({ err: failure }, 'a component could not be closed'))
    throw error
  }
}

interface Surroundings extends DriverSurroundings {
  readonly flushLog: () => void
}

async function start(config: Config, substitutes: Substitutes, surroundings: Surroundings): Promise<Lade> {
  const { log, flushLog, closers } = surroundings
  for (const { givenAs, newName } of config.oldNames) log.warn(`${givenAs} is an old name; use ${newName} instead`)
  await orStartError(`Lade cannot use the data directory ${config.dataDir} (LADE_DATA_DIR)`, async () => {
    await createDurableDirectory(config.dataDir)
    // Also where it was there, and is a file.
    await access(`${config.dataDir}/.`)
  })
  const instanceId = randomUUID()
  const onFatal =
    substitutes.onFatal ??
    ((error: Error) => {
      log.fatal({ err: error }, 'the disk of the database failed; start again to recover')
      flushLog()
      setTimeout(() => process.exit(1), LAST_ANSWERS_MS)
    })
  const retries = new RetryCounters()
  const opening = { log, closers, onFatal, instanceId, retries, ownBlobs: substitutes.blobs, ownNow: substitutes.now }
  const data = await openData(config, opening)
  const { records, locks, databaseState, clock, now, filesNow, guarded } = data
  const blobs = guarded?.blobs
  const keys = await openKeys(config, { records, now, log, closers })
  const mailer = await openMailer(config)
  closers.push(() => mailer?.close())
  const chain = substitutes.chain ?? (await openChain(config))
  closers.push(() => chain?.close())
  const levels = openLevels(config)
  const readPiece = localPieces({ records, blobs })
  const provers = substitutes.provers ?? (await openProvers(config, { closers, retries, readPiece, levels }))
  const hasLocal = provers.some(({ isLocal }) => isLocal)

  const tracer = await openTracer(config, surroundings)
  const budget = new WorkBudget({ log, networkOf })
  const refusals = new RefusalLog({ log })
  closers.push(() => refusals.close())
  const blockReadings = new BlockReadings(budget)
  closers.push(() => blockReadings.close())
  const hashThreads = startHashThreads({ budget })
  closers.push(() => hashThreads.close())
  const authorizer = createAuthorizer({ keys, records, now })
  const sessions = createSessionKeeper({ keys, records, now })
  const isAlive = (id: string): Promise<boolean> => locks.isHeld(id)
  const noteStored = storedNoter({ records, now })
  const noteKey = keyNoter({ keys, records, now })
  const flush = async (): Promise<void> => {
    await authorizer.flushUses()
    await sessions.flushUses()
    await noteKey()
    await noteStored()
  }
  const remind = keyAgeReminder({ keys, log, now })
  const reservations = new Reservations(records)
  const removing = new Set<string>()
  const staging = { records, blobs, instanceId, now, reservations, removing }
  const { graceMs, tombstoneMs } = config
  const upkeep = createUpkeep({ ...staging, isAlive, graceMs, tombstoneMs, log, flush, remind })
  await registerInstance(data, { instanceId, flush, log, closers })
  // Before the port is open: what a crash left behind must not meet new requests.
  await unlessUnwritable(() => upkeep.round())

  const moderation = await openBlocks(config, { records, now, log, closers })
  const openUploads = createOpenUploads()
  closers.push(() => openUploads.hashers.close())
  const stallWatch = new StallWatch({ idleMs: config.bodyIdleMs, now: () => performance.now() })
  closers.push(() => stallWatch.close())
  let isDraining = false
  let publicUrl = config.publicUrl ?? ''
  const requestOrigin = createRequestOrigin(config)
  const urls = { publicUrl: () => requestOrigin.current() ?? publicUrl }
  const requestsInHand = new RequestsInHand()
  const maxCount = config.database.kind === 'sqlite' ? SQLITE_TURNS : Number.POSITIVE_INFINITY
  const uploadTurns = new UploadTurns({ budget, maxCount })
  const hasCallers = () => requestsInHand.areThere
  const placing = createPlacing({
    config,
    records,
    blobs,
    provers,
    chain,
    budget,
    hasCallers,
    instanceId,
    now,
    log,
    ...urls,
  })
  closers.push(() => placing.stop())
  const hashers = substitutes.hashers ?? hashThreads.hashers
  const service: Service = {
    config,
    version: packageJson.version,
    ...staging,
    openUploads,
    isAlive,
    databaseState,
    budget,
    blockReadings,
    hashers: hasLocal ? cacheLevels(hashers, levels) : hashers,
    provers,
    ...placing,
    integrity: guarded,
    chain,
    walletChains: chain === undefined || config.chain === undefined ? undefined : new WalletChains({ chain, budget }),
    keys,
    mailer,
    authorizer,
    sessions,
    moderation,
    stallWatch,
    clientAddress: clientAddressReader(config.trustedProxies),
    log,
    tracer,
    retries,
    refusals,
    filesNow,
    clock,
    newId: randomUUID,
    requestOrigin,
    ...urls,
    retrievalUrl: (cid) => `${config.contentUrl ?? urls.publicUrl()}/p/${cid}`,
    requestsInHand,
    uploadTurns,
    isDraining: () => isDraining,
  }
  const app = await createApp(service, substitutes.readerTimes)
  const { host, port } = config
  await orStartError(`Lade cannot listen on ${host}:${port} (LADE_HOST and LADE_PORT)`, () =>
    app.listen({ host, port, backlog: 1024 }),
  )
  const url = boundUrl(config.host, app.server.address() as AddressInfo)
  publicUrl = config.publicUrl ?? url
  if (config.signup === 'open' && !isLoopback(config.host)) {
    log.warn('signup is open on a public address: anyone can sign up with any email address')
  }
  if (isNameless(config) && config.trustedHosts.length === 0) {
    log.warn(
      { publicUrl },
      'other machines cannot use the URLs of this service: set LADE_PUBLIC_URL or LADE_TRUSTED_HOSTS',
    )
  }
  await warnOfSameSite(config, { publicUrl, log })
  if (!pieceHashing.isNative) {
    log.warn('computing piece commitments without native code, which is about ten times slower')
  }
  upkeep.start()
  placing.start()
  guarded?.scrub.start()
  const counting = countOldFolders({ ...service, log })

  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    isDraining = true
    await drain({
      server: app.server,
      stallWatch,
      records,
      drainMs: config.drainMs,
      async closeRest() {
        await counting.stop()
        await upkeep.stop()
        await placing.stop()
        await guarded?.stop()
        await app.close()
        await closeAll(closers)
      },
    })
    flushLog()
  }
  return {
    url: publicUrl,
    close() {
      closing ??= end()
      return closing
    },
  }
}

async function openTracer({ traces }: Config, { log, closers }: DriverSurroundings): Promise<Tracer> {
  if (traces === undefined) return forwardingTracer
  // Loaded when it is needed, since it takes memory and time that most installations have no use for.
  const { openOtlpTracer } = await import('./tracing/otlp-tracer.ts')
  const onWarning = (sentence: string): void => log.warn({ reason: sentence }, 'traces could not be exported')
  const tracer = openOtlpTracer({ ...traces, version: packageJson.version, onWarning })
  closers.push(() => tracer.close())
  return tracer
}

/** Says what an error of the operating system means for the start. @throws {StartError} */
async function orStartError(what: string, action: () => Promise<unknown>): Promise<void> {
  try {
    await action()
  } catch (error) {
    throw isSystemError(error) ? new StartError(`${what}: ${systemReason(error)}.`, { cause: error }) : error
  }
}

function boundUrl(host: string, address: AddressInfo): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${address.port}`
}
