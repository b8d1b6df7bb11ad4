import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@lade/server/config'
import { describe, expect, test } from 'vitest'
import { DEPLOY, PORT, ROOT, secondsOf, textOf, type Yaml, yamlOf } from './deploy-files.ts'

describe('compose', () => {
  const { services, networks } = yamlOf('compose/compose.yaml')
  const instances: [string, Yaml][] = Object.entries<Yaml>(services).filter(([name]) => name.startsWith('lade-'))

  test('has instances that are alike, trust nginx alone, and may drain', () => {
    expect(instances.length).toBeGreaterThan(1)
    for (const [, { environment, image, build, stop_grace_period, read_only }] of instances) {
      expect(environment).toEqual(instances[0]?.[1].environment)
      expect(environment.LADE_TRUSTED_PROXIES).toBe(services.nginx.networks.inside.ipv4_address)
      expect(secondsOf(stop_grace_period)).toBeGreaterThan(Number(environment.LADE_DRAIN_SECONDS) + 5)
      expect([image, read_only, build.context]).toEqual(['lade:0.1.0', true, '../..'])
      expect(existsSync(join(ROOT, build.dockerfile))).toBe(true)
    }
    const [{ subnet }] = networks.inside.ipam.config
    const addresses = [...instances.map(([, service]) => service), services.nginx].map(
      ({ networks: own }) => own.inside.ipv4_address,
    )
    expect(new Set(addresses).size).toBe(addresses.length)
    for (const address of addresses) expect(address.split('.').slice(0, 3)).toEqual(subnet.split('.').slice(0, 3))
  })

  test('gives settings that the service takes', () => {
    // What compose puts in the place of ${NAME:-default} and ${NAME:?sentence}.
    const filled = Object.entries<string>(instances[0]?.[1].environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\w+:(?:-([^}]*)|\?[^}]*)\}/g, (_, fallback?: string) => fallback ?? 'abcdef0123456789'),
    ])
    const config = readConfig({ env: Object.fromEntries(filled) })
    expect([config.database.kind, config.storage.kind]).toEqual(['postgres', 's3'])
  })

  test('is reached at the port that nginx listens on, and nginx reaches the instances that there are', () => {
    const nginx = textOf('nginx/lade.conf')
    const upstreams = [...nginx.matchAll(/server (lade-\d+):(\d+)/g)].map(([, name, port]) => `${name}:${port}`)
    expect([...new Set(upstreams)]).toEqual(instances.map(([name]) => `${name}:${PORT}`))
    expect(services.nginx.ports).toEqual([expect.stringMatching(new RegExp(`:${/listen (\d+);/.exec(nginx)?.[1]}$`))])
  })

  test('mounts files that there are, and asks for secrets that the example names', () => {
    for (const { volumes = [] } of Object.values<Yaml>(services)) {
      for (const volume of volumes as string[]) {
        const [source = ''] = volume.split(':')
        if (source.startsWith('.')) expect(existsSync(join(DEPLOY, 'compose', source)), source).toBe(true)
      }
    }
    const asked = new Set([...textOf('compose/compose.yaml').matchAll(/\$\{(\w+):/g)].map(([, name]) => name))
    const named = new Set([...textOf('compose/.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name))
    expect(named).toEqual(asked)
    for (const [, value] of textOf('compose/.env.example').matchAll(/^(?:POSTGRES|S3|GARAGE)\w*=(.*)$/gm))
      expect(value).toBe('')
  })

  test('agrees with the object store about address, region and bucket', () => {
    const storage = new URL(instances[0]?.[1].environment.LADE_STORAGE)
    const toml = textOf('compose/garage.toml')
    const endpoint = new URL(storage.searchParams.get('endpoint') ?? '')
    expect(storage.hostname).toBe(services.garage.environment.GARAGE_DEFAULT_BUCKET)
    expect(toml).toContain(`s3_region = "${storage.searchParams.get('region')}"`)
    expect(toml).toContain(`:${endpoint.port}"`)
    expect(Object.keys(services)).toContain(endpoint.hostname)
    expect(new URL(instances[0]?.[1].environment.LADE_DATABASE.replace(/\$\{.*\}/, 'secret')).hostname).toBe('postgres')
  })
})
