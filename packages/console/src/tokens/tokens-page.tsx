import type { TokenList } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { noteEnded } from '../app/session.ts'
import { Empty } from '../parts/empty.tsx'
import { NeedsSession } from '../parts/needs-session.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { NewToken } from './new-token.tsx'
import { SessionList } from './session-list.tsx'
import { TokenRow } from './token-row.tsx'
import '../styles/tokens-page.css'
import '../styles/files.css'

/** The tokens of who has signed in: make, see when each was used, revoke. */
export function TokensPage() {
  return (
    <NeedsSession>
      <Tokens />
    </NeedsSession>
  )
}

function Tokens() {
  const tokens = useSignal<TokenList['tokens'] | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const { app, tokens: words } = texts.value
  const load = async () => {
    problem.value = undefined
    try {
      tokens.value = (await (await openClient(true)).tokens.list()).tokens
    } catch (error) {
      problem.value = messageOf(error)
      noteEnded(error)
    }
  }
  useEffect(() => {
    void load()
  }, [])
  const all = tokens.value
  const live = all?.filter(({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now())
  const ended = all?.filter((token) => live?.includes(token) !== true)
  return (
    <>
      <header class="page-head">
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </header>
      <NewToken onMade={load} />
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
          <button type="button" class="button button-plain" onClick={load}>
            {app.again}
          </button>
        </Notice>
      )}
      {all === undefined && problem.value === undefined && <p class="loading">{app.loading}</p>}
      {live !== undefined && (
        <section class="panel" aria-labelledby="live-tokens">
          <div class="panel-head">
            <h2 id="live-tokens">{words.live}</h2>
          </div>
          {live.length === 0 ? (
            <Empty icon="tokens" title={words.none}>
              <p>{words.noneHint}</p>
            </Empty>
          ) : (
            <ul class="rows">
              {live.map((token) => (
                <TokenRow key={token.jti} token={token} onRevoked={load} />
              ))}
            </ul>
          )}
        </section>
      )}
      {ended !== undefined && ended.length > 0 && (
        <details class="panel ended">
          <summary>{words.ended(ended.length)}</summary>
          <ul class="rows">
            {ended.map((token) => (
              <TokenRow key={token.jti} token={token} onRevoked={load} />
            ))}
          </ul>
        </details>
      )}
      <SessionList />
    </>
  )
}
