import type { Scope } from '@lade/core/wire'
import { InvalidArgumentError } from 'commander'

/** All that a token may allow. The list of core is not imported: its module brings every schema along. */
export const ALL_SCOPES: readonly Scope[] = ['put', 'get', 'list', 'pin']

/** Reads scopes with commas between, each once; in the order in which tokens list them. */
export function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim())
  const scopes = ALL_SCOPES.filter((scope) => names.includes(scope))
  if (scopes.length !== names.length) {
    throw new InvalidArgumentError(`Expected a comma-separated list of ${ALL_SCOPES.join(', ')}, each at most once.`)
  }
  return scopes
}
