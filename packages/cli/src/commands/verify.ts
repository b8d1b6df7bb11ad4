import { createHash } from 'node:crypto'
import { checkContent, digestsWanted, parseContentId, type Verified } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { digestFile } from '@lade/node/hashing/digest-file'
import { startHashThreads } from '@lade/node/hashing/hash-threads'
import type { Command } from 'commander'
import { Ended, EXIT } from '../exit-code.ts'
import { readableFile } from '../local-file.ts'
import { problemOf } from '../problem.ts'
import type { Terminal } from '../terminal.ts'

/** `lade verify CID FILE`: whether a file has an id. Ends with 0 when it has, with 1 when it has not. Needs no service. */
export function addVerify(program: Command, terminal: Terminal): void {
  const command = program
    .command('verify')
    .summary('Check that a file matches a content id.')
    .description(
      'Check that a local file matches a content id. Opaque ids cannot be checked. Exits with 1 if the file does not match.',
    )
    .argument('<cid>', 'content id of any kind except opaque')
    .argument('<file>', 'local file')
    .option('--car', 'The file is a CAR and the cid is its root. Check that every block is present and correct.')
    .option('--json', 'Print one JSON object.')
    .action(async (cid: string, file: string) => {
      const { car: mayBeCar = false, json = false } = command.opts<{ car?: boolean; json?: boolean }>()
      const id = parseContentId(cid, (bytes) => createHash('sha256').update(bytes).digest('hex'))
      if (!id.verified) {
        throw new LadeError('invalid_cid', {
          reason: 'An opaque id cannot be checked against bytes. "lade hash FILE" prints ids that can be checked.',
        })
      }
      const threads = startHashThreads()
      try {
        const path = await readableFile(file, terminal.cwd, 'verify')
        const wanted = (sizeBytes: number) => digestsWanted(id, sizeBytes, { mayBeCar })
        const verified = checkContent(id, await digestFile(path, { hashers: threads.hashers, wanted }))
        const profile = verified.dag?.profile ?? null
        if (json) terminal.print(JSON.stringify({ cid, file, matches: true, as: verified.as, profile }))
        else terminal.print(`${file} is ${cid}, ${meaningOf(verified)}.`)
      } catch (error) {
        if (!LadeError.is(error)) throw error
        if (json)
          terminal.print(
            JSON.stringify({ cid, file, matches: false, ...problemOf(error), detail: refusalOf(error, file, cid) }),
          )
        else terminal.print(refusalOf(error, file, cid))
        throw new Ended(EXIT.failed)
      } finally {
        await threads.close()
      }
    })
}

function meaningOf({ as, dag, car }: Verified): string {
  switch (as) {
    case 'bytes':
      return 'byte for byte'
    case 'block':
      return 'as one block'
    case 'file':
      return `as a UnixFS file with the profile ${dag?.profile}`
    case 'car':
      return `as a CAR with the whole DAG, ${car?.blockCount} blocks`
  }
}

function refusalOf(error: LadeError, file: string, cid: string): string {
  if (LadeError.has(error, 'incomplete_dag')) {
    return `${file} is not the complete DAG under ${cid}. Missing blocks (there may be more):\n${error.evidence.missing.join('\n')}`
  }
  if (LadeError.has(error, 'invalid_car')) return `${file} is not a valid CAR. ${error.evidence.reason}`
  if (!LadeError.has(error, 'cid_mismatch')) return `${file} is not ${cid}. ${error.message}`
  const { expected, actual } = error.evidence
  return expected === cid
    ? `${file} is not ${cid}. It is ${actual}.`
    : `${file} is not ${cid}: the bytes of its block ${expected} hash to ${actual}.`
}
