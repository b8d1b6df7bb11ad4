import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

// Links between pages break when a page moves or a heading changes, and readers find out first.

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)))

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(path: string): Set<string> {
  const withoutCode = textOf(path).replaceAll(/^```[\s\S]*?^```$/gm, '')
  const headings = [...withoutCode.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

describe('links of the pages', () => {
  test.each(pages)('%s links to files and headings that exist', (path) => {
    const links = [...textOf(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link = '']) => link)
    const broken = links.filter((link) => {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : join(dirname(path), file)
      if (!existsSync(join(ROOT, target))) return true
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
    })
    expect(broken).toEqual([])
  })

  test('lead from the index to every page of docs/', () => {
    const index = textOf('docs/README.md')
    const missing = pages
      .filter((path) => path.startsWith('docs/') && path !== 'docs/README.md')
      .filter((path) => !index.includes(`(${path.slice('docs/'.length)}`))
    expect(missing).toEqual([])
  })
})

test('the files that ARCHITECTURE.md names in "Where it is" and "Where to add things" exist', () => {
  const sections = textOf('ARCHITECTURE.md')
    .split(/^## /m)
    .filter((section) => section.startsWith('Where '))
  const named = sections.flatMap((section) =>
    [...section.matchAll(/`([\w./-]+\.(?:ts|md))`/g)].map(([, path = '']) => path),
  )
  const bases = ['', 'packages/server/src', 'packages', 'packages/cli/src']
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((path) => !bases.some((base) => existsSync(join(ROOT, base, path))))).toEqual([])
})
