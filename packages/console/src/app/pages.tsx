import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { DropPage } from '../drop/drop-page.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { type PageName, route } from './route.ts'

/** Pages that are loaded when somebody goes there. */
const LATER: Readonly<Partial<Record<PageName, () => Promise<ComponentType>>>> = {
  usage: async () => (await import('../usage/usage-page.tsx')).UsagePage,
  tokens: async () => (await import('../tokens/tokens-page.tsx')).TokensPage,
  developers: async () => (await import('../developers/developers-page.tsx')).DevelopersPage,
  service: async () => (await import('../service/service-page.tsx')).ServicePage,
  admin: async () => (await import('../admin/admin-page.tsx')).AdminPage,
  files: async () => (await import('../files/files-page.tsx')).FilesPage,
  'sign-in': async () => (await import('../sign-in/sign-in-page.tsx')).SignInPage,
}

/** The page that the address names. */
export function CurrentPage() {
  const { page } = route.value
  return page === 'drop' || LATER[page] === undefined ? <DropPage /> : <LaterPage key={page} page={page} />
}

function LaterPage({ page }: { readonly page: PageName }) {
  const Page = useSignal<ComponentType | undefined>(undefined)
  const isFailed = useSignal(false)
  const { app } = texts.value
  useEffect(() => {
    LATER[page]?.().then(
      (loaded) => {
        Page.value = loaded
      },
      () => {
        isFailed.value = true
      },
    )
  }, [page])
  if (isFailed.value) {
    return (
      <Notice kind="bad">
        <p>
          {app.notLoaded}. {app.reload}
        </p>
        <button type="button" class="button button-plain" onClick={() => location.reload()}>
          {app.reloadNow}
        </button>
      </Notice>
    )
  }
  return Page.value === undefined ? <p class="loading">{app.loading}</p> : <Page.value />
}
