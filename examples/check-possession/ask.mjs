/**
 * Requests a proof that a service's prover stores a file, and checks the answer by itself:
 *
 *   node ask.mjs https://lade.example CID PIECECID
 */
import { randomBytes } from 'node:crypto'
import { showsPossession } from './check.mjs'

const [url, cid, pieceCid] = process.argv.slice(2)
if (pieceCid === undefined) {
  console.error('usage: node ask.mjs URL CID PIECECID')
  process.exit(2)
}
const nonce = randomBytes(16).toString('hex')
const response = await fetch(`${url}/p/${cid}/challenge`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ nonce }),
})
const answer = await response.json()
if (!response.ok) {
  console.error(`${answer.error}: ${answer.detail}`)
  process.exit(1)
}
const isHeld = showsPossession(pieceCid, nonce, answer)
console.log(isHeld ? `${answer.prover} holds ${pieceCid}` : `${answer.prover} has not shown that it holds ${pieceCid}`)
process.exit(isHeld ? 0 : 1)
