import type { Session } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { fromNow, timeOf } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { loadSession } from '../app/session.ts'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'

/** The browsers that are signed in, each of which can be signed out. */
export function SessionList() {
  const sessions = useSignal<readonly Session[]>([])
  const problem = useSignal<string | undefined>(undefined)
  const { tokens: words } = texts.value
  const attempt = async (work: () => Promise<void>) => {
    problem.value = undefined
    try {
      await work()
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  const load = async () => {
    sessions.value = (await (await openClient(true)).session.list()).sessions
  }
  const end = ({ id, current }: Session) =>
    attempt(async () => {
      await (await openClient(true)).session.end(id)
      await (current ? loadSession() : load())
    })
  useEffect(() => {
    void attempt(load)
  }, [])
  return (
    <section class="panel" aria-labelledby="sessions-title">
      <div class="panel-head">
        <h2 id="sessions-title">{words.sessions}</h2>
      </div>
      {problem.value !== undefined && (
        <div class="panel-body">
          <Notice kind="bad">
            <p>{problem.value}</p>
          </Notice>
        </div>
      )}
      <ul class="rows">
        {sessions.value.map((session) => {
          const { id, via, createdAt, lastUsedAt, current } = session
          return (
            <li class="row" key={id}>
              <div class="row-line">
                <span class="row-mark">
                  <Icon name="system" />
                </span>
                <div class="row-words">
                  <p class="row-name row-name-whole">{words.since(timeOf(createdAt))}</p>
                  <p class="row-state">
                    <span>{texts.value.signIn.ways[via]}</span>
                    <span>{words.used(fromNow(lastUsedAt))}</span>
                    {current && <span class="tag">{words.thisBrowser}</span>}
                  </p>
                </div>
                <div class="row-actions">
                  <button
                    type="button"
                    class="button button-plain"
                    aria-label={`${texts.value.app.signOut}: ${words.since(timeOf(createdAt))}`}
                    onClick={() => end(session)}
                  >
                    {texts.value.app.signOut}
                  </button>
                </div>
              </div>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
