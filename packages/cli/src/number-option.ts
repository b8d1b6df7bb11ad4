import { InvalidArgumentError } from 'commander'

/** Reads the value of an option that is a whole number within bounds. */
export function wholeNumberIn(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum && value <= maximum) return value
    throw new InvalidArgumentError(`Expected a whole number from ${minimum} to ${maximum}.`)
  }
}
