import type { InfoResult } from '@lade/core/wire'
import { bytesOf, countOf, daysOf } from '../app/amounts.ts'
import { linkTo } from '../app/route.ts'
import { info, infoProblem, loadInfo } from '../app/service-info.ts'
import { session, signInWays } from '../app/session.ts'
import { usage } from '../app/usage-today.ts'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { fileLimit, totals, uploads } from './queue.ts'

/** What somebody may upload, before anything is sent. */
export function TierFacts() {
  const { app, drop } = texts.value
  if (infoProblem.value !== undefined) {
    return (
      <Notice kind="bad">
        <p>
          {app.noInfo} {infoProblem.value}
        </p>
        <button type="button" class="button button-plain" onClick={loadInfo}>
          {app.again}
        </button>
      </Notice>
    )
  }
  const tiers = info.value?.tiers
  const isReady = tiers !== undefined && session.value !== undefined
  return (
    <section aria-label={drop.facts} aria-busy={!isReady}>
      <dl class="facts">{tiers !== undefined && isReady ? <Facts tiers={tiers} /> : <FactsToCome />}</dl>
      {tiers !== undefined && session.value === null && <More tiers={tiers} />}
      {tiers !== undefined && <DayWarning tiers={tiers} />}
    </section>
  )
}

function FactsToCome() {
  return [1, 2, 3].map((one) => (
    <div class="fact" key={one}>
      <dt>&nbsp;</dt>
      <dd>&nbsp;</dd>
    </div>
  ))
}

function Facts({ tiers }: { readonly tiers: InfoResult['tiers'] }) {
  const { drop } = texts.value
  const isSignedIn = session.value != null
  const tier = isSignedIn ? tiers.token : tiers.sponsored
  const limitBytes = fileLimit()
  const today = isSignedIn ? usage.value?.today : undefined
  const quotaBytes = usage.value?.quotaBytes ?? tier.dailyBytes
  return (
    <>
      <Fact value={limitBytes === undefined ? drop.unlimited : bytesOf(limitBytes)} what={drop.perFile} />
      {today === undefined ? (
        <Fact
          value={bytesOf(tier.dailyBytes)}
          what={tier.dailyFiles === undefined ? drop.perDayPlain : drop.perDay(countOf(tier.dailyFiles))}
        />
      ) : (
        <Fact value={bytesOf(today.remainingBytes)} what={drop.leftToday(bytesOf(quotaBytes))} />
      )}
      <Fact value={daysOf(tier.termDays)} what={drop.stays} />
    </>
  )
}

function Fact({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <div class="fact">
      <dt>{what}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function More({ tiers: { token } }: { readonly tiers: InfoResult['tiers'] }) {
  if (signInWays.value.length === 0) return null
  const { app, drop } = texts.value
  return (
    <p class="facts-more">
      {drop.more(bytesOf(token.fileBytes), bytesOf(token.dailyBytes), daysOf(token.termDays))}{' '}
      <a href={linkTo('sign-in')}>{app.signIn}</a>
    </p>
  )
}

/** Said as soon as files are chosen; which of them fit is for the service to say. */
function DayWarning({ tiers: { sponsored } }: { readonly tiers: InfoResult['tiers'] }) {
  const isTooMuch = uploads.value.length > 0 && totals.value.sizeBytes > sponsored.dailyBytes
  if (session.value !== null || !isTooMuch) return null
  return (
    <Notice kind="warning">
      <p>{texts.value.drop.dayWarning(bytesOf(totals.value.sizeBytes), bytesOf(sponsored.dailyBytes))}</p>
    </Notice>
  )
}
