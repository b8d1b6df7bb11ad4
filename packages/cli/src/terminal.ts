import type { Readable, Writable } from 'node:stream'

/** Standard input: what is piped in, or the keyboard. */
export type InputStream = Readable & { readonly isTTY?: boolean }

/** Standard output or standard error; `columns` is known for terminals only. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** What a command may touch of the process it runs in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly platform: NodeJS.Platform
  readonly homeDir: string
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** The time, asked for once for each use. */
  now(): Date
  /** Writes one line to standard output: what the command was asked for. */
  print(line: string): void
  /** Writes one line to standard error: everything else. */
  note(line: string): void
  /**
   * Aborted with an `Interrupted` by the first SIGINT or SIGTERM after this was first called; the second one ends the
   * process. Until it is called, signals do what they do by default.
   */
  interruption(): AbortSignal
}
