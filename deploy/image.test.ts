import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startServer } from '../faults/server-process.ts'
import { PORT, ROOT, textOf } from './deploy-files.ts'

describe('the image', () => {
  const lines = textOf('docker/Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const instructions = lines.map((line) => /^([A-Z]+)\s+(.*)$/.exec(line.trim())?.slice(1) ?? ['?', line])
  const all = (name: string): string[] => instructions.filter(([word]) => word === name).map(([, rest = '']) => rest)

  test('is made of instructions that Docker knows, each as it is written', () => {
    const known = [
      'ARG',
      'FROM',
      'WORKDIR',
      'COPY',
      'RUN',
      'USER',
      'ENV',
      'VOLUME',
      'EXPOSE',
      'STOPSIGNAL',
      'HEALTHCHECK',
      'ENTRYPOINT',
      'CMD',
    ]
    expect(instructions.filter(([word = '']) => !known.includes(word))).toEqual([])
    for (const form of [...all('ENTRYPOINT'), ...all('CMD')])
      expect(JSON.parse(form)).toEqual([...JSON.parse(form)].map(String))
  })

  test('copies what the repository has, and the package file of every workspace', () => {
    const copied = all('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.trim().split(/\s+/).slice(0, -1))
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const workspaces = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/package.json`)
    expect(copied).toEqual(expect.arrayContaining(workspaces))
    // What the build is sent has all of it.
    const sent = textOf('docker/Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    expect(copied.filter((path) => !sent.some((root) => path === root || path.startsWith(`${root}/`)))).toEqual([])
  })

  test('installs neither tools of development nor what packages would run by themselves', () => {
    const [npm = ''] = all('RUN').filter((rest) => rest.startsWith('npm ci'))
    expect(npm).toContain('--omit=dev --workspaces --include-workspace-root=false --ignore-scripts')
  })

  test('listens on every address, as nobody in particular, and is asked for its health at the port it has', () => {
    const env = Object.fromEntries(
      all('ENV')
        .flatMap((rest) => rest.trim().split(/\s+/))
        .map((pair) => pair.split('=')),
    )
    expect(env).toMatchObject({ LADE_HOST: '0.0.0.0', LADE_PORT: PORT, LADE_DATA_DIR: '/data' })
    expect([all('EXPOSE'), all('VOLUME'), all('USER'), all('STOPSIGNAL')]).toEqual([
      [PORT],
      ['/data'],
      ['node'],
      ['SIGTERM'],
    ])
    expect(existsSync(join(ROOT, JSON.parse(all('ENTRYPOINT')[0] ?? '[]')[1]))).toBe(true)
    expect(JSON.parse(all('CMD').at(-1) ?? '')).toEqual(['serve'])
  })

  test('finds a service healthy that is, and unhealthy one that is not there', async () => {
    const [, command = '[]'] = /CMD (\[.*\])/.exec(all('HEALTHCHECK')[0] ?? '') ?? []
    const [program, ...args]: string[] = JSON.parse(command)
    const { url, stop } = await startServer()
    const check = (port: string): number | null =>
      spawnSync(program ?? '', args, { env: { PATH: process.env.PATH ?? '', LADE_PORT: port }, stdio: 'ignore' }).status
    expect(check(url.port)).toBe(0)
    await stop()
    expect(check(url.port)).toBe(1)
  })
})
