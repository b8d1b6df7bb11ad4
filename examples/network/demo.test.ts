import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runProgram } from '../testing/run-program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { PATH = '' } = process.env

test('the walk through the network comes to its end', { timeout: 200_000 }, async () => {
  const args = ['run', '--silent', 'demo:network']
  const { exitCode, stdout, stderr } = await runProgram('npm', args, { cwd: ROOT, env: { PATH }, timeoutMs: 180_000 })
  expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
  expect(stdout).toContain('✓ Of the same piece, by the other prover, and proved.')
  expect(stdout.match(/^\d+\. /gm)).toHaveLength(8)
  expect(stdout).toMatch(/\nAll of it was so\.\n$/)
  expect(stderr).toBe('')
})
