const BYTES_PER_MB = 1_048_576
const BYTES_PER_GIB = 1_073_741_824

/**
 * A number of bytes for a sentence, in the units of the limits: MB of 1,048,576 bytes, and GiB.
 *
 * @example
 * bytesText(115_343_360) // '110 MB'
 * bytesText(1_610_612_736) // '1.5 GiB'
 * bytesText(17) // '17 bytes'
 */
export function bytesText(bytes: number): string {
  if (bytes < BYTES_PER_MB) return countText(bytes, 'byte')
  // What would be rounded up to 1024 MB is a GiB.
  if (bytes < 1023.95 * BYTES_PER_MB) return `${rounded(bytes / BYTES_PER_MB)} MB`
  return `${rounded(bytes / BYTES_PER_GIB)} GiB`
}

/**
 * Two numbers of bytes that a sentence compares: exact where rounding would make them look equal.
 *
 * @example
 * comparedBytes(104_857_601, 104_857_600) // ['104,857,601 bytes', '104,857,600 bytes']
 */
export function comparedBytes(one: number, other: number): readonly [one: string, other: string] {
  const texts = [bytesText(one), bytesText(other)] as const
  return one !== other && texts[0] === texts[1] ? [countText(one, 'byte'), countText(other, 'byte')] : texts
}

/** @example countText(2000, 'file') // '2,000 files' */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : `${noun}s`}`
}

/** How long to wait, in the largest unit that there are two of. @example waitText(300) // '5 minutes' */
export function waitText(seconds: number): string {
  if (seconds < 120) return countText(Math.ceil(seconds), 'second')
  if (seconds < 7200) return countText(Math.ceil(seconds / 60), 'minute')
  return countText(Math.ceil(seconds / 3600), 'hour')
}

function rounded(amount: number): string {
  return (Math.round(amount * 10) / 10).toLocaleString('en-US')
}
