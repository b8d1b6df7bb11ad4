import type { UploadResult } from '@lade/client'
import { bytesOf, countOf, fromNow, sizeOf, timeOf } from '../app/amounts.ts'
import { linkTo } from '../app/route.ts'
import { isUser } from '../app/session.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { CopyField } from '../parts/copy-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { SiteLink } from '../parts/site-link.tsx'
import { texts } from '../texts/texts.ts'

/** What came of an upload: the link, how long it works, all ids; of a folder also what is in it, and its site. */
export function ResultCard({ result }: { readonly result: UploadResult }) {
  const { drop } = texts.value
  const { retrievalUrl, expiresAt, cid, sha256, pieceCid, dealId, visibility, kind, files } = result
  const isFolder = kind === 'folder'
  return (
    <div class="result">
      <div class="result-main">
        <p class="result-link">
          <a href={retrievalUrl} target="_blank" rel="noopener">
            {retrievalUrl}
          </a>
        </p>
        <div class="result-actions">
          <CopyButton text={retrievalUrl} what={drop.link} label={drop.copyLink} kind="primary" />
          <a class="button button-plain" href={retrievalUrl} target="_blank" rel="noopener">
            <Icon name="open" />
            <span>{drop.open}</span>
          </a>
          {isFolder && visibility === 'public' && <SiteLink cid={cid} />}
          {isFolder && isUser.value && (
            <a class="button button-plain" href={linkTo('files', `${cid}/`)}>
              <Icon name="folder" />
              <span>{drop.contents}</span>
            </a>
          )}
        </div>
        {isFolder && files !== undefined && (
          <p class="result-until">
            <Icon name="folder" />
            <span>
              {drop.filesIn(countOf(files))}, {bytesOf(sizeOf(result))}
            </span>
          </p>
        )}
        <p class="result-until">
          <Icon name="clock" />
          <span>{drop.until(timeOf(expiresAt), fromNow(expiresAt))}</span>
        </p>
        <dl class="ids" aria-label={drop.ids}>
          <CopyField label={drop.idNames.cid} value={cid} />
          {!isFolder && sha256 !== null && <CopyField label={drop.idNames.sha256} value={sha256} />}
          {pieceCid !== null && <CopyField label={drop.idNames.pieceCid} value={pieceCid} />}
          <CopyField label={drop.idNames.dealId} value={dealId} />
        </dl>
      </div>
      <QrCode text={retrievalUrl} label={drop.qr} />
    </div>
  )
}
