import type { DealEntry, DealProofs } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { fromNow, timeOf } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'

const SHOWN_AUDITS = 5

/** The deal of a file: what has come about and when, who has copies, what was proved. */
export interface DealViewProps {
  readonly deal: DealEntry
  /** Provers have no copy of a private file. */
  readonly isPrivate: boolean
}

export function DealView({ deal, isPrivate }: DealViewProps) {
  const { files: words } = texts.value
  return (
    <>
      <section class="sheet-part" aria-label={words.timeline}>
        <h3>{words.timeline}</h3>
        <Timeline deal={deal} />
      </section>
      <section class="sheet-part" aria-label={words.copiesAt}>
        <h3>{words.copiesAt}</h3>
        {deal.copies.length === 0 ? (
          <p class="soft">{isPrivate ? words.noCopiesOfPrivate : words.noCopies}</p>
        ) : (
          <CopiesTable deal={deal} />
        )}
      </section>
      <OnchainDeals deal={deal} />
      {!isPrivate && <Proofs deal={deal} />}
    </>
  )
}

function Timeline({ deal }: { readonly deal: DealEntry }) {
  const { files: words } = texts.value
  const steps: readonly (readonly [name: string, at: string | null])[] = [
    [words.steps.staged, deal.createdAt],
    [words.steps.stored, deal.storedAt],
    [words.steps.proved, deal.provedAt],
    [words.steps.retrievable, deal.retrievableAt],
  ]
  const end = deal.endedAt ?? deal.expiresAt
  return (
    <ol class="timeline">
      {steps.map(([name, at]) => (
        <li key={name} class={at === null ? 'step-open' : 'step-done'}>
          <span class="step-name">{name}</span>
          <span class="step-time">{at === null ? words.notYet : timeOf(at)}</span>
        </li>
      ))}
      <li class={deal.endedAt === null ? 'step-open' : 'step-done'}>
        <span class="step-name">{deal.endedAt === null ? words.steps.ends : words.steps.ended}</span>
        <span class="step-time">
          {timeOf(end)} ({fromNow(end)})
        </span>
      </li>
      {deal.cause !== null && <li class="bad">{deal.cause}</li>}
    </ol>
  )
}

function CopiesTable({ deal: { copies } }: { readonly deal: DealEntry }) {
  const { files: words } = texts.value
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard
    <section class="table-scroll" tabIndex={0} aria-label={words.copiesTable}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{words.prover}</th>
            <th scope="col">{words.state}</th>
            <th scope="col">{words.lastProof}</th>
          </tr>
        </thead>
        <tbody>
          {copies.map(({ prover, pieceCid, state, provedAt, cause }) => (
            <tr key={`${prover} ${pieceCid}`}>
              <td>{prover}</td>
              <td>
                {words.states[state]}
                {cause !== null && <small> {cause}</small>}
              </td>
              <td>{provedAt === null ? words.notYet : timeOf(provedAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** What the marketplace contract says. A service of an older version, or without a marketplace, says nothing. */
function OnchainDeals({ deal: { copies } }: { readonly deal: DealEntry }) {
  const { files: words } = texts.value
  const deals = copies.flatMap(({ prover, onchain }) => (onchain == null ? [] : [{ prover, ...onchain }]))
  if (deals.length === 0) return null
  return (
    <section class="sheet-part" aria-label={words.onchain}>
      <h3>{words.onchain}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard */}
      <section class="table-scroll" tabIndex={0} aria-label={words.onchainTable}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{words.onchainDeal}</th>
              <th scope="col">{words.prover}</th>
              <th scope="col">{words.state}</th>
              <th scope="col">{words.escrowed}</th>
              <th scope="col">{words.paidToProver}</th>
              <th scope="col">{words.returned}</th>
            </tr>
          </thead>
          <tbody>
            {deals.map(({ chainId, contract, dealId, prover, state, endsAt, escrowed, paid, returned }) => (
              <tr key={`${contract} ${dealId}`}>
                <td title={contract && words.onContract(contract, chainId)}>{dealId}</td>
                <td>{prover}</td>
                <td>
                  {words.onchainStates[state]}
                  {endsAt !== null && <small> {words.until(timeOf(endsAt))}</small>}
                </td>
                <td>{escrowed} USDC</td>
                <td>{paid} USDC</td>
                <td>{returned} USDC</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function Proofs({ deal: { dealId, cid, pieceCid } }: { readonly deal: DealEntry }) {
  const audits = useSignal<DealProofs['audits']>([])
  const checked = useSignal<string | undefined>(undefined)
  const step = useStep()
  const { files: words } = texts.value
  useEffect(() => {
    openClient(true)
      .then((client) => client.deals.proofs(dealId))
      .then(
        (proofs) => {
          audits.value = proofs.audits
        },
        // The list of audits is an addition; the deal above says when it was last proved.
        () => {},
      )
  }, [dealId])
  const check = () =>
    step.run(async () => {
      checked.value = undefined
      // Of the piece CID alone the browser can see that it is what was proved.
      const { answer, isPieceOfCid } = await (await openClient(true)).challenge(pieceCid ?? cid)
      const provedBy = words.provedBy(answer.prover, answer.proofs.length)
      checked.value = isPieceOfCid ? provedBy : `${provedBy} ${words.pieceUnknown}`
    })
  return (
    <section class="sheet-part" aria-label={words.proofs}>
      <h3>{words.proofs}</h3>
      <p class="soft">{words.checkHint}</p>
      <button type="button" class="button button-plain" aria-disabled={step.isRunning.value} onClick={check}>
        <Icon name="shield" />
        <span>{step.isRunning.value ? words.checking : words.check}</span>
      </button>
      <div role="status">
        {checked.value !== undefined && (
          <p class="proved">
            <Icon name="check" />
            <span>{checked.value}</span>
          </p>
        )}
      </div>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      {audits.value.length > 0 && (
        <ul class="audits">
          {audits.value.slice(0, SHOWN_AUDITS).map(({ prover, at, passed, cause }) => (
            <li key={`${prover} ${at}`} class={passed ? '' : 'bad'}>
              <Icon name={passed ? 'check' : 'alert'} />
              <span>
                {timeOf(at)} · {prover} · {passed ? words.passed : (cause ?? words.notPassed)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
