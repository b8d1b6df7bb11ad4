/** What a command may touch of the process it runs in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The time, asked for once for each use. */
  now(): Date
  /** Writes one line to standard output: what the command was asked for. */
  print(line: string): void
  /** Writes one line to standard error: everything else. */
  note(line: string): void
}
