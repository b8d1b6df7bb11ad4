import type { Fence } from '../../record-store.ts'
import type { WriteInput, WriteName, WriteOutput } from '../../sql/writes.ts'
import { verdictOf } from './failures.ts'
import { laneOf } from './write-lanes.ts'

/** One write, and who waits for it. */
export interface WriteCall {
  readonly name: WriteName
  readonly input: never
  readonly fence: Fence | undefined
}

interface Waiting {
  readonly call: WriteCall
  readonly resolve: (output: never) => void
  readonly reject: (error: unknown) => void
}

/** About as many writes share a transaction at most. */
const MAX_GROUP = 64

/**
 * Puts the writes of this process in order: those of one lane follow each other, and what has gathered while a transaction was under way
 * shares the next one. Writes without a lane run at once.
 *
 * When one of several writes that share a transaction cannot be made, each is run by itself: the good ones are made, and the bad one
 * fails alone.
 */
export class WriteQueue {
  readonly #run: (calls: readonly WriteCall[], lane: string | undefined) => Promise<readonly unknown[]>
  readonly #lanes = new Map<string, Waiting[]>()

  /** @param run - makes writes in one transaction, all or none, and answers theirs outputs in order. */
  constructor(run: (calls: readonly WriteCall[], lane: string | undefined) => Promise<readonly unknown[]>) {
    this.#run = run
  }

  async write<Name extends WriteName>(name: Name, input: WriteInput<Name>, fence?: Fence): Promise<WriteOutput<Name>> {
    const call: WriteCall = { name, input: input as never, fence }
    const lane = laneOf(name, input)
    if (lane === undefined) return (await this.#run([call], undefined))[0] as WriteOutput<Name>
    return new Promise<WriteOutput<Name>>((resolve, reject) => {
      const waiting: Waiting = { call, resolve: resolve as (output: never) => void, reject }
      const queue = this.#lanes.get(lane)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      this.#lanes.set(lane, [waiting])
      void this.#drain(lane)
    })
  }

  async #drain(lane: string): Promise<void> {
    const queue = this.#lanes.get(lane) ?? []
    while (queue.length > 0) {
      const group = queue.splice(0, MAX_GROUP)
      const isDone = await this.#together(group, lane)
      if (!isDone) for (const waiting of group) await this.#alone(waiting, lane)
    }
    this.#lanes.delete(lane)
  }

  /** False when nothing was made and nobody was told. */
  async #together(group: readonly Waiting[], lane: string): Promise<boolean> {
    try {
      const outputs = await this.#run(
        group.map(({ call }) => call),
        lane,
      )
      for (const [index, { resolve }] of group.entries()) resolve(outputs[index] as never)
      return true
    } catch (error) {
      if (group.length > 1 && verdictOf(error) === 'fault') return false
      for (const { reject } of group) reject(error)
      return true
    }
  }

  async #alone(waiting: Waiting, lane: string): Promise<void> {
    await this.#together([waiting], lane)
  }
}
