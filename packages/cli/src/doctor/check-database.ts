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
  const { describeDatabase, readDatabaseFacts, POSTGRES_SCHEMA_VERSION } = await import('@lade/server/stores')
  const name = describeDatabase(database)
  try {
    const facts = await readDatabaseFacts(database)
    const needed = database.maxConnections + OTHER_CONNECTIONS
    return findingsOf(facts, { name, needed, schemaVersion: POSTGRES_SCHEMA_VERSION })
  } catch (error) {
    if (!LadeError.is(error)) throw error
    return [broken('database', `Cannot query ${name}: ${causesOf(error)}.`)]
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
    return [broken('database', `${name} runs on PostgreSQL ${version}. Lade needs ${OLDEST_VERSION} or later.`)]
  }
  return [
    isReadOnly
      ? broken(
          'database',
          `${name} on PostgreSQL ${version} is read-only: it is a standby, or configured as read-only.`,
        )
      : ok('database', `${name} is available on PostgreSQL ${version}.`),
    checkDurability(facts),
    checkSchema(facts.schemaVersion, schemaVersion),
    maxConnections < needed
      ? broken(
          'databaseConnections',
          `It accepts ${maxConnections} connections, but each process opens up to ${needed}.`,
        )
      : ok('databaseConnections', `It accepts ${maxConnections} connections; each process opens up to ${needed}.`),
    checkClock(facts.clockAheadMs),
  ]
}

function checkDurability({ fsync, fullPageWrites, synchronousCommit }: DatabaseFacts): Finding {
  if (!fsync) return broken('databaseDurability', 'fsync is off, so a power cut loses acknowledged writes.')
  if (!fullPageWrites) return broken('databaseDurability', 'full_page_writes is off, so a power cut can damage it.')
  return synchronousCommit === 'off' || synchronousCommit === 'local'
    ? warning(
        'databaseDurability',
        `synchronous_commit is ${synchronousCommit}; the service turns it on for its own sessions.`,
      )
    : ok('databaseDurability', 'It writes durably.')
}

function checkSchema(found: number, known: number): Finding {
  if (found === 0) return unknown('databaseSchema', 'It has no tables yet. "lade serve" creates them.')
  if (found > known) {
    return broken('databaseSchema', `Its schema has version ${found}; this program supports versions up to ${known}.`)
  }
  return found < known
    ? ok('databaseSchema', `Its schema has version ${found}; the next start upgrades it to ${known}.`)
    : ok('databaseSchema', `Its schema has version ${found}, the same as this program.`)
}

function checkClock(aheadMs: number): Finding {
  if (Math.abs(aheadMs) <= SKEW_MS) return ok('databaseClock', 'Its clock matches the clock of this machine.')
  const which = aheadMs > 0 ? 'ahead of' : 'behind'
  const by = formatSeconds(Math.round(Math.abs(aheadMs) / 1000))
  return warning('databaseClock', `Its clock is ${by} ${which} the clock of this machine. Correct the wrong one.`)
}
