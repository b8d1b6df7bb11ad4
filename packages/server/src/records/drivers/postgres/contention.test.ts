import { describe, expect, test } from 'vitest'
import { Contention } from './contention.ts'

function noted(): { contention: Contention; wait: (ms: number) => void; note: (undone: number, made: number) => void } {
  let now = 0
  const contention = new Contention(() => now)
  return {
    contention,
    wait: (ms) => {
      now += ms
    },
    note: (undone, made) => {
      for (let index = 0; index < made; index += 1) contention.note('made')
      for (let index = 0; index < undone; index += 1) contention.note('undone')
    },
  }
}

describe('Contention', () => {
  test('is none while few transactions are undone, however many there are', () => {
    const { contention, note } = noted()
    for (let round = 0; round < 100; round += 1) note(3, 29)
    expect(contention.isContended).toBe(false)
  })

  test('is one when a quarter of them is undone, for a second', () => {
    const { contention, note, wait } = noted()
    note(8, 20)
    expect(contention.isContended).toBe(true)
    wait(999)
    expect(contention.isContended).toBe(true)
    wait(1)
    expect(contention.isContended).toBe(false)
  })

  test('lasts twice as long each time that it is there again, up to a minute', () => {
    const { contention, note, wait } = noted()
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      note(8, 0)
      wait(seconds * 1000 - 1)
      expect(contention.isContended).toBe(true)
      wait(1)
      expect(contention.isContended).toBe(false)
    }
  })

  test('is forgotten once transactions get along, and not by what was made one after the other', () => {
    const { contention, note, wait } = noted()
    note(8, 0)
    note(0, 1000)
    wait(1000)
    note(8, 0)
    wait(1500)
    expect(contention.isContended).toBe(true)
    wait(500)
    note(0, 32)
    note(8, 0)
    wait(1000)
    expect(contention.isContended).toBe(false)
  })
})
