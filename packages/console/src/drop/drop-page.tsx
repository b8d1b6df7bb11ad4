import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { session } from '../app/session.ts'
import { texts } from '../texts/texts.ts'
import { ClaimOffer } from './claim-offer.tsx'
import { DropTarget } from './drop-target.tsx'
import { loadEarlier } from './earlier.ts'
import { EarlierList } from './earlier-list.tsx'
import { KeepingChoices } from './keeping-choices.tsx'
import { uploads } from './queue.ts'
import { QueuePanel } from './queue-panel.tsx'
import { TierFacts } from './tier-facts.tsx'
import { loadUnfinished } from './unfinished.ts'
import { UnfinishedList } from './unfinished-list.tsx'

const isEmpty = computed(() => uploads.value.length === 0)

/** The first page: upload files, with an account or without. */
export function DropPage() {
  const { title, lead, leadAnonymous } = texts.value.drop
  useEffect(() => {
    void loadUnfinished()
    void loadEarlier()
  }, [])
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        <p class="lead">
          {lead} {session.value === null && leadAnonymous}
        </p>
      </header>
      <DropTarget isBig={isEmpty.value} />
      <UnfinishedList />
      <TierFacts />
      {session.value != null && <KeepingChoices />}
      <ClaimOffer />
      <QueuePanel />
      <EarlierList />
    </>
  )
}
