import type { NewPiece, ObjectHandle } from '../../record-store.ts'
import type { Connection } from './connection.ts'

/** An offer, as it is opened. */
export interface NewOffer extends NewPiece {
  readonly id: string
  readonly until: number
}

/** Offers and leases. Each function runs inside one transaction that the writer opens. */
export function prepareOfferWrites(db: Connection) {
  const insert = db.prepare<[string, Buffer, number, ObjectHandle, number, number]>(
    'INSERT OR REPLACE INTO offers (id, piece_root, size_bytes, object, offset_bytes, until) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const remove = db.prepare<[string]>('DELETE FROM offers WHERE id = ?')
  const removeExpired = db.prepare<[number]>('DELETE FROM offers WHERE until <= ?')
  const takeLease = db.prepare<[{ name: string; holder: string; now: number; until: number }]>(
    `INSERT INTO leases (name, holder, until) VALUES (:name, :holder, :until)
     ON CONFLICT (name) DO UPDATE SET holder = :holder, until = :until WHERE leases.holder = :holder OR leases.until <= :now`,
  )
  const giveBackLease = db.prepare<[string, string]>('DELETE FROM leases WHERE name = ? AND holder = ?')

  return {
    open({ id, pieceRoot, sizeBytes, object, offsetBytes, until }: NewOffer): void {
      insert.run(id, Buffer.from(pieceRoot, 'hex'), sizeBytes, object, offsetBytes, until)
    },

    close(id: string): void {
      remove.run(id)
    },

    expire({ now }: { now: number }): void {
      removeExpired.run(now)
    },

    takeLease(request: { name: string; holder: string; now: number; until: number }): boolean {
      return takeLease.run(request).changes > 0
    },

    giveBackLease({ name, holder }: { name: string; holder: string }): void {
      giveBackLease.run(name, holder)
    },
  }
}
