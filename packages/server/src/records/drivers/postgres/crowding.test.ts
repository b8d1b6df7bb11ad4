import { describe, expect, test } from 'vitest'
import { Crowding } from './crowding.ts'

function crowd(): { crowding: Crowding; wait: (ms: number) => void; note: (undone: number, made: number) => void } {
  let now = 0
  const crowding = new Crowding(() => now)
  return {
    crowding,
    wait: (ms) => {
      now += ms
    },
    note: (undone, made) => {
      for (let index = 0; index < made; index += 1) crowding.note('made')
      for (let index = 0; index < undone; index += 1) crowding.note('undone')
    },
  }
}

describe('Crowding', () => {
  test('is none while few transactions are undone, however many there are', () => {
    const { crowding, note } = crowd()
    for (let round = 0; round < 100; round += 1) note(3, 29)
    expect(crowding.isCrowded).toBe(false)
  })

  test('is one when a quarter of them is undone, for a second', () => {
    const { crowding, note, wait } = crowd()
    note(8, 20)
    expect(crowding.isCrowded).toBe(true)
    wait(999)
    expect(crowding.isCrowded).toBe(true)
    wait(1)
    expect(crowding.isCrowded).toBe(false)
  })

  test('lasts twice as long each time that it is there again, up to a minute', () => {
    const { crowding, note, wait } = crowd()
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      note(8, 0)
      wait(seconds * 1000 - 1)
      expect(crowding.isCrowded).toBe(true)
      wait(1)
      expect(crowding.isCrowded).toBe(false)
    }
  })

  test('is forgotten once transactions get along, and not by what was made one after the other', () => {
    const { crowding, note, wait } = crowd()
    note(8, 0)
    note(0, 1000)
    wait(1000)
    note(8, 0)
    wait(1500)
    expect(crowding.isCrowded).toBe(true)
    wait(500)
    note(0, 32)
    note(8, 0)
    wait(1000)
    expect(crowding.isCrowded).toBe(false)
  })
})
