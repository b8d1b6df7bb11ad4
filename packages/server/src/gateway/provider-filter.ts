/**
 * Whether a filter of a delegated routing request lets something pass that has these protocols. A name with `!` must not be among them; of the
 * others, one must. `unknown` asks for what has no protocols.
 *
 * @param filter - as in the query, separated by commas, in any case; empty lets everything pass.
 * @see https://specs.ipfs.tech/ipips/ipip-0484/
 *
 * @example isWanted(new Set(['dns4', 'tcp']), 'quic-v1,tcp') // true
 */
export function isWanted(protocols: ReadonlySet<string>, filter: string): boolean {
  const names = filter
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unwanted = names.filter((name) => name.startsWith('!'))
  if (unwanted.some((name) => protocols.has(name.slice(1)))) return false
  const wanted = names.filter((name) => !name.startsWith('!'))
  return wanted.length === 0 || wanted.some((name) => protocols.has(name))
}
