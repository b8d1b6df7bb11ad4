import type { TokenList } from '@lade/client'
import { useSignal } from '@preact/signals'
import { bytesOf, dateOf, fromNow } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'

const MB = 1_048_576

export interface TokenRowProps {
  readonly token: TokenList['tokens'][number]
  readonly onRevoked: () => Promise<void>
}

export function TokenRow({ token, onRevoked }: TokenRowProps) {
  const asks = useSignal(false)
  const step = useStep()
  const { app, tokens: words } = texts.value
  const { jti, label, scopes, quotaMb, expiresAt, lastUsedAt, revokedAt } = token
  const name = label === '' ? words.unnamed : label
  const revoke = () =>
    step.run(async () => {
      await (await openClient(true)).tokens.revoke(jti)
      await onRevoked()
    })
  return (
    <li class="row">
      <div class="row-line">
        <span class="row-mark">
          <Icon name="tokens" />
        </span>
        <div class="row-words">
          <p class="row-name">{name}</p>
          <p class="row-state">
            <span>{scopes.join(', ')}</span>
            {quotaMb !== null && <span>{words.aDay(bytesOf(quotaMb * MB))}</span>}
            <span>{revokedAt === null ? words.until(dateOf(expiresAt)) : words.revoked(dateOf(revokedAt))}</span>
            <span>{lastUsedAt === null ? words.unused : words.used(fromNow(lastUsedAt))}</span>
          </p>
        </div>
        {revokedAt === null && (
          <div class="row-actions">
            <button
              type="button"
              class="button button-danger"
              aria-label={`${words.revoke}: ${name}`}
              onClick={() => {
                asks.value = true
              }}
            >
              {words.revoke}
            </button>
          </div>
        )}
      </div>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      {asks.value && (
        <Dialog
          title={words.revokeOne(name)}
          onClose={() => {
            asks.value = false
          }}
        >
          <p>{words.revokeHint}</p>
          <div class="dialog-actions">
            <button
              type="button"
              class="button button-plain"
              onClick={() => {
                asks.value = false
              }}
            >
              {app.cancel}
            </button>
            <button
              type="button"
              class="button button-danger"
              onClick={() => {
                asks.value = false
                void revoke()
              }}
            >
              {words.revoke}
            </button>
          </div>
        </Dialog>
      )}
    </li>
  )
}
