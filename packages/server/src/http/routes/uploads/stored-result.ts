import type { IncomingMessage } from 'node:http'
import type { UploadResult } from '@lade/core/wire'
import { uploadedDeal } from '../../../deals/uploaded-deal.ts'
import { uploadResultOf } from '../../../files/file-entry.ts'
import type { FileRecord } from '../../../records/record-store.ts'
import { exchangeOf } from '../../exchange.ts'
import type { Service } from '../../service.ts'

/** The answer about a file that is stored, of whose deal nothing is waited for. The log names both. */
export async function storedResult(
  { records, retrievalUrl, filesNow }: Pick<Service, 'records' | 'retrievalUrl' | 'filesNow'>,
  request: IncomingMessage,
  { file, cid }: { readonly file: FileRecord; readonly cid: string },
): Promise<UploadResult> {
  const { notes } = exchangeOf(request)
  notes.sizeBytes = file.sizeBytes
  notes.dealId = file.dealId
  const deal = await uploadedDeal({ records, dealWaitMs: 0 }, file)
  return uploadResultOf(file, deal, cid, retrievalUrl, filesNow())
}
