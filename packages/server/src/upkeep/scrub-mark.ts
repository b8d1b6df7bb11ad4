/** What the place of the walk is kept under. */
export const SCRUB_MARK = 'scrub'

/** What a walk through the store has met so far. */
export interface ScrubCounters {
  /** Blobs that were read from end to end, and their bytes. */
  readonly blobs: number
  readonly bytes: number
  /** Blobs that were not read as their digest, were missing, or that nobody needs. */
  readonly wrong: number
  readonly missing: number
  readonly orphans: number
}

/** How far the walk has come: what is kept in the records, so that any process goes on with it. */
export interface ScrubMark {
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Every digest up to this text is done. */
  readonly after: string
  readonly tally: ScrubCounters
  /** When the walk before this one came to its end; epoch milliseconds. */
  readonly finishedAt: number | undefined
}

const NOTHING_MET: ScrubCounters = { blobs: 0, bytes: 0, wrong: 0, missing: 0, orphans: 0 }

/** Greater than every digest. */
const BEHIND_ALL = 'g'
/** Digits of a digest that a place in time is told by: places of a year are 0.1 ms apart. */
const PLACE_DIGITS = 12

/** A walk that begins now. */
export function newScrubMark(now: number, finishedAt?: number): ScrubMark {
  return { startedAt: now, after: '', tally: NOTHING_MET, finishedAt }
}

/** True when everything is to be done by now, and the walk ends. */
export function isWholeWalkDue({ startedAt }: ScrubMark, periodMs: number, now: number): boolean {
  return now - startedAt >= periodMs
}

/**
 * Digests below this text should be done by now. They are spread evenly, so that their first digits tell how far into a period each
 * one's turn comes, whatever the store holds.
 */
export function dueBefore(mark: ScrubMark, periodMs: number, now: number): string {
  if (isWholeWalkDue(mark, periodMs, now)) return BEHIND_ALL
  const part = Math.max(0, now - mark.startedAt) / periodMs
  return Math.floor(part * 16 ** PLACE_DIGITS)
    .toString(16)
    .padStart(PLACE_DIGITS, '0')
}

export function writeScrubMark(mark: ScrubMark): string {
  return JSON.stringify(mark)
}

/** Undefined for no mark, and for one that is not understood: the walk begins anew then. */
export function readScrubMark(text: string | undefined): ScrubMark | undefined {
  if (text === undefined) return undefined
  try {
    const { startedAt, after, tally, finishedAt } = JSON.parse(text)
    const isMark = Number.isSafeInteger(startedAt) && typeof after === 'string'
    const isFinish = finishedAt === undefined || Number.isSafeInteger(finishedAt)
    if (!isMark || !isFinish) return undefined
    return { startedAt, after, tally: { ...NOTHING_MET, ...tally }, finishedAt }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
