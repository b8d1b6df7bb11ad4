import { LadeError } from '@lade/core/errors'
import type { Config } from '@lade/server/config'
import { ROTATION_DAYS } from '@lade/server/keys'
import { type FoundKey, withKeyPlace } from '../key-source.ts'
import { countOf } from '../output/amounts.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

/** The key that signs tokens: is it there, who can read it, and how old is it. */
export async function checkKey(config: Config, now: Date): Promise<Finding> {
  if (config.tokenKey !== undefined) return ok('key', 'The signing key comes from LADE_TOKEN_KEY; its age is unknown.')
  try {
    return await withKeyPlace(config, async ({ name, read }) => findingOf(name, await read(), now))
  } catch (error) {
    if (!LadeError.is(error)) throw error
    const because = error.cause instanceof Error ? ` ${error.cause.message}` : ''
    return broken('key', `The signing key is not usable.${because}`)
  }
}

function findingOf(place: string, found: FoundKey | undefined, now: Date): Finding {
  if (found === undefined) return unknown('key', `There is no signing key in ${place}. "lade serve" creates it.`)
  const [first] = found.warnings
  if (first !== undefined) return warning('key', first)
  const ageDays = found.key.ageDays(now)
  if (ageDays === undefined) return ok('key', `The signing key is in ${place}; its age is unknown.`)
  const sentence = `The signing key in ${place} is ${countOf(ageDays, 'day')} old`
  return found.key.isOverdue(now)
    ? warning(
        'key',
        `${sentence}, more than ${ROTATION_DAYS}. "lade keys rotate" replaces it and invalidates all tokens.`,
      )
    : ok('key', `${sentence}.`)
}
