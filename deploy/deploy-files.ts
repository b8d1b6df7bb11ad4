import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oldNameOf, SETTINGS } from '@lade/server/config'
import { parse } from 'yaml'

export const ROOT: string = fileURLToPath(new URL('..', import.meta.url))
export const DEPLOY: string = join(ROOT, 'deploy')
export const PAGES: string = join(ROOT, 'docs/operate')
/** The port of the service unless set, which every file here leaves as it is. */
export const PORT: string = SETTINGS.port.default
/** The names of all settings. */
export const SETTING_NAMES: ReadonlySet<string> = new Set(Object.values(SETTINGS).map(({ name }) => name))
/** Settings and metrics of the reference prover, as its page names them, which is compared with its code. */
export const PROVER_NAMES: ReadonlySet<string> = new Set(
  readFileSync(join(ROOT, 'packages/prover/README.md'), 'utf8').match(/\b(?:LADE_PROVER_|lade_prover_)\w+/g),
)
/** Names that settings had before. Only the page about upgrades may say them. */
export const OLD_NAMES: ReadonlySet<string | undefined> = new Set([...SETTING_NAMES].map(oldNameOf))

// biome-ignore lint/suspicious/noExplicitAny: documents of other programs, read by their paths
export type Yaml = any

/** The text of a file under `deploy/`. */
export function textOf(path: string): string {
  return readFileSync(join(DEPLOY, path), 'utf8')
}

/** The one document of a file under `deploy/`. */
export function yamlOf(path: string): Yaml {
  return parse(textOf(path), { merge: true })
}

/** The names of the metrics of the service that rules and pages speak of. */
export function namedMetrics(): string[] {
  const ours = [textOf('prometheus/rules.yaml'), textOf('grafana/lade.json')]
  const texts = [...ours, ...filesUnder(PAGES).map((path) => readFileSync(path, 'utf8'))]
  const names = texts.flatMap((text) => text.match(/\b(?:lade|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g) ?? [])
  // What a histogram is made of.
  const families = names.map((name) => name.replace(/_seconds_(?:bucket|sum|count)$/, '_seconds'))
  // A label, a file and an account that are no metrics, and what the prover has.
  const others = new Set(['lade_b', 'lade_uploads', ...PROVER_NAMES])
  return [...new Set(families)].filter((name) => !others.has(name))
}

/** The names of the metrics that an answer of `/metrics` has. */
export function metricsIn(answer: string): ReadonlySet<string> {
  return new Set([...answer.matchAll(/^# HELP (\S+)/gm)].map(([, name = '']) => name))
}

/** The paths of all files below a folder, tests excepted. */
export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.endsWith('.ts'))
}

/** What a program ended with and said, on either stream. */
export function run(command: string, args: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

/**
 * How many seconds a duration of nginx, compose or systemd is.
 *
 * @example
 * secondsOf('2m') // 120
 */
export function secondsOf(text: string): number {
  const [, count = '', unit = 's'] = /^(\d+)(s|m)?$/.exec(text) ?? []
  return Number(count) * (unit === 'm' ? 60 : 1)
}
