import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig, SETTINGS } from '@lade/server/config'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { send } from '../faults/caller.ts'
import { pathOf } from '../faults/harness.ts'
import { startServer } from '../faults/server-process.ts'
import { tempDirectory } from '../faults/temp-directory.ts'
import { freePort } from '../services/free-port.ts'
import {
  DEPLOY,
  filesUnder,
  metricsIn,
  namedMetrics,
  OLD_NAMES,
  PAGES,
  PROVER_NAMES,
  ROOT,
  run,
  SETTING_NAMES,
  secondsOf,
  textOf,
  type Yaml,
  yamlOf,
} from './deploy-files.ts'

describe('what deploy/ and docs/operate say', () => {
  const written = [...filesUnder(DEPLOY), ...filesUnder(PAGES)]

  test.each(written.map((path) => [path.slice(ROOT.length), path]))('%s names settings that there are', (_, path) => {
    const named = readFileSync(path, 'utf8').match(/\bLADE_[A-Z][A-Z0-9_]*[A-Z0-9]\b/g) ?? []
    const isAboutUpgrades = path.endsWith('/upgrade.md')
    const isKnown = (name: string) =>
      SETTING_NAMES.has(name) || PROVER_NAMES.has(name) || (isAboutUpgrades && OLD_NAMES.has(name))
    expect(named.filter((name) => !isKnown(name))).toEqual([])
  })

  test.each(written.filter((path) => /\.ya?ml$/.test(path)).map((path) => [path.slice(ROOT.length), path]))(
    '%s is YAML without a key given twice',
    (_, path) => {
      for (const document of parseAllDocuments(readFileSync(path, 'utf8'), { merge: true })) {
        expect('errors' in document ? [...document.errors, ...document.warnings] : []).toEqual([])
      }
    },
  )

  test('links of the pages lead to files', () => {
    const lost: string[] = []
    for (const page of filesUnder(PAGES)) {
      for (const [, link = ''] of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)[^)]*\)/g)) {
        if (link !== '' && !existsSync(join(page, '..', link))) lost.push(`${page.slice(ROOT.length)}: ${link}`)
      }
    }
    expect(lost).toEqual([])
  })
})

test.each([
  'package.json',
  'lade',
  'packages/cli/src/main.ts',
  'packages/cli/bin/lade.js',
  'deploy/docker/Dockerfile',
  'deploy/systemd/lade.service',
])('a start by %s bounds the memory of new JavaScript objects', (file) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toContain('--max-semi-space-size=8')
})

