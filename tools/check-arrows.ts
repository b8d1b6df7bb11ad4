/**
 * Checks that imports run only the way that ARCHITECTURE.md draws its arrows.
 *
 * Nothing else keeps them. Without this check a use case reaches for a driver because it is one import away, and the
 * service can no longer be run on another store; core picks up `node:crypto`, and the SDK stops loading in browsers; two
 * use cases import each other, and neither can be read, tested or moved alone. Each of these works on the day it is
 * written, so no test fails, and taking it back costs more every week.
 *
 * Run it as `node tools/check-arrows.ts`. It prints one line for every broken arrow and ends with exit code 1.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix } from 'node:path'

/** Files that share their rules. The first zone of the table that holds a path is the path's zone. */
interface Zone {
  readonly name: string
  readonly holds: RegExp
  /** Zones that its files may import; its own is always among them. */
  readonly imports: readonly string[]
  /** Zones of which they may import types, by `import type`, and no values. */
  readonly typesOf?: readonly string[]
  /** True when its files may import no module of Node. */
  readonly portable?: true
  /** True when its tests keep its rules too. Elsewhere tests may import what they like. */
  readonly testsToo?: true
  /** Why, as the end of the sentence "this file imports that". */
  readonly why: string
}

const CORE = ['core/errors', 'core/time', 'core/piece', 'core/dag', 'core/content', 'core/wire']
const PORTS = ['blobs', 'records', 'proving', 'chain', 'mail'].map((folder) => `server/${folder}/port`)
const PORT_FOLDERS = ['blobs', 'records', 'proving', 'chain', 'mail'].map((folder) => `server/${folder}`)
const USE_CASES = [
  'uploads',
  'retrieval',
  'gateway',
  'lfs',
  'directories',
  'open-uploads',
  'tokens',
  'sessions',
  'wallets',
  'quotas',
  'admin',
  'moderation',
  'files',
  'deals',
  'placement',
  'onchain-deals',
  'pieces',
  'backup',
  'storage-move',
  'installation',
  'upkeep',
  'clock',
].map((folder) => `server/${folder}`)
/** What composition puts together: all of the server below it. */
const COMPOSED = [
  ...CORE,
  'server/quota-rule',
  'server/tracing',
  'node/budget',
  'node/hashing',
  'node/disk',
  'node/process',
  'node/settings',
  'server/config',
  'server/http',
  ...USE_CASES,
  ...PORTS,
  ...PORT_FOLDERS,
  ...PORT_FOLDERS.map((name) => `${name}/drivers`),
]
/** The rooms of composition, the lowest first: each imports those before it. */
const COMPOSITION: readonly Zone[] = [
  {
    name: 'server/wiring',
    holds: /^packages\/server\/src\/wiring\//,
    imports: [],
    why: 'wiring imports core and the server below it',
  },
  {
    name: 'server/migrate',
    holds: /^packages\/server\/src\/migrate\//,
    imports: ['server/wiring'],
    why: 'migrate imports wiring, core and the server below it',
  },
  {
    name: 'server/doctor',
    holds: /^packages\/server\/src\/doctor\//,
    imports: ['server/wiring', 'server/migrate'],
    why: 'doctor imports migrate, wiring, core and the server below it',
  },
  {
    name: 'server/main',
    holds: /^packages\/server\/src\/main\.ts$/,
    imports: ['server/wiring'],
    why: 'main.ts imports wiring, core and the server below it',
  },
]
const PUBLISHED = [
  ...CORE,
  'contracts',
  'client',
  'prover',
  ...COMPOSITION.map(({ name }) => name),
  'node/budget',
  'node/hashing',
  'node/disk',
  'node/memory',
  'node/process',
  'node/settings',
  'server/config',
  'server/http',
  ...USE_CASES,
  ...PORT_FOLDERS,
  ...PORTS,
]

