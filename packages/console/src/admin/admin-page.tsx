import { linkTo, route } from '../app/route.ts'
import { NeedsSession } from '../parts/needs-session.tsx'
import { adminTexts } from '../texts/admin-texts.ts'
import { AllFiles } from './all-files.tsx'
import { AuditLog } from './audit-log.tsx'
import { Blocks } from './blocks.tsx'
import { Callers } from './callers.tsx'
import { Overview } from './overview.tsx'
import '../styles/files.css'
import '../styles/tokens-page.css'
import '../styles/usage.css'
import '../styles/admin.css'

const TABS = ['overview', 'callers', 'files', 'blocks', 'audit'] as const
type Tab = (typeof TABS)[number]

/** What operators see and do, with the scope `admin`. The service refuses it to everybody else, and says why. */
export function AdminPage() {
  return (
    <NeedsSession>
      <Admin />
    </NeedsSession>
  )
}

function Admin() {
  const words = adminTexts.value
  const [name = '', ...rest] = route.value.rest.split('/')
  const tab = TABS.find((one) => one === name) ?? 'overview'
  return (
    <>
      <header class="page-head">
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
      </header>
      <nav class="tabs" aria-label={words.tabList}>
        <ul>
          {TABS.map((one) => (
            <li key={one}>
              <a href={linkTo('admin', one === 'overview' ? '' : one)} aria-current={one === tab ? 'page' : undefined}>
                {words.tabs[one]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <TabPart key={tab} tab={tab} asked={rest.join('/')} />
    </>
  )
}

function TabPart({ tab, asked }: { readonly tab: Tab; readonly asked: string }) {
  switch (tab) {
    case 'overview':
      return <Overview />
    case 'callers':
      return <Callers asked={asked} />
    case 'files':
      return <AllFiles asked={asked} />
    case 'blocks':
      return <Blocks />
    case 'audit':
      return <AuditLog />
  }
}
