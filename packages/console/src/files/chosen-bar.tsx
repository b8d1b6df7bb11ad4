import { useSignal } from '@preact/signals'
import { countOf } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { loadUsage } from '../app/usage-today.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { ConfirmRemoval } from './confirm-removal.tsx'
import { extendFile, removeFile } from './file-actions.ts'
import { choose, chooseAll, chosen, files } from './file-list.ts'

const EXTENSION_DAYS = 30

/** What can be done with several files at once. One that is refused stays chosen, and says why. */
export function ChosenBar() {
  const done = useSignal<number | undefined>(undefined)
  const problems = useSignal<readonly string[]>([])
  const asksToRemove = useSignal(false)
  const { app, files: words } = texts.value
  const all = files.value.filter(({ cid }) => chosen.value.has(cid))
  if (all.length === 0 && problems.value.length === 0) return null
  const forEach = async (work: (file: (typeof all)[number]) => Promise<unknown>) => {
    done.value = 0
    problems.value = []
    for (const file of all) {
      try {
        await work(file)
        choose(file.cid, false)
      } catch (error) {
        problems.value = [...problems.value, `${file.filename ?? file.cid}: ${messageOf(error)}`]
      }
      done.value += 1
    }
    done.value = undefined
  }
  return (
    <section class="chosen" aria-label={words.chosen(countOf(all.length))}>
      {problems.value.length > 0 && (
        <Notice kind="bad">
          <ul>
            {problems.value.slice(0, 3).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <button
            type="button"
            class="button button-plain"
            onClick={() => {
              problems.value = []
            }}
          >
            {app.close}
          </button>
        </Notice>
      )}
      <div class="chosen-line">
        <strong role="status">
          {done.value === undefined
            ? words.chosen(countOf(all.length))
            : words.chosenDone(countOf(done.value), countOf(all.length + done.value))}
        </strong>
        <div class="panel-actions">
          <CopyButton
            text={all.map(({ retrievalUrl }) => retrievalUrl).join('\n')}
            what={words.links}
            label={words.links}
          />
          <button
            type="button"
            class="button button-plain"
            onClick={() => forEach((file) => extendFile(file, EXTENSION_DAYS))}
          >
            <Icon name="clock" />
            <span>{words.extendBy(EXTENSION_DAYS)}</span>
          </button>
          <button
            type="button"
            class="button button-danger"
            onClick={() => {
              asksToRemove.value = true
            }}
          >
            <Icon name="trash" />
            <span>{words.remove}</span>
          </button>
          <button type="button" class="button button-plain" onClick={() => chooseAll(false)}>
            {words.chooseNone}
          </button>
        </div>
      </div>
      {asksToRemove.value && (
        <ConfirmRemoval
          title={words.removeMany(countOf(all.length))}
          onConfirm={async () => {
            await forEach(({ cid }) => removeFile(cid))
            void loadUsage()
          }}
          onClose={() => {
            asksToRemove.value = false
          }}
        />
      )}
    </section>
  )
}
