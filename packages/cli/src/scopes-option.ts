import type { CallerScope, Scope } from '@lade/core/wire'
import { InvalidArgumentError } from 'commander'

/** All that a token of a caller may allow. The list of core is not imported: its module brings every schema along. */
export const ALL_SCOPES: readonly CallerScope[] = ['put', 'get', 'list', 'pin']

/** All that a minted token may allow. */
const MINTED_SCOPES: readonly Scope[] = [...ALL_SCOPES, 'admin']

/** Reads scopes with commas between, each once; in the order in which tokens list them. */
export function parseScopes(text: string): CallerScope[] {
  return scopesIn(text, ALL_SCOPES)
}

/** As {@link parseScopes}, with those that only the operator gives. */
export function parseMintedScopes(text: string): Scope[] {
  return scopesIn(text, MINTED_SCOPES)
}

function scopesIn<Known extends Scope>(text: string, known: readonly Known[]): Known[] {
  const names = text.split(',').map((name) => name.trim())
  const scopes = known.filter((scope) => names.includes(scope))
  if (scopes.length !== names.length) {
    throw new InvalidArgumentError(`Expected a comma-separated list of ${known.join(', ')}, each at most once.`)
  }
  return scopes
}
