import { parentPort } from 'node:worker_threads'
import { serveHashing } from '../../hashing/serve-hashing.ts'
import { readFile } from './read-file.ts'
import { digest, sha256 } from './sha256.ts'

if (parentPort === null) throw new TypeError('this file is the far side of a worker')
const port = parentPort
port.on(
  'message',
  serveHashing({ sha256, digest, readFile }, (reply) => port.postMessage(reply)),
)
