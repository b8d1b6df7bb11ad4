import { LadeError } from '@lade/core/errors'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { AdmitAll } from '../records/record-store.ts'
import { agreeTerms, type SizedHead } from './admit-upload.ts'
import { settleBill, settleFailedBill } from './body-bills.ts'
import { checkedUploadOf, type StagedUpload, stagedBy } from './file-commit.ts'
import { refuseBlockedHead, refuseBlockedUpload } from './refuse-blocked.ts'
import { type AtOnceDeps, type VerifiedAtOnce, verifyAtOnce } from './stage-at-once.ts'
import type { UploadTier } from './upload-tier.ts'

/** A small upload of a caller that sends several. */
export interface TogetherUpload {
  readonly head: SizedHead
  /** The whole body, which is the records' from now on. */
  readonly inline: Uint8Array
  readonly bill: BodyBill
}

/** What became of one of several uploads; undefined where nothing has been done, and it is to be staged by itself. */
export type StagedTogether = StagedUpload | LadeError | undefined

/**
 * Stages small uploads of one caller as `stageAtOnce` does, each by itself, with one transaction for all of them.
 *
 * @returns in their order.
 * @throws what is no LadeError.
 */
export async function stageTogether(
  deps: AtOnceDeps,
  { tier, uploads }: { readonly tier: UploadTier; readonly uploads: readonly TogetherUpload[] },
): Promise<readonly StagedTogether[]> {
  const now = deps.now()
  // Of takedowns that come meanwhile, the transaction knows.
  const { takedownRevision } = deps.moderation.content
  if (!(await hasRoom(deps, uploads))) return uploads.map(() => undefined)
  const results: StagedTogether[] = []
  const verified: (VerifiedAtOnce & { readonly place: number; readonly bill: BodyBill })[] = []
  let all: AdmitAll | undefined
  for (const [place, upload] of uploads.entries()) {
    try {
      const { admit, ...ready } = await verify(deps, { tier, upload, now })
      all ??= admit
      verified.push({ ...ready, place, bill: upload.bill })
    } catch (error) {
      if (!LadeError.is(error)) throw error
      results[place] = error
    }
  }
  if (all === undefined) return results
  const commits = verified.map(({ commit }) => ({ ...commit, takedownRevision }))
  const outcomes = await deps.records.quotas.commitTogether({ admit: all, commits }).catch(undefinedFor)
  for (const [index, { place, upload, bill }] of verified.entries()) {
    const outcome = outcomes?.[index]
    if (outcome === undefined || outcome.outcome === 'takedowns_changed') continue
    try {
      const staged = stagedBy(outcome, upload, now)
      settleBill(bill, staged)
      results[place] = staged
    } catch (error) {
      settleFailedBill(bill, error)
      if (!LadeError.is(error)) throw error
      results[place] = error
    }
  }
  return uploads.map((_, place) => results[place])
}

async function verify(
  deps: AtOnceDeps,
  { tier, upload, now }: { readonly tier: UploadTier; readonly upload: TogetherUpload; readonly now: number },
): Promise<VerifiedAtOnce & { readonly admit: AdmitAll }> {
  const { head, inline, bill } = upload
  const terms = agreeTerms({ tier, head, isStorageBound: deps.blobs !== undefined }, now)
  const uploader = { principal: tier.principal, cid: head.cid }
  await refuseBlockedHead(deps, uploader, head)
  const verified = await verifyAtOnce(deps, { tier, head, bill }, { terms, inline, now })
  try {
    await refuseBlockedUpload(deps, uploader, checkedUploadOf(verified.commit))
  } catch (error) {
    settleFailedBill(bill, error)
    throw error
  }
  return { ...verified, admit: terms.admit }
}

async function hasRoom({ blobs }: AtOnceDeps, uploads: readonly TogetherUpload[]): Promise<boolean> {
  const sizeBytes = uploads.reduce((sum, { inline }) => sum + inline.length, 0)
  return (blobs?.requireRoom(sizeBytes) ?? Promise.resolve()).then(
    () => true,
    (error: unknown) => undefinedFor(error) ?? false,
  )
}

/** @throws what is no LadeError. */
function undefinedFor(error: unknown): undefined {
  if (!LadeError.is(error)) throw error
}
