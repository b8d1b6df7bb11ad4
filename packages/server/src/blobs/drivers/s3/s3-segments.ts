import type { S3Keys } from './s3-keys.ts'

/** Segments that one writer put, one behind the other, named `<index>-<writer>`. */
interface Run {
  readonly writer: string
  readonly count: number
}

/** Bytes behind the last whole segment, in an object of their own. */
export interface Tail {
  readonly name: string
  readonly sizeBytes: number
}

/** A segment as the store has it. */
export interface SegmentObject {
  readonly key: string
  readonly sizeBytes: number
}

/**
 * Which objects hold the bytes of an upload in several requests: whole segments of one size, and a tail. As text it is the place that a
 * blob is resumed from.
 */
export class S3Segments {
  readonly segmentBytes: number
  readonly #runs: Run[]
  tail: Tail | undefined

  constructor(segmentBytes: number, runs: readonly Run[] = [], tail?: Tail) {
    this.segmentBytes = segmentBytes
    this.#runs = [...runs]
    this.tail = tail
  }

  /** Undefined for a text that is none. */
  static parse(text: string): S3Segments | undefined {
    try {
      const { segmentBytes, runs, tail } = JSON.parse(text)
      if (!Number.isSafeInteger(segmentBytes) || !Array.isArray(runs)) return undefined
      return new S3Segments(segmentBytes, runs, tail)
    } catch (error) {
      if (error instanceof SyntaxError) return undefined
      throw error
    }
  }

  get text(): string {
    return JSON.stringify({ segmentBytes: this.segmentBytes, runs: this.#runs, tail: this.tail })
  }

  /** Whole segments. */
  get count(): number {
    return this.#runs.reduce((sum, { count }) => sum + count, 0)
  }

  get sizeBytes(): number {
    return this.count * this.segmentBytes + (this.tail?.sizeBytes ?? 0)
  }

  /** Notes that the next whole segment is there. */
  add(writer: string): void {
    const last = this.#runs.at(-1)
    if (last?.writer === writer) this.#runs[this.#runs.length - 1] = { writer, count: last.count + 1 }
    else this.#runs.push({ writer, count: 1 })
  }

  static nameOf(index: number, writer: string): string {
    return `${index}-${writer}`
  }

  /** All of them, in order. */
  objects(keys: S3Keys, holder: string): SegmentObject[] {
    const objects: SegmentObject[] = []
    for (const { writer, count } of this.#runs) {
      for (let left = count; left > 0; left -= 1) {
        const key = keys.waiting(holder, S3Segments.nameOf(objects.length, writer))
        objects.push({ key, sizeBytes: this.segmentBytes })
      }
    }
    if (this.tail !== undefined) {
      objects.push({ key: keys.waiting(holder, this.tail.name), sizeBytes: this.tail.sizeBytes })
    }
    return objects
  }
}
