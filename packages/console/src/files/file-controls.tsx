import type { DealEntry, FileEntry } from '@lade/client'
import { useSignal } from '@preact/signals'
import { timeOf } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { goTo } from '../app/route.ts'
import { loadUsage } from '../app/usage-today.ts'
import { CopyField } from '../parts/copy-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'
import { ConfirmRemoval } from './confirm-removal.tsx'
import { changeFile, extendFile, removeFile, shareFile } from './file-actions.ts'

const SHARE_SECONDS = [300, 3600, 86_400, 604_800, 2_592_000]
const EXTEND_DAYS = [7, 30, 90, 365]
const MAX_COPIES = 16

export interface FileControlsProps {
  readonly file: FileEntry
  readonly deal: DealEntry | undefined
  readonly onChanged: () => Promise<void>
}

/** What an owner can do with a file. */
export function FileControls({ file, deal, onChanged }: FileControlsProps) {
  const step = useStep()
  const asksToRemove = useSignal(false)
  const { files: words } = texts.value
  const isPrivate = file.visibility === 'private'
  const change = (work: () => Promise<unknown>) =>
    step.run(async () => {
      await work()
      await onChanged()
    })
  return (
    <section class="sheet-part" aria-label={words.controls}>
      <h3>{words.controls}</h3>
      <Rename file={file} onRename={(filename) => change(() => changeFile(file.cid, { filename }))} />
      <ShareLink cid={file.cid} />
      <div class="control-line">
        <Extension onExtend={(days) => change(() => extendFile(file, days))} />
        {deal !== undefined && (
          <Copies
            redundancy={deal.redundancy}
            onSet={(copies) => change(async () => (await openClient(true)).deals.setRedundancy(deal.dealId, copies))}
          />
        )}
      </div>
      <div class="sheet-actions">
        <button
          type="button"
          class="button button-plain"
          onClick={() => change(() => changeFile(file.cid, { visibility: isPrivate ? 'public' : 'private' }))}
        >
          <Icon name="lock" />
          <span>{isPrivate ? words.makePublic : words.makePrivate}</span>
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
      </div>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      {asksToRemove.value && (
        <ConfirmRemoval
          title={words.removeOne(file.filename ?? file.cid)}
          onConfirm={() =>
            step.run(async () => {
              await removeFile(file.cid)
              goTo('files')
              void loadUsage()
            })
          }
          onClose={() => {
            asksToRemove.value = false
          }}
        />
      )}
    </section>
  )
}

function Rename({ file, onRename }: { readonly file: FileEntry; readonly onRename: (name: string | null) => void }) {
  const name = useSignal(file.filename ?? '')
  const { files: words } = texts.value
  return (
    <form
      class="control"
      onSubmit={(event) => {
        event.preventDefault()
        onRename(name.value === '' ? null : name.value)
      }}
    >
      <label class="field">
        <span>{words.name}</span>
        <input
          value={name.value}
          onInput={({ currentTarget: { value } }) => {
            name.value = value
          }}
        />
      </label>
      <button type="submit" class="button button-plain">
        {words.rename}
      </button>
    </form>
  )
}

function ShareLink({ cid }: { readonly cid: string }) {
  const seconds = useSignal(86_400)
  const link = useSignal<{ url: string; expiresAt: string } | undefined>(undefined)
  const step = useStep()
  const { files: words } = texts.value
  return (
    <>
      <form
        class="control"
        onSubmit={(event) => {
          event.preventDefault()
          void step.run(async () => {
            link.value = await shareFile(cid, seconds.value)
          })
        }}
      >
        <label class="field">
          <span>{words.shareFor}</span>
          <select
            value={String(seconds.value)}
            onChange={({ currentTarget: { value } }) => {
              seconds.value = Number(value)
            }}
          >
            {SHARE_SECONDS.map((one) => (
              <option key={one} value={String(one)}>
                {words.lifetimes(one)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="button button-plain">
          <Icon name="share" />
          <span>{words.share}</span>
        </button>
      </form>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      {link.value !== undefined && (
        <div class="shared" role="status">
          <div>
            <dl>
              <CopyField label={words.shareLink} value={link.value.url} />
            </dl>
            <p class="soft">{words.shareUntil(timeOf(link.value.expiresAt))}</p>
          </div>
          <QrCode text={link.value.url} label={texts.value.drop.qr} />
        </div>
      )}
    </>
  )
}

function Extension({ onExtend }: { readonly onExtend: (days: number) => void }) {
  const days = useSignal(30)
  const { files: words } = texts.value
  return (
    <form
      class="control"
      onSubmit={(event) => {
        event.preventDefault()
        onExtend(days.value)
      }}
    >
      <label class="field">
        <span>{words.longer}</span>
        <select
          value={String(days.value)}
          onChange={({ currentTarget: { value } }) => {
            days.value = Number(value)
          }}
        >
          {EXTEND_DAYS.map((one) => (
            <option key={one} value={String(one)}>
              {words.days(one)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="button button-plain">
        {words.extend}
      </button>
    </form>
  )
}

function Copies({ redundancy, onSet }: { readonly redundancy: number; readonly onSet: (copies: number) => void }) {
  const copies = useSignal(redundancy)
  const { files: words } = texts.value
  return (
    <form
      class="control"
      onSubmit={(event) => {
        event.preventDefault()
        onSet(copies.value)
      }}
    >
      <label class="field">
        <span>{words.copies}</span>
        <input
          type="number"
          min={1}
          max={MAX_COPIES}
          required
          value={copies.value}
          onInput={({ currentTarget: { valueAsNumber } }) => {
            copies.value = valueAsNumber
          }}
        />
      </label>
      <button type="submit" class="button button-plain">
        {words.set}
      </button>
    </form>
  )
}
