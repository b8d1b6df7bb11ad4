import type { FileEntry, FileKind } from '@lade/client'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { changeFilter, clearFilter, filter, isFiltered } from './file-list.ts'

/** Those that people look for; any other can be typed. */
const TYPES = [
  'image/jpeg',
  'image/png',
  'video/mp4',
  'audio/mpeg',
  'text/plain',
  'application/pdf',
  'application/json',
  'application/zip',
  'application/octet-stream',
  'application/vnd.ipld.car',
]
const KINDS: readonly FileKind[] = ['image', 'video', 'audio', 'text', 'document', 'archive', 'other']
/** Within how many days a file ends. */
const TERMS = [1, 7, 30, 90]
const STATUSES: readonly FileEntry['status'][] = [
  'staged',
  'proposed',
  'active',
  'expiring',
  'failed',
  'expired',
  'removed',
]

/** Looks for files on the server: by a part of the name or the cid, by kind, media type, status and end. */
export function FileFilters() {
  const { files: words } = texts.value
  const { q, kind, contentType, status, endsWithinDays } = filter.value
  return (
    <search class="filters">
      <label class="filter filter-search">
        <span class="hidden">{words.search}</span>
        <Icon name="search" />
        <input
          class="input"
          type="search"
          placeholder={words.search}
          value={q}
          onInput={({ currentTarget: { value } }) => changeFilter({ q: value })}
        />
      </label>
      <label class="filter">
        <span class="hidden">{words.kind}</span>
        <select
          class="input filter-kind"
          value={kind}
          onChange={({ currentTarget: { value } }) => changeFilter({ kind: KINDS.find((one) => one === value) ?? '' })}
        >
          <option value="">{words.anyKind}</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {words.kinds[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="filter">
        <span class="hidden">{words.type}</span>
        <input
          class="input"
          list="media-types"
          placeholder={words.anyType}
          value={contentType}
          onChange={({ currentTarget: { value } }) => changeFilter({ contentType: value.trim() })}
        />
        <datalist id="media-types">
          {TYPES.map((type) => (
            <option key={type} value={type} />
          ))}
        </datalist>
      </label>
      <label class="filter">
        <span class="hidden">{words.status}</span>
        <select
          class="input filter-status"
          value={status}
          onChange={({ currentTarget: { value } }) =>
            changeFilter({ status: STATUSES.find((one) => one === value) ?? '' })
          }
        >
          <option value="">{words.live}</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {words.statuses[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="filter">
        <span class="hidden">{words.ends}</span>
        <select
          class="input filter-end"
          value={endsWithinDays === null ? '' : String(endsWithinDays)}
          onChange={({ currentTarget: { value } }) =>
            changeFilter({ endsWithinDays: TERMS.find((one) => String(one) === value) ?? null })
          }
        >
          <option value="">{words.anyEnd}</option>
          {TERMS.map((one) => (
            <option key={one} value={String(one)}>
              {words.endsWithin(one)}
            </option>
          ))}
        </select>
      </label>
      {isFiltered.value && (
        <button type="button" class="button button-plain" onClick={clearFilter}>
          {words.clear}
        </button>
      )}
    </search>
  )
}
