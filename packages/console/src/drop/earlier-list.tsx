import { useSignal } from '@preact/signals'
import { bytesOf, countOf, fromNow, sizeOf } from '../app/amounts.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { type EarlierUpload, forgetUpload } from './earlier.ts'
import { earlierOnly } from './queue.ts'
import { ResultCard } from './result-card.tsx'

const ROWS = 5

/** What this browser has uploaded without an account, on earlier visits. */
export function EarlierList() {
  const shown = useSignal(ROWS)
  const { drop } = texts.value
  const all = earlierOnly.value
  if (all.length === 0) return null
  return (
    <section class="panel" aria-labelledby="earlier-title">
      <div class="panel-head">
        <h2 id="earlier-title">{drop.earlier}</h2>
      </div>
      <p class="panel-hint">{drop.earlierHint}</p>
      <ul class="rows">
        {all.slice(0, shown.value).map((upload) => (
          <EarlierRow key={upload.result.cid} upload={upload} />
        ))}
      </ul>
      {all.length > shown.value && (
        <button
          type="button"
          class="button button-plain rows-more"
          onClick={() => {
            shown.value = all.length
          }}
        >
          {drop.more_(countOf(all.length - shown.value))}
        </button>
      )}
    </section>
  )
}

function EarlierRow({ upload: { result, name } }: { readonly upload: EarlierUpload }) {
  const isOpen = useSignal(false)
  const { drop } = texts.value
  const detailsId = `earlier-${result.cid}`
  return (
    <li class="row" data-state="done">
      <div class="row-line">
        <span class="row-mark">
          <Icon name="check" />
        </span>
        <div class="row-words">
          <p class="row-name" title={name}>
            {name}
          </p>
          <p class="row-state">
            {result.files !== undefined && <span>{drop.filesIn(countOf(result.files))}</span>}
            <span>{bytesOf(sizeOf(result))}</span>
            <span>{fromNow(result.expiresAt)}</span>
          </p>
        </div>
        <div class="row-actions">
          <CopyButton text={result.retrievalUrl} what={`${drop.link}: ${name}`} />
          <button
            type="button"
            class="button button-plain button-icon"
            aria-expanded={isOpen.value}
            aria-controls={detailsId}
            aria-label={`${drop.details}: ${name}`}
            onClick={() => {
              isOpen.value = !isOpen.value
            }}
          >
            <Icon name="more" />
          </button>
          <button
            type="button"
            class="button button-plain button-icon"
            aria-label={drop.forget(name)}
            title={drop.forget(name)}
            onClick={() => forgetUpload(result.cid)}
          >
            <Icon name="close" />
          </button>
        </div>
      </div>
      <div id={detailsId} hidden={!isOpen.value}>
        {isOpen.value && <ResultCard result={result} />}
      </div>
    </li>
  )
}
