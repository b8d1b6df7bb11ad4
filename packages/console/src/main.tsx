import './styles/theme.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/drop.css'
import { effect, untracked } from '@preact/signals'
import { render } from 'preact'
import { CurrentPage } from './app/pages.tsx'
import { applyPreferences } from './app/preferences.ts'
import { loadInfo } from './app/service-info.ts'
import { isUser, loadSession, session } from './app/session.ts'
import { Shell } from './app/shell.tsx'
import { loadUsage } from './app/usage-today.ts'
import { isBusy, reconsiderRefused, watchQueue } from './drop/queue.ts'
import { keepFocus } from './parts/keep-focus.ts'
import { restrictCode } from './trusted-types.ts'

restrictCode()
applyPreferences()
watchQueue()
keepFocus()
void loadInfo()
void loadSession()
effect(() => {
  if (session.value == null) return
  untracked(() => {
    if (isUser.value) void loadUsage()
    reconsiderRefused()
  })
})

effect(() => {
  // What was sent counts towards the day.
  if (!isBusy.value && untracked(() => isUser.value)) void loadUsage()
})

const place = document.getElementById('console')
if (place !== null) {
  place.textContent = ''
  render(
    <Shell>
      <CurrentPage />
    </Shell>,
    place,
  )
}
