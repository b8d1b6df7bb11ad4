/** Instructions of WebAssembly as their bytes; code is such pieces one behind the other. */
export type Code = readonly number[]

/** A function that takes 32-bit integers and answers nothing; it is exported under its name. */
export interface WasmFunction {
  readonly name: string
  readonly parameterCount: number
  readonly body: Code
}

export const localGet = (index: number): Code => [0x20, ...unsigned(index)]
export const localSet = (index: number): Code => [0x21, ...unsigned(index)]
export const localTee = (index: number): Code => [0x22, ...unsigned(index)]

export const i32Const = (value: number): Code => [0x41, ...signed(value)]
export const i32Add: Code = [0x6a]
export const i32And: Code = [0x71]
export const i32LessUnsigned: Code = [0x49]
export const i32Load = (offsetBytes: number): Code => [0x28, UNALIGNED, ...unsigned(offsetBytes)]
export const i32Store = (offsetBytes: number): Code => [0x36, UNALIGNED, ...unsigned(offsetBytes)]

export const v128Const = (bytes: readonly number[]): Code => [0xfd, 0x0c, ...bytes]
export const v128And: Code = [0xfd, 0x4e]
export const v128Or: Code = [0xfd, 0x50]
export const v128Load = (offsetBytes: number): Code => [0xfd, 0x00, UNALIGNED, ...unsigned(offsetBytes)]
export const v128Store = (offsetBytes: number): Code => [0xfd, 0x0b, UNALIGNED, ...unsigned(offsetBytes)]
/** Shift both 64-bit halves of a vector by one number of bits. */
export const i64x2ShiftLeft: Code = [0xfd, 0xcb, 0x01]
export const i64x2ShiftRightUnsigned: Code = [0xfd, 0xcd, 0x01]

/** Runs `body` until it leaves 0 on the stack. */
export const doWhile = (body: Code): Code => [0x03, NO_RESULT, ...body, 0x0d, 0x00, END]

/** Loads and stores promise nothing about the address. */
const UNALIGNED = 0
const NO_RESULT = 0x40
const END = 0x0b
const I32 = 0x7f
const FUNCTION_TYPE = 0x60
const EXPORTED_FUNCTION = 0x00
const EXPORTED_MEMORY = 0x02
const HAS_MAXIMUM = 0x01
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]

/**
 * A WebAssembly module of these functions, and of a memory that never grows, exported as `memory`.
 *
 * @param memoryPages - of 65,536 bytes.
 * @see https://webassembly.github.io/spec/core/binary/index.html
 */
export function assembleModule(memoryPages: number, functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameterCount }) => [FUNCTION_TYPE, ...list(Array(parameterCount).fill([I32])), 0])
  const memory = [HAS_MAXIMUM, ...unsigned(memoryPages), ...unsigned(memoryPages)]
  const exported = functions.map(({ name }, index) => [...text(name), EXPORTED_FUNCTION, ...unsigned(index)])
  const bodies = functions.map(({ body }) => sized([0, ...body, END]))
  return Uint8Array.from([
    ...HEADER,
    ...section(1, list(types)),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(5, list([memory])),
    ...section(7, list([[...text('memory'), EXPORTED_MEMORY, 0], ...exported])),
    ...section(10, list(bodies)),
  ])
}

function section(id: number, content: Code): Code {
  return [id, ...sized(content)]
}

function list(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()]
}

function sized(bytes: Code): Code {
  return [...unsigned(bytes.length), ...bytes]
}

function text(name: string): Code {
  return sized([...Buffer.from(name)])
}

/** LEB128 without a sign. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** LEB128 with a sign, which is the second highest bit of the last byte. */
function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)]
}
