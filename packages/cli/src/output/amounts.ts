const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/**
 * A number of bytes for people, with three digits or so.
 *
 * @example
 * formatBytes(48_213) // '47.1 KiB'
 * formatBytes(17) // '17 B'
 */
export function formatBytes(bytes: number): string {
  let amount = bytes
  let unit = 'B'
  for (const next of UNITS) {
    // What would be rounded up to 1024 is one of the next unit.
    if (amount < (unit === 'B' ? 1024 : 1023.5)) break
    amount /= 1024
    unit = next
  }
  return unit === 'B' ? `${amount} B` : `${amount.toFixed(amount < 99.95 ? 1 : 0)} ${unit}`
}

/** @example countOf(1, 'file') // '1 file' */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`
}
