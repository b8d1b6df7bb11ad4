/**
 * Counts what the suites reported, and says last what failed and why: a run is often read from its end.
 *
 *     node .ci/count-tests.mjs FOLDER
 *
 * FOLDER holds a report of vitest for each suite (tests.json, long.json, services.json, packages.json, acceptance.json). Exits with 1 if a test failed,
 * a suite left no report or no test, or a suite that needs servers skipped one.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SUITES = ['tests', 'long', 'services', 'packages', 'acceptance']
/** Suites that run without servers, and say what a machine lacks. */
const MAY_SKIP = ['tests', 'long']
/** What of a message is printed: the sentence and the first lines of its stack. */
const MESSAGE_LINES = 20

const folder = process.argv[2]
const failures = []
let passed = 0
let failed = 0

for (const suite of SUITES) {
  const file = join(folder, `${suite}.json`)
  if (!existsSync(file)) {
    failures.push(`${suite}: left no report`)
    failed += 1
    continue
  }
  const report = JSON.parse(readFileSync(file, 'utf8'))
  const found = report.testResults.flatMap(failuresOf)
  // Only a test that says what a machine cannot do may be skipped, and only where nothing but npm's packages is asked for.
  const skipped = MAY_SKIP.includes(suite) ? 0 : (report.numPendingTests ?? 0)
  console.log(
    `${suite}: ${report.numPassedTests} passed, ${found.length} failed${skipped > 0 ? `, ${skipped} skipped, which none may be` : ''}`,
  )
  if (report.numPassedTests === 0) failures.push(`${suite}: not a single test passed`)
  if (!report.success && found.length === 0) failures.push(`${suite}: failed outside its tests`)
  failures.push(...found)
  passed += report.numPassedTests
  failed += found.length + skipped
}

console.log(`${passed} passed, ${failed} failed`)
for (const failure of failures) console.log(`\nFAILED ${failure}`)
if (failed > 0 || failures.length > 0) process.exitCode = 1

/** A file that could not be loaded has no tests to count, and counts as one that failed. */
function failuresOf({ name, message, status, assertionResults }) {
  const failedTests = assertionResults.filter((result) => result.status === 'failed')
  if (status === 'failed' && failedTests.length === 0) return [`${name}, outside its tests\n${firstLines(message)}`]
  return failedTests.map((test) => `${name}\n  ${test.fullName}\n${firstLines(test.failureMessages.join('\n'))}`)
}

function firstLines(text) {
  return (text ?? '').split('\n').slice(0, MESSAGE_LINES).join('\n')
}
