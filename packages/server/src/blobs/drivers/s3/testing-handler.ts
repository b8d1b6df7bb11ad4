import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'

/** What sends the requests of stores under test, watched and made to fail. */
export interface WatchedHandler {
  /** A handler for one store, which closes it. All of them are watched together. */
  handler(): NonNullable<S3ClientConfig['requestHandler']>
  /** Answers whose bodies are neither read to their end nor given up. */
  openBodies(): number
  /** Requests that have been sent and not been answered. */
  openRequests(): number
  /** Makes the next request end as if its connection were cut. */
  cutNext(): void
}

/**
 * The SDK's own handler for Node, behind a watch.
 *
 * @param options.silenceMs - how long a connection may stand still. A fake answers at once; a real store may be busy. @default 2_000
 */
export function watchedHandler({ silenceMs = 2_000 } = {}): WatchedHandler {
  const bodies = new Set<unknown>()
  let requests = 0
  let cuts = 0
  return {
    openBodies: () => bodies.size,
    openRequests: () => requests,
    cutNext() {
      cuts += 1
    },
    handler() {
      const { requestHandler } = new S3Client({ region: 'none', requestHandler: { socketTimeout: silenceMs } }).config
      return {
        ...requestHandler,
        destroy: () => requestHandler.destroy?.(),
        updateHttpClientConfig: () => {},
        httpHandlerConfigs: () => ({}),
        async handle(...call: Parameters<typeof requestHandler.handle>) {
          if (cuts > 0) {
            cuts -= 1
            throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
          }
          requests += 1
          const result = await requestHandler.handle(...call).finally(() => {
            requests -= 1
          })
          const { body } = result.response
          bodies.add(body)
          body.once('close', () => bodies.delete(body))
          return result
        },
      }
    },
  }
}
