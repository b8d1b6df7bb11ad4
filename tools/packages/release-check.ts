/**
 * Checks that what is here can be released: `npm run release:check`. It compares versions, the changelog and the public
 * API with those of the last release, then packs, installs into empty folders, and runs what was installed.
 *
 * With `--store-api` it only stores the API as that of the release: `npm run release:api`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiText, builtApi, compareApis, objectionTo, parseApi, storedApiFile } from './api.ts'
import { publishedPackages, ROOT, readManifest, readWorkspace } from './workspace.ts'

/** How pages, examples and manifests name a release of Lade. */
const NAMED_RELEASE = /(?:\blade:|\blade-\w+-|lade[\w/-]*@v|checkout v)(\d+\.\d+\.\d+)/g

execFileSync(process.execPath, [join(import.meta.dirname, 'build.ts')], { stdio: 'inherit' })
const withApi = publishedPackages().filter(({ manifest }) => manifest.exports !== undefined)

if (process.argv.includes('--store-api')) {
  for (const one of withApi) writeFileSync(storedApiFile(one), apiText(builtApi(one)))
} else {
  const objections = [...checkVersions(), ...checkApis()]
  for (const objection of objections) console.error(objection)
  if (objections.length > 0) process.exit(1)
  console.log('Versions, changelog and public API are ready for a release. Now what is packed is installed and run.')
  execFileSync('npm', ['run', 'test:packages'], { cwd: ROOT, stdio: 'inherit' })
}

function checkVersions(): string[] {
  const { version } = readManifest(ROOT)
  const others = [...readWorkspace().values()].filter(({ manifest }) => manifest.version !== version)
  const released = changelogVersions()
  const missing = released.includes(version) ? [] : [`CHANGELOG.md has no entry for ${version}.`]
  const named = trackedTexts().flatMap(({ file, text }) =>
    [...text.matchAll(NAMED_RELEASE)]
      .filter(([, found = '']) => !released.includes(found))
      .map(([match]) => `${file} names ${match}; CHANGELOG.md has no such version.`),
  )
  return [
    ...others.map(({ name, manifest }) => `${name} has version ${manifest.version}; the repository has ${version}.`),
    ...missing,
    ...named,
  ]
}

/** The versions that have an entry: `## 0.1.0, unreleased`. */
function changelogVersions(): string[] {
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  return [...text.matchAll(/^## (\d+\.\d+\.\d+)/gm)].flatMap(([, version]) => version ?? [])
}

function trackedTexts() {
  const files = execFileSync('git', ['ls-files', '*.md', '*.yml', '*.yaml', '*Dockerfile'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return files
    .split('\n')
    .filter((file) => file !== '')
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
}

function checkApis(): string[] {
  return withApi.flatMap((one) => {
    const file = storedApiFile(one)
    if (!existsSync(file)) return [`${one.name} has no stored API; write it with npm run release:api.`]
    const stored = parseApi(readFileSync(file, 'utf8'))
    const change = compareApis(stored, builtApi(one))
    for (const line of change.removed) console.log(`- ${one.name}: ${line}`)
    for (const line of change.added) console.log(`+ ${one.name}: ${line}`)
    const objection = objectionTo(change, stored.version, one.manifest.version)
    return objection === undefined ? [] : [`${one.name}: ${objection}`]
  })
}
