import type { AdminPrincipal } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { bytesOf, countOf, fromNow, timeOf } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { linkTo } from '../app/route.ts'
import { noteEnded } from '../app/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'
import { adminTexts } from '../texts/admin-texts.ts'
import { texts } from '../texts/texts.ts'
import { BlockCallerForm } from './block-caller-form.tsx'
import { LimitsForm } from './limits-form.tsx'

export interface CallerSheetProps {
  /** Its principal. */
  readonly caller: string
  readonly onClose: () => void
  readonly onChanged: () => Promise<void>
}

/** One caller: what it stores, its limits, and what an operator can do about it. */
export function CallerSheet({ caller, onClose, onChanged }: CallerSheetProps) {
  const found = useSignal<AdminPrincipal | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const words = adminTexts.value
  const load = async () => {
    try {
      found.value = await (await openClient(true)).admin.principal(caller)
    } catch (error) {
      problem.value = messageOf(error)
      noteEnded(error)
    }
  }
  useEffect(() => {
    void load()
  }, [])
  const seen = found.value
  const changed = async () => {
    await Promise.all([load(), onChanged()])
  }
  return (
    <Dialog kind="sheet" title={seen?.email ?? caller} onClose={onClose}>
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
        </Notice>
      )}
      {seen === undefined
        ? problem.value === undefined && <p class="loading">{texts.value.app.loading}</p>
        : [
            <div key="actions" class="sheet-actions">
              <a class="button button-plain" href={linkTo('admin', `files/${seen.principal}`)}>
                {words.showFiles}
              </a>
            </div>,
            seen.blocked !== undefined && (
              <Notice key="blocked" kind="warning">
                <p>{words.blockedSince(timeOf(seen.blocked.blockedAt))}</p>
                <p>{seen.blocked.reason}</p>
                <a href={linkTo('admin', 'blocks')}>{words.showBlocks}</a>
              </Notice>
            ),
            <Facts key="facts" caller={seen} />,
            <LimitsForm key="limits" caller={seen} onSaved={changed} />,
            seen.blocked === undefined && <BlockCallerForm key="block" caller={seen} onBlocked={changed} />,
          ]}
    </Dialog>
  )
}

function Facts({ caller }: { readonly caller: AdminPrincipal }) {
  const words = adminTexts.value
  const { principal, stored, today, lastUploadDay, lastSeenAt, uploads, tokens } = caller
  const live = tokens.filter(({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now())
  const facts = [
    [words.caller, principal],
    [words.stored, bytesOf(stored.bytes)],
    [words.files, countOf(stored.files)],
    [words.today, bytesOf(today.bytes)],
    [words.lastUpload, lastUploadDay ?? words.never],
    [words.lastSeen, lastSeenAt === null ? words.never : fromNow(lastSeenAt)],
    [words.running, countOf(uploads.length)],
    [texts.value.app.pages.tokens, words.tokens(live.length, tokens.length)],
  ] as const
  return (
    <dl class="sheet-facts">
      {facts.map(([name, value]) => (
        <div key={name} class={value === principal ? 'fact-whole' : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
