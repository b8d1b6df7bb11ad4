import {
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Tracer } from './tracing.ts'

/** How long an end waits for the collector to take the last spans. */
const LAST_EXPORT_MS = 2000

export interface OtlpTracerOptions {
  readonly version: string
  /** The share of traces that are exported, from 0 to 1. */
  readonly sampleRatio: number
  /** True when a request that comes with a trace is sampled as its caller says. */
  readonly followsCaller: boolean
  /** Told what the SDK warns of, such as a collector that does not answer. */
  readonly onWarning: (sentence: string) => void
}

/**
 * Exports a span for every request, and for every call to a prover in it, by OpenTelemetry's own SDK. Its standard variables say where to
 * and under which name.
 */
export function openOtlpTracer({
  version,
  sampleRatio,
  followsCaller,
  onWarning,
}: OtlpTracerOptions): Tracer & { close(): Promise<void> } {
  const warn = (sentence: string): void => onWarning(sentence)
  const silent = (): void => {}
  const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const own = resourceFromAttributes({ 'service.name': 'lade', 'service.version': version })
  const given = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  const root = new TraceIdRatioBasedSampler(sampleRatio)
  const provider = new TracerProvider({
    resource: defaultResource().merge(own).merge(given),
    sampler: followsCaller ? new ParentBasedSampler({ root }) : root,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('lade', version)
  const propagator = new W3CTraceContextPropagator()

  return {
    isExporting: true,
    begin({ method = '', url = '' }, context) {
      const before =
        context === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, context, defaultTextMapGetter)
      // Without the query: tokens and share links travel there.
      const [path = ''] = url.split('?')
      const attributes = { 'http.request.method': method, 'url.path': path.startsWith('/') ? path : '' }
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, before)
      const within = trace.setSpan(before, span)
      return {
        async call({ method, origin }, send) {
          const { hostname, port, protocol } = new URL(origin)
          const attributes = {
            'http.request.method': method,
            'server.address': hostname,
            'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
          }
          const call = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, within)
          const headers: Record<string, string> = {}
          propagator.inject(trace.setSpan(within, call), headers, defaultTextMapSetter)
          try {
            return await send(headers)
          } catch (error) {
            call.setStatus({ code: SpanStatusCode.ERROR })
            throw error
          } finally {
            call.end()
          }
        },
        end({ route, status, code }) {
          if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route)
          span.setAttribute('http.response.status_code', status)
          if (code !== undefined) span.setAttribute('error.type', code)
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    async close() {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, LAST_EXPORT_MS)
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
      diag.disable()
    },
  }
}
