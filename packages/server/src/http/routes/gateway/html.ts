import { createHash } from 'node:crypto'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that is markup already. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Text as it is shown, fit for elements and for attributes in quotes. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/**
 * Markup from a template. What is put in is escaped, unless it is markup itself; lists are joined.
 *
 * @example
 * markup`<b>${'<i>'}</b>`.text // '<b>&lt;i&gt;</b>'
 */
export function markup(
  parts: TemplateStringsArray,
  ...values: readonly (string | Markup | readonly Markup[])[]
): Markup {
  const texts = values.map((value) => {
    if (typeof value === 'string') return escaped(value)
    return value instanceof Markup ? value.text : value.map(({ text }) => text).join('')
  })
  return new Markup(parts.map((part, index) => part + (texts[index] ?? '')).join(''))
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
nav, p { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: start; }
th, td { border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); padding: .4rem .5rem; text-align: start; }
td:nth-child(1) { overflow-wrap: anywhere; }
td:nth-child(3), th:nth-child(3) { text-align: end; white-space: nowrap; }
td a, nav a { unicode-bidi: isolate; }
code, .ipfs-hash { font: .85rem ui-monospace, monospace; overflow-wrap: anywhere; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
`

/** What a page of this service may do when a browser opens it at the address of content: have its own style, and link. */
export const PAGE_OF_SERVICE_POLICY = `sandbox allow-downloads; default-src 'none'; style-src 'sha256-${sha256Base64(STYLE)}'; base-uri 'none'; form-action 'none'`

/** A page about content, which works without scripts. */
export function page(title: string, main: Markup): Buffer {
  const document = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
  return Buffer.from(document.text)
}

function sha256Base64(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
