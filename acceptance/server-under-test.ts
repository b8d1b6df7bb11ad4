/** A server that this suite started, on loopback, with a data directory of its own. */
export interface OwnServer {
  readonly baseUrl: URL
  /** Where the service itself reads what is written on a socket, also when there is a proxy at `baseUrl`. */
  readonly directUrl: URL
  /** How many processes answer at `baseUrl`. */
  readonly instances: number
  readonly dataDir: string
  /** Sends SIGTERM and answers the exit code; what it keeps stays. */
  stop(): Promise<number | null>
  /** Stops it if it still runs, and deletes what it kept. */
  discard(): Promise<void>
}
