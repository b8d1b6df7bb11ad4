import * as z from 'zod'

/** Records one a line, as IPFS clients like best. */
export const NDJSON_MEDIA_TYPE = 'application/x-ndjson'

/** By this name clients know a gateway that answers blocks. */
export const GATEWAY_PROTOCOL = 'transport-ipfs-gateway-http'

export const providersQuery = z.object({
  'filter-protocols': z
    .string()
    .optional()
    .describe(`Only providers with one of these protocols, separated by commas, such as ${GATEWAY_PROTOCOL}`),
  'filter-addrs': z
    .string()
    .optional()
    .describe('Only addresses with one of these protocols, separated by commas, such as https; !tcp: without tcp'),
})

/** A provider as the Delegated Routing V1 HTTP API describes it; the names are those of that API. */
export const providerRecord = z.object({
  Schema: z.literal('peer'),
  ID: z.string().describe('Peer id of this service'),
  Addrs: z.array(z.string()).describe('Multiaddrs, such as /dns4/lade.example/tcp/443/tls/http'),
  Protocols: z.array(z.literal(GATEWAY_PROTOCOL)),
})
export type ProviderRecord = z.infer<typeof providerRecord>

export const providersResult = z.object({
  Providers: z.array(providerRecord).describe('This service, or nothing'),
})
