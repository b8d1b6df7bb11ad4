/** XML as S3 writes and reads it: elements and text, no attributes that matter. */

/** What an element holds: text, or elements, of which an array repeats its name. */
export type XmlContent = string | number | boolean | { readonly [name: string]: XmlContent | readonly XmlContent[] }

export function xmlDocument(name: string, content: XmlContent): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(name, content)}`
}

function element(name: string, content: XmlContent): string {
  return `<${name}>${inner(content)}</${name}>`
}

function inner(content: XmlContent): string {
  if (typeof content !== 'object') return escaped(String(content))
  return Object.entries(content)
    .flatMap(([name, value]) => (isList(value) ? value : [value]).map((item) => element(name, item)))
    .join('')
}

function isList(value: XmlContent | readonly XmlContent[]): value is readonly XmlContent[] {
  return Array.isArray(value)
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** The text of every element `name`, in order; elements inside it come as they are written. */
export function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}>`, 'g'))].map(([, text = '']) => text)
}

/** The unescaped text of the first element `name`. */
export function textOf(xml: string, name: string): string | undefined {
  return elementsOf(xml, name)[0]
    ?.replace(/&quot;/g, '"')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
}
