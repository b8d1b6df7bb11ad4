/**
 * Load process: GETs small objects over keep-alive connections, one path after the other. Stands in for wrk where
 * that is not installed; it costs several times more per request, so it may be the limit itself.
 *
 * Argument: {@link SmallGetInput} as JSON. Prints {@link LoadResult} as JSON.
 */
import { loadConnections } from './connections.ts'

export interface SmallGetInput {
  port: number
  paths: string[]
  connections: number
  seconds: number
}

const { port, paths, connections, seconds }: SmallGetInput = JSON.parse(process.argv[2] ?? '')
const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`))
let next = 0
const openConnection = () => () => requests[next++ % requests.length]
console.log(JSON.stringify(await loadConnections({ port, connections, seconds, openConnection })))
