import type { RunningTime } from './running-time.ts'

/** A running time that a test moves. */
export class FakeRunningTime implements RunningTime {
  boot: string | undefined = 'boot 1'
  #ms = 5_000_000

  elapsedMs(): number {
    return this.#ms
  }

  uptimeMs(): number {
    return this.#ms
  }

  noticeSleep(): void {}

  pass(ms: number): void {
    this.#ms += ms
  }

  /** The machine is off for some time that nothing on it measures. */
  reboot(): void {
    this.boot = `${this.boot} and another`
    this.#ms = 1000
  }
}
