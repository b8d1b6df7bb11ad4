import { connect } from 'node:net'

/** Sends bytes that no HTTP client would, and answers everything that came back until the service closed. */
export function rawRequest(url: string, bytes: string | Uint8Array, waitMs = 5000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    let received = ''
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(end, waitMs)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', end)
    socket.on('close', end)
    socket.write(bytes)
  })
}
