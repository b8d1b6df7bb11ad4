import { Counter, Gauge, type Metric, type Registry } from 'prom-client'
import { DURATION_BOUNDS_SECONDS, type RequestCounters } from './request-counters.ts'

const DURATION = 'lade_http_request_duration_seconds'

/** Adds the requests of this process, by route. */
export function requestMetrics(
  registry: Registry,
  requests: Pick<RequestCounters, 'routes' | 'errors'>,
  uploadsInFlight: () => number,
): void {
  const registers = [registry]
  new Counter({
    name: 'lade_http_requests_total',
    help: 'Requests since the start, by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { route, method, byStatus } of requests.routes()) {
        for (const [status, count] of byStatus) this.inc({ route, method, status }, count)
      }
    },
  })
  registry.registerMetric(durationHistogram(requests))
  new Counter({
    name: 'lade_http_request_bytes_total',
    help: 'Bytes received with requests that have ended, since the start, headers included.',
    labelNames: ['route', 'method'],
    registers,
    collect() {
      this.reset()
      for (const { route, method, bytesIn } of requests.routes()) this.inc({ route, method }, bytesIn)
    },
  })
  new Counter({
    name: 'lade_http_response_bytes_total',
    help: 'Bytes sent with responses that have ended, since the start, headers included.',
    labelNames: ['route', 'method'],
    registers,
    collect() {
      this.reset()
      for (const { route, method, bytesOut } of requests.routes()) this.inc({ route, method }, bytesOut)
    },
  })
  new Counter({
    name: 'lade_http_errors_total',
    help: 'Error responses since the start, by error code.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset()
      for (const [code, count] of requests.errors()) this.inc({ code }, count)
    },
  })
  new Gauge({
    name: 'lade_uploads_in_flight',
    help: 'Uploads whose bytes are being received.',
    registers,
    collect() {
      this.set(uploadsInFlight())
    },
  })
}

/** A histogram of the library counts by itself, at ten times the cost for each request; this one shows what was counted. */
function durationHistogram(requests: Pick<RequestCounters, 'routes'>): Metric {
  const histogram = {
    name: DURATION,
    async get() {
      const values = requests.routes().flatMap(({ route, method, durations, durationSeconds }) => {
        let count = 0
        const buckets = durations.map((added, index) => {
          count += added
          const le = DURATION_BOUNDS_SECONDS[index] ?? '+Inf'
          return { metricName: `${DURATION}_bucket`, labels: { route, method, le }, value: count }
        })
        const labels = { route, method }
        return [
          ...buckets,
          { metricName: `${DURATION}_sum`, labels, value: durationSeconds },
          { metricName: `${DURATION}_count`, labels, value: count },
        ]
      })
      const help = 'Time from the head of a request to the end of its response, by route and method.'
      return { name: DURATION, help, type: 'histogram', values, aggregator: 'sum' }
    },
    // What else the library asks a metric for.
    reset() {},
  }
  return histogram as unknown as Metric
}
