import { linkTo } from '../app/route.ts'
import { session } from '../app/session.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { snippetsFor } from './snippets.ts'
import '../styles/developers.css'

const LINKS = [
  ['/docs', 'reference'],
  ['/docs/guides', 'guides'],
  ['/openapi.json', 'openapi'],
  ['/docs/errors', 'errors'],
] as const

/** How to use this service from a program. */
export function DevelopersPage() {
  const { developers: words, tokens } = texts.value
  const isSignedIn = session.value != null
  return (
    <>
      <header class="page-head">
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </header>
      {isSignedIn && (
        <p>
          {words.tokenHint} <a href={linkTo('tokens')}>{tokens.make}</a>
        </p>
      )}
      <div class="snippets">
        {snippetsFor(location.origin, isSignedIn).map(({ id, name, code }) => (
          <section key={id} class="panel snippet" aria-labelledby={`snippet-${id}`}>
            <div class="panel-head">
              <h2 id={`snippet-${id}`}>{name}</h2>
              <CopyButton text={code} what={name} label={texts.value.app.copy} />
            </div>
            <p class="panel-hint">{words.hints[id]}</p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls is reached by the keyboard */}
            <pre tabIndex={0}>
              <code>{code}</code>
            </pre>
          </section>
        ))}
      </div>
      <ul class="doc-links">
        {LINKS.map(([href, name]) => (
          <li key={href}>
            <a class="panel doc-link" href={href} target="_blank" rel="noopener">
              <span>
                <strong>{words.links[name]}</strong>
                <small>{words.linkHints[name]}</small>
              </span>
              <Icon name="open" />
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
