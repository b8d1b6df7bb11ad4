import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { send } from '../faults/caller.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { PLAN } from '../faults/plan.ts'
import { startServer } from '../faults/server-process.ts'
import { tempDirectory } from '../faults/temp-directory.ts'
import { runAlertMix, type Scrapes } from './alert-mix.ts'
import { DEPLOY, run, textOf, type Yaml, yamlOf } from './deploy-files.ts'

const PROMTOOL = pathOf('promtool') ?? ''
const METRICS_TOKEN = 'a-token-for-metrics'
const RULES = join(DEPLOY, 'prometheus/rules.yaml')
/** What they measure depends on the machine that runs the test: they must not fire, but may hold for a moment. */
const OF_THE_MACHINE: readonly string[] = ['LadeDiskShort', 'LadeLoopSlow', 'LadeNotReady']

interface Alert {
  readonly alert: string
  readonly expr: string
}

const alerts: readonly Alert[] = yamlOf('prometheus/rules.yaml').groups.flatMap(({ rules }: Yaml) => rules)

describeScenario(
  { id: 'promtool', name: 'what Prometheus says of metrics and rules', needs: [program('promtool', 'prometheus')] },
  () => {
    test('the metrics follow its conventions', async () => {
      const server = await startServer({ env: { LADE_METRICS_TOKEN: METRICS_TOKEN } })
      await send(server.url, 'GET', '/p/bafy')
      const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
      const { body } = await send(server.url, 'GET', '/metrics', { headers })
      const checked = spawnSync(PROMTOOL, ['check', 'metrics'], { input: body, encoding: 'utf8' })
      expect([checked.status, `${checked.stdout}${checked.stderr}`]).toEqual([0, ''])
      await server.stop()
    })

    test('the rules are valid, and fire when they should', () => {
      const checked = run(PROMTOOL, ['check', 'rules', '--lint=all', '--lint-fatal', RULES])
      expect(checked.status, checked.said).toBe(0)
      const tested = run(PROMTOOL, ['test', 'rules', join(DEPLOY, 'prometheus/rules.test.yaml')])
      expect(tested.status, tested.said).toBe(0)
    })

    test('the expressions of the dashboard are valid', () => {
      const { panels } = JSON.parse(textOf('grafana/lade.json'))
      const expressions: string[] = panels.flatMap(({ targets = [] }: Yaml) => targets.map(({ expr }: Yaml) => expr))
      expect(expressions.length).toBeGreaterThan(20)
      const rules = expressions.map((expr, index) => ({
        record: `panel:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
      }))
      const file = join(tempDirectory(), 'dashboard.yaml')
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
      const checked = run(PROMTOOL, ['check', 'rules', file])
      expect(checked.status, checked.said).toBe(0)
    })

    test('every alert is silent while files are uploaded, read and removed, and audited', async () => {
      const server = await startServer({
        env: {
          LADE_METRICS_TOKEN: METRICS_TOKEN,
          LADE_AUDIT_SECONDS: '1',
          LADE_TOKEN_DAILY_MB: '1000000',
          LADE_TOKEN_DAILY_FILES: '1000000000',
        },
      })
      const { scrapes, uploads, removals, notReady } = await runAlertMix(server, METRICS_TOKEN, PLAN.alertSilenceMs)
      expect(removals).toBeGreaterThan(PLAN.alertSilenceMs / 1000)
      expect(removals).toBe(uploads)
      expect(
        lastOf(scrapes, 'lade_audits_total{job="lade",instance="lade-1",prover="local",result="passed"}'),
      ).toBeGreaterThan(0)
      expect(firingIn(scrapes), notReady.join('\n')).toBe('')
      expect(server.log()).not.toContain('audit failed')
      await server.stop()
    })

    test('an alert that fires in such scrapes is seen', () => {
      const series = new Map([['lade_copies_failed_total{job="lade",instance="lade-1"}', ['0', '0', '1', '1']]])
      expect(firingIn({ intervalMs: 5000, count: 4, series })).toContain('lade_copies_failed_total')
    })
  },
)

function lastOf({ series }: Scrapes, name: string): number {
  return Number(series.get(name)?.at(-1) ?? Number.NaN)
}

/** What promtool says of alerts that fire, or whose expression has a value, at any scrape; empty when there is none. */
function firingIn({ intervalMs, count, series }: Scrapes): string {
  const names = new Set(alerts.flatMap(({ expr }) => expr.match(/\b[a-z]+_[a-z0-9_]+\b|\bup\b/g) ?? []))
  const input = [...series].filter(([name]) => names.has(name.split('{')[0] ?? ''))
  const eval_times = Array.from({ length: count }, (_, index) => `${(index * intervalMs) / 1000}s`)
  const silent = alerts.filter(({ alert }) => !OF_THE_MACHINE.includes(alert))
  const file = join(tempDirectory(), 'silence.yaml')
  const text = stringify({
    rule_files: [RULES],
    evaluation_interval: `${intervalMs / 1000}s`,
    tests: [
      {
        interval: `${intervalMs / 1000}s`,
        input_series: input.map(([name, values]) => ({
          series: name,
          values: Array.from({ length: count }, (_, index) => values[index] ?? '_').join(' '),
        })),
        promql_expr_test: silent.flatMap(({ expr }) =>
          eval_times.map((eval_time) => ({ expr, eval_time, exp_samples: [] })),
        ),
        alert_rule_test: alerts.flatMap(({ alert }) =>
          eval_times.map((eval_time) => ({ alertname: alert, eval_time, exp_alerts: [] })),
        ),
      },
    ],
  })
  expect(parse(text).tests).toHaveLength(1)
  writeFileSync(file, text)
  const { status, said } = run(PROMTOOL, ['test', 'rules', file])
  return status === 0 ? '' : said
}
