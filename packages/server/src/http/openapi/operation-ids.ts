/**
 * Names operations, each once. Generators make functions of these names.
 *
 * A route names its operation (`operationId`). A route without a name gets one from its method and path. If a route has several methods, or
 * several paths share a name, the others start with their method.
 *
 * @example
 * const nameOf = operationNames()
 * nameOf('get', '/p/{cid}', 'getContent') // 'getContent'
 * nameOf('head', '/p/{cid}', 'getContent') // 'headContent'
 * nameOf('put', '/api/things/{id}') // 'putApiThingsById'
 */
export function operationNames(): (method: string, path: string, given?: string) => string {
  const taken = new Set<string>()
  return (method, path, given) => {
    const ofPath = method + pascalCase(path.replace(/\{(\w+)\}/g, 'by-$1'))
    const ofMethod = given === undefined ? [] : [method + pascalCase(given.replace(/^get(?=[A-Z])/, ''))]
    const candidates = [...(given === undefined || method === 'head' ? [] : [given]), ...ofMethod, ofPath]
    const name = candidates.find((candidate) => !taken.has(candidate)) ?? `${ofPath}${taken.size}`
    taken.add(name)
    return name
  }
}

/** @example pascalCase('/api/piece-cids') // 'ApiPieceCids' */
export function pascalCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}
