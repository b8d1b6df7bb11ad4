import { computed, signal } from '@preact/signals'

/** The pages, by the first word of the hash; `drop` is the empty hash. */
export const PAGES = ['drop', 'sign-in', 'files', 'usage', 'tokens', 'developers', 'service', 'admin'] as const
export type PageName = (typeof PAGES)[number]

export interface Route {
  readonly page: PageName
  /** What follows the page, such as the cid of a file; empty for none. */
  readonly rest: string
}

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

/** Where somebody is. An unknown hash is the first page. */
export const route = computed<Route>(() => {
  const [name = '', ...rest] = hash.value.replace(/^#\/?/, '').split('/')
  const page = PAGES.find((one) => one === name) ?? 'drop'
  return { page, rest: decoded(rest.join('/')) }
})

/**
 * The address of a page. Slashes in the rest stay, since they are between names.
 *
 * @example
 * linkTo('files', 'bafy…') // '#/files/bafy…'
 */
export function linkTo(page: PageName, rest = ''): string {
  if (page === 'drop') return '#/'
  return rest === '' ? `#/${page}` : `#/${page}/${rest.split('/').map(encodeURIComponent).join('/')}`
}

export function goTo(page: PageName, rest = ''): void {
  location.hash = linkTo(page, rest)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
