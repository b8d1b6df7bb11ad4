import type { UsageResult } from '@lade/core/wire'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { bytesOf } from '../app/amounts.ts'
import { language, theme } from '../app/preferences.ts'
import 'uplot/dist/uPlot.min.css'

const HEIGHT = 220
const AXIS_WIDTH = 70
/** Steps of the scale: powers of two, so that labels are whole KB, MB and GiB. */
const STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power)

export interface UsageChartProps {
  readonly days: UsageResult['days']
  /** What it shows, for who does not see it; the numbers are in a table. */
  readonly label: string
}

/** Bytes a day, as bars. */
export function UsageChart({ days, label }: UsageChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const [colours, words] = [theme.value, language.value]
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const draw = () => new uPlot(optionsFor(element), dataOf(days), element)
    let plot = draw()
    const redraw = () => {
      plot.destroy()
      plot = draw()
    }
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    sizes.observe(element)
    // The canvas takes the colours of the page once.
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    return () => {
      sizes.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [days, colours, words])
  return <div class="usage-chart" ref={place} role="img" aria-label={label} />
}

function dataOf(days: UsageResult['days']): uPlot.AlignedData {
  return [days.map(({ date }) => Date.parse(`${date}T00:00:00Z`) / 1000), days.map(({ bytes }) => bytes)]
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const colour = colourReader(element)
  const line = { stroke: colour('--line'), width: 1 }
  const axis = { stroke: colour('--ink-soft'), font: '12px system-ui, sans-serif', ticks: { show: false } }
  const shortDate = new Intl.DateTimeFormat(language.value, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, 1024)] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_plot, splits) => splits.map((at) => shortDate.format(at * 1000)) },
      {
        ...axis,
        size: AXIS_WIDTH,
        grid: line,
        incrs: STEPS,
        values: (_plot, splits) => splits.map((bytes) => bytesOf(bytes)),
      },
    ],
    series: [
      {},
      {
        fill: colour('--accent'),
        stroke: colour('--accent'),
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars !== undefined && { paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.15 }) }),
      },
    ],
  }
}

/** A canvas does not know `light-dark()`, so that the browser is asked what it comes to. */
function colourReader(element: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    element.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}
