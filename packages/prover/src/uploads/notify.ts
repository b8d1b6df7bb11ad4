import { pieceCidV1 } from '@lade/core/piece'
import type { HeldPiece } from '../pieces/piece-store.ts'
import type { AllowedHosts } from '../pull/allowed-hosts.ts'
import { callAllowed, type Resolve } from '../pull/call-allowed.ts'

const TIMEOUT_MS = 10_000

export interface NotifierOptions {
  readonly allowed: AllowedHosts
  readonly closing: AbortSignal
  readonly resolve: Resolve | undefined
  readonly onFailure: (failure: { readonly host: string; readonly reason: string }) => void
}

/** Tells the caller of an upload that its piece is stored. */
export type Notify = (url: string, uploadId: string, piece: HeldPiece) => void

/**
 * Makes what calls the URL that an upload came with: one attempt, unsigned, as Curio does it, and only to hosts that
 * configuration allows. Nobody learns whether it arrived; callers poll all the same.
 */
export function createNotifier({ allowed, closing, resolve, onFailure }: NotifierOptions): Notify {
  return (url, uploadId, piece) => {
    const target = URL.parse(url)
    if (target === null) return
    const signal = AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)])
    const body = JSON.stringify(notificationOf(url, uploadId, piece))
    const call = { allowed, signal, idleMs: TIMEOUT_MS, method: 'POST', body, ...(resolve && { resolve }) } as const
    callAllowed(target, call).then(
      (answer) => answer.destroy(),
      (error: Error) => onFailure({ host: target.host, reason: error.message }),
    )
  }
}

/** The keys that Curio sends, which are not those of its documentation. */
function notificationOf(url: string, id: string, { root, rawSizeBytes }: HeldPiece) {
  return {
    id,
    service: 'public',
    piece_cid: pieceCidV1(root),
    notify_url: url,
    piece_ref: null,
    check_hash_codec: 'sha2-256-trunc254-padded',
    check_hash: Buffer.from(root).toString('base64'),
    piece_raw_size: rawSizeBytes,
  }
}
