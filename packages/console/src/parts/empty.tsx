import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  /** What to do. */
  readonly children: ComponentChildren
}

/** In place of a list without entries: why, and what to do. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}
