import {
  assembleModule,
  type Code,
  doWhile,
  i32Add,
  i32And,
  i32Const,
  i32LessUnsigned,
  i32Load,
  i32Store,
  i64x2ShiftLeft,
  i64x2ShiftRightUnsigned,
  localGet,
  localSet,
  localTee,
  v128And,
  v128Const,
  v128Load,
  v128Or,
  v128Store,
} from './wasm-assembly.ts'

/** Two loops of WebAssembly over a memory of their own. Addresses are byte offsets in that memory. */
export interface Fr32Kernel {
  /** All of the memory. It never grows, so views of it stay good. */
  readonly memory: Uint8Array<ArrayBuffer>
  /**
   * Spreads raw bytes over field elements: two zero bits follow every 254 bits, bits counted from the lowest of a byte.
   *
   * At least one quad: every 127 bytes up to `rawEnd` become 128 from `leavesAt` on. The two ranges do not overlap. The
   * {@link READ_AHEAD_BYTES} behind `rawEnd` are in the memory, and are read without any effect.
   *
   * @see https://spec.filecoin.io/#section-systems.filecoin_files.piece.data-representation
   */
  pad(rawAt: number, rawEnd: number, leavesAt: number): void
  /** Sets the top two bits of every node of 32 bytes to zero. At least one node. */
  truncate(nodesAt: number, nodesEnd: number): void
}

/** How far behind the raw bytes `pad` reads. */
export const READ_AHEAD_BYTES = 8

const PAGE_BYTES = 65_536
const QUAD_RAW_BYTES = 127
const QUAD_PADDED_BYTES = 128
const NODE_BYTES = 32
const VECTOR_BYTES = 16
const LEAF_BITS = 254

/** What is used of the WebAssembly namespace, which the types of Node.js do not declare. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

/** Compiles the kernel, with at least so much memory. */
export function createFr32Kernel(memoryBytes: number): Fr32Kernel {
  const bytes = assembleModule(Math.ceil(memoryBytes / PAGE_BYTES), [
    { name: 'pad', parameterCount: 3, body: padCode() },
    { name: 'truncate', parameterCount: 2, body: truncateCode() },
  ])
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes))
  const { memory, pad, truncate } = exports as Pick<Fr32Kernel, 'pad' | 'truncate'> & {
    memory: { buffer: ArrayBuffer }
  }
  return { memory: new Uint8Array(memory.buffer), pad, truncate }
}

function padCode(): Code {
  const [raw, rawEnd, leaves] = [0, 1, 2]
  const stores: Code = [0, 1, 2, 3].flatMap((leaf) =>
    [0, 1].flatMap((half) => [
      ...localGet(leaves),
      ...padded(raw, leaf, half),
      ...v128Store(NODE_BYTES * leaf + VECTOR_BYTES * half),
    ]),
  )
  return doWhile([
    ...stores,
    ...advance(leaves, QUAD_PADDED_BYTES),
    ...localSet(leaves),
    ...advance(raw, QUAD_RAW_BYTES),
    ...localTee(raw),
    ...localGet(rawEnd),
    ...i32LessUnsigned,
  ])
}

/**
 * One half of a leaf, as a vector of two 64-bit integers.
 *
 * Its bits begin inside a byte, for all leaves but the first. So each integer is one that begins in that byte, without the
 * bits below, and the same number of bits of the integer behind it. Vectors do that to both at once.
 */
function padded(raw: number, leaf: number, half: number): Code {
  const startBits = LEAF_BITS * leaf + 8 * VECTOR_BYTES * half
  const [startByte, shift] = [Math.floor(startBits / 8), startBits % 8]
  const begin: Code = [...localGet(raw), ...v128Load(startByte)]
  const behind: Code = [...localGet(raw), ...v128Load(startByte + 8)]
  const bits: Code =
    shift === 0
      ? begin
      : [
          ...[...begin, ...i32Const(shift), ...i64x2ShiftRightUnsigned],
          ...[...behind, ...i32Const(64 - shift), ...i64x2ShiftLeft],
          ...v128Or,
        ]
  return half === 0 ? bits : [...bits, ...v128Const([...Array(15).fill(0xff), 0x3f]), ...v128And]
}

function truncateCode(): Code {
  const [node, nodesEnd] = [0, 1]
  const lastWord = NODE_BYTES - 4
  return doWhile([
    ...localGet(node),
    ...[...localGet(node), ...i32Load(lastWord), ...i32Const(0x3fffffff), ...i32And],
    ...i32Store(lastWord),
    ...advance(node, NODE_BYTES),
    ...localTee(node),
    ...localGet(nodesEnd),
    ...i32LessUnsigned,
  ])
}

function advance(local: number, bytes: number): Code {
  return [...localGet(local), ...i32Const(bytes), ...i32Add]
}
