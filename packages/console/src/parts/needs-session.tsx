import type { ComponentChildren } from 'preact'
import { linkTo, route } from '../app/route.ts'
import { session } from '../app/session.ts'
import { texts } from '../texts/texts.ts'
import { Empty } from './empty.tsx'

/** Shows what is somebody's own to somebody, and everybody else the way there. */
export function NeedsSession({ children }: { readonly children: ComponentChildren }) {
  const { app } = texts.value
  if (session.value === undefined) return <p class="loading">{app.loading}</p>
  if (session.value !== null) return children
  return (
    <>
      <header class="page-head">
        <h1>{app.pages[route.value.page]}</h1>
      </header>
      <section class="panel">
        <Empty icon="lock" title={app.needsSession}>
          <p>{app.needsSessionHint}</p>
          <a class="button button-primary" href={linkTo('sign-in')}>
            {app.signIn}
          </a>
        </Empty>
      </section>
    </>
  )
}
