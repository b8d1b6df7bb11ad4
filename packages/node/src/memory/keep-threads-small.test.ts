import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const MIB = 1024 * 1024
const MODULE = new URL('./keep-threads-small.ts', import.meta.url).href

/** Keeps the last 100,000 objects that it makes, so that V8 makes as much room for new objects as it may, and prints how much that was. */
const SCRIPT = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { isMainThread, parentPort, Worker } from 'node:worker_threads'
  import { keepThreadsSmall } from ${JSON.stringify(MODULE)}
  const kept = []
  let mostBytes = 0
  for (let index = 0; index < 300_000; index += 1) {
    kept[index % 100_000] = { index, text: [index, index, index] }
    if (index % 1000 !== 0) continue
    const { space_size: bytes } = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    mostBytes = Math.max(mostBytes, bytes)
  }
  if (isMainThread) {
    keepThreadsSmall()
    new Worker(new URL(import.meta.url)).on('message', (ofThread) => console.log(JSON.stringify([mostBytes, ofThread])))
  } else parentPort.postMessage(mostBytes)`

test('threads have little room for new objects, and the thread that asked for it keeps its own', () => {
  const script = `data:text/javascript,${encodeURIComponent(SCRIPT)}`
  const run = `import(${JSON.stringify(script)})`
  const printed = execFileSync(process.execPath, ['--max-semi-space-size=8', '--eval', run], { encoding: 'utf8' })
  const [ofMain, ofThread] = JSON.parse(printed) as [number, number]
  expect(ofMain).toBeGreaterThan(8 * MIB)
  expect(ofThread).toBeLessThanOrEqual(2 * 2 * MIB)
})
