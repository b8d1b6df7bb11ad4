/** One message of a PostgreSQL client, as far as it matters here. */
export interface ClientMessage {
  /** The letter of its type; empty for the message that opens a connection. */
  readonly type: string
  /** All of its bytes, header included. */
  readonly bytes: Buffer
}

const HEADER_BYTES = 5
/** The opening message has no letter in front of its length. */
const OPENING_HEADER_BYTES = 4

/**
 * Cuts what a client sends into messages, as the protocol's "Message Formats" lay them out: a letter, the length
 * of the rest in four bytes, the rest.
 *
 * @example
 * const reader = new ClientMessages()
 * reader.push(chunk) // [{ type: 'Q', bytes: <Buffer 51 00 00 00 0b …> }]
 */
export class ClientMessages {
  #pending = Buffer.alloc(0)
  #isOpen = false

  /** The messages that are whole with `chunk`. */
  push(chunk: Buffer): ClientMessage[] {
    this.#pending = Buffer.concat([this.#pending, chunk])
    const messages: ClientMessage[] = []
    for (;;) {
      const letterBytes = this.#isOpen ? 1 : 0
      if (this.#pending.length < letterBytes + OPENING_HEADER_BYTES) return messages
      const length = letterBytes + this.#pending.readUInt32BE(letterBytes)
      if (this.#pending.length < length) return messages
      const bytes = this.#pending.subarray(0, length)
      messages.push({ type: this.#isOpen ? String.fromCharCode(bytes[0] ?? 0) : '', bytes })
      this.#pending = this.#pending.subarray(length)
      this.#isOpen = true
    }
  }
}

/** Finds the messages of one connection that make the server commit. */
export class CommitWatch {
  /** The names of prepared statements that are a COMMIT; the empty name is the unnamed one. */
  readonly #prepared = new Set<string>()

  /** True for a simple query with a COMMIT in it, and for the Bind of a statement that was prepared from one. */
  isCommit({ type, bytes }: ClientMessage): boolean {
    const body = bytes.subarray(HEADER_BYTES)
    if (type === 'Q') return hasCommit(textAt(body, 0))
    if (type === 'P') {
      const name = textAt(body, 0)
      if (hasCommit(textAt(body, Buffer.byteLength(name) + 1))) this.#prepared.add(name)
      else this.#prepared.delete(name)
      return false
    }
    if (type !== 'B') return false
    const portal = textAt(body, 0)
    return this.#prepared.has(textAt(body, Buffer.byteLength(portal) + 1))
  }
}

/** The text up to the next zero byte. */
function textAt(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start)
  return bytes.toString('utf8', start, end < 0 ? bytes.length : end)
}

function hasCommit(sql: string): boolean {
  return /(?:^|;)\s*(?:commit|end)\b/i.test(sql)
}
