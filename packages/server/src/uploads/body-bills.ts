import { type ErrorCode, LadeError } from '@lade/core/errors'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { StagedUpload } from './file-commit.ts'

/** What part of its time is unpaid when a file is uploaded that the same caller has stored already, for which the quota charges nothing. */
const REPEATED_UNPAID_SHARE = 1 / 8

/** Ends the bill of a body whose file is stored: a repeated upload pays for most of its time, and not for all. */
export function settleBill(bill: BodyBill | undefined, { isNew }: Pick<StagedUpload, 'isNew'>): void {
  if (!isNew) bill?.takeBack(REPEATED_UNPAID_SHARE)
}

/** Codes by which a body is refused whose sender could have known better. */
const UNPAID_CODES: readonly ErrorCode[] = [
  'cid_mismatch',
  'digest_mismatch',
  'invalid_car',
  'incomplete_dag',
  'cid_conflict',
  'blocked',
  'caller_blocked',
  'over_budget',
  'rate_limited',
  'quota_exceeded',
  'too_many_uploads',
]

/**
 * Ends the bill of a body that was refused: its bytes have paid for nothing where its content or the quota is why. One that was cut is paid
 * as far as it came, and one that the service could not take is paid.
 */
export function settleFailedBill(bill: BodyBill | undefined, error: unknown): void {
  if (LadeError.is(error) && UNPAID_CODES.includes(error.code)) bill?.takeBack()
}
