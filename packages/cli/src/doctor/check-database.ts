import { LadeError } from '@lade/core/errors'
import type { Config } from '@lade/server/config'
import type { DatabaseFacts } from '@lade/server/stores'
import { causesOf } from '../causes.ts'
import { formatSeconds } from '../output/times.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

const OLDEST_VERSION = 15
/** What a process opens beside what `LADE_DATABASE_CONNECTIONS` says. */
const OTHER_CONNECTIONS = 2
const SKEW_MS = 2000

/** The PostgreSQL that the records are in: does it answer, is it new enough, and does it keep what it is given. Nothing for SQLite. */
export async function checkDatabase({ database }: Pick<Config, 'database'>): Promise<Finding[]> {
  if (database.kind === 'sqlite') return []
  const { databaseInWords, examineDatabase, POSTGRES_SCHEMA_VERSION } = await import('@lade/server/stores')
  const name = databaseInWords(database)
  try {
    const facts = await examineDatabase(database)
    const needed = database.maxConnections + OTHER_CONNECTIONS
    return findingsOf(facts, { name, needed, schemaVersion: POSTGRES_SCHEMA_VERSION })
  } catch (error) {
    if (!LadeError.is(error)) throw error
    return [broken('database', `Nothing can be asked of ${name}: ${causesOf(error)}.`)]
  }
}

/** What the service needs of a database. */
export interface DatabaseNeeds {
  readonly name: string
  /** Connections that one process opens. */
  readonly needed: number
  /** That this program brings a database to. */
  readonly schemaVersion: number
}

export function findingsOf(facts: DatabaseFacts, { name, needed, schemaVersion }: DatabaseNeeds): Finding[] {
  const { version, majorVersion, maxConnections, isReadOnly } = facts
  if (majorVersion < OLDEST_VERSION) {
    return [broken('database', `PostgreSQL ${version} has ${name}, and ${OLDEST_VERSION} or later is needed.`)]
  }
  return [
    isReadOnly
      ? broken(
          'database',
          `PostgreSQL ${version} answers for ${name}, and takes no writes: it is a standby, or set so.`,
        )
      : ok('database', `PostgreSQL ${version} answers for ${name}.`),
    checkDurability(facts),
    checkSchema(facts.schemaVersion, schemaVersion),
    maxConnections < needed
      ? broken('databaseConnections', `It takes ${maxConnections} connections, and each process opens up to ${needed}.`)
      : ok('databaseConnections', `It takes ${maxConnections} connections; each process opens up to ${needed}.`),
    checkClock(facts.clockAheadMs),
  ]
}

function checkDurability({ fsync, fullPageWrites, synchronousCommit }: DatabaseFacts): Finding {
  if (!fsync) return broken('databaseDurability', 'It runs with fsync off, so a power cut loses what was acknowledged.')
  if (!fullPageWrites)
    return broken('databaseDurability', 'It runs with full_page_writes off, so a power cut may damage it.')
  return synchronousCommit === 'off' || synchronousCommit === 'local'
    ? warning(
        'databaseDurability',
        `synchronous_commit is ${synchronousCommit} there; the service sets it on for itself.`,
      )
    : ok('databaseDurability', 'It writes durably.')
}

function checkSchema(found: number, known: number): Finding {
  if (found === 0) return unknown('databaseSchema', 'It has no tables yet; "lade serve" makes them.')
  if (found > known) {
    return broken('databaseSchema', `Its schema is version ${found}, and this program knows versions up to ${known}.`)
  }
  return found < known
    ? ok('databaseSchema', `Its schema is version ${found}; the next start brings it to ${known}.`)
    : ok('databaseSchema', `Its schema is version ${found}, as this program's.`)
}

function checkClock(aheadMs: number): Finding {
  if (Math.abs(aheadMs) <= SKEW_MS) return ok('databaseClock', 'Its clock and the one here agree.')
  const which = aheadMs > 0 ? 'ahead of' : 'behind'
  const by = formatSeconds(Math.round(Math.abs(aheadMs) / 1000))
  return warning('databaseClock', `Its clock is ${by} ${which} the one here; set the one that is wrong.`)
}
