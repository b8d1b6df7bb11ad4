import type { FastifyInstance } from 'fastify'

/** A square of 32 by 32 points, as PNG. Browsers ask for one with the first page or file that they open. */
const ICON = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAgMAAAAOFJJnAAAACVBMVEUAAAAfTnn///+AqXaiAAAAAXRSTlMAQObYZgAAADlJREFU' +
    'eNpjYBANBYIQBgbGUDBwYGCFMAIgMiA5OCMUCpAZWVMHlLFq1SpCDHQ3Y/oL7mV4IMCCBQCrgVmhaguoyAAAAABJRU5ErkJggg==',
  'base64',
)
const CACHE_SECONDS = 86_400

/** `/favicon.ico`. */
export function faviconRoute(app: FastifyInstance): void {
  app.get('/favicon.ico', { schema: { hide: true } }, async (_request, reply) => {
    reply.header('cache-control', `public, max-age=${CACHE_SECONDS}`)
    return reply.type('image/png').send(ICON)
  })
}
