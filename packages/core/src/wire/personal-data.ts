import * as z from 'zod'
import { textOf } from './fields.ts'

export const personalDataRequest = z.strictObject({
  caller: textOf(255, 1)
    .meta({ examples: ['ada@example.org'] })
    .describe('The email address of a user, user:{id}, wallet:{chainId}:{address}, or an IP address'),
})

export const personalDataErased = z.object({
  principal: z.string().describe('user:{id}, wallet:{chainId}:{address} or ip:{address}'),
  files: z.int().describe('Files whose name, type and owner were erased'),
  ended: z.int().describe('Of them, files that were live'),
  tokens: z.int().describe('Tokens that were revoked'),
  sessions: z.int().describe('Browsers that were signed out'),
  kept: z.array(z.string()).describe('What is kept, and why'),
})
export type PersonalDataErased = z.infer<typeof personalDataErased>
