/**
 * Stops with one sentence when the running Node.js is older than the one Lade is written for.
 *
 * Why: on Node 20 the SQLite addon ends the process without a message and TypeScript files do not run, so a
 * missing `node-linux-*` package would otherwise show up as something else entirely.
 *
 * Plain JavaScript, since the versions it refuses cannot run TypeScript.
 */
const required = 24
const major = Number(process.versions.node.split('.')[0])
if (major < required) {
  console.error(
    `Lade needs Node.js ${required} or newer; this is ${process.versions.node}. Run "npm ci" first, or install Node.js ${required}.`,
  )
  process.exit(1)
}
