/**
 * Sets the version of all packages, and of their dependencies on each other: `npm run release:version -- 0.2.0`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, readManifest, readWorkspace } from './workspace.ts'

const [version = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  console.error(`"${version}" is no version; name one such as 0.2.0.`)
  process.exit(2)
}
const before = readManifest(ROOT).version
for (const dir of [ROOT, ...[...readWorkspace().values()].map((one) => one.dir)]) {
  const file = join(dir, 'package.json')
  const own = new RegExp(`("(?:version|@lade/\\w+)": )"${before.replaceAll('.', '\\.')}"`, 'g')
  writeFileSync(file, readFileSync(file, 'utf8').replace(own, `$1"${version}"`))
}
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: ROOT, stdio: 'inherit' })
