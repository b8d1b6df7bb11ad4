/** Every runtime has these, and the types of none are in use here. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> }
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Half of a surrogate pair is replaced. */
export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** Bytes that are no UTF-8 are replaced. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
