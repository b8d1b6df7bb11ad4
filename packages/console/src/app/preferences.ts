import { effect, signal } from '@preact/signals'

/** Which colours somebody chose; `system` follows the browser. */
export type Theme = 'system' | 'light' | 'dark'
export type Language = 'en' | 'de'

const THEME_KEY = 'lade-theme'
const LANGUAGE_KEY = 'lade-language'
const THEMES: readonly Theme[] = ['system', 'light', 'dark']

export const theme = signal<Theme>(read(THEME_KEY, THEMES) ?? 'system')
export const language = signal<Language>(read(LANGUAGE_KEY, ['en', 'de']) ?? browserLanguage())

/** Shows and keeps what is chosen, now and whenever it changes. */
export function applyPreferences(): void {
  effect(() => {
    const root = document.documentElement
    if (theme.value === 'system') root.removeAttribute('data-theme')
    else root.setAttribute('data-theme', theme.value)
    write(THEME_KEY, theme.value === 'system' ? undefined : theme.value)
  })
  effect(() => {
    document.documentElement.lang = language.value
  })
}

export function chooseLanguage(chosen: Language): void {
  language.value = chosen
  write(LANGUAGE_KEY, chosen)
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system'
}

function browserLanguage(): Language {
  const first = navigator.languages.find((tag) => /^(?:en|de)\b/i.test(tag))
  return first !== undefined && /^de/i.test(first) ? 'de' : 'en'
}

function read<Value extends string>(key: string, allowed: readonly Value[]): Value | undefined {
  try {
    const value = localStorage.getItem(key)
    return allowed.find((one) => one === value)
  } catch {
    // A browser may refuse storage; then the choice lasts as long as the page.
    return undefined
  }
}

function write(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // As above.
  }
}
