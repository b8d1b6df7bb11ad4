import type { SessionWay } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { goTo } from '../app/route.ts'
import { isOperator, isUser, session, signInWays } from '../app/session.ts'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { CodeForm } from './code-form.tsx'
import { EmailForm } from './email-form.tsx'
import { TokenForm } from './token-form.tsx'
import { WalletList } from './wallet-list.tsx'
import '../styles/sign-in.css'

const FORMS = { email: EmailForm, code: CodeForm, wallet: WalletList, token: TokenForm } as const

/** Signs somebody in, by what the service has. */
export function SignInPage() {
  const chosen = useSignal<SessionWay | undefined>(undefined)
  const { signIn } = texts.value
  const ways = signInWays.value
  const somebody = session.value
  useEffect(() => {
    if (somebody) goTo(isUser.value ? 'files' : isOperator.value ? 'admin' : 'drop')
  }, [somebody])
  const way = chosen.value ?? ways[0]
  const Form = way === undefined ? undefined : FORMS[way]
  return (
    <div class="sign-in">
      <header class="page-head">
        <h1>{signIn.title}</h1>
        <p class="lead">{signIn.lead}</p>
      </header>
      {somebody === null && Form === undefined && (
        <Notice kind="plain">
          <p>{signIn.none}</p>
        </Notice>
      )}
      {somebody && (
        <Notice kind="plain">
          <p>{signIn.done(somebody.owner ?? somebody.userId)}</p>
        </Notice>
      )}
      {somebody === null && Form !== undefined && (
        <section class="panel sign-in-panel">
          {ways.length > 1 && (
            <fieldset class="ways">
              <legend class="hidden">{signIn.way}</legend>
              {ways.map((one) => (
                <label key={one} class="way">
                  <input
                    type="radio"
                    name="way"
                    value={one}
                    checked={one === way}
                    onChange={() => {
                      chosen.value = one
                    }}
                  />
                  <span>{signIn.ways[one]}</span>
                </label>
              ))}
            </fieldset>
          )}
          <Form key={way} />
        </section>
      )}
      <p class="sign-in-privacy">{signIn.privacy}</p>
    </div>
  )
}
