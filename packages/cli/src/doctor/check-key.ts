import { LadeError } from '@lade/core/errors'
import type { Config } from '@lade/server/config'
import { ROTATION_DAYS, readKeyFile } from '@lade/server/keys'
import { keyFileOf } from '../key-source.ts'
import { countOf } from '../output/amounts.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

/** The key that signs tokens: is it there, who can read it, and how old is it. */
export async function checkKey(config: Config, now: Date): Promise<Finding> {
  if (config.tokenKey !== undefined)
    return ok('key', 'The signing key comes from LADE_TOKEN_KEY; its age is not known.')
  const file = keyFileOf(config)
  try {
    const opened = await readKeyFile({ file, alg: config.tokenAlg })
    if (opened === undefined) return unknown('key', `There is no signing key in ${file}; "lade serve" makes it.`)
    const [first] = opened.warnings
    if (first !== undefined) return warning('key', first)
    const ageDays = opened.key.ageDays(now)
    if (ageDays === undefined) return ok('key', `The signing key is in ${file}; its age is not known.`)
    const sentence = `The signing key in ${file} is ${countOf(ageDays, 'day')} old`
    return opened.key.isOverdue(now)
      ? warning(
          'key',
          `${sentence}, more than ${ROTATION_DAYS}; "lade keys rotate" replaces it, and every token with it.`,
        )
      : ok('key', `${sentence}.`)
  } catch (error) {
    if (!LadeError.is(error)) throw error
    const because = error.cause instanceof Error ? ` ${error.cause.message}` : ''
    return broken('key', `The signing key cannot be used.${because}`)
  }
}
