/** Strokes on a grid of 24 by 24 points. */
const SHAPES = {
  upload: 'M12 15V4m0 0L7.5 8.5M12 4l4.5 4.5M4 15v3a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-3',
  files: 'M13 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V9zm0 0v6h6M9 14h6M9 17h4',
  usage: 'M4 20V4m0 16h16M8 16v-4m4 4V8m4 8v-6',
  tokens: 'M14.5 9.5a4 4 0 1 0-4.3 4l1.3 1.3V17h2.2v2.2H16V21h4v-3.2l-5.9-5.9a4 4 0 0 0 .4-2.4zM9 8.5h.01',
  developers: 'm8 8-4 4 4 4m8-8 4 4-4 4M13.5 5l-3 14',
  service: 'M4 5.5h16v5H4zm0 8h16v5H4zM7.5 8h.01M7.5 16h.01',
  admin: 'M12 3.5 5 6v5.5c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6zm0 4.5v4m0 3h.01',
  'sign-in': 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7.5 8a7.5 7.5 0 0 1 15 0',
  folder:
    'M3.5 6.5a1.5 1.5 0 0 1 1.5-1.5h4.2l2 2.5H19a1.5 1.5 0 0 1 1.5 1.5v8.5A1.5 1.5 0 0 1 19 19H5a1.5 1.5 0 0 1-1.5-1.5z',
  link: 'M10 14a4 4 0 0 0 5.7 0l2.8-2.8a4 4 0 0 0-5.7-5.7L11.5 6.8M14 10a4 4 0 0 0-5.7 0l-2.8 2.8a4 4 0 0 0 5.7 5.7l1.3-1.3',
  site: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zm-8.5-8.5h17M12 3.5c2.3 2.3 3.5 5.2 3.5 8.5s-1.2 6.2-3.5 8.5c-2.3-2.3-3.5-5.2-3.5-8.5S9.7 5.8 12 3.5z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  open: 'M14 5h5v5m0-5-8 8M10 6H6a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-4',
  close: 'm6 6 12 12M18 6 6 18',
  retry: 'M5 12a7 7 0 1 1 2.05 4.95M5 12V7m0 5h5',
  pause: 'M8.5 5v14m7-14v14',
  play: 'M8 5.5v13l10.5-6.5z',
  more: 'm6 9.5 6 6 6-6',
  alert: 'M12 8.5v4.5m0 3h.01M12 4 3 19.5h18z',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm0-13v1.5m0 15V21m9-9h-1.5m-15 0H3m15.36-6.36-1.06 1.06M6.7 17.3l-1.06 1.06m12.72 0-1.06-1.06M6.7 6.7 5.64 5.64',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  system: 'M4 5h16v11H4zm5 15h6m-3-4v4',
  lock: 'M6 11h12v9H6zm2.5 0V8a3.5 3.5 0 0 1 7 0v3',
  search: 'M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12zm4.5-1.5L20 20',
  share:
    'M8.5 12a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zm0-1 7-4m-7 6 7 4m5-11a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zm0 12a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  trash: 'M5 7h14M10 7V4.5h4V7m3 0-1 13H8L7 7m3.5 4v5m3-5v5',
  clock: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zm0-12.5V12l3 2',
  edit: 'm5 19 1-4L16 5l3 3L9 18zm9-12 3 3',
  shield: 'M12 3.5 5 6v5.5c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6zm-3 8.5 2.2 2.2L15.5 10',
} as const
export type IconName = keyof typeof SHAPES

/** A picture beside words, which say what it means; so it is hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={SHAPES[name]} />
    </svg>
  )
}

/** The mark of Lade: a load above its dock. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="32" height="32" rx="8" />
      <rect class="mark-load" x="10.5" y="7" width="11" height="9" rx="1.5" />
      <path class="mark-dock" d="M6.5 15v7.5a2.5 2.5 0 0 0 2.5 2.5h14a2.5 2.5 0 0 0 2.5-2.5V15" />
      <path class="mark-dock" d="M10.5 20.5h11" />
    </svg>
  )
}
