import type { LeaseRecords, OfferRecords } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareOfferReads } from './offer-reads.ts'
import { read } from './read.ts'
import type { Writer } from './writer.ts'

/** What provers are asked to fetch. */
export function offerRecords(connection: Connection, writer: Writer): OfferRecords {
  const offers = prepareOfferReads(connection)
  return {
    open: (request) => writer.write('openOffer', request),
    find: (request) => read(() => offers.find(request)),
    close: (id) => writer.write('closeOffer', id),
    expire: (request) => writer.write('expireOffers', request),
  }
}

/** Which process does the work of all. */
export function leaseRecords(writer: Writer): LeaseRecords {
  return {
    take: (request) => writer.write('takeLease', request),
    giveBack: (request) => writer.write('giveBackLease', request),
  }
}
