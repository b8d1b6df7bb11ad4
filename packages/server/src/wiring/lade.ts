/** A running service. */
export interface Lade {
  /** Where it is reached, without trailing slash. */
  readonly url: string
  /** Takes no more requests, lets uploads in flight finish for as long as configured, then ends. Safe to call twice. */
  close(): Promise<void>
}
