import { bytesOf, countOf } from '../app/amounts.ts'
import { session } from '../app/session.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { CHOOSE_FOLDER_ID, CHOOSE_ID } from './drop-target.tsx'
import { forgetUnfinished, unfinished } from './unfinished.ts'

const ROWS = 5

/** What was on its way when the page was closed. */
export function UnfinishedList() {
  const { drop } = texts.value
  const all = unfinished.value
  if (all.length === 0) return null
  const areAllFolders = all.every(({ folder }) => folder !== undefined)
  return (
    <section class="panel panel-marked" aria-labelledby="unfinished-title">
      <div class="panel-head">
        <h2 id="unfinished-title">{drop.unfinished}</h2>
        <button
          type="button"
          class="button button-plain"
          onClick={() => document.getElementById(areAllFolders ? CHOOSE_FOLDER_ID : CHOOSE_ID)?.click()}
        >
          {drop.chooseAgain}
        </button>
      </div>
      <p class="panel-hint">{session.value == null ? drop.unfinishedHintAnonymous : drop.unfinishedHint}</p>
      <ul class="rows">
        {all.slice(0, ROWS).map(({ fingerprint, name, sizeBytes, folder }) => (
          <li class="row" key={fingerprint}>
            <div class="row-line">
              <span class="row-mark">
                <Icon name={folder === undefined ? 'retry' : 'folder'} />
              </span>
              <div class="row-words">
                <p class="row-name" title={name}>
                  {name}
                </p>
                <p class="row-state">
                  {folder !== undefined && <span>{drop.filesIn(countOf(folder.files))}</span>}
                  <span>{bytesOf(sizeBytes)}</span>
                </p>
              </div>
              <div class="row-actions">
                <button
                  type="button"
                  class="button button-plain button-icon"
                  aria-label={drop.forget(name)}
                  title={drop.forget(name)}
                  onClick={() => forgetUnfinished(fingerprint)}
                >
                  <Icon name="close" />
                </button>
              </div>
            </div>
          </li>
        ))}
      </ul>
      {all.length > ROWS && <p class="panel-hint">{drop.more_(countOf(all.length - ROWS))}</p>}
    </section>
  )
}
