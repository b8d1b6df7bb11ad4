// Every runtime has these; the types of this package know the language alone.
declare const TextEncoder: new () => {
  encode(text: string): Uint8Array<ArrayBuffer>
  encodeInto(text: string, into: Uint8Array): { readonly written: number }
}
declare const TextDecoder: new (
  label: string,
  options: { readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string }

const encoder = new TextEncoder()
/** A UTF-16 unit has at most three bytes in UTF-8. */
const MAX_UNIT_BYTES = 3
/** Where names are encoded first: each would otherwise have an ArrayBuffer of its own outside the heap, which costs more than the name. */
const nameBuffer = new Uint8Array(768)
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A text as UTF-8; half a surrogate pair becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  if (text.length * MAX_UNIT_BYTES > nameBuffer.length) return encoder.encode(text)
  return nameBuffer.slice(0, encoder.encodeInto(text, nameBuffer).written)
}

/** UTF-8 as a text, from its first byte; what is no UTF-8 becomes U+FFFD. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
