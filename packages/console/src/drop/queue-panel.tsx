import { computed, useSignal } from '@preact/signals'
import { bytesOf, countOf, durationOf } from '../app/amounts.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { texts } from '../texts/texts.ts'
import { cancelAll, clearEnded, isBusy, isPaused, pause, rate, resume, secondsLeft, totals, uploads } from './queue.ts'
import type { Upload } from './upload.ts'
import { UploadRow } from './upload-row.tsx'

/** Rows beyond these are shown when somebody asks: two hundred rows help nobody. */
const ROWS = 50
const LARGE_BYTES = 16_777_216
/** True for a file beyond those rows that somebody has to do something about, or waits for. */
const isShownAlways = ({ state, isRunning, sizeBytes }: Upload) =>
  state.value === 'failed' || state.value === 'refused' || (isRunning.value && sizeBytes > LARGE_BYTES)
const links = computed(() => uploads.value.flatMap(({ result }) => result.value?.retrievalUrl ?? []))

/** What is on its way and what has arrived. */
export function QueuePanel() {
  const shown = useSignal(ROWS)
  const { drop } = texts.value
  const all = uploads.value
  if (all.length === 0) return null
  const rows = all.filter((upload, at) => at < shown.value || isShownAlways(upload))
  const hidden = all.length - rows.length
  return (
    <section class="panel" aria-labelledby="queue-title">
      <div class="panel-head">
        <h2 id="queue-title">{drop.queue}</h2>
        <div class="panel-actions">
          {links.value.length > 1 && (
            <CopyButton
              text={links.value.join('\n')}
              what={drop.link}
              label={drop.copyAll(countOf(links.value.length))}
            />
          )}
          <QueueActions />
        </div>
      </div>
      <QueueProgress />
      <ul class="rows">
        {rows.map((upload) => (
          <UploadRow key={upload.id} upload={upload} isAlone={all.length === 1} />
        ))}
      </ul>
      {hidden > 0 && (
        <button
          type="button"
          class="button button-plain rows-more"
          onClick={() => {
            shown.value += 200
          }}
        >
          {drop.more_(countOf(hidden))}
        </button>
      )}
      <Announcements />
    </section>
  )
}

function QueueActions() {
  const { drop } = texts.value
  if (!isBusy.value) {
    return (
      <button type="button" class="button button-plain" onClick={clearEnded}>
        {drop.clear}
      </button>
    )
  }
  return (
    <>
      <button
        type="button"
        class="button button-plain"
        title={isPaused.value ? undefined : drop.pauseHint}
        onClick={isPaused.value ? resume : pause}
      >
        <Icon name={isPaused.value ? 'play' : 'pause'} />
        <span>{isPaused.value ? drop.resume : drop.pause}</span>
      </button>
      <button type="button" class="button button-plain" onClick={cancelAll}>
        {drop.cancelAll}
      </button>
    </>
  )
}

function QueueProgress() {
  const { drop } = texts.value
  const { files, done, failed, sentBytes, sizeBytes, sending } = totals.value
  // One file says it all in its own row.
  if (files === 0 || (uploads.value.length === 1 && uploads.value[0]?.state.value === 'done')) return null
  const amount = drop.amount(bytesOf(sentBytes), bytesOf(sizeBytes))
  return (
    <div class="queue-progress">
      <ProgressBar
        label={drop.queue}
        total={sizeBytes}
        done={sentBytes}
        text={`${drop.progress(countOf(done), countOf(files))}, ${amount}`}
      />
      <p class="queue-words">
        <strong>{drop.progress(countOf(done), countOf(files))}</strong>
        <span>{amount}</span>
        {isPaused.value && <span class="tag">{sending > 0 ? drop.pausing : drop.paused}</span>}
        {!isPaused.value && rate.value !== undefined && <span>{drop.rate(bytesOf(rate.value))}</span>}
        {!isPaused.value && secondsLeft.value !== undefined && isBusy.value && (
          <span>{drop.left(durationOf(secondsLeft.value))}</span>
        )}
        {failed > 0 && <span class="bad">{drop.failed(failed)}</span>}
      </p>
    </div>
  )
}

/** What screen readers say while files arrive: the last that ended, or that all have. */
function Announcements() {
  const { drop } = texts.value
  const { done, failed } = totals.value
  const ended = uploads.value.filter(({ hasEnded }) => hasEnded.value)
  const last = ended.toSorted((one, other) => one.number - other.number).at(-1)
  let said = ''
  if (!isBusy.value && uploads.value.length > 1 && done > 1) said = drop.announceAll(countOf(done))
  else if (last?.state.value === 'done') said = drop.announceDone(last.name)
  else if (last !== undefined) said = drop.announceFailed(last.name)
  if (failed > 0) said = `${said} ${drop.failed(failed)}`
  return (
    <p class="hidden" role="status">
      {said}
    </p>
  )
}
