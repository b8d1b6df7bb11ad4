import { ConfigError } from '@lade/node/settings'

/** How traces are exported. Where to and under which name is read by OpenTelemetry's SDK itself. */
export interface TraceExport {
  /** The share of traces that are exported, from 0 to 1. */
  readonly sampleRatio: number
  /** True when a request that comes with a trace is sampled as its caller says. */
  readonly followsCaller: boolean
}

type Variables = Readonly<Record<string, string | undefined>>

const PROTOCOL = 'http/protobuf'
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])

/**
 * Reads the variables that OpenTelemetry defines, as far as its SDK leaves them to the program.
 *
 * @returns undefined where no traces are exported.
 * @throws {ConfigError} for values that Lade cannot follow.
 */
export function traceExportOf(env: Variables): TraceExport | undefined {
  const name = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    : 'OTEL_EXPORTER_OTLP_ENDPOINT'
  const endpoint = env[name]
  if (!endpoint || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') {
    return undefined
  }
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw new ConfigError(`${name} is not a URL of http or https.`)
  }
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = env[name] || PROTOCOL
    if (protocol !== PROTOCOL) {
      throw new ConfigError(`${name} is ${protocol}. Lade exports traces as ${PROTOCOL} only.`)
    }
  }
  const sampler = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  if (!SAMPLERS.includes(sampler)) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER is ${sampler}. Use one of ${SAMPLERS.join(', ')}.`)
  }
  return { sampleRatio: sampleRatioOf(sampler, env), followsCaller: sampler.startsWith('parentbased_') }
}

function sampleRatioOf(sampler: string, { OTEL_TRACES_SAMPLER_ARG }: Variables): number {
  if (!sampler.endsWith('traceidratio')) return sampler.endsWith('always_on') ? 1 : 0
  const ratio = Number(OTEL_TRACES_SAMPLER_ARG || 1)
  if (ratio >= 0 && ratio <= 1) return ratio
  throw new ConfigError('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1.')
}
