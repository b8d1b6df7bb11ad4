/**
 * Builds all packages that are published into `out/build`: `npm run build`. With `--pack` it also packs each into
 * `out/packages`, as a tarball that npm installs alone: `npm run pack`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { buildPackage, builtFolder } from './build-package.ts'
import { emitDeclarations } from './declarations.ts'
import { publishedPackages, ROOT } from './workspace.ts'

const PACKED = join(ROOT, 'out/packages')

const packages = publishedPackages()
emitDeclarations(packages.filter(({ manifest }) => manifest.exports !== undefined))
for (const one of packages) await buildPackage(one)

if (process.argv.includes('--pack')) {
  rmSync(PACKED, { recursive: true, force: true })
  mkdirSync(PACKED, { recursive: true })
  for (const one of packages) {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', PACKED], { cwd: builtFolder(one), stdio: 'ignore' })
  }
  for (const name of readdirSync(PACKED)) {
    console.log(`out/packages/${name}  ${Math.ceil(statSync(join(PACKED, name)).size / 1024)} KiB`)
  }
}
