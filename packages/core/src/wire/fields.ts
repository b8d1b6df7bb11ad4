import * as z from 'zod'
import { SCOPES } from './limits.ts'

/** Fields that several shapes share. */
export const cidField = z
  .string()
  .regex(/^[a-z0-9]{8,80}$/i)
  .describe('The content id as in the request')
export const bytesField = z.int().min(0)
export const timeField = z.iso.datetime().describe('RFC 3339, UTC')
export const dayField = z.iso.date().describe('A UTC day')
export const scopesField = z.array(z.enum(SCOPES)).min(1)
export const statusField = z
  .enum(['staged', 'proposed', 'active', 'expiring', 'expired', 'failed', 'removed'])
  .describe('Status of the storage deal')
export const fileStatusField = z
  .enum([...statusField.options, 'composed'])
  .describe('Status of the storage deal; composed for a part of a composed file')
export const sha256Field = z.string().nullable().describe('Hex; null for a composed file whose parts were not read')
export const visibilityField = z.enum(['public', 'private'])
export const dealIdField = z
  .string()
  .describe('The onchain deal id (decimal) once it is known, until then the synthetic id (d-0x and hex)')
export const syntheticDealIdField = z
  .string()
  .describe('The synthetic deal id (d-0x and hex), which stays valid beside an onchain one')
export const termDaysField = z.int().min(1).max(36_500)
export const ownerField = z
  .string()
  .nullable()
  .describe('Email of the user, or address of the wallet; null for sponsored uploads')
export const userIdField = z.string().describe('Id of the user; for a wallet eip155:{chainId}:{address}')
export const emailField = z.string().nullable().describe('Null for a wallet')
