import type { AdminJobs, AdminOverview } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { bytesOf, countOf, dateOf } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { noteEnded } from '../app/session.ts'
import { Notice } from '../parts/notice.tsx'
import { adminTexts } from '../texts/admin-texts.ts'
import { texts } from '../texts/texts.ts'
import { UsageChart } from '../usage/usage-chart.tsx'
import { Health, Jobs, Provers } from './job-panels.tsx'

/** What all callers store, what was charged in the last 30 days, and how the work in the background goes. */
export function Overview() {
  const seen = useSignal<{ readonly totals: AdminOverview; readonly jobs: AdminJobs } | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const { app } = texts.value
  const load = async () => {
    problem.value = undefined
    try {
      const { admin } = await openClient(true)
      const [totals, jobs] = await Promise.all([admin.overview(), admin.jobs()])
      seen.value = { totals, jobs }
    } catch (error) {
      problem.value = messageOf(error)
      noteEnded(error)
    }
  }
  useEffect(() => {
    void load()
  }, [])
  if (problem.value !== undefined) {
    return (
      <Notice kind="bad">
        <p>{problem.value}</p>
        <button type="button" class="button button-plain" onClick={load}>
          {app.again}
        </button>
      </Notice>
    )
  }
  if (seen.value === undefined) return <p class="loading">{app.loading}</p>
  const { totals, jobs } = seen.value
  return (
    <>
      <Totals totals={totals} />
      <Trend days={totals.days} />
      <Provers jobs={jobs} />
      <Health jobs={jobs} />
      <Jobs jobs={jobs} />
    </>
  )
}

function Totals({ totals: { stored, uploads } }: { readonly totals: AdminOverview }) {
  const words = adminTexts.value
  const facts = [
    [words.stored, bytesOf(stored.bytes)],
    [words.files, countOf(stored.files)],
    [words.callers, countOf(stored.principals)],
    [words.running, countOf(uploads.running)],
    [words.reserved, bytesOf(uploads.reservedBytes)],
  ] as const
  return (
    <section class="panel" aria-label={words.stored}>
      <dl class="panel-body usage-facts admin-totals">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Trend({ days }: { readonly days: AdminOverview['days'] }) {
  const words = adminTexts.value
  return (
    <section class="panel" aria-labelledby="trend-title">
      <div class="panel-head">
        <h2 id="trend-title">{words.trend}</h2>
      </div>
      <div class="panel-body">
        <UsageChart days={days} label={words.trend} />
        <details>
          <summary>{words.table}</summary>
          <table class="table">
            <thead>
              <tr>
                <th scope="col">{words.day}</th>
                <th scope="col">{words.charged}</th>
                <th scope="col">{words.files}</th>
                <th scope="col">{words.storedAtEnd}</th>
              </tr>
            </thead>
            <tbody>
              {[...days].reverse().map(({ date, bytes, files, storedBytes }) => (
                <tr key={date}>
                  <td>{dateOf(`${date}T12:00:00Z`)}</td>
                  <td>{bytesOf(bytes)}</td>
                  <td>{countOf(files)}</td>
                  <td>{storedBytes === null ? '–' : bytesOf(storedBytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </div>
    </section>
  )
}
