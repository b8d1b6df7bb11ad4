import { pieceCidOf } from '@lade/core/content'
import { rawOffsetBytes } from '@lade/core/piece'
import type { DealCopy, DealEntry, DealOnchain } from '@lade/core/wire'
import { readAccountId } from '../chain/account-id.ts'
import { dealStatusOf } from '../files/deal-status.ts'
import { dealIdsOf, pieceCidOrNull, type RetrievalUrl, storedBytesOf, termText } from '../files/file-entry.ts'
import type { CopyRecord, DealRecord, EscrowRecord, FileRecord, OnchainDealRecord } from '../records/record-store.ts'
import { usdcText } from '../wallets/wallet-quota.ts'

const NO_DEAL = { contract: null, onchainId: null } as const

/** The deal of a file, with all that is known of it. */
export interface FullDeal {
  readonly file: FileRecord
  /** Undefined for a file that nobody has begun to place. */
  readonly placed: DealRecord | undefined
  /** Those of its copies. */
  readonly onchain: readonly OnchainDealRecord[]
  /** What their contracts hold for these, and perhaps for others. */
  readonly escrows: readonly EscrowRecord[]
}

/** The deal of a file as it is shown. */
export function dealEntryOf({ file, placed, onchain, escrows }: FullDeal, urlOf: RetrievalUrl, now: number): DealEntry {
  const { status, since, cause } = dealStatusOf(file, placed, now)
  const endedAt = file.endedAt ?? (status === 'expired' ? file.expiresAt : null)
  const pieces = placed?.pieces ?? []
  const own = new Set(pieces.flatMap(({ copies }) => copies.map(({ id }) => id)))
  const heldPieces = pieces.map(({ copies }) => copies.filter((copy) => copy.endedAt === null))
  return {
    ...dealIdsOf(file, placed),
    cid: file.cid,
    pieceCid: pieceCidOrNull(file),
    size: storedBytesOf(file),
    status,
    term: termText(file.termDays),
    createdAt: timeOf(file.uploadedAt),
    expiresAt: timeOf(file.expiresAt),
    endedAt: timeOrNull(endedAt),
    retrievalUrl: urlOf(file.cid),
    statusAt: timeOf(since),
    cause,
    storedAt: timeOrNull(everyPiece(heldPieces, ({ storedAt }) => storedAt, Math.min)),
    provedAt: timeOrNull(everyPiece(heldPieces, ({ provedAt }) => provedAt, Math.max)),
    retrievableAt: timeOrNull(everyPiece(heldPieces, ({ retrievableAt }) => retrievableAt, Math.max)),
    redundancy: placed?.copiesWanted ?? 1,
    provedCopies: provedCopiesOf(heldPieces),
    onchainDealId: onchain.find(({ copy, onchainId }) => onchainId !== null && own.has(copy))?.onchainId ?? null,
    aggregate: aggregateOf(placed),
    copies: pieces.flatMap((piece) =>
      piece.copies.map((copy) => copyEntryOf(pieceCidOf(piece), copy, { onchain, escrows })),
    ),
    ipfs: ipfsOf(placed, { onchain, escrows }),
  }
}

function copyEntryOf(
  pieceCid: string,
  copy: CopyRecord,
  { onchain, escrows }: Pick<FullDeal, 'onchain' | 'escrows'>,
): DealCopy {
  const { contract, onchainId: onchainDealId } = onchain.find((deal) => deal.copy === copy.id) ?? NO_DEAL
  const escrow = escrows.find((deal) => deal.contract === contract && deal.onchainId === onchainDealId)
  return {
    prover: copy.prover,
    pieceCid,
    state: copy.state,
    storedAt: timeOrNull(copy.storedAt),
    provedAt: timeOrNull(copy.provedAt),
    retrievableAt: timeOrNull(copy.retrievableAt),
    endedAt: timeOrNull(copy.endedAt),
    cause: copy.cause,
    onchainDealId,
    onchain: escrow === undefined ? null : onchainEntryOf(escrow),
  }
}

function ipfsOf(placed: DealRecord | undefined, deals: Pick<FullDeal, 'onchain' | 'escrows'>): DealEntry['ipfs'] {
  const car = placed?.car ?? null
  if (car === null) return null
  const pieceCid = pieceCidOf(car)
  return { rootCid: car.rootCid, pieceCid, copies: car.copies.map((copy) => copyEntryOf(pieceCid, copy, deals)) }
}

function onchainEntryOf(escrow: EscrowRecord): DealOnchain | null {
  const named = readAccountId(escrow.contract)
  if (named === undefined) return null
  const { onchainId, state, endsAt, paidInMicroUsdc, paidOutMicroUsdc, returnedMicroUsdc } = escrow
  const { bondMicroUsdc, bondForfeitedMicroUsdc } = escrow
  return {
    chainId: named.chainId,
    contract: named.address,
    dealId: onchainId,
    state,
    endsAt: timeOrNull(endsAt),
    escrowed: usdcText(BigInt(paidInMicroUsdc)),
    paid: usdcText(BigInt(paidOutMicroUsdc)),
    returned: usdcText(BigInt(returnedMicroUsdc)),
    bond: usdcText(BigInt(bondMicroUsdc)),
    forfeited: usdcText(BigInt(bondForfeitedMicroUsdc)),
  }
}

/**
 * When something became true of every piece: the latest of them, each by the time that `choose` takes of its copies; null while it is not
 * true of one.
 */
function everyPiece(
  pieces: readonly (readonly CopyRecord[])[],
  timeOfCopy: (copy: CopyRecord) => number | null,
  choose: (...times: number[]) => number,
): number | null {
  const times = pieces.map((copies) => copies.map(timeOfCopy).filter((time) => time !== null))
  if (times.length === 0 || times.some(({ length }) => length === 0)) return null
  return Math.max(...times.map((ofPiece) => choose(...ofPiece)))
}

/** A file is held as often as the piece of it that is held least often. */
function provedCopiesOf(pieces: readonly (readonly CopyRecord[])[]): number {
  if (pieces.length === 0) return 0
  return Math.min(...pieces.map((copies) => copies.filter(({ provedAt }) => provedAt !== null).length))
}

function aggregateOf(placed: DealRecord | undefined): DealEntry['aggregate'] {
  const piece = placed?.pieces[0]
  if (piece === undefined || piece.paddedOffsetBytes === null) return null
  const paddedOffset = piece.paddedOffsetBytes
  return { pieceCid: pieceCidOf(piece), offset: rawOffsetBytes(paddedOffset), paddedOffset }
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : timeOf(at)
}
