import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Rows above and below what is seen, so that scrolling shows no gap. */
const SPARE_ROWS = 12

export interface VirtualRowsProps<Row> {
  readonly rows: readonly Row[]
  readonly rowHeight: number
  readonly keyOf: (row: Row) => string
  /** The cells of a row. */
  readonly render: (row: Row) => ComponentChildren
  /** Called when the end comes near. */
  readonly onNearEnd: () => void
}

/** The body of a table with many rows of one height, of which only those that are seen are in the page. */
export function VirtualRows<Row>({ rows, rowHeight, keyOf, render, onNearEnd }: VirtualRowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const first = useSignal(0)
  const count = useSignal(40)
  useEffect(() => {
    const measure = () => {
      if (body.current === null) return
      const above = Math.max(0, -body.current.getBoundingClientRect().top)
      first.value = Math.max(0, Math.floor(above / rowHeight) - SPARE_ROWS)
      count.value = Math.ceil(innerHeight / rowHeight) + 2 * SPARE_ROWS
    }
    measure()
    addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [rowHeight])
  const start = Math.min(first.value, rows.length)
  const end = Math.min(start + count.value, rows.length)
  useEffect(() => {
    if (end >= rows.length) onNearEnd()
  }, [end, rows.length])
  return (
    <tbody ref={body}>
      <Space height={start * rowHeight} />
      {rows.slice(start, end).map((row, at) => (
        <tr key={keyOf(row)} aria-rowindex={start + at + 2} style={{ blockSize: `${rowHeight}px` }}>
          {render(row)}
        </tr>
      ))}
      <Space height={(rows.length - end) * rowHeight} />
    </tbody>
  )
}

/** Takes the place of rows that are not seen. It spans no columns: on a phone some are hidden, and a wider row would bring their place back. */
function Space({ height }: { readonly height: number }) {
  if (height === 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: white space has no focus
    <tr aria-hidden="true" class="space">
      <td style={{ blockSize: `${height}px` }} />
    </tr>
  )
}
