import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { LeftOutReporter } from './tools/tests/left-out-reporter.ts'
import { LONG_TESTS } from './tools/tests/long-tests.ts'
import { MEASURING_TESTS } from './tools/tests/measuring-tests.ts'

/** Where `.ci/run` wants the counts of the tests, as JSON; nothing else sets it. */
const reportPath = process.env.LADE_TEST_REPORT

// Node then keeps the JavaScript of what it strips types from. Without it every thread of every test strips them anew, in WebAssembly,
// which takes longer, and which Node 24.21 now and then does not survive when many threads come and go.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url))

/** How many times as long things may take before they count as hung: in CI nobody waits for the result, and the host may be busy. */
const PATIENCE = process.env.CI === undefined ? 1 : 2

/** Tests that need servers, and take their time; `npm run test:services` runs them, and `npm test` does without. */
const ON_SERVICES = '**/*.services.test.ts'

const services: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'services',
    include: [`{packages/*/src,services,deploy,faults}/${ON_SERVICES}`],
    // A fleet keeps both processors busy.
    fileParallelism: false,
    testTimeout: 7_200_000,
    hookTimeout: 180_000,
  },
}

/** Files of these projects share the modules of their worker: loading them for every file takes a third of the processor time of all. */
const sharesModules = { isolate: false } as const

/** Tests of packed and installed packages, which take long to install; `npm run test:packages` runs them. */
const packages: TestProjectConfiguration = {
  extends: true,
  test: { name: 'packages', include: ['installed/*.packages.test.ts'], globalSetup: ['installed/toolbox.ts'] },
}

/**
 * Eight projects. `npm test` runs four: `unit` (beside the code), `measuring` (unit tests that measure their own process), `acceptance`
 * (HTTP only, against any base URL) and `examples` (each one run as its reader would). `npm run test:long` runs `long` (unit tests that take long) and `faults` (processes killed, sockets cut, disks failing).
 * `services` needs a real S3 store, nginx and several instances. `packages` installs what is published. `LADE_TEST_PLAN=full` raises the counts of
 * `faults` and `services`.
 */
export default defineConfig({
  test: {
    testTimeout: 60_000 * PATIENCE,
    hookTimeout: 60_000 * PATIENCE,
    // What comes about a second later on a machine that does something else as well has come about.
    expect: { poll: { timeout: 20_000 * PATIENCE } },
    // Tests wait for a disk, a socket or a process half of the time, so that four keep two processors busy.
    maxWorkers: 4,
    reporters:
      reportPath === undefined
        ? ['default', new LeftOutReporter()]
        : ['default', new LeftOutReporter(), ['json', { outputFile: reportPath }]],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          ...sharesModules,
          include: ['{packages/*/src,tools,services,deploy,bench}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ON_SERVICES, ...LONG_TESTS, ...MEASURING_TESTS],
        },
      },
      { extends: true, test: { name: 'measuring', include: [...MEASURING_TESTS] } },
      { extends: true, test: { name: 'long', include: [...LONG_TESTS] } },
      {
        extends: true,
        test: {
          name: 'acceptance',
          ...sharesModules,
          include: ['acceptance/**/*.test.ts'],
          globalSetup: ['services/stack-setup.ts', 'acceptance/shared-servers.ts'],
          // Three instances, a database and a store take longer to begin, and to be asked.
          ...(process.env.LADE_TEST_STACK === undefined ? {} : { testTimeout: 120_000, hookTimeout: 120_000 }),
        },
      },
      {
        extends: true,
        test: {
          name: 'examples',
          ...sharesModules,
          include: ['examples/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...LONG_TESTS],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['faults/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ON_SERVICES],
          // After all others; the whole plan has the machine to itself.
          sequence: { groupOrder: 1 },
          maxWorkers: process.env.LADE_TEST_PLAN === 'full' ? 1 : 2,
          testTimeout: 3_600_000,
        },
      },
      ...(process.env.LADE_SERVICES === undefined ? [] : [services]),
      ...(process.env.LADE_TEST_PACKAGES === undefined ? [] : [packages]),
    ],
  },
})
