import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createLadeClient, type PutProgress } from '@lade/client'

const [path, copyPath = `${path}.copy`] = process.argv.slice(2)
if (path === undefined) {
  console.error('Usage: node stage.ts FILE [COPY]')
  process.exit(2)
}
const { LADE_URL, LADE_TOKEN } = process.env
const client = createLadeClient({ url: LADE_URL || undefined, token: LADE_TOKEN || undefined })

let shownPhase: PutProgress['phase'] | undefined
try {
  const { cid, retrievalUrl } = await client.put(path, { onProgress: showProgress })
  console.log(`cid: ${cid}\nurl: ${retrievalUrl}`)
  await fetchBack(cid, copyPath)
  console.log(`copy: ${copyPath}, whose bytes have that cid`)
} catch (error) {
  // A LadeError has a code, and so has what the disk refuses; what has none is a mistake in this program.
  if (!(error instanceof Error && 'code' in error)) throw error
  console.error(`${error.message} (${error.code})`)
  process.exitCode = 1
}

/** On a terminal one line that changes, elsewhere a line for each phase. */
function showProgress({ phase, sizeBytes, hashedBytes, sentBytes }: PutProgress): void {
  const bytes = phase === 'hashing' ? hashedBytes : sentBytes
  const percent = sizeBytes ? Math.floor((100 * bytes) / sizeBytes) : 0
  const end = phase === 'done' ? '\n' : ''
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${phase} ${percent} %${end}`)
  else if (phase !== shownPhase) process.stderr.write(`${phase}\n`)
  shownPhase = phase
}

/** The client checks the bytes as they come; under its own name the copy appears once the last of them is known to be good. */
async function fetchBack(cid: string, to: string): Promise<void> {
  const partPath = `${to}.part`
  try {
    const download = await client.get(cid)
    await pipeline(download.body, createWriteStream(partPath))
    await rename(partPath, to)
  } finally {
    await rm(partPath, { force: true })
  }
}
