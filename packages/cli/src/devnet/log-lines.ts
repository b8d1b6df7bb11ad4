import { printable } from '../output/printable.ts'

const WARNING = 40

interface LogLine {
  readonly level?: number
  readonly msg?: string
  readonly method?: string
  readonly path?: string
  readonly status?: number
  readonly durationMs?: number
  readonly reason?: string
  readonly err?: { readonly message?: string }
}

/**
 * What of a line that a part logged is worth showing: requests that changed something, warnings, and worse. Undefined for the rest.
 *
 * @example
 * shownLogLine('{"level":30,"msg":"request","method":"POST","path":"/api/upload","status":200,"durationMs":12}')
 * // 'POST /api/upload 200, 12 ms'
 */
export function shownLogLine(line: string): string | undefined {
  const logged = tryParse(line)
  // Something that is no log: a complaint of the runtime, for example.
  if (logged === undefined) return line.trim() === '' ? undefined : printable(line)
  const { level = 0, msg = '', method, path, status, durationMs, reason, err } = logged
  if (msg === 'request' && method !== undefined) {
    return printable(`${method} ${path} ${status}, ${Math.round(durationMs ?? 0)} ms`)
  }
  if (level < WARNING) return undefined
  const why = reason ?? err?.message
  return printable(why === undefined ? msg : `${msg}: ${why}`)
}

function tryParse(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
