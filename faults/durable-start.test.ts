import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { send, sponsoredCaller } from './caller.ts'
import { newContent } from './content.ts'
import { describeScenario, mounting, program, tracing } from './harness.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { mountTmpfs } from './mount.ts'
import { startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const KB = 1024
const MB = 1024 * KB

describeScenario({ id: 'start-on-full-disk', name: 'a start on a disk with little room', needs: [mounting] }, () => {
  test('leaves a long log where it is, instead of filling the disk with it', async () => {
    const dataDir = join(tempDirectory(), 'disk')
    mountTmpfs(dataDir, 24 * MB)
    const victim = await startServer({ dataDir, env: BOUNDLESS_QUOTAS })
    const ledger = new Ledger()
    const contents = Array.from({ length: 60 }, () => newContent(60 * KB))
    await Promise.all(contents.map((content) => ledger.upload(victim.url, sponsoredCaller('192.0.2.7'), content)))
    expect(ledger.acks).toHaveLength(contents.length)
    await victim.kill()
    const log = join(dataDir, 'lade.db-wal')
    const logBytes = statSync(log).size
    const { bavail, bsize } = statfsSync(dataDir)
    writeFileSync(join(dataDir, 'ballast'), Buffer.alloc(bavail * bsize - 2 * MB))

    const next = await startServer({ dataDir, env: BOUNDLESS_QUOTAS })
    expect(statSync(log).size).toBeGreaterThanOrEqual(logBytes)
    for (const { cid } of contents) expect((await send(next.url, 'GET', `/p/${cid}`)).status).toBe(200)
  })
})

describeScenario(
  {
    id: 'durable-directory',
    name: 'a directory that is made durable',
    needs: [program('strace', 'strace'), tracing],
  },
  () => {
    test('has its name made durable also when it is there, since whoever made it may have failed', () => {
      const parent = join(tempDirectory(), 'parent')
      mkdirSync(join(parent, 'there'), { recursive: true })
      const module = new URL('../packages/node/src/disk/durable-directory.ts', import.meta.url).href
      const script = `
        import { createDurableDirectory } from ${JSON.stringify(module)}
        await createDurableDirectory(${JSON.stringify(join(parent, 'there'))})`
      const trace = join(tempDirectory(), 'trace')
      const node = [process.execPath, '--input-type=module', '-e', script]
      execFileSync('strace', ['-f', '-qq', '-y', '-e', 'trace=fsync', '-o', trace, ...node], { stdio: 'ignore' })
      expect(readFileSync(trace, 'utf8')).toMatch(new RegExp(`fsync\\(\\d+<${parent}>\\)\\s+= 0`))
    })
  },
)
