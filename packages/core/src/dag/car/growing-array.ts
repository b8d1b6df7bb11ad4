import { freeMemory } from './free-memory.ts'

type NumberArray = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

/** From here on an array grows by a quarter: doubled, the arrays of a CAR of a million links would be half empty. */
const DOUBLED_UP_TO = 2 ** 16

/** How long an array becomes that is full with `length`. */
export function grownLength(length: number): number {
  return length < DOUBLED_UP_TO ? length * 2 : Math.ceil(length * 1.25)
}

/** Numbers, appended one by one, in one typed array that grows when it is full. */
class GrowingArray<Values extends NumberArray> {
  length = 0
  #values: Values
  readonly #create: (length: number) => Values

  constructor(create: (length: number) => Values) {
    this.#create = create
    this.#values = create(16)
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = this.#create(grownLength(this.length))
      grown.set(this.#values)
      freeMemory(this.#values)
      this.#values = grown
    }
    this.#values[this.length] = value
    this.length += 1
  }

  /** The value at `index`; 0 beyond the end. */
  at(index: number): number {
    return this.#values[index] ?? 0
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }

  /** Gives its memory back. It is not to be used afterwards. */
  free(): void {
    freeMemory(this.#values)
  }
}

export const growingUint32 = () => new GrowingArray((length) => new Uint32Array(length))
export const growingFloat64 = () => new GrowingArray((length) => new Float64Array(length))
export const growingUint8 = () => new GrowingArray((length) => new Uint8Array(length))
