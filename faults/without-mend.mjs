import { registerHooks } from 'node:module'

/**
 * Loaded before a service by `NODE_OPTIONS=--import`, this makes it open its records as if nothing had ever failed. Only for the control
 * that shows that the tests of a failing disk would see the loss.
 */
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/sqlite/open-durable.ts')) return next(url, context)
    const source = `
      import { rmSync } from 'node:fs'
      import { openConnection } from './connection.ts'
      export function openDurable(file) {
        rmSync(file + '-failed', { force: true })
        return openConnection(file)
      }`
    return { format: 'module', shortCircuit: true, source }
  },
})
