import { expect, it } from 'vitest'
import { traceExportOf } from './otel-variables.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318'
const ALL = { sampleRatio: 1, followsCaller: true }

it('exports traces where an endpoint is set, and nothing turns it off', () => {
  expect(traceExportOf({})).toBeUndefined()
  expect(traceExportOf({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined()
  expect(traceExportOf({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual(ALL)
  expect(traceExportOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces' })).toEqual(ALL)
  expect(traceExportOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
  expect(traceExportOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined()
})

it.each([
  ['always_on', undefined, { sampleRatio: 1, followsCaller: false }],
  ['always_off', undefined, { sampleRatio: 0, followsCaller: false }],
  ['traceidratio', '0.25', { sampleRatio: 0.25, followsCaller: false }],
  ['parentbased_always_off', undefined, { sampleRatio: 0, followsCaller: true }],
  ['parentbased_traceidratio', '0', { sampleRatio: 0, followsCaller: true }],
  ['parentbased_traceidratio', undefined, ALL],
])('samples as %s with %s', (OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, expected) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }
  expect(traceExportOf(env)).toEqual(expected)
})

it.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT is not a URL of http or https.'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL is grpc. Lade exports traces as http/protobuf only.',
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER is jaeger_remote.'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10' },
    'OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1.',
  ],
])('error: %j stops the start', (env, sentence) => {
  expect(() => traceExportOf(env)).toThrow(sentence)
})
