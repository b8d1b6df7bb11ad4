import { type Answer, send } from './caller.ts'
import { sha256Hex } from './content.ts'
import { type DataDirectory, readDataDirectory, type StoredData } from './data-directory.ts'
import type { Ledger, Staging } from './ledger.ts'
import type { ServerProcess } from './server-process.ts'

/**
 * What is wrong after a recovery, in sentences; an empty list is the only good answer. The service must be idle.
 *
 * Acknowledged uploads are served with their bytes, and nothing is served with others; what is charged is the sum of the
 * rows and lies between what was acknowledged and what may have happened; objects and files match one to one; nothing is
 * pending, reserved or waiting to be discarded; the database is whole.
 */
export async function brokenInvariants(server: ServerProcess, ledger: Ledger, objectsDir?: string): Promise<string[]> {
  const data = readDataDirectory(server.dataDir, objectsDir)
  return [
    ...atRest(data),
    ...(await served(server.url, data, ledger)),
    ...charged(data, ledger),
    ...(data.integrity === 'ok' ? [] : [`the database is damaged: ${data.integrity}`]),
  ]
}

/** What a service without uploads under way may not have on disk, and what does not match there. */
export function atRest(data: StoredData): string[] {
  const { blobs, blobObjects, composedObjects, inlineObjects } = data
  const live = new Set(data.files.filter((file) => file.isLive).map((file) => file.sha256))
  return [
    ...data.pending.map((name) => `pending file left: ${name}`),
    ...data.reservations.map((principal) => `reservation left: ${principal}`),
    ...data.discards.map((sha256) => `discard left: ${sha256}`),
    ...[...blobs].filter((sha256) => !blobObjects.has(sha256)).map((sha256) => `file without a row: ${sha256}`),
    ...[...blobObjects].filter((sha256) => !blobs.has(sha256)).map((sha256) => `row without a file: ${sha256}`),
    ...[...live]
      .filter((sha256) => !blobObjects.has(sha256) && !inlineObjects.has(sha256) && !composedObjects.has(sha256))
      .map((sha256) => `live file without an object: ${sha256}`),
  ]
}

async function served(origin: URL, data: DataDirectory, ledger: Ledger): Promise<string[]> {
  const stagings = Map.groupBy(ledger.stagings, (staging) => staging.content.cid)
  const broken: string[] = []
  for (const cid of new Set([...stagings.keys(), ...data.files.map((file) => file.sha256)])) {
    const answer = await send(origin, 'GET', `/p/${cid}`)
    const problem = servingProblem(cid, answer, stagings.get(cid) ?? [])
    if (problem !== undefined) broken.push(problem)
  }
  return broken
}

/** What is wrong with the answer to `GET /p/<cid>`, given all uploads of it. */
export function servingProblem(cid: string, answer: Answer, stagings: readonly Staging[]): string | undefined {
  if (answer.status === 200) {
    if (sha256Hex(answer.body) !== cid) return `wrong bytes (${answer.body.length}) served for ${cid}`
    const isGone = stagings.every((staging) => staging.outcome === 'refused' || staging.removal === 'ack')
    return isGone && stagings.length > 0 ? `served although refused or removed: ${cid}` : undefined
  }
  if (answer.status !== 404 && answer.status !== 410) return `${cid} answered ${answer.status}: ${answer.body}`
  const promised = stagings.find((staging) => staging.outcome === 'ack' && staging.removal === undefined)
  if (promised === undefined) return undefined
  return `ACKNOWLEDGED UPLOAD LOST: ${cid} (${promised.content.sizeBytes} bytes) answered ${answer.status}`
}

/** What is wrong with the charges: they are the sums of the rows, and no more and no less than callers were told. */
export function charged(data: StoredData, ledger: Ledger): string[] {
  const rows = new Map<string, number>()
  for (const { principal, chargedBytes } of data.files) {
    rows.set(principal, (rows.get(principal) ?? 0) + chargedBytes)
  }
  const broken: string[] = []
  for (const principal of new Set([...data.usage.keys(), ...rows.keys(), ...principalsOf(ledger)])) {
    const usage = data.usage.get(principal) ?? 0
    const sum = rows.get(principal) ?? 0
    if (usage !== sum) broken.push(`${principal} has a usage of ${usage} and rows of ${sum} bytes`)
    const least = bytesOf(ledger.acks, principal)
    const most = least + bytesOf(ledger.unknowns, principal)
    if (usage < least || usage > most)
      broken.push(`${principal} has a usage of ${usage}, not ${least} to ${most} bytes`)
  }
  return broken
}

function principalsOf(ledger: Ledger): Set<string> {
  return new Set(ledger.stagings.map((staging) => staging.caller.principal))
}

function bytesOf(stagings: readonly Staging[], principal: string): number {
  return stagings
    .filter((staging) => staging.caller.principal === principal)
    .reduce((sum, staging) => sum + staging.content.sizeBytes, 0)
}
