import { bytesText, countText } from '@lade/core/errors'
import type { DayLimit } from '../records/record-store.ts'
import type { UploadTier } from './upload-tier.ts'

/** An upload that a day has no room for. */
export interface Refused {
  readonly over: DayLimit
  /** Of the upload. */
  readonly sizeBytes: number
}

/** True for a file that no day of this caller has room for, so that waiting does not help. */
export function isLargerThanDay({ dailyBytes }: Pick<UploadTier, 'dailyBytes'>, { over, sizeBytes }: Refused): boolean {
  return over.unit === 'bytes' && over.network === undefined && sizeBytes > dailyBytes
}

/** Why the quota has no room for an upload, with its numbers, and what to do. */
export function quotaSentence(tier: UploadTier, refused: Refused): string {
  const { over, sizeBytes } = refused
  const { unit, used, limit, network } = over
  if (unit === 'bytes' && tier.dailyBytes === 0) return nothingText(tier)
  if (isLargerThanDay(tier, refused)) return largerThanDayText(tier, sizeBytes)
  const asked = unit === 'bytes' ? `; this upload is ${bytesText(sizeBytes)}` : ''
  const sum =
    unit === 'bytes'
      ? `${bytesText(used)} of ${bytesText(limit)}`
      : `${used.toLocaleString('en-US')} of ${countText(limit, 'file')}`
  const spent =
    network !== undefined
      ? `All addresses in ${network.slice('ip:'.length)} together used ${sum} today`
      : `${sum} used today${tier.name === 'sponsored' ? ' from this IP address' : ''}`
  return `${spent}${asked}. The quota resets at 00:00 UTC.${MORE[tier.name]}`
}

const MORE: Readonly<Record<UploadTier['name'], string>> = {
  sponsored: ' A token has its own quota.',
  token: '',
  wallet: ' Add USDC to the wallet to raise the quota.',
}

function nothingText({ name, owner }: UploadTier): string {
  if (name === 'wallet') return `The wallet ${owner} holds no USDC, so its quota is 0. Send USDC to it.`
  if (name === 'token') return 'The token has a daily quota of 0. Use another token.'
  return 'Uploads without a token are not possible here. Log in with `lade login` or POST /api/auth/signup.'
}

function largerThanDayText({ name, dailyBytes, withToken }: UploadTier, sizeBytes: number): string {
  const quota = name === 'sponsored' ? "a day's quota without a token" : "a day's quota"
  const sum = `This file (${bytesText(sizeBytes)}) is larger than ${quota} (${bytesText(dailyBytes)}).`
  if (name === 'wallet') return `${sum} Add USDC to the wallet, or upload parts over several days and compose them.`
  if (withToken !== undefined && withToken.dailyBytes >= sizeBytes) {
    return `${sum} Log in: a token has ${bytesText(withToken.dailyBytes)} a day.`
  }
  return `${sum} Upload parts over several days and compose them, or ask the operator for a larger quota.`
}