describe('systemd', () => {
  const unit = textOf('systemd/lade.service')
  const optionOf = (key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1]

  test('starts the program that there is, and gives it the time to drain', () => {
    const [, script = ''] = optionOf('ExecStart')?.split(' ') ?? []
    expect(existsSync(join(ROOT, script))).toBe(true)
    expect(Number(optionOf('TimeoutStopSec'))).toBeGreaterThan(Number(SETTINGS.drainSeconds.default) + 5)
    expect(unit).toContain(`Environment=LADE_DATA_DIR=/var/lib/${optionOf('StateDirectory')}`)
  })

  test('has an example of settings that the service takes', () => {
    const env = Object.fromEntries(
      [...textOf('systemd/lade.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(readConfig({ env })).toMatchObject({ publicUrl: 'https://lade.example', signup: 'closed' })
  })

  test.skipIf(pathOf('systemd-analyze') === undefined)(
    'is a unit that systemd understands and finds well confined',
    { meta: { skippedBecause: 'systemd-analyze is not installed (package systemd)' } },
    () => {
      const home = tempDirectory()
      // A unit names its program by a path without spaces. The clone may be in a folder with some.
      symlinkSync(process.execPath, join(home, 'node'))
      const file = join(home, 'lade.service')
      writeFileSync(file, unit.replace('/opt/lade/node_modules/.bin/node', join(home, 'node')))
      expect(run('systemd-analyze', ['verify', file]).said).toBe('')
      const { said } = run('systemd-analyze', ['security', '--offline=true', '--no-pager', file])
      expect(Number(/exposure level for \S+: ([\d.]+)/.exec(said)?.[1])).toBeLessThan(2)
    },
  )
})

describe('proxies', () => {
  const nginx = textOf('nginx/lade.conf')

  test('nginx has the same instances for reads and for uploads, and writes X-Forwarded-For', () => {
    const [reads, uploads] = [...nginx.matchAll(/upstream \w+ \{([^}]*)\}/g)].map(([, body = '']) =>
      body.match(/server .*/g),
    )
    expect(reads).toEqual(uploads)
    expect(nginx).toContain('proxy_set_header X-Forwarded-For $remote_addr;')
    expect(nginx).not.toContain('$proxy_add_x_forwarded_for')
    const upstreamIdle = secondsOf(/keepalive_timeout (\w+);/.exec(nginx)?.[1] ?? '')
    expect(upstreamIdle).toBeLessThan(65)
    const bodyIdle = secondsOf(/client_body_timeout (\w+);/.exec(nginx)?.[1] ?? '')
    expect(bodyIdle).toBeGreaterThan(Number(SETTINGS.bodyIdleSeconds.default))
  })

  test('hosts of sites are those of a setting that the service takes, with HTTP/2, and every header of a caller is replaced', () => {
    const sites = textOf('nginx/lade-sites.conf')
    const headers = (text: string) => new Set(text.match(/proxy_set_header .*;/g))
    expect(headers(sites)).toEqual(headers(nginx))
    expect(sites).toContain('listen 443 ssl http2;')
    expect(sites).toContain('server_name lade-sites.example *.ipfs.lade-sites.example;')
    const caddy = textOf('caddy/lade-sites.caddy')
    expect(caddy).toMatch(/^lade-sites\.example, \*\.ipfs\.lade-sites\.example \{/m)
    expect(textOf('caddy/Caddyfile')).toMatch(/^# import lade-sites\.caddy$/m)
    for (const text of [sites, caddy]) {
      const url = /LADE_SITES_URL=(\S+?)[.,]?(?:\s|$)/.exec(text)?.[1] ?? ''
      expect(readConfig({ env: { LADE_SITES_URL: url } }).sitesUrl).toBe('https://*.ipfs.lade-sites.example')
    }
  })

  test.skipIf(pathOf('nginx') === undefined)(
    'nginx takes the file',
    { meta: { skippedBecause: 'nginx is not installed (package nginx-light)' } },
    async () => {
      const home = tempDirectory()
      mkdirSync(join(home, 'log'))
      // nginx listens and makes its folders even when it only checks, and not everybody may take port 80.
      const site = nginx
        .replaceAll(/lade-\d+:\d+/g, '127.0.0.1:1')
        .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
        .replaceAll('/var/log/nginx', join(home, 'log'))
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${home}/${kind};`,
      )
      writeFileSync(
        join(home, 'nginx.conf'),
        `pid ${home}/pid;\nerror_log ${home}/error.log;\nevents {}\nhttp {\n${folders.join('\n')}\n${site}\n}\n`,
      )
      const { status, said } = run(pathOf('nginx') ?? '', [
        '-t',
        '-q',
        '-p',
        home,
        '-c',
        join(home, 'nginx.conf'),
        '-e',
        join(home, 'error.log'),
      ])
      expect([status, said]).toEqual([0, ''])
    },
  )

  test.skipIf(pathOf('caddy') === undefined)(
    'Caddy takes the file',
    { meta: { skippedBecause: 'caddy is not installed' } },
    () => {
      const { status, said } = run(pathOf('caddy') ?? '', [
        'adapt',
        '--adapter',
        'caddyfile',
        '--config',
        join(DEPLOY, 'caddy/Caddyfile'),
      ])
      expect(status, said).toBe(0)
    },
  )
})

describe('monitoring', () => {
  test('endpoints and metrics are those of a running service', async () => {
    const token = 'a-token-for-metrics'
    const server = await startServer({ env: { LADE_METRICS_TOKEN: token } })
    const written = [...filesUnder(DEPLOY), ...filesUnder(PAGES)].map((path) => readFileSync(path, 'utf8')).join('\n')
    const endpoints = new Set(written.match(/\/(?:healthz|readyz|metrics)\b/g))
    expect(endpoints).toEqual(new Set(['/healthz', '/readyz', '/metrics']))
    for (const path of endpoints) {
      expect(
        (await send(server.url, 'GET', path, { headers: { Authorization: `Bearer ${token}` } })).status,
        path,
      ).toBe(200)
    }

    const answer = await send(server.url, 'GET', '/metrics', { headers: { Authorization: `Bearer ${token}` } })
    const exposed = metricsIn(answer.body.toString())
    // Those of a PostgreSQL are asked for where there is one.
    const missing = namedMetrics().filter((name) => !exposed.has(name))
    expect(missing.filter((name) => !name.startsWith('lade_database_'))).toEqual([])
    await server.stop()
  })

  test('every rule is explained', () => {
    const { groups } = yamlOf('prometheus/rules.yaml')
    const page = readFileSync(join(PAGES, 'alerts.md'), 'utf8')
    const rules: string[] = groups.flatMap(({ rules }: Yaml) => rules.map(({ alert }: Yaml) => alert))
    expect(rules.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    const explained = page.match(/`Lade[A-Z]\w+`/g) ?? []
    expect(explained.filter((name) => !rules.includes(name.slice(1, -1)))).toEqual([])
  })
})
