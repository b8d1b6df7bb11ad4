import type { BlockedCallerEntry, BlockList, ContentBlockEntry } from '@lade/client'
import { useSignal } from '@preact/signals'
import { countOf, fromNow, timeOf } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { adminTexts } from '../texts/admin-texts.ts'
import { BlockContentDialog } from './block-content-dialog.tsx'
import { ListTable } from './list-table.tsx'
import { usePages } from './use-pages.ts'

const PAGE = 250

/** Blocked content, denylists and blocked callers. */
export function Blocks() {
  const words = adminTexts.value
  return (
    <>
      <h2>{words.content}</h2>
      <BlockedContent />
      <h2>{words.blockedCallers}</h2>
      <BlockedCallers />
    </>
  )
}

function BlockedContent() {
  const denylists = useSignal<BlockList['denylists']>([])
  const cid = useSignal('')
  const asked = useSignal<string | undefined>(undefined)
  const step = useStep()
  const words = adminTexts.value
  const pages = usePages<ContentBlockEntry>('blocks', async (cursor, signal) => {
    const page = await (await openClient(true)).admin.blocks.page({
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
      signal,
    })
    denylists.value = page.denylists
    return { entries: page.blocks, nextCursor: page.nextCursor }
  })
  const unblock = (entry: ContentBlockEntry) =>
    step.run(async () => {
      await (await openClient(true)).admin.blocks.remove(entry.cid)
      await pages.reload()
    })
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          asked.value = cid.value.trim()
        }}
      >
        <label class="filter filter-search">
          <span class="hidden">{words.cid}</span>
          <Icon name="lock" />
          <input
            class="input"
            required
            minLength={8}
            placeholder={words.cid}
            value={cid.value}
            onInput={({ currentTarget }) => {
              cid.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit" class="button button-plain">
          {words.blockById}
        </button>
      </form>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      <ListTable
        label={words.content}
        pages={pages}
        columns={[
          { title: words.cid },
          { title: words.when, kind: 'time wide' },
          { title: words.action, kind: 'row-button' },
        ]}
        keyOf={(entry) => entry.cid}
        render={(entry) => (
          <BlockCells
            name={entry.cid}
            reason={entry.reason}
            blockedAt={entry.blockedAt}
            onUnblock={() => void unblock(entry)}
          />
        )}
        empty={{ icon: 'shield', title: words.noContent, hint: words.noContentHint }}
      />
      {denylists.value.length > 0 && <Denylists lists={denylists.value} />}
      {asked.value !== undefined && (
        <BlockContentDialog
          cid={asked.value}
          name={asked.value}
          onClose={() => {
            asked.value = undefined
          }}
          onBlocked={pages.reload}
        />
      )}
    </>
  )
}

function Denylists({ lists }: { readonly lists: BlockList['denylists'] }) {
  const words = adminTexts.value
  return (
    <section class="panel" aria-labelledby="denylists-title">
      <div class="panel-head">
        <h2 id="denylists-title">{words.denylists}</h2>
      </div>
      <ul class="dependencies admin-list">
        {lists.map(({ file, rules, invalid, readAt }) => (
          <li key={file}>
            <span>{file}</span>
            <span class={invalid > 0 ? 'bad' : 'soft'}>
              {words.rules(countOf(rules))}
              {invalid > 0 && `, ${words.invalid(countOf(invalid))}`}, {fromNow(readAt)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function BlockedCallers() {
  const step = useStep()
  const words = adminTexts.value
  const pages = usePages<BlockedCallerEntry>('callers', async (cursor, signal) => {
    const page = await (await openClient(true)).admin.blockedCallers.page({
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
      signal,
    })
    return { entries: page.callers, nextCursor: page.nextCursor }
  })
  const unblock = ({ id }: BlockedCallerEntry) =>
    step.run(async () => {
      await (await openClient(true)).admin.blockedCallers.remove(id)
      await pages.reload()
    })
  return (
    <>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      <ListTable
        label={words.blockedCallers}
        pages={pages}
        columns={[
          { title: words.caller },
          { title: words.when, kind: 'time wide' },
          { title: words.action, kind: 'row-button' },
        ]}
        keyOf={({ id }) => String(id)}
        render={(entry) => (
          <BlockCells
            name={entry.given}
            reason={entry.reason}
            blockedAt={entry.blockedAt}
            onUnblock={() => void unblock(entry)}
          />
        )}
        empty={{ icon: 'shield', title: words.noBlockedCallers, hint: words.noBlockedCallersHint }}
      />
    </>
  )
}

interface BlockCellsProps {
  readonly name: string
  readonly reason: string
  readonly blockedAt: string
  readonly onUnblock: () => void
}

function BlockCells({ name, reason, blockedAt, onUnblock }: BlockCellsProps) {
  const words = adminTexts.value
  return (
    <>
      <td class="file-name" title={name}>
        <span>{name}</span>
        <small>{reason}</small>
      </td>
      <td class="file-end wide" title={timeOf(blockedAt)}>
        {fromNow(blockedAt)}
      </td>
      <td class="row-button">
        <button type="button" class="button button-plain" aria-label={`${words.unblock}: ${name}`} onClick={onUnblock}>
          {words.unblock}
        </button>
      </td>
    </>
  )
}
