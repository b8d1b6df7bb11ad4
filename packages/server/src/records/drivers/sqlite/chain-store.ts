import type { ChainRecords } from '../../record-store.ts'
import { prepareChainReads } from './chain-reads.ts'
import type { Connection } from './connection.ts'
import { read } from './read.ts'
import type { Writer } from './writer.ts'

/** Transactions and the deals on the chain, in the tables of the same names. */
export function chainRecords(connection: Connection, writer: Writer): ChainRecords {
  const chain = prepareChainReads(connection)
  return {
    // Mostly there is nothing to queue, and then nobody has to write.
    queueDeals: async (request) =>
      (await read(() => chain.hasDealsToQueue(request))) ? writer.write('queueDeals', request) : 0,
    queued: (request) => read(() => chain.queued(request)),
    nextNonce: (account) => read(() => chain.nextNonce(account)),
    propose: (request) => writer.write('proposeDeals', request),
    record: (request) => writer.write('recordTransaction', request),
    addAttempt: (request) => writer.write('addTransactionAttempt', request),
    transactions: (request) => read(() => chain.transactions(request)),
    mined: (request) => writer.write('transactionMined', request),
    reorganised: (request) => writer.write('transactionReorganised', request),
    final: (request) => writer.write('transactionFinal', request),
    superseded: (request) => writer.write('transactionSuperseded', request),
    dealsOf: (copies) => read(() => chain.dealsOf(copies)),
    fileOf: (request) => read(() => chain.fileOf(request)),
    tooShort: (request) => read(() => chain.tooShort(request)),
  }
}
