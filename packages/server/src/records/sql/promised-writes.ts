import type { SqlEngine } from './sql-engine.ts'
import type { WriteName } from './writes.ts'

/** Writes that a caller, a prover or a chain was told of, and that would be missed if the records went back. */
const PROMISES: ReadonlySet<WriteName> = new Set<WriteName>([
  'quotas.commit',
  'quotas.commitAtOnce',
  'quotas.commitTogether',
  'compositions.commit',
  'claims.take',
  'files.change',
  'files.remove',
  'placements.want',
  'tokens.signUp',
  'tokens.revoke',
  'tokens.revokeAny',
  'tokens.revokeUser',
  'loginCodes.answer',
  'loginCodes.answerByEmail',
  'sessions.open',
  'sessions.signOut',
  'sessions.end',
  'secrets.replace',
  'takedowns.block',
  'takedowns.lift',
  'blockedCallers.block',
  'blockedCallers.lift',
  'placements.parked',
  'placements.openAddition',
  'placements.additionSent',
  'placements.additionConfirmed',
  'chain.propose',
  'chain.record',
  'chain.addAttempt',
])

/** The writes of an engine, and how many of those that somebody was promised were made. */
export function countingPromises({
  write,
}: Pick<SqlEngine, 'write'>): Pick<SqlEngine, 'write'> & { promised(): number } {
  let promised = 0
  return {
    write: (name, input, fence) => {
      const written = write(name, input, fence)
      if (!PROMISES.has(name)) return written
      return written.then((output) => {
        promised += 1
        return output
      })
    },
    promised: () => promised,
  }
}
