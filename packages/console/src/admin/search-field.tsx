import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'

const TYPING_MS = 250

export interface SearchFieldProps {
  readonly label: string
  readonly value: string
  /** Called at the end of a word. */
  readonly onSearch: (text: string) => void
}

/** A field that searches while somebody types. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const typed = useSignal(value)
  useEffect(() => {
    typed.value = value
  }, [value])
  useEffect(() => {
    if (typed.value === value) return
    const typing = setTimeout(() => onSearch(typed.value.trim()), TYPING_MS)
    return () => clearTimeout(typing)
  }, [typed.value])
  return (
    <label class="filter filter-search">
      <span class="hidden">{label}</span>
      <Icon name="search" />
      <input
        class="input"
        type="search"
        placeholder={label}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
        }}
      />
    </label>
  )
}
