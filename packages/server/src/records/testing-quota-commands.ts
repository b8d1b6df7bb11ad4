import fc from 'fast-check'
import type { ContentView } from './record-store.ts'

/** The quotas that calls are made under. */
export const CAPS = [500, 1_000, 1_500, 2 ** 40 + 1_000, Number.MAX_SAFE_INTEGER]

/** How many files a day those calls allow. */
export const FILE_CAPS = [0, 1, 2, 4, 1_000]

/** How many bytes those calls allow to be stored at a time; mostly no limit. */
export const STORED_CAPS = [undefined, 500, 1_000, 2_000, 2 ** 40 + 1_000] as const

/** By which token of the user those calls are, with its own quota of a day; mostly by none. */
export const TOKENS = [undefined, { id: 'small', capBytes: 700 }, { id: 'big', capBytes: 2 ** 40 + 1_000 }] as const

/** Bytes, and the name that they are staged under. */
interface Content {
  /** Which bytes. */
  readonly bytes: number
  readonly named: 'sha256' | 'opaque' | 'piece' | 'piece-v1' | 'dag-pb' | 'block'
  /** How they answer to the key, where that has to be learned. */
  readonly view?: ContentView
}

/** What is staged under which key. */
export const CONTENTS: readonly Content[] = [
  { bytes: 0, named: 'sha256' },
  { bytes: 1, named: 'sha256' },
  { bytes: 2, named: 'sha256' },
  { bytes: 3, named: 'sha256' },
  // One opaque key.
  { bytes: 4, named: 'opaque' },
  { bytes: 5, named: 'opaque' },
  // One name, which these bytes have each in its own way; the first of them also by their digest.
  { bytes: 1, named: 'dag-pb', view: 'bytes' },
  { bytes: 6, named: 'dag-pb', view: 'unixfs' },
  // One version 1 key.
  { bytes: 9, named: 'piece-v1' },
  { bytes: 10, named: 'piece-v1' },
  { bytes: 10, named: 'piece' },
  { bytes: 0, named: 'block' },
  // What the second and the third make up.
  { bytes: 7, named: 'piece' },
  { bytes: 7, named: 'sha256' },
  // What the second makes up with the third between two of it.
  { bytes: 8, named: 'piece' },
  { bytes: 8, named: 'sha256' },
  // The directories of folders.
  { bytes: 11, named: 'sha256' },
  { bytes: 12, named: 'sha256' },
  { bytes: 13, named: 'sha256' },
]
const PARTS = [1, 2]
/** What is composed, of what. */
export const COMPOSITIONS = [
  { whole: 12, parts: PARTS },
  { whole: 14, parts: [1, 2, 1] },
]
/** Folders, and what is in them; the last shares the directories of the first. */
export const FOLDERS = [
  { folder: 16, members: [1, 2] },
  { folder: 17, members: [0, 1] },
  { folder: 18, members: [2, 16] },
]

/** One call, before it is known of what. */
export type Step =
  | {
      readonly do: 'reserve'
      readonly storedCap: number
      readonly grows: boolean
      readonly token: number
      readonly user: number
      readonly content: number
      readonly cap: number
      readonly fileCap: number
      readonly on: number
    }
  | {
      readonly do: 'claim'
      readonly storedCap: number
      readonly token: number
      /** Whose file it is; the other user claims it. */
      readonly user: number
      readonly content: number
      readonly cap: number
      readonly fileCap: number
      readonly isShort: boolean
    }
  | { readonly do: 'grow'; readonly pick: number; readonly quarters: number; readonly isAhead: boolean }
  | { readonly do: 'commit'; readonly pick: number; readonly isShort: boolean }
  | {
      readonly do: 'commit at once'
      readonly storedCap: number
      readonly token: number
      readonly user: number
      readonly content: number
      readonly cap: number
      readonly fileCap: number
      readonly isShort: boolean
    }
  | {
      readonly do: 'compose'
      readonly storedCap: number
      readonly token: number
      readonly user: number
      readonly composition: number
      readonly cap: number
      readonly fileCap: number
      readonly isRead: boolean
      readonly isShort: boolean
    }
  | {
      readonly do: 'make folder'
      readonly storedCap: number
      readonly token: number
      readonly user: number
      readonly folder: number
      readonly takes: boolean
      readonly cap: number
      readonly fileCap: number
      readonly isShort: boolean
    }
  | { readonly do: 'release'; readonly pick: number }
  | { readonly do: 'lapse' | 'deregister'; readonly on: number }
  | { readonly do: 'remove'; readonly user: number; readonly content: number }
  | { readonly do: 'sweep' }

