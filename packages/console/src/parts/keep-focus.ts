const CONTROLS = 'a[href], button, summary, select, input:not([type=file]), textarea'

/** Where the focus is, for as long as the page knows. */
interface Place {
  /** The control; once it is removed, the one that is next. */
  control: HTMLElement | undefined
}

const places = new Set<Place>()
let focused: Place | undefined
let observer: MutationObserver | undefined

/**
 * Moves the focus to the next control when the one that has it is removed, so that who uses the keyboard goes on from there. The focus of a
 * pointer, which is not seen, ends as browsers have it: a key that scrolls must not press something.
 */
export function keepFocus(): void {
  observer = new MutationObserver(follow)
  observer.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', ({ target }) => note(target))
  document.addEventListener('focusout', ({ target }) => {
    // A browser may say this of what is being removed, too. What is still there afterwards was left by somebody.
    setTimeout(() => {
      const { control } = focused ?? {}
      if (control === target && control?.isConnected && document.activeElement !== target) note(null)
    })
  })
}

/** Remembers where the focus is. @returns what brings it back there, or to the next control. */
export function holdFocus(): () => void {
  const place = placeOf(document.activeElement)
  if (place !== undefined) places.add(place)
  return () => {
    if (place === undefined) return
    follow(observer?.takeRecords() ?? [])
    places.delete(place)
    place.control?.focus()
  }
}

function note(target: EventTarget | null): void {
  if (focused !== undefined) places.delete(focused)
  const isSeen = target instanceof HTMLElement && target.matches(':focus-visible')
  focused = isSeen ? placeOf(target) : undefined
  if (focused !== undefined) places.add(focused)
}

function placeOf(target: Element | null): Place | undefined {
  return target instanceof HTMLElement && target !== document.body ? { control: target } : undefined
}

function follow(records: readonly MutationRecord[]): void {
  for (const place of places) {
    const { control } = place
    if (control === undefined || control.isConnected) continue
    const record = records.find(
      ({ target, removedNodes }) => target.isConnected && [...removedNodes].some((node) => node.contains(control)),
    )
    place.control = record === undefined ? mainOf() : heirOf(control, record, records)
  }
  if (document.activeElement !== null && document.activeElement !== document.body) return
  const control = focused?.control
  // Rows of a long list come and go while it is scrolled, which must not scroll it back.
  control?.focus({ preventScroll: control.closest('tbody') !== null })
}

/** What came in place of a control, or the same control of the next row or the one before, or else what follows. */
function heirOf(lost: HTMLElement, gap: MutationRecord, records: readonly MutationRecord[]): HTMLElement | undefined {
  const controls = controlsIn([...document.querySelectorAll('dialog[open]')].at(-1) ?? document)
  const replacements = records.filter(({ target }) => target === gap.target).flatMap((one) => cameInPlace(one, gap))
  const replacement = controls.find((one) => replacements.some((node) => node.contains(one)))
  if (replacement !== undefined) return replacement
  const neighbours = [gap.nextSibling, gap.previousSibling].filter((one) => one instanceof Element && one.isConnected)
  for (const neighbour of neighbours) {
    const same = controls.find((one) => neighbour?.contains(one) && one.tagName === lost.tagName)
    if (same !== undefined) return same
  }
  const place = neighbours[0] ?? gap.target
  return controls.find((one) => isBehind(one, place)) ?? controls.at(-1) ?? mainOf()
}

/** Nodes that a change has put where another one was, before it was taken away or after. */
function cameInPlace(change: MutationRecord, gap: MutationRecord): readonly Node[] {
  const added = [...change.addedNodes]
  const isBefore = added.some((node) => node === gap.previousSibling || node === gap.nextSibling)
  const isAfter = change.previousSibling === gap.previousSibling && change.nextSibling === gap.nextSibling
  return isBefore || isAfter ? added : []
}

function controlsIn(scope: ParentNode): readonly HTMLElement[] {
  return [...scope.querySelectorAll<HTMLElement>(CONTROLS)].filter((one) => one.tabIndex >= 0 && one.checkVisibility())
}

function isBehind(one: Node, place: Node): boolean {
  return (place.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
}

function mainOf(): HTMLElement | undefined {
  return document.querySelector<HTMLElement>('main') ?? undefined
}
