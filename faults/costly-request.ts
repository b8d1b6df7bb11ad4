/** A request that is known to cost a lot for what it brings. */
export interface CostlyRequest {
  /** As the OpenAPI document has it. */
  readonly route: string
  readonly what: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Statuses that it may have. */
  readonly statuses: readonly number[]
}
