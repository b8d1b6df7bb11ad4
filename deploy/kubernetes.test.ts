import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@lade/server/config'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { pathOf } from '../faults/harness.ts'
import { tempDirectory } from '../faults/temp-directory.ts'
import { DEPLOY, PORT, run, SETTING_NAMES, type Yaml, yamlOf } from './deploy-files.ts'

describe('Kubernetes', () => {
  const kustomization = yamlOf('kubernetes/kustomization.yaml')
  const { spec } = yamlOf('kubernetes/deployment.yaml')
  const pod = spec.template.spec
  const [container] = pod.containers
  const settings = yamlOf('kubernetes/settings.yaml').data
  const service = yamlOf('kubernetes/service.yaml').spec

  test('takes every manifest, and each finds the pods', () => {
    const there = readdirSync(join(DEPLOY, 'kubernetes')).filter(
      (name) => name.endsWith('.yaml') && name !== 'kustomization.yaml',
    )
    expect(kustomization.resources.toSorted()).toEqual(there.map((name) => name.replace('.example', '')).toSorted())
    const labels = spec.template.metadata.labels
    expect(spec.selector.matchLabels).toEqual(labels)
    expect(service.selector).toEqual(labels)
    expect(yamlOf('kubernetes/disruption-budget.yaml').spec.selector.matchLabels).toEqual(labels)
    expect(yamlOf('kubernetes/network-policy.yaml').spec.podSelector.matchLabels).toEqual(labels)
    expect(spec.replicas).toBeGreaterThan(yamlOf('kubernetes/disruption-budget.yaml').spec.maxUnavailable)
  })

  test('drains within the time that a pod has', () => {
    const [, pause] = container.lifecycle.preStop.exec.command
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(pause) + Number(settings.LADE_DRAIN_SECONDS) + 5)
  })

  test('runs as the user of the image, with nothing that it can write but what is mounted', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.volumeMounts.map(({ mountPath }: Yaml) => mountPath)).toEqual(['/data', '/tmp'])
    expect(container.volumeMounts.map(({ name }: Yaml) => name)).toEqual(pod.volumes.map(({ name }: Yaml) => name))
  })

  test('agrees about ports from the ingress to the container', () => {
    const [{ name, containerPort }] = container.ports
    const [rule] = yamlOf('kubernetes/ingress.yaml').spec.rules
    const backend = rule.http.paths[0].backend.service
    expect([String(containerPort), service.ports[0].targetPort, backend.port.name]).toEqual([
      PORT,
      name,
      service.ports[0].name,
    ])
    expect(backend.name).toBe(yamlOf('kubernetes/service.yaml').metadata.name)
    expect(`https://${rule.host}`).toBe(settings.LADE_PUBLIC_URL)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(container[probe].httpGet.port).toBe(name)
  })

  test('settings and secrets are references to what there is', () => {
    const names = container.envFrom.map((source: Yaml) => (source.configMapRef ?? source.secretRef).name)
    expect(names).toEqual(
      ['settings.yaml', 'secret.example.yaml'].map((file) => yamlOf(`kubernetes/${file}`).metadata.name),
    )
    const keys = Object.keys({ ...settings, ...yamlOf('kubernetes/secret.example.yaml').stringData })
    expect(keys.filter((key) => !SETTING_NAMES.has(key) && !key.startsWith('AWS_'))).toEqual([])
  })

  test('gives settings that the service takes', () => {
    const { LADE_DATABASE } = yamlOf('kubernetes/secret.example.yaml').stringData
    const config = readConfig({ env: { ...settings, LADE_DATABASE, LADE_METRICS_TOKEN: 'abcdef0123456789' } })
    expect([config.database.kind, config.storage.kind]).toEqual(['postgres', 's3'])
  })

  const options = { meta: { skippedBecause: 'kubectl is not installed' } }
  test.skipIf(pathOf('kubectl') === undefined)('is built by kubectl', options, () => {
    const folder = tempDirectory()
    cpSync(join(DEPLOY, 'kubernetes'), folder, { recursive: true })
    cpSync(join(folder, 'secret.example.yaml'), join(folder, 'secret.yaml'))
    const { status, said } = run(pathOf('kubectl') ?? '', ['kustomize', folder])
    expect(status, said).toBe(0)
    const built = parseAllDocuments(said).map((document) => (document as Yaml).toJS())
    expect(built.map(({ metadata }) => metadata.namespace)).toEqual(built.map(() => 'lade'))
    expect(built.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers[0].image).toMatch(
      /^registry\.example\/lade:/,
    )
  })
})
