import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Modules of white around the code, which readers need. */
const QUIET = 4

/** A QR code as a picture. Its library is loaded when the first one is shown. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = useSignal<readonly (readonly boolean[])[]>([])
  useEffect(() => {
    let isGone = false
    import('uqr').then(({ encode }) => {
      if (!isGone) rows.value = encode(text, { ecc: 'M', border: QUIET }).data
    })
    return () => {
      isGone = true
    }
  }, [text])
  const size = Math.max(1, rows.value.length)
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect class="qr-ground" width={size} height={size} />
      <path class="qr-dots" d={pathOf(rows.value)} />
    </svg>
  )
}

/** One stroke for each run of dark modules of a row. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  const runs: string[] = []
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue
      const start = x
      while (row[x + 1]) x += 1
      const width = x - start + 1
      runs.push(`M${start} ${y}h${width}v1h-${width}z`)
    }
  }
  return runs.join('')
}
