import { pathOf } from '../../query.ts'
import { jsonProblem, type ProblemForm } from '../../respond.ts'
import { acceptedTypes } from '../gateway/accept.ts'
import { markup, page } from '../gateway/html.ts'

const SHOWN_CHARACTERS = 200
/** What programs ask for, and read errors of. */
const PROGRAM_TYPES = /^application\/(?:json$|problem\+json$|vnd\.ipld\.)/

/**
 * How a gateway with sites writes its errors: as a page for browsers, as a problem document for clients that ask for JSON or for
 * blocks, and as text for all others.
 *
 * @param contentPath - what was asked for, as a content path; a path that is none is named in the error.
 */
export function siteProblem(contentPath: string): ProblemForm {
  return (request, problem) => {
    const types = acceptedTypes(request.headers.accept).map(({ mediaType }) => mediaType)
    if (types.some((type) => PROGRAM_TYPES.test(type)) || isFormatNamed(request.url))
      return jsonProblem(request, problem)
    const { status, title, detail, requestId } = problem
    const isPath = problem.error !== 'invalid_cid'
    const text = isPath ? detail : `invalid path "${shown(pathOf(contentPath))}": ${detail}`
    if (!types.includes('text/html')) {
      const bytes = Buffer.from(`${text}\n\n${status} ${problem.error}, request ${requestId}\n`)
      return { contentType: 'text/plain; charset=utf-8', bytes }
    }
    const body = markup`<h1>${title}</h1>\n<p>${text}</p>\n<p>Status ${String(status)}, request <code>${requestId}</code></p>`
    return { contentType: 'text/html; charset=utf-8', bytes: page(title, body) }
  }
}

function isFormatNamed(url = ''): boolean {
  return new URLSearchParams(url.slice(pathOf(url).length + 1)).has('format')
}

function shown(path: string): string {
  const text = path.replace(/[^\x21-\x7e]/g, '?')
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}
