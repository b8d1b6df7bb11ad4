import type { InfoResult, ReadyResult } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { bytesOf, countOf, daysOf } from '../app/amounts.ts'
import { info, infoProblem, loadInfo } from '../app/service-info.ts'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import '../styles/service.css'
import '../styles/files.css'

/** What this service is and allows, and how it is. */
export function ServicePage() {
  const { app, service: words } = texts.value
  const about = info.value
  return (
    <>
      <header class="page-head">
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </header>
      {infoProblem.value !== undefined && (
        <Notice kind="bad">
          <p>{infoProblem.value}</p>
          <button type="button" class="button button-plain" onClick={loadInfo}>
            {app.again}
          </button>
        </Notice>
      )}
      <State />
      {about !== undefined && [<Tiers key="tiers" about={about} />, <About key="about" about={about} />]}
    </>
  )
}

function State() {
  const state = useSignal<ReadyResult | undefined>(undefined)
  const { service: words } = texts.value
  useEffect(() => {
    // 503 has the same answer as 200.
    fetch('/readyz')
      .then((response) => response.json())
      .then(
        (result: ReadyResult) => {
          state.value = result
        },
        () => {
          state.value = { status: 'not_ready', dependencies: {}, signingKey: null }
        },
      )
  }, [])
  const ready = state.value
  if (ready === undefined) return null
  const isReady = ready.status === 'ready'
  return (
    <section class="panel" aria-labelledby="state-title">
      <div class="panel-head">
        <h2 id="state-title">{words.state}</h2>
        <span class={`tag ${isReady ? 'tag-good' : 'tag-bad'}`}>
          <Icon name={isReady ? 'check' : 'alert'} />
          {isReady ? words.ready : words.notReady}
        </span>
      </div>
      <ul class="dependencies">
        {Object.entries(ready.dependencies).map(([name, how]) => (
          <li key={name}>
            <span>{words.dependencies[name as keyof typeof words.dependencies] ?? name}</span>
            <span class={how === 'ok' || how === 'none' ? 'soft' : 'bad'}>{words.hows[how]}</span>
          </li>
        ))}
        {ready.clock?.deletionPaused === true && <li class="bad">{words.clock}</li>}
      </ul>
    </section>
  )
}

function Tiers({ about: { tiers } }: { readonly about: InfoResult }) {
  const { service: words } = texts.value
  const rows = [
    [words.anonymous, tiers.sponsored],
    [words.account, tiers.token],
  ] as const
  return (
    <section class="panel" aria-labelledby="tiers-title">
      <div class="panel-head">
        <h2 id="tiers-title">{words.tiers}</h2>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard */}
      <section class="panel-body table-scroll" tabIndex={0} aria-label={words.tierTable}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{words.tier}</th>
              <th scope="col">{words.file}</th>
              <th scope="col">{words.day}</th>
              <th scope="col">{words.dayFiles}</th>
              <th scope="col">{words.atOnce}</th>
              <th scope="col">{words.term}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, { fileBytes, dailyBytes, dailyFiles, concurrency, termDays }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{bytesOf(fileBytes)}</td>
                <td>{bytesOf(dailyBytes)}</td>
                <td>{dailyFiles === undefined ? '–' : countOf(dailyFiles)}</td>
                <td>{countOf(concurrency)}</td>
                <td>{daysOf(termDays)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function About({ about }: { readonly about: InfoResult }) {
  const { service: words } = texts.value
  const { version, signup, maxTermDays, wallets, opaqueIds, contentIds } = about
  return (
    <section class="panel" aria-labelledby="about-title">
      <div class="panel-head">
        <h2 id="about-title">{words.about}</h2>
        <a href="/console/licences.txt" target="_blank" rel="noopener">
          {words.licences}
        </a>
      </div>
      <dl class="panel-body sheet-facts">
        <div>
          <dt>{words.version}</dt>
          <dd>{version}</dd>
        </div>
        <div>
          <dt>{words.signup}</dt>
          <dd>{words.signups[signup]}</dd>
        </div>
        <div>
          <dt>{words.maxTerm}</dt>
          <dd>{daysOf(maxTermDays)}</dd>
        </div>
        <div>
          <dt>{words.chain}</dt>
          <dd>{wallets === null ? words.noChain : words.chainOf(wallets.chainId, wallets.usdcPerGib)}</dd>
        </div>
        <div>
          <dt>{words.opaque}</dt>
          <dd>{opaqueIds === 'accept' ? words.accepted : words.refused}</dd>
        </div>
        <div class="about-wide">
          <dt>{words.ids}</dt>
          <dd>{contentIds.join(', ')}</dd>
        </div>
      </dl>
    </section>
  )
}
