import { describe, expect, it } from 'vitest'
import { readTraceContext } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('readTraceContext', () => {
  it('reads a trace with the state of its vendors', () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`
    expect(readTraceContext({ traceparent })).toEqual({ traceparent })
    expect(readTraceContext({ traceparent, tracestate: 'a=1,b=2' })).toEqual({ traceparent, tracestate: 'a=1,b=2' })
  })

  it('reads what a later version has in common with this one', () => {
    for (const traceparent of [`01-${TRACE}-${SPAN}-01`, `cc-${TRACE}-${SPAN}-03-what-comes`]) {
      expect(readTraceContext({ traceparent })).toEqual({ traceparent })
    }
  })

  it.each([
    '',
    'x',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `01-${TRACE}-${SPAN}-01x`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`,
  ])('takes %j for none, and leaves out its state', (traceparent) => {
    expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeUndefined()
  })

  it('leaves out a state that is longer than others have to hand on', () => {
    const traceparent = `00-${TRACE}-${SPAN}-00`
    expect(readTraceContext({ traceparent, tracestate: `a=${'x'.repeat(600)}` })).toEqual({ traceparent })
  })
})
