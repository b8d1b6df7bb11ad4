import type { ListDealsRequest } from '../records/record-store.ts'

/** What a status, as it is shown, asks of the records; undefined for a text that is none. `expiring` is what is active and about to end. */
export function shownStatusFilter(
  status: string,
): (Required<Pick<ListDealsRequest, 'ended'>> & Pick<ListDealsRequest, 'status' | 'isExpiring'>) | undefined {
  switch (status) {
    case 'staged':
    case 'proposed':
    case 'failed':
      return { ended: 'live', status }
    case 'active':
      return { ended: 'live', status, isExpiring: false }
    case 'expiring':
      return { ended: 'live', status: 'active', isExpiring: true }
    case 'expired':
    case 'removed':
      return { ended: status }
    default:
      return undefined
  }
}
