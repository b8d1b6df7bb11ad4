import { expect } from 'vitest'
import { type Answer, headerOf } from './caller.ts'
import type { Problem } from './shapes.ts'

/** Checks that an answer is the error document for one of `codes`, and returns its body. */
export function expectProblem(
  answer: Answer,
  status: number | readonly number[],
  codes: string | readonly string[],
): Problem {
  const body = answer.body.toString('utf8')
  expect([status].flat(), body).toContain(answer.status)
  expect(headerOf(answer, 'content-type'), body).toMatch(/^application\/(problem\+)?json\b/)
  const problem = answer.json<Problem>()
  expect([codes].flat(), body).toContain(problem.error)
  expect(problem, body).toMatchObject({
    status: answer.status,
    detail: expect.stringMatching(/\S/),
    type: expect.stringMatching(/\S/),
    title: expect.stringMatching(/\S/),
    requestId: expect.stringMatching(/\S/),
  })
  if (answer.status === 401) expect(headerOf(answer, 'www-authenticate')).toMatch(/^Bearer\b/)
  // Waiting does not help a file that is larger than a whole day's quota.
  const { size, limit } = problem as { readonly size?: number; readonly limit?: number }
  const isTooLargeForever = answer.status === 429 && size !== undefined && limit !== undefined && size > limit
  if (isTooLargeForever) expect(answer.headers).not.toHaveProperty('retry-after')
  else if (answer.status === 429 || answer.status === 503) {
    expect(headerOf(answer, 'retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect(problem.detail).not.toContain(problem.title)
  return problem
}
