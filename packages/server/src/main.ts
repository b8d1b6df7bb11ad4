import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { type Logger, pino } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import type { BlobStore } from './blobs/blob-store.ts'
import { openFsBlobStore } from './blobs/drivers/fs/fs-blob-store.ts'
import { type Config, tokenKeyMaterial } from './config/config.ts'
import { createDurableDirectory } from './disk/durable-directory.ts'
import type { ContentHashers } from './hashing/content-hasher.ts'
import { startHashThreads } from './hashing/hash-threads.ts'
import { pieceHashing } from './hashing/piece-hashing.ts'
import { createApp } from './http/app.ts'
import { clientAddressReader } from './http/client-address.ts'
import type { Service } from './http/service.ts'
import { openSmtpMailer } from './mail/drivers/smtp/smtp-mailer.ts'
import { isMember, startMember, startMembers } from './processes.ts'
import { openLocalProver } from './proving/drivers/local/local-prover.ts'
import type { Prover } from './proving/prover.ts'
import { openInstanceLocks } from './records/drivers/sqlite/instance-locks.ts'
import { openSqliteRecordStore } from './records/drivers/sqlite/sqlite-record-store.ts'
import { createAuthorizer } from './tokens/authorize.ts'
import { keyAgeReminder } from './tokens/key-age-reminder.ts'
import { keyFileName, openKeyFile } from './tokens/key-file.ts'
import { watchKeyFile } from './tokens/key-file-watch.ts'
import { SigningKey } from './tokens/signing-key.ts'
import { SigningKeys } from './tokens/signing-keys.ts'
import { createUpkeep } from './upkeep/upkeep.ts'
import { StallWatch } from './uploads/stall-watch.ts'

export { isMember } from './processes.ts'

/** A running service. */
export interface Lade {
  /** Where it is reached, without trailing slash. */
  readonly url: string
  /** Takes no more requests, lets uploads in flight finish for as long as configured, then ends. Safe to call twice. */
  close(): Promise<void>
}

