import { useSignal } from '@preact/signals'
import { bytesOf, countOf, sizeOf } from '../app/amounts.ts'
import { codeOf, messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { session } from '../app/session.ts'
import { loadUsage } from '../app/usage-today.ts'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { claimable, type EarlierUpload, forgetClaim, forgetUpload } from './earlier.ts'

/** What was uploaded here without an account, for whoever has signed in since: it can become theirs. @param onClaimed - once some have. */
export function ClaimOffer({ onClaimed }: { readonly onClaimed?: () => void }) {
  const done = useSignal<number | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const { claims: words } = texts.value
  const all = claimable.value
  if (session.value == null || all.length === 0) return null
  const sizeBytes = all.reduce((sum, { result }) => sum + sizeOf(result), 0)
  const claimAll = async () => {
    problem.value = undefined
    done.value = 0
    for (const upload of all) {
      const refusal = await claim(upload)
      if (refusal !== undefined) {
        problem.value = refusal
        break
      }
      done.value += 1
    }
    if (done.value > 0) onClaimed?.()
    done.value = undefined
    void loadUsage()
  }
  return (
    <section class="panel panel-marked" aria-labelledby="claims-title">
      <div class="panel-head">
        <h2 id="claims-title">{words.title(countOf(all.length))}</h2>
        <button
          type="button"
          class="button button-primary"
          aria-disabled={done.value !== undefined}
          onClick={() => {
            if (done.value === undefined) void claimAll()
          }}
        >
          {done.value === undefined ? words.claim : words.claiming(countOf(done.value))}
        </button>
      </div>
      <p class="panel-hint">{words.hint(bytesOf(sizeBytes))}</p>
      {problem.value !== undefined && (
        <div class="panel-body">
          <Notice kind="bad">
            <p>{problem.value}</p>
          </Notice>
        </div>
      )}
    </section>
  )
}

/** @returns why the service refuses; undefined for a file that is the account's now, or that cannot become it any more. */
async function claim({ result: { cid }, claimSecret }: EarlierUpload): Promise<string | undefined> {
  if (claimSecret === undefined) return undefined
  try {
    await (await openClient(true)).files.claim(cid, { secret: claimSecret })
    await forgetUpload(cid)
  } catch (error) {
    if (codeOf(error) !== 'not_found') return messageOf(error)
    // Somebody else has claimed it, or it was there already from the same address.
    await forgetClaim(cid)
  }
  return undefined
}
