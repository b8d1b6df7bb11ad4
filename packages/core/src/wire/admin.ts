import * as z from 'zod'
import { bytesField, dayField, timeField } from './fields.ts'

/** Days of the trend in `GET /api/admin/overview`. */
export const ADMIN_TREND_DAYS = 30

const amount = z.object({ bytes: bytesField, files: z.int() })

export const adminOverview = z.object({
  version: z.string(),
  at: timeField,
  stored: amount.extend({ principals: z.int().describe('Callers with stored files') }),
  uploads: z.object({ running: z.int(), reservedBytes: bytesField.describe('Reserved by running uploads') }),
  days: z
    .array(amount.extend({ date: dayField }))
    .describe(`What was charged to all callers, in the last ${ADMIN_TREND_DAYS} days, oldest first`),
})
export type AdminOverview = z.infer<typeof adminOverview>
