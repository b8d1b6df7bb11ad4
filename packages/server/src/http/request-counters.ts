/** Upper bounds of the buckets of durations, in seconds. */
export const DURATION_BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600]
/** The route of requests that were refused before they had one. */
const UNMATCHED = 'unmatched'
/** Others have one label together: callers choose the method. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A request that has ended. Bytes are those of the connection, with the heads. */
export interface EndedRequest {
  /** The template, such as `/p/{cid}`: paths would be as many as there are files. */
  readonly route: string | undefined
  readonly method: string | undefined
  readonly status: number
  readonly durationMs: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** What was counted of the requests of one route and method. */
export interface RouteCounts {
  readonly route: string
  readonly method: string
  readonly byStatus: ReadonlyMap<number, number>
  /** By the bounds of {@link DURATION_BOUNDS_SECONDS}, and one for longer ones; each request is in one of them. */
  readonly durations: readonly number[]
  readonly durationSeconds: number
  readonly bytesIn: number
  readonly bytesOut: number
}

interface Counted extends RouteCounts {
  readonly byStatus: Map<number, number>
  readonly durations: number[]
  durationSeconds: number
  bytesIn: number
  bytesOut: number
}

/** Counts requests for the metrics. It is in the way of every request, so it does no more than add numbers. */
export class RequestCounters {
  readonly #routes = new Map<string, Map<string, Counted>>()
  readonly #errors = new Map<string, number>()

  add({ route = UNMATCHED, method = '', status, durationMs, bytesIn, bytesOut }: EndedRequest): void {
    const counted = this.#countedOf(route, METHODS.has(method) ? method : 'other')
    counted.byStatus.set(status, (counted.byStatus.get(status) ?? 0) + 1)
    const seconds = durationMs / 1000
    let bucket = 0
    while (seconds > (DURATION_BOUNDS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
    counted.durations[bucket] = (counted.durations[bucket] ?? 0) + 1
    counted.durationSeconds += seconds
    counted.bytesIn += bytesIn
    counted.bytesOut += bytesOut
  }

  /** Counts an error response by its code. */
  addError(code: string): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1)
  }

  routes(): readonly RouteCounts[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()])
  }

  errors(): ReadonlyMap<string, number> {
    return this.#errors
  }

  #countedOf(route: string, method: string): Counted {
    let methods = this.#routes.get(route)
    if (methods === undefined) {
      methods = new Map()
      this.#routes.set(route, methods)
    }
    let counted = methods.get(method)
    if (counted === undefined) {
      const durations = Array.from({ length: DURATION_BOUNDS_SECONDS.length + 1 }, () => 0)
      counted = { route, method, byStatus: new Map(), durations, durationSeconds: 0, bytesIn: 0, bytesOut: 0 }
      methods.set(method, counted)
    }
    return counted
  }
}