/** Parts that a test, or a program that embeds the service, may put in place of the configured ones. */
export interface Substitutes {
  readonly prover?: Prover
  readonly blobs?: BlobStore
  readonly hashers?: ContentHashers
  readonly now?: () => number
  readonly log?: Logger
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
  const now = substitutes.now ?? Date.now
  const destination = pino.destination({ fd: 2, sync: false })
  const log = substitutes.log ?? pino({ level: config.logLevel }, destination)
  const flushLog = (): void => destination.flushSync()
  const closers: (() => Promise<void> | void)[] = []
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = []
    for (const close of closers.splice(0).reverse()) {
      try {
        await close()
      } catch (error) {
        // What cannot be closed must not keep the rest open.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  try {
    return await start(config, substitutes, { now, log, flushLog, closers, closeAll })
  } catch (error) {
    await closeAll().catch((failure: unknown) => log.error({ err: failure }, 'a part could not be closed'))
    throw error
  }
}

interface Surroundings {
  readonly now: () => number
  readonly log: Logger
  readonly flushLog: () => void
  /** What to undo, in the order it was done. */
  readonly closers: (() => Promise<void> | void)[]
  readonly closeAll: () => Promise<void>
}

async function start(config: Config, substitutes: Substitutes, surroundings: Surroundings): Promise<Lade> {
  const { now, log, flushLog, closers, closeAll } = surroundings
  await createDurableDirectory(config.dataDir)
  const instanceId = randomUUID()
  const locks = openInstanceLocks({ dir: join(config.dataDir, 'instances') })
  const lock = locks.hold(instanceId)
  closers.push(() => lock.release())

  const onFatal =
    substitutes.onFatal ??
    ((error: Error) => {
      log.fatal({ err: error }, 'the medium under the records failed; start again to recover')
      flushLog()
      process.exit(1)
    })
  const records = await openSqliteRecordStore({ file: config.database.file, onFatal })
  closers.push(() => records.close())
  const blobs = substitutes.blobs ?? (await openBlobs(config))
  if (blobs !== undefined) closers.push(() => blobs.close())
  const keys = await openKeys(config, { now, log, closers })
  const mailer = config.signup === 'email' && config.mail !== undefined ? openSmtpMailer(config.mail) : undefined
  closers.push(() => mailer?.close())
  const prover = substitutes.prover ?? openLocalProver({ salt: keys.currentId() ?? instanceId })
  closers.push(() => prover.close())

  const hashThreads = startHashThreads()
  closers.push(() => hashThreads.close())
  const authorizer = createAuthorizer({ keys, records, now })
  const isAlive = (id: string): boolean => locks.isHeld(id)
  const flush = (): Promise<void> => authorizer.flushUses()
  const remind = keyAgeReminder({ keys, log, now })
  const upkeep = createUpkeep({ records, blobs, instanceId, isAlive, now, log, flush, remind })
  await records.instances.register({ instanceId, now: now() })
  closers.push(async () => {
    await authorizer.flushUses()
    await records.instances.bury({ instanceId, now: now() })
  })
  // Before the port is open: what a crash left behind must not meet new requests.
  await upkeep.round()

  const stallWatch = new StallWatch({ idleMs: config.bodyIdleMs, now: () => performance.now() })
  closers.push(() => stallWatch.close())
  let isDraining = false
  let publicUrl = config.publicUrl ?? ''
  const service: Service = {
    config,
    version: packageJson.version,
    instanceId,
    records,
    blobs,
    hashers: substitutes.hashers ?? hashThreads.hashers,
    prover,
    keys,
    mailer,
    authorizer,
    stallWatch,
    clientAddress: clientAddressReader(config.trustedProxies),
    log,
    now,
    newId: randomUUID,
    publicUrl: () => publicUrl,
    retrievalUrl: (cid) => `${config.contentUrl ?? publicUrl}/p/${cid}`,
    isDraining: () => isDraining,
  }
  const app = await createApp(service)
  await app.listen({ host: config.host, port: config.port, backlog: 1024 })
  const url = boundUrl(config.host, app.server.address() as AddressInfo)
  publicUrl = config.publicUrl ?? url
  if (config.signup === 'open' && !isLoopback(config.host)) {
    log.warn('signup is open on an address that others can reach: every claimed email is believed')
  }
  if (!pieceHashing.isNative) {
    log.warn('piece commitments are computed without native code, which takes about ten times as long')
  }
  upkeep.start()

  let closing: Promise<void> | undefined
  async function drain(): Promise<void> {
    isDraining = true
    const closed = new Promise<void>((resolve) => app.server.close(() => resolve()))
    const idle = setInterval(() => app.server.closeIdleConnections(), 50)
    app.server.closeIdleConnections()
    const patience = setTimeout(() => {
      stallWatch.abortAll(new LadeError('shutting_down', { retryAfterSeconds: 5 }))
      setTimeout(() => app.server.closeAllConnections(), 1000).unref()
    }, config.drainMs)
    await closed
    clearInterval(idle)
    clearTimeout(patience)
    await upkeep.stop()
    await app.close()
    await closeAll()
    flushLog()
  }
  return {
    url: publicUrl,
    close() {
      closing ??= drain()
      return closing
    },
  }
}

/** Kept free whatever the settings say, so that the records have room to remove files on a full disk. */
const RECORDS_ROOM_BYTES = 4 * 1024 * 1024

async function openBlobs(config: Config): Promise<BlobStore | undefined> {
  if (config.storage.kind === 'none') return undefined
  const minFreeBytes = Math.max(config.minFreeBytes, RECORDS_ROOM_BYTES)
  return openFsBlobStore({ dir: config.storage.dir, minFreeBytes })
}

async function openKeys(
  config: Config,
  { now, log, closers }: Pick<Surroundings, 'now' | 'log' | 'closers'>,
): Promise<SigningKeys> {
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

function boundUrl(host: string, address: AddressInfo): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${address.port}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
