import { InvalidArgumentError } from 'commander'

const MB_OF_UNIT: Readonly<Record<string, number>> = { MB: 1, GB: 1024, TB: 1024 * 1024 }
/** As the service takes it. */
const MAXIMUM_MB = 1_000_000_000

/**
 * Reads a limit such as `500MB`, `20GB` or `2TB`, in multiples of 1024, or `default` for that of the tier.
 *
 * @returns MB of 1,048,576 bytes, or `default`.
 *
 * @example
 * limitMb('2GB') // 2048
 */
export function limitMb(text: string): number | 'default' {
  if (text === 'default') return text
  const [, amount = '', unit = ''] = /^(\d{1,10})(MB|GB|TB)$/i.exec(text) ?? []
  const megabytes = Number(amount) * (MB_OF_UNIT[unit.toUpperCase()] ?? Number.NaN)
  if (megabytes <= MAXIMUM_MB) return megabytes
  throw new InvalidArgumentError('Expected an amount such as 500MB, 20GB or 2TB, or default.')
}
