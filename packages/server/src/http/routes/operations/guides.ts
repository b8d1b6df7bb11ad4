import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { GUIDES_PATH } from '../../openapi/introduction.ts'
import { FixedDocument } from './fixed-document.ts'
import { htmlPage, PAGE_POLICY } from './html-page.ts'

const INDEX = 'README'
/** A page of the guides: names of folders and of the page, without its ending. */
const NAME = /^(?:[a-z0-9-]+\/)*(?:[a-z0-9-]+|README)$/

/**
 * The guides of this version, as they are in `docs/`, rendered with their first request.
 *
 * @returns for the name of a page, such as `use/command-line` or empty for the index, undefined if there is no such page.
 */
export function guideDocuments(): (name: string) => Promise<FixedDocument | undefined> {
  const documents = new Map<string, FixedDocument>()
  return async (given) => {
    const name = given === '' ? INDEX : given
    if (!NAME.test(name)) return undefined
    const known = documents.get(name)
    if (known !== undefined) return known
    const text = await readGuide(name)
    if (text === undefined) return undefined
    const document = await render(name, text)
    documents.set(name, document)
    return document
  }
}

async function readGuide(name: string): Promise<string | undefined> {
  try {
    return await readFile(join(guidesFolder(), `${name}.md`), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** `docs/` of the repository, or the copy of it that a package has. */
function guidesFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('#guides/README.md'))
}

async function render(name: string, text: string): Promise<FixedDocument> {
  const { Marked } = await import('marked')
  const marked = new Marked({
    renderer: {
      heading({ depth, tokens }) {
        const content = this.parser.parseInline(tokens)
        return `<h${depth} id="${anchorOf(content)}">${content}</h${depth}>\n`
      },
      // Pictures are for readers of the repository.
      image: () => '',
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const target = targetOf(name, href)
        return target === undefined ? content : `<a href="${target}">${content}</a>`
      },
    },
  })
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name
  const top = `<p><a href="/docs">API</a> · <a href="${GUIDES_PATH}">Guides</a></p>\n`
  const body = top + (await marked.parse(text))
  return new FixedDocument(htmlPage(title, body), {
    contentType: 'text/html; charset=utf-8',
    contentSecurityPolicy: PAGE_POLICY,
  })
}

/**
 * Where a link of a guide leads: to other sites, within the page, or to another guide. Files of the repository that are no guides are not
 * here, and have no link.
 */
function targetOf(name: string, href: string): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const path = posix.join(posix.dirname(name), file)
  if (path.startsWith('..') || !path.endsWith('.md')) return undefined
  const page = path.slice(0, -'.md'.length)
  const address = page === INDEX ? GUIDES_PATH : `${GUIDES_PATH}/${page}`
  return anchor === undefined ? address : `${address}#${anchor}`
}

/** The anchor that links to a heading name it by: as on GitHub. */
function anchorOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>|&[a-z0-9#]+;/g, '')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}
