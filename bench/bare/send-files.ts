/**
 * Bare server: sends the files of a folder with `createReadStream().pipe`. The baseline of downloads where nginx is
 * not installed.
 *
 * Argument: `{"dir": "…"}`. Prints its address.
 */
import { createReadStream, statSync } from 'node:fs'
import { serveOnLoopback } from './serve-bare.ts'

const { dir }: { dir: string } = JSON.parse(process.argv[2] ?? '')
serveOnLoopback((request, response) => {
  const path = `${dir}${request.url}`
  response.setHeader('Content-Length', statSync(path).size)
  createReadStream(path).pipe(response)
})
