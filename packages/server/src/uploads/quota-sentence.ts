import { bytesText, countText } from '@lade/core/errors'
import type { QuotaLimit } from '../records/record-store.ts'
import type { UploadTier } from './upload-tier.ts'

/** An upload that a quota has no room for. */
export interface Refused {
  readonly over: QuotaLimit
  /** Of the upload. */
  readonly sizeBytes: number
  /** True when these are the bytes that have come so far. @default false */
  readonly isGrowing?: boolean | undefined
}

/** True for a file that no day has room for, and where the limit is not of a day: waiting for the next one does not help. */
export function isHopeless({ over, sizeBytes }: Refused): boolean {
  return over.which === 'stored' || isLargerThanDay({ over, sizeBytes })
}

function isLargerThanDay({ over, sizeBytes }: Refused): boolean {
  return over.unit === 'bytes' && over.network === undefined && over.which !== 'stored' && sizeBytes > over.limit
}

/** Why the quota has no room for an upload, with its numbers, and what to do. */
export function quotaSentence(tier: UploadTier, refused: Refused): string {
  const { over } = refused
  const { unit, which, used, limit, network } = over
  if (which === 'stored') return storedText(tier, refused)
  if (unit === 'bytes' && limit === 0) return nothingText(tier, over)
  if (isLargerThanDay(refused)) return largerThanDayText(tier, refused)
  const asked = unit === 'bytes' ? `; this upload ${sizeText(refused)}` : ''
  const sum =
    unit === 'bytes'
      ? `${bytesText(used)} of ${bytesText(limit)}`
      : `${used.toLocaleString('en-US')} of ${countText(limit, 'file')}`
  const more = which === 'token' ? MORE_BESIDE_TOKEN[tier.name] : MORE[tier.name]
  const spent =
    network === undefined
      ? `${sum} used today${whoseText(tier, over)}`
      : `All addresses in ${network.slice('ip:'.length)} together used ${sum} today`
  return `${spent}${asked}. The quota resets at 00:00 UTC.${more}`
}

const MORE: Readonly<Record<UploadTier['name'], string>> = {
  sponsored: ' A token has its own quota.',
  token: '',
  wallet: ' Add USDC to the wallet to raise the quota.',
}

/** Where the day of what asks is over: a token, or the client address of a wallet. */
const MORE_BESIDE_TOKEN: Readonly<Record<UploadTier['name'], string>> = {
  sponsored: '',
  token: ' Another token has its own quota.',
  wallet: ' All wallets that use an IP address share it.',
}

function whoseText({ name }: UploadTier, { which }: QuotaLimit): string {
  if (which === 'token' && name === 'wallet') return ' by wallets from this IP address'
  if (which === 'token') return ' by this token'
  return name === 'sponsored' ? ' from this IP address' : ''
}

function sizeText({ sizeBytes, isGrowing = false }: Refused): string {
  return isGrowing ? `has at least ${bytesText(sizeBytes)}` : `is ${bytesText(sizeBytes)}`
}

function storedText(tier: UploadTier, refused: Refused): string {
  const { over } = refused
  const { used, limit, network } = over
  const whose = network === undefined ? whoseText(tier, over) : ` by all addresses in ${network.slice('ip:'.length)}`
  const sum = `${bytesText(used)} of ${bytesText(limit)} stored${whose}; this upload ${sizeText(refused)}.`
  if (tier.name === 'sponsored') return `${sum} Wait until files expire, or log in: a token has its own limit.`
  return `${sum} Remove files, wait until some expire, or ask the operator for a higher limit.`
}

function nothingText({ name, owner }: UploadTier, { which }: QuotaLimit): string {
  if (name === 'wallet') return `The wallet ${owner} holds no USDC, so its quota is 0. Send USDC to it.`
  if (which === 'token') return 'The token has a daily quota of 0. Use another token.'
  if (name === 'token') return 'Your daily quota is 0. Ask the operator for a higher limit.'
  return 'Uploads without a token are not possible here. Log in with `lade login` or POST /api/auth/signup.'
}

function largerThanDayText({ name, withToken }: UploadTier, { over, sizeBytes, isGrowing = false }: Refused): string {
  const whose = name === 'sponsored' ? ' without a token' : over.which === 'token' ? ' of this token' : ''
  const size = `${isGrowing ? 'at least ' : ''}${bytesText(sizeBytes)}`
  const sum = `This file (${size}) is larger than a day's quota${whose} (${bytesText(over.limit)}).`
  if (name === 'wallet') return `${sum} Add USDC to the wallet, or upload parts over several days and compose them.`
  if (withToken !== undefined && withToken.dailyBytes >= sizeBytes) {
    return `${sum} Log in: a token has ${bytesText(withToken.dailyBytes)} a day.`
  }
  return `${sum} Upload parts over several days and compose them, or ask the operator for a larger quota.`
}
