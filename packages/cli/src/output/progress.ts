import { SingleBar } from 'cli-progress'
import type { OutputStream } from '../terminal.ts'
import { formatBytes } from './amounts.ts'
import { printable, shorten, widthOf } from './printable.ts'
import { formatClock } from './times.ts'
import { TransferRate } from './transfer-rate.ts'

/** How far something has come. */
export interface ProgressView {
  /** What is being done. The rate is measured anew when it changes. */
  readonly label: string
  readonly doneBytes: number
  /** Absent while nobody knows. */
  readonly totalBytes?: number | undefined
  /** What is counted where that is no bytes, such as `rows`. */
  readonly unit?: string | undefined
  /** Anything else worth a word, such as the parts. */
  readonly remark?: string | undefined
}

/** One line on standard error that says how far something has come. */
export interface Progress {
  show(view: ProgressView): void
  /** Takes the line away and lets `write` write what is to stay; what is shown next stands below that. */
  around(write: () => void): void
  /** Takes the line away for good. */
  stop(): void
}

/** The line is drawn ten times a second at most. */
const FRAMES_PER_SECOND = 10
/** Room for the ^C that a terminal shows, which would begin another line. */
const FREE_COLUMNS = 3
const BAR_MINIMUM = 10
const BAR_MAXIMUM = 30

/**
 * Progress on `stream`, which is silent unless that is a terminal.
 *
 * @param options.isQuiet - silent there, too.
 * @param options.nowMs - a clock that only goes forward.
 */
export function createProgress(
  stream: OutputStream,
  { isQuiet = false, nowMs = () => performance.now() }: { isQuiet?: boolean; nowMs?: () => number } = {},
): Progress {
  if (stream.isTTY !== true || isQuiet) return { show: () => {}, around: (write) => write(), stop: () => {} }
  let view: ProgressView = { label: '', doneBytes: 0 }
  let rate = new TransferRate()
  let isShown = false
  let isStopping = false
  const bar = new SingleBar({
    stream,
    format: () => (isStopping ? '' : lineOf(view, rate, (stream.columns ?? 80) - FREE_COLUMNS)),
    fps: FRAMES_PER_SECOND,
    clearOnComplete: true,
    // The line is cut to the width here; a terminal whose wrapping is off would stay so after a hard end.
    linewrap: true,
  })
  const stop = () => {
    if (!isShown) return
    // The last frame is an empty one: the line may have moved since the place was noted where the bar ends.
    isStopping = true
    bar.stop()
    isStopping = false
    isShown = false
  }
  return {
    show: (next) => {
      if (next.label !== view.label) rate = new TransferRate()
      view = next
      rate.add(view.doneBytes, nowMs())
      if (!isShown) bar.start(1, 0)
      isShown = true
    },
    around: (write) => {
      stop()
      write()
    },
    stop,
  }
}

/**
 * The line itself. What matters most comes first, and what does not fit is left out: the remark, then the bar.
 *
 * @example
 * lineOf({ label: 'Sending', doneBytes: 1, totalBytes: 2 }, rate, 79)
 * // 'Sending  [===============               ]   50%  12.0 MiB/s  0:04 left'
 */
export function lineOf(view: ProgressView, transfer: TransferRate, width: number): string {
  const { label, doneBytes, totalBytes, unit, remark } = view
  const amountOf = (count: number) =>
    unit === undefined ? formatBytes(count) : `${count.toLocaleString('en-US')} ${unit}`
  const rate = transfer.bytesPerSecond()
  const share = totalBytes === undefined || totalBytes === 0 ? undefined : Math.min(1, doneBytes / totalBytes)
  const facts = [
    share === undefined ? amountOf(doneBytes) : `${String(Math.floor(share * 100)).padStart(3)}%`,
    ...(rate === undefined ? [] : [`${amountOf(Math.round(rate))}/s`]),
    ...(rate && totalBytes !== undefined ? [`${formatClock((totalBytes - doneBytes) / rate)} left`] : []),
  ]
  const known = [printable(label), ...facts].join('  ')
  const withRemark = remark === undefined ? known : `${known}  ${printable(remark)}`
  const line = widthOf(withRemark) <= width ? withRemark : known
  const free = width - widthOf(line) - 4
  if (share === undefined || free < BAR_MINIMUM) return shorten(line, width)
  const length = Math.min(BAR_MAXIMUM, free)
  const bar = '='.repeat(Math.round(share * length)).padEnd(length)
  return `${printable(label)}  [${bar}]${line.slice(printable(label).length)}`
}
