import type { AdminJobs } from '@lade/client'
import { bytesOf, countOf, fromNow } from '../app/amounts.ts'
import { adminTexts } from '../texts/admin-texts.ts'
import '../styles/service.css'

/** Damaged objects that are shown. */
const SHOWN_FINDINGS = 20

interface JobsProps {
  readonly jobs: AdminJobs
}

/** How many copies each prover has. */
export function Provers({ jobs: { provers, deals, waitingFiles } }: JobsProps) {
  const words = adminTexts.value
  return (
    <section class="panel" aria-labelledby="provers-title">
      <div class="panel-head">
        <h2 id="provers-title">{words.provers}</h2>
        <span class="soft">{countsText(deals)}</span>
      </div>
      <ul class="dependencies admin-list">
        {provers.map(({ name, isConfigured, copies }) => (
          <li key={name}>
            <span>{isConfigured ? name : `${name} (${words.notConfigured})`}</span>
            <span class="soft">{countsText(copies) || words.noCopies}</span>
          </li>
        ))}
        {waitingFiles > 0 && (
          <li>
            <span>{words.waiting}</span>
            <span class="soft">{countOf(waitingFiles)}</span>
          </li>
        )}
      </ul>
    </section>
  )
}

/** The last scrub, what it found, and what waits to be removed. */
export function Health({ jobs: { scrub, findings, findingsCount, removals } }: JobsProps) {
  const words = adminTexts.value
  return (
    <section class="panel" aria-labelledby="health-title">
      <div class="panel-head">
        <h2 id="health-title">{words.health}</h2>
      </div>
      <ul class="dependencies admin-list">
        <li>
          <span>{words.scrub}</span>
          <span class="soft">{scrubText(scrub)}</span>
        </li>
        <li>
          <span>{words.damaged}</span>
          <span class={findingsCount > 0 ? 'bad' : 'soft'}>{countOf(findingsCount)}</span>
        </li>
        {findings.slice(0, SHOWN_FINDINGS).map(({ object, kind, noticedAt }) => (
          <li key={`${object} ${kind}`}>
            <code class="cut">{object}</code>
            <span class="bad">{words.noticed(kind, fromNow(noticedAt))}</span>
          </li>
        ))}
        <li>
          <span>{words.removals}</span>
          <span class="soft">{countOf(removals.waiting)}</span>
        </li>
      </ul>
    </section>
  )
}

/** Work that one process does for all, and which does it. */
export function Jobs({ jobs: { leases } }: JobsProps) {
  const words = adminTexts.value
  return (
    <section class="panel" aria-labelledby="jobs-title">
      <div class="panel-head">
        <h2 id="jobs-title">{words.jobs}</h2>
      </div>
      {leases.length === 0 ? (
        <p class="panel-body soft">{words.noJobs}</p>
      ) : (
        <ul class="dependencies admin-list">
          {leases.map(({ name, holder, until, isHeld }) => (
            <li key={name}>
              <span>{name}</span>
              <span class="soft">{isHeld ? words.heldBy(holder.slice(0, 8), fromNow(until)) : words.nobody}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function scrubText(scrub: AdminJobs['scrub']): string {
  const words = adminTexts.value
  if (scrub === null) return words.scrubNever
  if (scrub.finishedAt === null) return words.scrubRuns(fromNow(scrub.startedAt))
  return words.scrubDone(fromNow(scrub.finishedAt), bytesOf(scrub.bytes))
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${countOf(count)} ${name}`)
    .join(', ')
}
