import { describe, expect, it } from 'vitest'
import { UnreadBytes } from './unread-bytes.ts'

describe('UnreadBytes', () => {
  it('cuts off those that have been waited for longest, and no more of them than it has to', () => {
    const unread = new UnreadBytes(100)
    const cut: string[] = []
    const releases = ['a', 'b', 'c', 'd'].map((name) => unread.hold(25, () => void cut.push(name)))
    expect(cut).toEqual([])
    releases[1]?.()
    unread.hold(25, () => void cut.push('e'))
    expect(cut).toEqual([])
    unread.hold(30, () => void cut.push('f'))
    expect(cut).toEqual(['a', 'c'])
    for (const release of releases) release()
    unread.hold(40, () => void cut.push('g'))
    expect(cut).toEqual(['a', 'c'])
  })

  it('lets one have more than there is for all', () => {
    const unread = new UnreadBytes(100)
    const cut: string[] = []
    unread.hold(200, () => void cut.push('a'))
    expect(cut).toEqual([])
    unread.hold(1, () => void cut.push('b'))
    expect(cut).toEqual(['a'])
  })
})
