import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of the licence in the folder of an npm package; undefined without one. */
export function licenceIn(dir: string): string | undefined {
  const name = readdirSync(dir).find((file) => /^licen[cs]e(?:-mit)?(?:\.\w+)?$/i.test(file))
  return name === undefined ? undefined : readFileSync(join(dir, name), 'utf8').trim()
}
