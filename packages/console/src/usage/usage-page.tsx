import type { UsageResult } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { bytesOf, countOf, dateOf, fromNow } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { noteEnded } from '../app/session.ts'
import { NeedsSession } from '../parts/needs-session.tsx'
import { Notice } from '../parts/notice.tsx'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { texts } from '../texts/texts.ts'
import { UsageChart } from './usage-chart.tsx'
import '../styles/usage.css'

const DAYS = 30

/** What is used of the day's quota, what is stored, and the last days. */
export function UsagePage() {
  return (
    <NeedsSession>
      <Usage />
    </NeedsSession>
  )
}

function Usage() {
  const usage = useSignal<UsageResult | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const { app, usage: words } = texts.value
  const load = async () => {
    problem.value = undefined
    try {
      usage.value = await (await openClient(true)).usage({ days: DAYS })
    } catch (error) {
      problem.value = messageOf(error)
      noteEnded(error)
    }
  }
  useEffect(() => {
    void load()
  }, [])
  return (
    <>
      <header class="page-head">
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </header>
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
          <button type="button" class="button button-plain" onClick={load}>
            {app.again}
          </button>
        </Notice>
      )}
      {usage.value === undefined
        ? problem.value === undefined && <p class="loading">{app.loading}</p>
        : [<Today key="today" usage={usage.value} />, <Days key="days" usage={usage.value} />]}
    </>
  )
}

function Today({ usage: { quotaBytes, today, stored } }: { readonly usage: UsageResult }) {
  const { usage: words } = texts.value
  return (
    <section class="panel" aria-labelledby="today-title">
      <div class="panel-head">
        <h2 id="today-title">{words.today}</h2>
        <span class="soft">{words.resets(fromNow(today.resetsAt))}</span>
      </div>
      <div class="panel-body usage-today">
        <Meter
          label={words.bytes}
          used={today.bytes}
          reserved={today.reservedBytes}
          limit={quotaBytes}
          text={words.of(bytesOf(today.bytes), bytesOf(quotaBytes))}
          left={words.left(bytesOf(today.remainingBytes))}
        />
        {today.filesLimit !== undefined && (
          <Meter
            label={words.files}
            used={today.files}
            reserved={today.reservedFiles ?? 0}
            limit={today.filesLimit}
            text={words.of(countOf(today.files), countOf(today.filesLimit))}
            left={words.left(countOf(today.remainingFiles ?? 0))}
          />
        )}
        <dl class="usage-facts">
          <div>
            <dt>{words.reserved}</dt>
            <dd>{bytesOf(today.reservedBytes)}</dd>
          </div>
          <div>
            <dt>{words.stored}</dt>
            <dd>{bytesOf(stored.bytes)}</dd>
          </div>
          <div>
            <dt>{words.storedFiles}</dt>
            <dd>{countOf(stored.files)}</dd>
          </div>
        </dl>
      </div>
    </section>
  )
}

interface MeterProps {
  readonly label: string
  readonly used: number
  readonly reserved: number
  readonly limit: number
  readonly text: string
  readonly left: string
}

function Meter({ label, used, reserved, limit, text, left }: MeterProps) {
  return (
    <div class="meter-block">
      <p class="meter-words">
        <strong>{label}</strong> <span>{text}</span> <span class="soft">{left}</span>
      </p>
      <ProgressBar label={label} total={limit} prepared={used + reserved} done={used} text={text} />
    </div>
  )
}

function Days({ usage: { days } }: { readonly usage: UsageResult }) {
  const { usage: words } = texts.value
  const total = days.reduce((sum, { bytes }) => sum + bytes, 0)
  const busy = days.filter(({ files }) => files > 0).toReversed()
  return (
    <section class="panel" aria-labelledby="days-title">
      <div class="panel-head">
        <h2 id="days-title">{words.days(days.length)}</h2>
        <span class="soft">{bytesOf(total)}</span>
      </div>
      <div class="panel-body">
        <UsageChart days={days} label={words.chart(days.length, bytesOf(total))} />
        {busy.length === 0 ? (
          <p class="soft">{words.nothing}</p>
        ) : (
          <details>
            <summary>{words.asTable}</summary>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">{words.day}</th>
                  <th scope="col">{words.bytes}</th>
                  <th scope="col">{words.files}</th>
                </tr>
              </thead>
              <tbody>
                {busy.map(({ date, bytes, files }) => (
                  <tr key={date}>
                    <td>{dateOf(`${date}T12:00:00Z`)}</td>
                    <td>{bytesOf(bytes)}</td>
                    <td>{countOf(files)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        )}
      </div>
    </section>
  )
}
