import { describe, expect, test } from 'vitest'
import { BodyBill } from './body-bill.ts'
import { WorkBudget } from './work-budget.ts'

const MIB = 1024 * 1024
const ADA = 'user:ada'

function openBill() {
  const budget = new WorkBudget({ now: () => 0, log: { warn: () => {} }, networkOf: () => undefined })
  const unpaidMs = () => budget.counters().spent.get('hash')?.unpaidMs
  return { budget, unpaidMs, bill: new BodyBill({ budget, principal: ADA }) }
}

describe('the bill of a body', () => {
  test('lets what one block leaves over pay for a later one', () => {
    const { bill, budget, unpaidMs } = openBill()
    bill.pay(2 * MIB)
    bill.spend(5)
    bill.spend(15)
    expect(unpaidMs()).toBe(0)
    bill.spend(4)
    expect(unpaidMs()).toBeCloseTo(3)
    expect(budget.usedMs(ADA)).toBeCloseTo(24)
  })

  test('is paid for a body of a few bytes that is hashed within a millisecond', () => {
    const { bill, unpaidMs } = openBill()
    bill.pay(10)
    bill.spend(1)
    expect(unpaidMs()).toBe(0)
  })

  test('lets the bytes of a CAR pay for more', () => {
    const { bill, unpaidMs } = openBill()
    bill.pay(MIB, 16)
    bill.spend(170)
    expect(unpaidMs()).toBeCloseTo(9)
  })

  test('takes back once what the bytes of a wrong body have paid for', () => {
    const { bill, budget, unpaidMs } = openBill()
    bill.pay(MIB)
    bill.spend(12)
    bill.takeBack()
    bill.takeBack()
    expect(unpaidMs()).toBeCloseTo(12)
    expect(budget.usedMs(ADA)).toBeCloseTo(12)
  })

  test('error: over_budget when wrong bodies have used up what is free', () => {
    const { bill } = openBill()
    bill.pay(1000 * MIB)
    bill.spend(6000)
    bill.require()
    bill.takeBack()
    expect(() => bill.require()).toThrow(expect.objectContaining({ code: 'over_budget' }))
  })
})
