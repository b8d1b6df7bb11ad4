// Every runtime has these; the types of this package know the language alone.
declare const TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> }
declare const TextDecoder: new (
  label: string,
  options: { readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string }

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A text as UTF-8; half a surrogate pair becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** UTF-8 as a text, from its first byte; what is no UTF-8 becomes U+FFFD. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