/** One call, two at once, or midnight. */
export type Command =
  | Step
  | { readonly do: 'next day' }
  | { readonly do: 'both'; readonly steps: readonly [Step, Step] }

const user = fc.integer({ min: 0, max: 1 })
const on = fc.integer({ min: 0, max: 1 })
const content = fc.integer({ min: 0, max: CONTENTS.length - 1 })
const cap = fc.integer({ min: 0, max: CAPS.length - 1 })
/** Mostly no limit, so that the bytes are the limit more often than not. */
const fileCap = fc.oneof(fc.constant(FILE_CAPS.length - 1), fc.integer({ min: 0, max: FILE_CAPS.length - 1 }))
const mostlyFirst = (count: number) =>
  fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, { arbitrary: fc.nat({ max: count - 1 }), weight: 1 })
const storedCap = mostlyFirst(STORED_CAPS.length)
const token = mostlyFirst(TOKENS.length)
const pick = fc.nat({ max: 60 })
const is = <Name extends string>(name: Name) => fc.constant(name)

const reserve = fc.record({ do: is('reserve'), storedCap, token, user, content, cap, fileCap, grows: fc.boolean(), on })
const grow = fc.record({ do: is('grow'), pick, quarters: fc.integer({ min: 1, max: 5 }), isAhead: fc.boolean() })
const commit = fc.record({ do: is('commit'), pick, isShort: fc.boolean() })
const atOnce = fc.record({
  do: is('commit at once'),
  storedCap,
  token,
  user,
  content,
  cap,
  fileCap,
  isShort: fc.boolean(),
})
/** Without these the parts of a file are rarely all there. */
const part = fc.record({
  do: is('commit at once'),
  storedCap: fc.constant(0),
  token,
  user,
  content: fc.constantFrom(...PARTS),
  cap: fc.constant(CAPS.length - 1),
  fileCap: fc.constant(FILE_CAPS.length - 1),
  isShort: fc.boolean(),
})
const compose = fc.record({
  do: is('compose'),
  storedCap,
  token,
  user,
  composition: fc.integer({ min: 0, max: COMPOSITIONS.length - 1 }),
  cap,
  fileCap,
  isRead: fc.boolean(),
  isShort: fc.boolean(),
})
const claim = fc.record({
  do: is('claim'),
  storedCap,
  token,
  user,
  content,
  cap,
  fileCap,
  isShort: fc.boolean(),
})
const makeFolder = fc.record({
  do: is('make folder'),
  storedCap: fc.nat({ max: STORED_CAPS.length - 1 }),
  token,
  user,
  folder: fc.integer({ min: 0, max: FOLDERS.length - 1 }),
  takes: fc.boolean(),
  cap,
  fileCap,
  isShort: fc.boolean(),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: reserve, weight: 6 },
  { arbitrary: grow, weight: 4 },
  { arbitrary: commit, weight: 5 },
  { arbitrary: atOnce, weight: 4 },
  { arbitrary: part, weight: 4 },
  { arbitrary: compose, weight: 3 },
  { arbitrary: claim, weight: 3 },
  { arbitrary: makeFolder, weight: 4 },
  { arbitrary: fc.record({ do: is('release'), pick }), weight: 2 },
  { arbitrary: fc.record({ do: fc.constantFrom('lapse', 'deregister'), on }), weight: 1 },
  { arbitrary: fc.record({ do: is('remove'), user, content }), weight: 2 },
  { arbitrary: fc.record({ do: is('sweep') }), weight: 1 },
)
export const command: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: step, weight: 12 },
  { arbitrary: fc.record({ do: is('next day') }), weight: 1 },
  { arbitrary: fc.record({ do: is('both'), steps: fc.tuple(step, step) }), weight: 4 },
)
