import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLadeClient, walletOf } from './client.ts'
import { createClient } from './create-client.ts'
import { FAKE_TOKEN, type FakeService, startFakeService } from './testing/fake-service.ts'
import { unixfsV1Cid } from './testing/importer.ts'
import { noise } from './testing/noise.ts'
import { type OwnService, startOwnService } from './testing/own-service.ts'
import { findChromium, runInChromium } from './testing/run-in-chromium.ts'
import type { SuiteResult } from './testing/run-suite.ts'
import { SUITE, SUITE_SIZES, type SuiteFixture } from './testing/suite.ts'

const TIMEOUT_MS = 180_000

/** A fixture of its own for each runtime: what one has staged is found by nobody else. */
async function openFixture(isBrowser: boolean) {
  const service: OwnService = await startOwnService({ LADE_TOKEN_DAILY_MB: '4096' })
  const fake: FakeService = await startFakeService()
  const cids = Object.fromEntries(
    await Promise.all(SUITE_SIZES.map(async (size) => [size, await unixfsV1Cid(noise(size))] as const)),
  )
  const given = { url: service.url, token: await service.token(), fakeUrl: fake.url, fakeToken: FAKE_TOKEN, cids }
  return {
    given: { ...given, isBrowser },
    async close() {
      await fake.close()
      await service.remove()
    },
  }
}

describe('the client in Node', () => {
  let fixture: SuiteFixture
  let close: () => Promise<void>
  beforeAll(async () => {
    const opened = await openFixture(false)
    fixture = { ...opened.given, createLadeClient, createClient, walletOf }
    close = opened.close
  }, TIMEOUT_MS)
  afterAll(() => close())

  it.each(SUITE)('$title', ({ run }) => run(fixture), TIMEOUT_MS)
})

const chromium = findChromium()
const options = { meta: { skippedBecause: 'Chromium is not installed (package chromium)' } }

describe.skipIf(chromium === undefined && process.env.CI === undefined)('the client in a browser', options, () => {
  let results: readonly SuiteResult[]
  beforeAll(async () => {
    if (chromium === undefined) throw new Error('Install Chromium: the client has to be tested in a browser.')
    const { given, close } = await openFixture(true)
    try {
      results = await runInChromium(chromium, given)
    } finally {
      await close()
    }
  }, TIMEOUT_MS)

  it.each(SUITE)('$title', ({ title }) => {
    expect(results.find((result) => result.title === title)).toEqual({ title })
  })
})
