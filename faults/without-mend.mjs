import { registerHooks } from 'node:module'

/** What takes the place of a module, or of a part of one. */
const WITHOUT_MEND = {
  // Opens the records as if nothing had ever failed.
  'sqlite/open-durable.ts': () => `
    import { rmSync } from 'node:fs'
    import { openConnection } from './connection.ts'
    export function openDurable(file) {
      rmSync(file + '-failed', { force: true })
      return openConnection(file)
    }`,
  // Takes the end of a log for what it seems to be.
  'sqlite/damaged-log.ts': () => `
    export const findDamagedLog = () => undefined
    export const refuseDamagedLog = () => {}
    export const describeDamagedLog = () => ''
    export const dropDamagedLog = () => undefined`,
  // Does not ask whether the records went back.
  'installation/join-installation.ts': (source) => {
    const without = source.replace('progress < objectsProgress', 'false')
    if (without === source) throw new TypeError('join-installation.ts compares the two sides in another way now')
    return without
  },
}

/**
 * Loaded before a service by `NODE_OPTIONS=--import`, this takes away what mends a failed fsync and what refuses to start after one that
 * was not mended. Only for the control that shows that the tests of a failing disk would see the loss.
 */
registerHooks({
  load(url, context, next) {
    const [, name = ''] = /([\w-]+\/[\w-]+\.ts)$/.exec(url) ?? []
    const change = WITHOUT_MEND[name]
    if (change === undefined) return next(url, context)
    const loaded = next(url, context)
    return { ...loaded, shortCircuit: true, source: change(String(loaded.source)) }
  },
})
