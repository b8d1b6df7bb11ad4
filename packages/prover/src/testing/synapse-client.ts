/**
 * The requests of the storage provider client in `@filoz/synapse-core` 0.7.1 (FilOzone/synapse-sdk at 1b8b54e, `src/sp`):
 * the same methods, URLs, headers and bodies, and of the answers what that client looks at. Nothing of it is the client's code.
 */
import * as z from 'zod'

const RETRIED_MS = 20

const Hex = z.string().regex(/^0x[0-9a-f]*$/)
const CreateStatus = z.discriminatedUnion('dataSetCreated', [
  z.object({
    createMessageHash: Hex,
    dataSetCreated: z.literal(false),
    service: z.string(),
    txStatus: z.enum(['pending', 'confirmed']),
    ok: z.null(),
    confirmedTxHash: Hex.optional(),
  }),
  z.object({
    createMessageHash: Hex,
    dataSetCreated: z.literal(true),
    service: z.string(),
    txStatus: z.literal('confirmed'),
    ok: z.literal(true),
    dataSetId: z.int(),
    confirmedTxHash: Hex.optional(),
  }),
])
const AddStatus = z.discriminatedUnion('piecesAdded', [
  z.object({
    txHash: Hex,
    txStatus: z.literal('pending'),
    dataSetId: z.int(),
    pieceCount: z.number(),
    addMessageOk: z.null(),
    piecesAdded: z.literal(false),
    confirmedTxHash: Hex.optional(),
  }),
  z.object({
    txHash: Hex,
    txStatus: z.literal('confirmed'),
    dataSetId: z.int(),
    pieceCount: z.number(),
    addMessageOk: z.literal(true),
    piecesAdded: z.literal(true),
    confirmedPieceIds: z.array(z.int()),
    confirmedTxHash: Hex.optional(),
  }),
])
const DataSet = z.object({
  id: z.int(),
  nextChallengeEpoch: z.number(),
  pieces: z.array(
    z.object({ pieceId: z.int(), pieceCid: z.string(), subPieceCid: z.string(), subPieceOffset: z.number() }),
  ),
})

export type PullStatus = 'pending' | 'inProgress' | 'retrying' | 'complete' | 'failed'
export interface PullRequest {
  readonly extraData: string
  readonly recordKeeper: string
  readonly pieces: readonly { readonly pieceCid: string; readonly sourceUrl: string }[]
  readonly dataSetId?: number
}

/** An answer that the client takes for an error, with the text that it shows. */
class ClientError extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