/** A port, its drivers and wrappers, and what else lives in its folder, such as the one verified door. */
function portZones(folder: string, port: string): Zone[] {
  const name = `server/${folder}`
  const path = `^packages/server/src/${folder}`
  return [
    {
      name: `${name}/port`,
      holds: new RegExp(`${path}/${port}\\.ts$`),
      imports: [...CORE, 'server/quota-rule'],
      typesOf: [name],
      why: 'a port imports core, and types of its own folder',
    },
    {
      name: `${name}/drivers`,
      holds: new RegExp(`${path}/(?:drivers|wrappers)/`),
      imports: [...CORE, 'node/hashing', 'node/memory', 'server/quota-rule', 'contracts', name],
      typesOf: [`${name}/port`],
      why: 'a driver imports the folder of its port, hashing, memory, contracts and core, and the port itself by `import type`',
    },
    {
      name,
      holds: new RegExp(`${path}/`),
      imports: [...CORE, 'node/budget', 'node/hashing', 'node/memory', 'server/quota-rule', `${name}/port`],
      why: 'the folder of a port imports the port, hashing, memory, budget and core',
    },
  ]
}

const ZONES: readonly Zone[] = [
  {
    name: 'core/errors',
    holds: /^packages\/core\/src\/errors\//,
    imports: [],
    portable: true,
    why: 'errors imports nothing',
  },
  {
    name: 'core/time',
    holds: /^packages\/core\/src\/time\//,
    imports: [],
    portable: true,
    why: 'time imports nothing',
  },
  {
    name: 'core/content',
    holds: /^packages\/core\/src\/content\//,
    imports: ['core/errors', 'core/piece', 'core/dag'],
    portable: true,
    why: 'content imports errors, piece and dag only',
  },
  {
    name: 'core/piece',
    holds: /^packages\/core\/src\/piece\//,
    imports: ['core/errors'],
    portable: true,
    why: 'piece imports errors only',
  },
  {
    name: 'core/dag',
    holds: /^packages\/core\/src\/dag\//,
    imports: ['core/errors'],
    portable: true,
    why: 'dag imports errors only',
  },
  {
    name: 'core/wire',
    holds: /^packages\/core\/src\/wire\//,
    imports: ['core/errors', 'core/content'],
    portable: true,
    why: 'wire imports errors and content only',
  },
  ...portZones('blobs', 'blob-store'),
  ...portZones('records', 'record-store'),
  ...portZones('proving', 'prover'),
  ...portZones('chain', 'chain'),
  ...portZones('mail', 'mailer'),
  {
    name: 'node/budget',
    holds: /^packages\/node\/src\/budget\//,
    imports: ['core/errors', 'core/time', 'core/wire'],
    why: 'budget imports errors, time and limits of core',
  },
  {
    name: 'node/hashing',
    holds: /^packages\/node\/src\/hashing\//,
    imports: [...CORE, 'node/budget', 'node/memory', 'node/addon'],
    why: 'hashing imports core, budget, memory and the addon only',
  },
  {
    name: 'node/native',
    holds: /^packages\/node\/native\//,
    imports: [],
    why: 'the addon is built by what Node brings',
  },
  {
    name: 'node/addon',
    holds: /^packages\/node\/src\/addon\//,
    imports: [],
    why: 'what loads the addon imports nothing',
  },
  {
    name: 'node/memory',
    holds: /^packages\/node\/src\/memory\//,
    imports: ['node/addon'],
    why: 'memory imports the addon only',
  },
  { name: 'node/process', holds: /^packages\/node\/src\/process\//, imports: [], why: 'process imports nothing' },
  { name: 'node/settings', holds: /^packages\/node\/src\/settings\//, imports: [], why: 'settings imports nothing' },
  { name: 'node/disk', holds: /^packages\/node\/src\/disk\//, imports: CORE, why: 'disk imports core only' },
  {
    name: 'server/tracing',
    holds: /^packages\/server\/src\/tracing\//,
    imports: CORE,
    why: 'tracing imports core only',
  },
  {
    name: 'server/quota-rule',
    holds: /^packages\/server\/src\/quota-rule\//,
    imports: CORE,
    why: 'quota-rule imports core only',
  },
  {
    name: 'built',
    holds: /^packages\/\w+\/dist\//,
    imports: [],
    why: 'what is built imports nothing of the sources',
  },
  {
    name: 'launchers',
    holds: /^packages\/\w+\/bin\//,
    imports: ['built'],
    why: 'the command of a published package runs what is built',
  },
  {
    name: 'server/key-material',
    holds: /^packages\/server\/src\/key-material\//,
    imports: CORE,
    why: 'key-material imports core only',
  },
  {
    name: 'server/config',
    holds: /^packages\/server\/src\/config\//,
    imports: [...CORE, 'node/settings', 'server/key-material', 'contracts'],
    why: 'config imports core, node/settings, key-material and contracts',
  },
  ...USE_CASES.map((name) => ({
    name,
    holds: new RegExp(`^packages/${name.replace('/', '/src/')}/`),
    imports: [
      ...CORE,
      'node/budget',
      'node/hashing',
      'node/disk',
      'server/key-material',
      'server/quota-rule',
      ...PORTS,
      ...PORT_FOLDERS,
      ...USE_CASES,
    ],
    why: 'a use case imports ports, hashing, budget, core and other use cases, and is handed the rest',
  })),
  {
    name: 'server/http',
    holds: /^packages\/server\/src\/http\//,
    imports: [...CORE, 'node/budget', 'node/hashing', 'server/tracing', ...USE_CASES],
    typesOf: ['server/config', ...PORTS, ...PORT_FOLDERS],
    why: 'http imports use cases, hashing, budget and core, and types of config and of the ports',
  },
  ...COMPOSITION.map(({ name, holds, imports, why }) => ({ name, holds, imports: [...COMPOSED, ...imports], why })),
  {
    name: 'server/testing/doubles',
    holds: /^packages\/server\/src\/testing\/doubles\//,
    imports: [...CORE, ...PORTS, 'server/blobs/drivers'],
    testsToo: true,
    why: 'a test double imports ports, the store in memory and core, and nothing that runs on them',
  },
  {
    name: 'server/testing/running',
    holds: /^packages\/server\/src\/testing\/running\//,
    imports: PUBLISHED,
    why: 'what runs a service for tests imports what it likes',
  },
  { name: 'client', holds: /^packages\/client\/src\//, imports: CORE, why: 'client imports core only' },
  {
    name: 'cli',
    holds: /^packages\/cli\/src\//,
    imports: PUBLISHED,
    why: 'cli imports core, client and the entry points of server',
  },
  {
    name: 'prover',
    holds: /^packages\/prover\/src\//,
    imports: [...CORE, 'node/hashing', 'node/disk', 'node/process', 'node/settings', 'contracts'],
    why: 'prover imports core, node and contracts',
  },
  {
    name: 'contracts',
    holds: /^packages\/contracts\//,
    imports: CORE,
    why: 'contracts imports core only',
  },
  {
    name: 'console',
    holds: /^packages\/console\/src\//,
    imports: [...CORE, 'client'],
    why: 'console imports client and core',
  },
  {
    name: 'acceptance',
    holds: /^acceptance\//,
    imports: ['services'],
    testsToo: true,
    why: 'acceptance knows HTTP, a base URL and what starts services, and no source of theirs',
  },
  {
    name: 'bench',
    holds: /^bench\//,
    imports: ['node/hashing', 'server/config', 'server/main', 'server/wiring', 'services'],
    testsToo: true,
    why: 'bench starts a service by its entry points, and measures it, hashing and the records from outside',
  },
  {
    name: 'services',
    holds: /^services\//,
    imports: PUBLISHED,
    why: 'what starts services for tests imports the entry points of packages',
  },
  {
    name: 'faults',
    holds: /^faults\//,
    imports: [...PUBLISHED, 'services'],
    why: 'faults imports the entry points of packages, and services',
  },
  {
    name: 'deploy',
    holds: /^deploy\//,
    imports: [...PUBLISHED, 'services', 'faults'],
    why: 'deploy is held against the code by its entry points',
  },
  { name: 'tools', holds: /^tools\//, imports: PUBLISHED, why: 'tools imports the entry points of packages' },
  {
    name: 'examples',
    holds: /^examples\//,
    imports: [...CORE, 'client'],
    why: 'an example imports what its reader can install',
  },
]

const ROOTS = ['packages', 'acceptance', 'bench', 'deploy', 'faults', 'services', 'tools', 'examples']
/** Folders of what others wrote, or a build did. */
const GENERATED = ['node_modules', 'dist']
const SOURCE = /\.(?:ts|tsx|mts|js|mjs)$/
/** Tests, conformance suites, what they are made of, and test doubles. */
const FOR_TESTS =
  /(?:\.(?:test|test-d)\.ts|\/(?:conformance|testing|testing-[^/]+|[^/]+-testing|fake-[^/]+)\.ts|\/(?:conformance|testing)\/.*)$/

/** One import of a file, as written. */
export interface Import {
  readonly specifier: string
  readonly line: number
  readonly typeOnly: boolean
}

/** What the check found; `broken` has one line for each broken arrow, in the order of paths. */
export interface ArrowReport {
  readonly broken: readonly string[]
  readonly files: number
  readonly imports: number
}

/**
 * Finds the imports of a source text: `import`, `export … from` and `import()`, each with a literal specifier.
 *
 * A scan, not a parser: it knows comments and strings, and takes a statement to begin its line. `import { type A }` counts
 * as an import of values, since it leaves `import {}` behind at run time.
 */
export function importsOf(source: string): Import[] {
  const blank = (comment: string) => comment.replace(/[^\n]/g, ' ')
  const code = source.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (match, text: string | undefined) => text ?? blank(match),
  )
  const found: Import[] = []
  const collect = (pattern: RegExp, isTypeOnly: (statement: string) => boolean) => {
    for (const match of code.matchAll(pattern)) {
      const [statement, specifier = ''] = match
      const line = code.slice(0, match.index + statement.lastIndexOf(specifier)).split('\n').length
      found.push({ specifier, line, typeOnly: isTypeOnly(statement) })
    }
  }
  collect(/^(?:import|export)\b[^;'"`=()]*?\bfrom\s*['"]([^'"\n]+)['"]/gm, (statement) =>
    /^\w+\s+type\b/.test(statement),
  )
  collect(/^import\s*['"]([^'"\n]+)['"]/gm, () => false)
  collect(/(?:\btypeof\s+)?\bimport\(\s*['"]([^'"\n]+)['"]/g, (statement) => statement.startsWith('typeof'))
  return found.sort((a, b) => a.line - b.line)
}

/** Checks every source file of the repo at `root`. */
export function checkArrows(root: string): ArrowReport {
  const paths = ROOTS.flatMap((folder) => sourcesUnder(root, folder)).sort()
  const entryPoints = readEntryPoints(root)
  const broken: string[] = []
  const edges: UseCaseEdge[] = []
  const importsOfFile = new Map<string, string[]>()
  let imports = 0
  for (const path of paths) {
    for (const imported of importsOf(readFileSync(join(root, path), 'utf8'))) {
      imports += 1
      const line = `${path}:${imported.line} imports ${imported.specifier}`
      const reason = reasonAgainst(path, imported, entryPoints)
      if (reason !== undefined) broken.push(`${line}: ${reason}`)
      const target = targetOf(path, imported.specifier, entryPoints) ?? ''
      importsOfFile.set(path, [...(importsOfFile.get(path) ?? []), target])
      const from = zoneOf(path)?.name
      const to = zoneOf(target)?.name
      const isEdge = from !== undefined && to !== undefined && from !== to && !FOR_TESTS.test(path)
      if (isEdge && USE_CASES.includes(from) && USE_CASES.includes(to)) edges.push({ from, to, line })
    }
  }
  return { broken: [...broken, ...cyclesOf(edges), ...fileCirclesOf(importsOfFile)], files: paths.length, imports }
}

function reasonAgainst(path: string, imported: Import, entryPoints: EntryPoints): string | undefined {
  const { specifier, typeOnly } = imported
  const target = targetOf(path, specifier, entryPoints)
  if (specifier.startsWith('@lade/') && target === undefined) return 'it is no published entry point of that package'
  const crosses = target !== undefined && packageOf(target) !== packageOf(path)
  if (crosses && specifier.startsWith('.') && packageOf(target) !== undefined) {
    return 'another package is imported by its name, never by a path into it'
  }

  const zone = zoneOf(path)
  if (FOR_TESTS.test(path) && !zone?.testsToo) return undefined
  if (zone === undefined) return 'no rule covers this file; name its folder in the table of tools/check-arrows.ts'
  if (isBuiltin(specifier) && zone.portable) return 'core runs in any JavaScript runtime and imports no module of Node'
  if (target === undefined || !SOURCE.test(target)) return undefined
  if (FOR_TESTS.test(target) && !FOR_TESTS.test(path)) return 'only tests import what is written for tests'
  const targetZone = zoneOf(target)
  if (targetZone === undefined) return `no rule covers ${target}; name its folder in the table of tools/check-arrows.ts`
  if (targetZone.name === zone.name || zone.imports.includes(targetZone.name)) return undefined
  if (typeOnly && zone.typesOf?.includes(targetZone.name)) return undefined
  return zone.why
}

interface UseCaseEdge {
  readonly from: string
  readonly to: string
  readonly line: string
}

/** One line for every import between two use cases from whose target the importing folder can be reached again. */
function cyclesOf(edges: readonly UseCaseEdge[]): string[] {
  const reachableFrom = (start: string): Set<string> => {
    const reached = new Set<string>()
    const open = [start]
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (reached.has(name)) continue
      reached.add(name)
      open.push(...edges.filter(({ from }) => from === name).map(({ to }) => to))
    }
    return reached
  }
  return edges
    .filter(({ from, to }) => reachableFrom(to).has(from))
    .map(({ from, to, line }) => `${line}: ${to} leads back to ${from}, and use cases form no cycle`)
}

/** One line for every file that its own imports, of types too, lead back to. */
function fileCirclesOf(importsOfFile: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) {
      circles.push(`${[...way.slice(way.indexOf(path)), path].join(' imports ')}: files form no circle`)
      return
    }
    if (finished.has(path)) return
    for (const target of importsOfFile.get(path) ?? []) visit(target, [...way, path])
    finished.add(path)
  }
  for (const path of importsOfFile.keys()) visit(path, [])
  return circles
}

/** `@lade/core/errors` → `packages/core/src/errors/lade-error.ts`, for every package. */
type EntryPoints = ReadonlyMap<string, string>

function readEntryPoints(root: string): EntryPoints {
  const entryPoints = new Map<string, string>()
  for (const folder of readdirSync(join(root, 'packages'), { withFileTypes: true })) {
    if (!folder.isDirectory()) continue
    const path = `packages/${folder.name}`
    const about: { name: string; exports?: Record<string, string> } = JSON.parse(
      readFileSync(join(root, path, 'package.json'), 'utf8'),
    )
    for (const [subpath, file] of Object.entries(about.exports ?? {})) {
      entryPoints.set(posix.join(about.name, subpath), posix.join(path, file))
    }
  }
  return entryPoints
}

/** The path that a specifier means, from the root of the repo; undefined for modules that are not ours. */
function targetOf(path: string, specifier: string, entryPoints: EntryPoints): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : entryPoints.get(specifier)
}

function zoneOf(path: string): Zone | undefined {
  return ZONES.find(({ holds }) => holds.test(path))
}

function packageOf(path: string): string | undefined {
  return /^packages\/[^/]+/.exec(path)?.[0]
}

function sourcesUnder(root: string, folder: string): string[] {
  return entriesOf(join(root, folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return GENERATED.includes(entry.name) ? [] : sourcesUnder(root, path)
    return SOURCE.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : []
  })
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    // Not every folder of ROOTS has to be there.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

if (import.meta.main) {
  const { broken, files, imports } = checkArrows(dirname(import.meta.dirname))
  for (const line of broken) console.error(line)
  if (broken.length === 0) console.log(`${imports} imports in ${files} files run as the arrows of ARCHITECTURE.md say.`)
  else process.exitCode = 1
}
