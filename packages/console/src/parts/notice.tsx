import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

export interface NoticeProps {
  readonly kind: 'bad' | 'warning' | 'plain'
  readonly children: ComponentChildren
}

/** Something that somebody should know now. What is bad is read out at once. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <Icon name="alert" />
      <div class="notice-text">{children}</div>
    </div>
  )
}