export function synapseClient(serviceUrl: string) {
  const urlOf = (path: string) => new URL(path, serviceUrl)
  const call = async (path: string | URL, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(typeof path === 'string' ? urlOf(path) : path, init)
    if (!response.ok) throw new ClientError(response.status, await response.text())
    return response
  }
  const postJson = (path: string, body: unknown): Promise<Response> =>
    call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const txOf = (response: Response) => {
    const location = response.headers.get('location')
    const txHash = Hex.parse(location?.split('/').pop())
    return { txHash, statusUrl: new URL(location ?? '', serviceUrl) }
  }
  const listed = (pieceCids: readonly string[]) =>
    pieceCids.map((pieceCid) => ({ pieceCid, subPieces: [{ subPieceCid: pieceCid }] }))
  const poll = async <Value>(ask: () => Promise<Value>, isDone: (value: Value) => boolean): Promise<Value> => {
    for (;;) {
      const value = await ask()
      if (isDone(value)) return value
      await new Promise((resolve) => setTimeout(resolve, RETRIED_MS))
    }
  }

  const waitForCreated = async (statusUrl: URL) => {
    const ask = async () => CreateStatus.parse(await (await call(statusUrl)).json())
    const status = await poll(ask, ({ dataSetCreated }) => dataSetCreated)
    return status.dataSetCreated ? status : Promise.reject(new Error('not created'))
  }
  const waitForAdded = async (statusUrl: URL) => {
    const ask = async () => AddStatus.parse(await (await call(statusUrl)).json())
    const status = await poll(ask, ({ piecesAdded }) => piecesAdded)
    return status.piecesAdded ? status : Promise.reject(new Error('not added'))
  }

  return {
    ping: async () => (await call('pdp/ping')).text(),

    /** Answers whether bytes were sent. */
    async uploadPiece(pieceCid: string, data: Uint8Array<ArrayBuffer>): Promise<boolean> {
      const created = await postJson('pdp/piece', { pieceCid })
      if (created.status === 200) return false
      const uuid = created.headers.get('location')?.split('/').pop()
      await call(`pdp/piece/upload/${uuid}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(data.length) },
        body: data,
      })
      return true
    },

    async uploadPieceStreaming(pieceCid: string, data: Uint8Array<ArrayBuffer>): Promise<void> {
      const created = await call('pdp/piece/uploads', { method: 'POST' })
      if (created.status !== 201) throw new Error(`Expected 201, got ${created.status}`)
      const uuid = /\/pdp\/piece\/uploads\/([a-fA-F0-9-]+)/.exec(created.headers.get('location') ?? '')?.[1]
      // A stream without a length, which goes out chunked.
      const uploaded = await call(`pdp/piece/uploads/${uuid}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: new Blob([data]).stream(),
        duplex: 'half',
      } as RequestInit)
      if (uploaded.status !== 204) throw new Error(`Expected 204, got ${uploaded.status}`)
      const finalized = await postJson(`pdp/piece/uploads/${uuid}`, { pieceCid })
      if (finalized.status !== 200) throw new Error(`Expected 200, got ${finalized.status}`)
    },

    async findPiece(pieceCid: string): Promise<string> {
      const answer = await call(`pdp/piece?${new URLSearchParams({ pieceCid })}`)
      return ((await answer.json()) as { pieceCid: string }).pieceCid
    },

    async createDataSet(recordKeeper: string, extraData: string) {
      const { statusUrl } = txOf(await postJson('pdp/data-sets', { recordKeeper, extraData }))
      return waitForCreated(statusUrl)
    },

    async createDataSetAndAddPieces(recordKeeper: string, extraData: string, pieceCids: readonly string[]) {
      const body = { recordKeeper, extraData, pieces: listed(pieceCids) }
      const { statusUrl } = txOf(await postJson('pdp/data-sets/create-and-add', body))
      const created = await waitForCreated(statusUrl)
      const added = `/pdp/data-sets/${created.dataSetId}/pieces/added/${created.createMessageHash}`
      return { ...created, added: await waitForAdded(new URL(added, statusUrl.origin)) }
    },

    async addPieces(dataSetId: number, extraData: string, pieceCids: readonly string[]) {
      const body = { pieces: listed(pieceCids), extraData }
      const { statusUrl } = txOf(await postJson(`pdp/data-sets/${dataSetId}/pieces`, body))
      return waitForAdded(statusUrl)
    },

    getDataSet: async (dataSetId: number) => DataSet.parse(await (await call(`pdp/data-sets/${dataSetId}`)).json()),

    async deletePieces(dataSetId: number, extraData: string, pieceIds: readonly number[]) {
      const answer = await call(`pdp/data-sets/${dataSetId}/pieces/${pieceIds[0]}`, {
        method: 'DELETE',
        headers: { 'content-type': 'application/json' },
        body: `{"extraData":${JSON.stringify(extraData)},"pieceIds":[${pieceIds.join(',')}]}`,
      })
      return Hex.parse(((await answer.json()) as { txHash: string }).txHash)
    },

    terminateService: (dataSetId: number, extraData: string) =>
      postJson(`pdp/data-sets/${dataSetId}/terminate`, { extraData }),

    async pullPieces(request: PullRequest) {
      const answer = await postJson('pdp/piece/pull', request)
      return (await answer.json()) as { status: PullStatus; pieces: { pieceCid: string; status: PullStatus }[] }
    },

    async waitForPullPieces(request: PullRequest) {
      return poll(
        () => this.pullPieces(request),
        ({ status }) => status === 'complete' || status === 'failed',
      )
    },

    download: async (pieceCid: string) => new Uint8Array(await (await call(`/piece/${pieceCid}`)).arrayBuffer()),
  }
}
