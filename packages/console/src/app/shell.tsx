import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type IconName, Mark } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { chooseLanguage, language, nextTheme, theme } from './preferences.ts'
import { linkTo, type PageName, route } from './route.ts'
import { isOperator, isUser, session, signInWays, signOut } from './session.ts'

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const

/** What is around every page: the way to the others, and who has signed in. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const { page } = route.value
  const { app } = texts.value
  const lastPage = useRef(page)
  useEffect(() => {
    document.title = page === 'drop' ? 'Lade' : `${app.pages[page]} · Lade`
    // A page that was gone to is read from its beginning; the first one is not gone to.
    if (lastPage.current !== page) {
      main.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    lastPage.current = page
  }, [page, app])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {app.skip}
      </button>
      <header class="top">
        <a class="brand" href={linkTo('drop')}>
          <Mark />
          <span>Lade</span>
        </a>
        <nav class="nav" aria-label={app.navigation}>
          <ul>
            {pagesInReach().map((name) => (
              <li key={name}>
                <a href={linkTo(name)} aria-current={name === page ? 'page' : undefined}>
                  <Icon name={iconOf(name)} />
                  <span>{app.pages[name]}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="top-end">
          <Account />
          <Preferences />
        </div>
      </header>
      <main id="main" class="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

function pagesInReach(): readonly PageName[] {
  if (session.value == null) return ['drop', 'developers', 'service']
  const own: readonly PageName[] = isUser.value ? ['files', 'usage'] : []
  const operators: readonly PageName[] = isOperator.value ? ['admin'] : []
  return ['drop', ...own, 'tokens', 'developers', 'service', ...operators]
}

function iconOf(page: PageName): IconName {
  return page === 'drop' ? 'upload' : page
}

function Account() {
  const { app } = texts.value
  const somebody = session.value
  if (somebody === undefined) return null
  if (somebody === null) {
    if (signInWays.value.length === 0) return null
    return (
      <a
        class="button button-plain account-sign-in"
        href={linkTo('sign-in')}
        aria-current={route.value.page === 'sign-in' ? 'page' : undefined}
      >
        <Icon name="sign-in" />
        <span>{app.signIn}</span>
      </a>
    )
  }
  return (
    <section class="account" aria-label={app.account}>
      <span class="account-name" title={somebody.owner ?? undefined}>
        {somebody.owner}
      </span>
      <button type="button" class="button button-plain" onClick={signOut}>
        {app.signOut}
      </button>
    </section>
  )
}

function Preferences() {
  const { app } = texts.value
  return (
    <div class="preferences">
      <button
        type="button"
        class="button button-plain button-icon"
        aria-label={app.theme[theme.value]}
        title={app.theme[theme.value]}
        onClick={nextTheme}
      >
        <Icon name={THEME_ICONS[theme.value]} />
      </button>
      <label class="language">
        <span class="hidden">{app.language}</span>
        <select
          value={language.value}
          onChange={({ currentTarget: { value } }) => chooseLanguage(value === 'de' ? 'de' : 'en')}
        >
          <option value="en" lang="en">
            English
          </option>
          <option value="de" lang="de">
            Deutsch
          </option>
        </select>
      </label>
    </div>
  )
}
