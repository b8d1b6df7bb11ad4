import { useSignal } from '@preact/signals'
import { bytesOf, countOf } from '../app/amounts.ts'
import { linkTo } from '../app/route.ts'
import { info } from '../app/service-info.ts'
import { session } from '../app/session.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { texts } from '../texts/texts.ts'
import { isPaused, removeUpload, retry, takeHidden } from './queue.ts'
import { ResultCard } from './result-card.tsx'
import type { Upload } from './upload.ts'

export interface UploadRowProps {
  readonly upload: Upload
  /** True for the only file, whose result is shown at once. */
  readonly isAlone: boolean
}

/** One file or folder: how far it is, or what came of it. */
export function UploadRow({ upload, isAlone }: UploadRowProps) {
  const isOpen = useSignal<boolean | undefined>(undefined)
  const { drop } = texts.value
  const result = upload.result.value
  const state = upload.state.value
  const isShown = result !== undefined && (isOpen.value ?? isAlone)
  const detailsId = `${upload.id}-details`
  return (
    <li class="row" data-state={state}>
      <div class="row-line">
        <StateMark state={state} isFolder={upload.folder !== undefined} />
        <div class="row-words">
          <p class="row-name" title={upload.name}>
            {upload.name}
          </p>
          <RowState upload={upload} />
          <LeftOut upload={upload} />
        </div>
        <div class="row-actions">
          {result !== undefined && (
            <>
              <CopyButton text={result.retrievalUrl} what={`${drop.link}: ${upload.name}`} />
              <button
                type="button"
                class="button button-plain button-icon"
                aria-expanded={isShown}
                aria-controls={detailsId}
                aria-label={`${drop.details}: ${upload.name}`}
                onClick={() => {
                  isOpen.value = !isShown
                }}
              >
                <Icon name="more" />
              </button>
            </>
          )}
          {state === 'failed' && (
            <button type="button" class="button button-plain" onClick={() => retry(upload)}>
              <Icon name="retry" />
              <span>{drop.retry}</span>
            </button>
          )}
          {result === undefined && (
            <button
              type="button"
              class="button button-plain button-icon"
              aria-label={`${upload.hasEnded.value ? drop.remove : drop.cancel}: ${upload.name}`}
              title={upload.hasEnded.value ? drop.remove : drop.cancel}
              onClick={() => removeUpload(upload)}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
      </div>
      {upload.isRunning.value && (
        <ProgressBar
          label={upload.name}
          total={upload.sizeBytes}
          prepared={upload.hashedBytes.value}
          done={upload.sentBytes.value}
        />
      )}
      <div id={detailsId} hidden={!isShown}>
        {isShown && <ResultCard result={result} />}
      </div>
    </li>
  )
}

function StateMark({ state, isFolder }: { readonly state: string; readonly isFolder: boolean }) {
  const ongoing = isFolder ? 'folder' : 'upload'
  const name = state === 'done' ? 'check' : state === 'failed' || state === 'refused' ? 'alert' : ongoing
  return (
    <span class="row-mark">
      <Icon name={name} />
    </span>
  )
}

function RowState({ upload }: { readonly upload: Upload }) {
  const { drop } = texts.value
  const state = upload.state.value
  if (state === 'refused') return <Refused upload={upload} />
  if (state === 'failed') return <p class="row-state bad">{upload.problem.value}</p>
  const size = bytesOf(upload.sizeBytes)
  const isSending = state === 'sending' || (state === 'hashing' && upload.sentBytes.value > 0)
  const isHeld = isPaused.value && !upload.hasEnded.value && !upload.isSending.value
  const words = isHeld ? drop.paused : drop.state[isSending ? 'sending' : state]
  const files = upload.folder?.files
  return (
    <p class="row-state">
      {files !== undefined && (
        <span>
          {isSending ? drop.filesOf(countOf(upload.doneFiles.value), countOf(files)) : drop.filesIn(countOf(files))}
        </span>
      )}
      <span>{isSending ? drop.amount(bytesOf(upload.sentBytes.value), size) : size}</span>
      <span>{words}</span>
      {upload.foundParts.value > 0 && <span>{drop.found(upload.foundParts.value)}</span>}
    </p>
  )
}

/** Says what of a folder is not uploaded, and offers to upload it as well. */
function LeftOut({ upload }: { readonly upload: Upload }) {
  const { drop } = texts.value
  if (upload.source.kind !== 'folder' || upload.source.folder.hidden.length === 0) return null
  const { hidden } = upload.source.folder
  // What was sent is for the folder as it is.
  const isPartlySent = upload.state.value !== 'done' && upload.begunParts.value > 0
  return (
    <p class="row-state">
      <span
        title={hidden
          .slice(0, 20)
          .map(({ path }) => path)
          .join('\n')}
      >
        {drop.hidden(countOf(hidden.length))}
      </span>
      {!isPartlySent && (
        <button
          type="button"
          class="button-text"
          aria-label={`${drop.takeHidden}: ${upload.name}`}
          onClick={() => takeHidden(upload)}
        >
          {drop.takeHidden}
        </button>
      )}
    </p>
  )
}

function Refused({ upload }: { readonly upload: Upload }) {
  const { app, drop } = texts.value
  const { limitBytes = 0, path } = upload.refusal.value ?? {}
  const token = info.value?.tiers.token
  const mayHelp = session.value === null && token !== undefined && upload.largest.sizeBytes <= token.fileBytes
  return (
    <p class="row-state bad">
      <span>{bytesOf(upload.largest.sizeBytes)}</span>
      <span>
        {path === undefined ? drop.tooLarge(bytesOf(limitBytes)) : drop.tooLargeIn(path, bytesOf(limitBytes))}{' '}
        {mayHelp && drop.tooLargeSignIn(bytesOf(token.fileBytes))}{' '}
        {mayHelp && <a href={linkTo('sign-in')}>{app.signIn}</a>}
      </span>
    </p>
  )
}
