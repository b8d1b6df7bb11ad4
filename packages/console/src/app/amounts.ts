import { language } from './preferences.ts'

const MB = 1_048_576
const GIB = 1_073_741_824

/** A number of bytes in the units of the service: MB of 1,048,576 bytes, and GiB. @example bytesOf(104_857_600) // '100 MB' */
export function bytesOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1023.95 * 1024) return `${oneDigit(bytes / 1024)} KB`
  if (bytes < 1023.95 * MB) return `${oneDigit(bytes / MB)} MB`
  return `${oneDigit(bytes / GIB)} GiB`
}

/** The bytes that somebody uploaded: of a folder, those of the files in it. */
export function sizeOf({ size, bytes }: { readonly size: number; readonly bytes?: number | undefined }): number {
  return bytes ?? size
}

export function countOf(count: number): string {
  return count.toLocaleString(language.value)
}

/** @example daysOf(7) // '7 days' */
export function daysOf(days: number): string {
  return new Intl.NumberFormat(language.value, { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(days)
}

/** A day and a time of day, in the browser's time zone. */
export function timeOf(time: string | number): string {
  const text = new Date(time).toLocaleString(language.value, { dateStyle: 'medium', timeStyle: 'short' })
  // A line ends before the time of day, never within it.
  return text.replace(/\s(?=[AP]M$)/, '\u00a0')
}

export function dateOf(time: string | number): string {
  return new Date(time).toLocaleDateString(language.value, { dateStyle: 'medium' })
}

/** How long something takes, in its largest unit. @example durationOf(90) // '2 min' */
export function durationOf(seconds: number): string {
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(language.value, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value)
  if (seconds < 60) return unit(Math.max(1, Math.ceil(seconds)), 'second')
  if (seconds < 5400) return unit(Math.ceil(seconds / 60), 'minute')
  return unit(Math.ceil(seconds / 360) / 10, 'hour')
}

/** How far away a time is. @example fromNow(Date.now() + 7 * 86_400_000) // 'in 7 days' */
export function fromNow(time: string | number, now: number = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' })
  const distance = Math.abs(seconds)
  if (distance < 90) return format.format(Math.round(seconds), 'second')
  if (distance < 5400) return format.format(Math.round(seconds / 60), 'minute')
  if (distance < 129_600) return format.format(Math.round(seconds / 3600), 'hour')
  return format.format(Math.round(seconds / 86_400), 'day')
}

function oneDigit(amount: number): string {
  const rounded = amount < 100 ? Math.round(amount * 10) / 10 : Math.round(amount)
  return rounded.toLocaleString(language.value)
}
