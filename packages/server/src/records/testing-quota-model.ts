import { NETWORK_SHARES } from '@lade/core/wire'
import { networkOf } from '../quota-rule/network-of.ts'
import type { AskingToken, ContentAlias, QuotaLimit, Usage, UsageDay } from './record-store.ts'

/** Bytes that were verified, with all that this told about them. */
export interface VerifiedBytes {
  readonly key: string
  readonly sha256: string
  readonly sizeBytes: number
  readonly pieceRoot: string
  readonly aliases: readonly ContentAlias[]
}

/** One call of the quota rules, with everything that it depends on. */
export type QuotaCall =
  | {
      readonly name: 'reserve'
      readonly capStoredBytes?: number | undefined
      readonly token?: AskingToken | undefined
      readonly id: string
      readonly principal: string
      readonly instance: string
      readonly day: string
      readonly key: string
      readonly sizeBytes: number
      readonly capBytes: number
      readonly capFiles: number
      readonly maxInFlight: number
      /** True when the size is not known yet, and the reservation begins empty. */
      readonly grows: boolean
      readonly now: number
    }
  | {
      readonly name: 'grow'
      readonly id: string
      readonly principal: string
      readonly key: string
      readonly leastBytes: number
      readonly wantedBytes: number
      readonly now: number
    }
  | {
      readonly name: 'commit'
      readonly id: string
      readonly principal: string
      readonly bytes: VerifiedBytes
      readonly expiresAt: number
      readonly now: number
    }
  | {
      readonly name: 'commit at once'
      readonly capStoredBytes?: number | undefined
      readonly token?: AskingToken | undefined
      readonly principal: string
      readonly day: string
      readonly bytes: VerifiedBytes
      readonly capBytes: number
      readonly capFiles: number
      readonly maxInFlight: number
      readonly expiresAt: number
      readonly now: number
    }
  | {
      readonly name: 'make folder'
      readonly capStoredBytes?: number | undefined
      readonly token?: AskingToken | undefined
      readonly principal: string
      readonly day: string
      /** Of its directories. */
      readonly bytes: VerifiedBytes
      readonly members: readonly VerifiedBytes[]
      /** True when all members were sent for it. */
      readonly takes: boolean
      readonly capBytes: number
      readonly capFiles: number
      readonly maxInFlight: number
      readonly expiresAt: number
      readonly now: number
    }
  | {
      readonly name: 'compose'
      readonly capStoredBytes?: number | undefined
      readonly token?: AskingToken | undefined
      readonly principal: string
      readonly day: string
      readonly capFiles: number
      readonly whole: VerifiedBytes
      /** True when the whole was read, so that its digest is known. */
      readonly isRead: boolean
      /** In order; one may stand there more than once. */
      readonly parts: readonly VerifiedBytes[]
      readonly capBytes: number
      readonly expiresAt: number
      readonly now: number
    }
  | {
      readonly name: 'claim'
      readonly capStoredBytes?: number | undefined
      readonly token?: AskingToken | undefined
      /** Who uploaded without an account, and who claims. */
      readonly from: string
      readonly principal: string
      readonly key: string
      readonly day: string
      readonly capBytes: number
      readonly capFiles: number
      readonly expiresAt: number
      readonly now: number
    }
  | { readonly name: 'release'; readonly id: string }
  | { readonly name: 'lapse'; readonly ids: readonly string[]; readonly now: number }
  | { readonly name: 'deregister'; readonly instance: string; readonly now: number }
  | { readonly name: 'remove'; readonly principal: string; readonly key: string; readonly now: number }
  | { readonly name: 'sweep'; readonly now: number }

/** What a caller learns, without what only the store decides (sequences, deal ids). */
export type QuotaAnswer = Readonly<Record<string, string | number | boolean | QuotaLimit>>

interface Reservation {
  readonly principal: string
  readonly instance: string
  readonly day: string
  readonly bytes: number
  readonly capBytes: number
  readonly capFiles: number
  readonly capStoredBytes?: number | undefined
  readonly token?: AskingToken | undefined
}

/** One limit, and what counts towards it. */
interface Limit {
  readonly unit: QuotaLimit['unit']
  readonly which?: 'token' | 'stored'
  readonly network?: string
  readonly used: number
  readonly more: number
  readonly cap: number
}

interface StagedFile {
  readonly principal: string
  readonly sha256: string
  /** The opaque key; undefined for every verified one. */
  readonly opaqueKey: string | undefined
  /** Stored for it: of a folder, with all its members. */
  readonly sizeBytes: number
  readonly expiresAt: number
  /** The digests of the members of a folder; undefined for other files. */
  readonly members?: readonly string[] | undefined
  /** False for what an account got by a claim: its owner has no secret of it. */
  readonly isClaimable: boolean
}

/** What a principal was charged on a day. */
interface Charge {
  readonly principal: string
  readonly date: string
  readonly bytes: number
  readonly files: number
  /** By token, what it was charged; the rest was charged to none. */
  readonly tokens: ReadonlyMap<string, number>
}

/** Bytes that were recorded. Those that were composed have a digest that nobody may know. */
interface KnownObject extends VerifiedBytes {
  readonly isHashed: boolean
}

/**
 * The quota rules in plain collections: the least that answers as a record store must.
 *
 * A file is live until its term ends, whether or not anybody has swept it, so `sweep` changes nothing here.
 */
export class QuotaModel {
  #reservations = new Map<string, Reservation>()
  #live: StagedFile[] = []
  #charges = new Map<string, Charge>()
  /** By opaque key, the digest. */
  #bound = new Map<string, string>()
  /** Files that can be claimed, or could, each by whom it is of and its name. */
  #claimable = new Set<string>()
  /** Everything that was ever recorded, oldest first. */
  #objects: KnownObject[] = []
  /** By digest, what was learned later on. */
  #aliases: (ContentAlias & { readonly sha256: string })[] = []

  clone(): QuotaModel {
    const copy = new QuotaModel()
    copy.#reservations = new Map(this.#reservations)
    copy.#live = [...this.#live]
    copy.#charges = new Map(this.#charges)
    copy.#bound = new Map(this.#bound)
    copy.#claimable = new Set(this.#claimable)
    copy.#objects = [...this.#objects]
    copy.#aliases = [...this.#aliases]
    return copy
  }

  apply(call: QuotaCall): QuotaAnswer {
    switch (call.name) {
      case 'reserve':
        return this.#reserve(call)
      case 'grow':
        return this.#grow(call)
      case 'commit':
        return this.#commit(call)
      case 'commit at once':
        return this.#commitAtOnce(call)
      case 'make folder':
        return this.#makeFolder(call)
      case 'compose':
        return this.#compose(call)
      case 'claim':
        return this.#claim(call)
      case 'release':
        this.#reservations.delete(call.id)
        return {}
      case 'lapse':
        for (const id of call.ids) this.#reservations.delete(id)
        return {}
      case 'deregister':
        return { reservations: this.#deregister(call.instance) }
      case 'remove': {
        const file = this.#liveFile(call)
        this.#live = this.#live.filter((other) => other !== file)
        return { removed: file !== undefined }
      }
      case 'sweep':
        return {}
    }
  }

  usage({ principal, today, now }: { principal: string; today: string; now: number }): Usage {
    const days: UsageDay[] = [...this.#charges.values()]
      .filter((charge) => charge.principal === principal)
      .map(({ date, bytes, files }) => ({ date, bytes, files }))
      .sort((one, other) => (one.date < other.date ? -1 : 1))
    const stored = this.#live.filter((file) => file.principal === principal && file.expiresAt > now)
    const bytes = stored.reduce((sum, file) => sum + file.sizeBytes, 0)
    const reserved = this.#reservedOn(today, (name) => name === principal)
    return {
      days,
      reservedBytes: reserved.bytes,
      reservedFiles: reserved.files,
      stored: { bytes, files: stored.length },
    }
  }

  #reserve(call: Extract<QuotaCall, { name: 'reserve' }>): QuotaAnswer {
    const { id, principal, instance, day, capBytes, capFiles, capStoredBytes, token } = call
    const inFlight = this.#inFlight(principal)
    if (inFlight >= call.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
    const bytes = this.#liveFile(call) === undefined ? call.sizeBytes : 0
    const usedBytes = this.#usedBytes(principal, day)
    const over = bytes > 0 ? this.#limitInTheWay(call, { bytes, files: 1 }) : undefined
    if (over !== undefined) return { outcome: 'over_quota', usedBytes, over }
    const reservedBytes = call.grows ? 0 : bytes
    const reservation = { principal, instance, day, bytes: reservedBytes, capBytes, capFiles, capStoredBytes, token }
    this.#reservations.set(id, reservation)
    return { outcome: 'reserved', reservedBytes, usedBytes: usedBytes + reservedBytes }
  }

  #grow(call: Extract<QuotaCall, { name: 'grow' }>): QuotaAnswer {
    const { id, principal, leastBytes, wantedBytes, now } = call
    const held = this.#reservations.get(id)
    if (held === undefined) return { outcome: 'lost' }
    if (this.#liveFile(call) !== undefined) return { outcome: 'grown', allowedBytes: wantedBytes }
    this.#reservations.delete(id)
    const limitFor = (bytes: number) => this.#limitInTheWay({ ...held, now }, moreThan(held.bytes, bytes))
    const over = limitFor(leastBytes)
    let [fits, tooMany] = [leastBytes, wantedBytes + 1]
    while (over === undefined && tooMany - fits > 1) {
      const bytes = Math.floor((fits + tooMany) / 2)
      if (limitFor(bytes) === undefined) fits = bytes
      else tooMany = bytes
    }
    const allowedBytes = Math.max(held.bytes, fits)
    this.#reservations.set(id, over === undefined ? { ...held, bytes: allowedBytes } : held)
    if (over === undefined) return { outcome: 'grown', allowedBytes }
    return { outcome: 'over_quota', usedBytes: this.#usedBytes(principal, held.day) - held.bytes, over }
  }

  #commit(call: Extract<QuotaCall, { name: 'commit' }>): QuotaAnswer {
    const { id, principal, bytes, now } = call
    const held = this.#reservations.get(id)
    if (held === undefined) return { outcome: 'lost' }
    const bound = this.#boundElsewhere(bytes)
    if (bound !== undefined) return { outcome: 'conflict', object: bound }
    if (this.#liveFileOf(principal, bytes, now) !== undefined) {
      this.#reservations.delete(id)
      this.#learn(bytes)
      return { outcome: 'retry', usedBytes: this.#usedBytes(principal, held.day) }
    }
    this.#reservations.delete(id)
    const others = this.#usedBytes(principal, held.day)
    const over = this.#limitInTheWay({ ...held, now }, moreThan(held.bytes, bytes.sizeBytes))
    if (over !== undefined) {
      this.#reservations.set(id, held)
      return { outcome: 'over_quota', usedBytes: others, over }
    }
    this.#record(call, held.day, held.token)
    return { outcome: 'recorded', usedBytes: others + bytes.sizeBytes }
  }

  #commitAtOnce(call: Extract<QuotaCall, { name: 'commit at once' }>): QuotaAnswer {
    const { principal, day, bytes, now } = call
    const inFlight = this.#inFlight(principal)
    if (inFlight >= call.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
    const usedBytes = this.#usedBytes(principal, day)
    const isRetry = this.#liveFileOf(principal, bytes, now) !== undefined
    const over = isRetry ? undefined : this.#limitInTheWay(call, { bytes: bytes.sizeBytes, files: 1 })
    const isLetIn = over === undefined || this.#liveFile({ principal, key: bytes.key, now }) !== undefined
    const bound = isLetIn ? this.#boundElsewhere(bytes) : undefined
    if (bound !== undefined) return { outcome: 'conflict', object: bound }
    if (over !== undefined) return { outcome: 'over_quota', usedBytes, over }
    if (isRetry) {
      this.#learn(bytes)
      return { outcome: 'retry', usedBytes }
    }
    this.#record(call, day, call.token)
    return { outcome: 'recorded', usedBytes: usedBytes + bytes.sizeBytes }
  }

  /** Everything is public here: a member is anybody's live file, or in anybody's live folder. */
  #makeFolder(call: Extract<QuotaCall, { name: 'make folder' }>): QuotaAnswer {
    const { principal, day, bytes, members, takes, now } = call
    const live = this.#live.filter(({ expiresAt }) => expiresAt > now)
    const holdersOf = ({ sha256 }: VerifiedBytes) =>
      live.filter((file) => file.sha256 === sha256 || file.members?.includes(sha256) === true)
    const isRetry = this.#liveFileOf(principal, bytes, now) !== undefined
    const gone = isRetry ? [] : members.filter((member) => holdersOf(member).length === 0)
    if (gone.length > 0) return { outcome: 'unusable_members', gone: gone.map(({ sha256 }) => sha256).join(' ') }
    const inFlight = this.#inFlight(principal)
    if (inFlight >= call.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
    const usedBytes = this.#usedBytes(principal, day)
    if (isRetry) {
      this.#learn(bytes)
      return { outcome: 'retry', usedBytes }
    }
    const sumOf = (sizes: readonly { readonly sizeBytes: number }[]) =>
      sizes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const foreign = members.filter((member) => !holdersOf(member).some((file) => file.principal === principal))
    const taken = live.filter(
      (file) =>
        takes &&
        file.principal === principal &&
        file.members === undefined &&
        file.opaqueKey === undefined &&
        members.some(({ sha256 }) => sha256 === file.sha256),
    )
    const chargedBytes = bytes.sizeBytes + sumOf(foreign)
    const sizeBytes = bytes.sizeBytes + sumOf(members)
    const more = { bytes: chargedBytes, files: 1, storedBytes: Math.max(0, sizeBytes - sumOf(taken)) }
    const over = this.#limitInTheWay(call, more)
    if (over !== undefined) return { outcome: 'over_quota', usedBytes, over }
    this.#learn(bytes)
    this.#live = this.#live.filter((file) => !taken.includes(file) && !isFileOf(file, principal, bytes))
    const { sha256 } = bytes
    const { expiresAt } = call
    const digests = members.map((member) => member.sha256)
    this.#stage({ principal, sha256, opaqueKey: undefined, sizeBytes, expiresAt, members: digests, isClaimable: true })
    this.#charge(call, chargedBytes)
    return { outcome: 'recorded', usedBytes: usedBytes + chargedBytes }
  }

  #compose(call: Extract<QuotaCall, { name: 'compose' }>): QuotaAnswer {
    const { principal, whole, isRead, parts, expiresAt, now, day } = call
    if (this.#liveFileOf(principal, whole, now) !== undefined) {
      this.#learn(whole, isRead)
      return { outcome: 'retry' }
    }
    const files = parts.map((part) => this.#liveFileOf(principal, part, now))
    if (files.includes(undefined)) return { outcome: 'ended' }
    const { sha256, sizeBytes } = whole
    const onceBytes = [...new Set(files)].reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0)
    const addedBytes = sizeBytes - onceBytes
    const usedBytes = this.#usedBytes(principal, day)
    const over = this.#limitInTheWay(call, { bytes: addedBytes, files: 1 })
    if (over !== undefined) return { outcome: 'over_quota', usedBytes, over }
    this.#learn(whole, isRead)
    this.#live = this.#live.filter((file) => !files.includes(file) && !isFileOf(file, principal, whole))
    this.#stage({ principal, sha256, opaqueKey: undefined, sizeBytes, expiresAt, isClaimable: true })
    this.#charge(call, addedBytes)
    return { outcome: 'recorded' }
  }

  #record(
    upload: { principal: string; bytes: VerifiedBytes; expiresAt: number },
    day: string,
    token: AskingToken | undefined,
  ): void {
    const { principal, bytes, expiresAt } = upload
    const { key, sha256, sizeBytes } = bytes
    const opaqueKey = opaqueKeyOf(key)
    this.#learn(bytes)
    if (opaqueKey !== undefined) this.#bound.set(opaqueKey, sha256)
    this.#live = this.#live.filter((file) => !isFileOf(file, principal, bytes))
    this.#stage({ principal, sha256, opaqueKey, sizeBytes, expiresAt, isClaimable: true })
    this.#charge({ principal, day, token }, sizeBytes)
  }

  #stage(file: StagedFile): void {
    this.#live.push(file)
    if (file.isClaimable) this.#claimable.add(claimName(file))
  }

  /** What the address was charged stays charged, and the account is charged as for an upload. */
  #claim(call: Extract<QuotaCall, { name: 'claim' }>): QuotaAnswer {
    const { from, principal, key, day, expiresAt, now } = call
    const digests = this.#namedBy(key).filter((sha256) => sha256 !== undefined)
    const files = digests.map((sha256) => this.#liveFileOf(from, { key, sha256 }, now))
    const file = files.find((found) => found?.isClaimable)
    if (file === undefined) {
      const isTaken = digests.some(
        (sha256) =>
          this.#claimable.has(claimName({ principal: from, sha256, opaqueKey: opaqueKeyOf(key) })) &&
          this.#liveFileOf(principal, { key, sha256 }, now) !== undefined,
      )
      return { outcome: isTaken ? 'taken' : 'absent' }
    }
    const { sha256, opaqueKey, sizeBytes, members } = file
    const usedBytes = this.#usedBytes(principal, day)
    if (this.#liveFileOf(principal, { key, sha256 }, now) !== undefined) {
      this.#live = this.#live.filter((other) => other !== file)
      return { outcome: 'retry', usedBytes }
    }
    const over = this.#limitInTheWay(call, { bytes: sizeBytes, files: 1 })
    if (over !== undefined) return { outcome: 'over_quota', usedBytes, over }
    this.#live = this.#live.filter((other) => other !== file && !isFileOf(other, principal, { key, sha256 }))
    this.#stage({ principal, sha256, opaqueKey, sizeBytes, expiresAt, members, isClaimable: false })
    this.#charge(call, sizeBytes)
    return { outcome: 'recorded', usedBytes: usedBytes + sizeBytes }
  }

  #learn(bytes: VerifiedBytes, isHashed = true): void {
    const { sha256, aliases } = bytes
    const place = this.#objects.findIndex((object) => object.sha256 === sha256)
    const known = this.#objects[place]
    if (known === undefined) this.#objects.push({ ...bytes, isHashed })
    else this.#objects[place] = { ...known, isHashed: known.isHashed || isHashed }
    this.#aliases.push(...aliases.map((alias) => ({ ...alias, sha256 })))
  }

  /** The digests that a key can mean, the first choice first. */
  #namedBy(key: string): readonly (string | undefined)[] {
    const own = this.#objects.find(
      ({ sha256, sizeBytes, pieceRoot, isHashed }) =>
        [`piece:${pieceRoot}:${sizeBytes}`, `piece-v1:${pieceRoot}`].includes(key) ||
        (isHashed && key === `sha256:${sha256}`),
    )
    // The order in which the names were learned is the one in which the bytes were staged under them.
    const aliases = this.#aliases.filter((alias) => alias.key === key).map(({ sha256 }) => sha256)
    const block = this.#objects.find(({ sha256, isHashed }) => isHashed && key === `dag-pb:${sha256}`)
    return [this.#bound.get(key), own?.sha256, ...aliases, block?.sha256]
  }

  #boundElsewhere({ key, sha256 }: VerifiedBytes): string | undefined {
    const binds = key.startsWith('opaque:') || key.startsWith('piece-v1:')
    const bound = this.#namedBy(key).find((digest) => digest !== undefined)
    return binds && bound !== sha256 ? bound : undefined
  }

  #charge(
    { principal, day, token }: { principal: string; day: string; token?: AskingToken | undefined },
    bytes: number,
  ) {
    const name = `${principal} ${day}`
    const before = this.#charges.get(name) ?? { bytes: 0, files: 0, tokens: new Map<string, number>() }
    const tokens = new Map(before.tokens)
    if (token !== undefined) tokens.set(token.id, (tokens.get(token.id) ?? 0) + bytes)
    this.#charges.set(name, { principal, date: day, bytes: before.bytes + bytes, files: before.files + 1, tokens })
  }

  #deregister(instance: string): number {
    const ids = [...this.#reservations].filter(([, held]) => held.instance === instance).map(([id]) => id)
    for (const id of ids) this.#reservations.delete(id)
    return ids.length
  }

  #liveFile({ principal, key, now }: { principal: string; key: string; now: number }): StagedFile | undefined {
    for (const sha256 of this.#namedBy(key)) {
      const file = sha256 === undefined ? undefined : this.#liveFileOf(principal, { key, sha256 }, now)
      if (file !== undefined) return file
    }
    return undefined
  }

  #liveFileOf(
    principal: string,
    { key, sha256 }: { key: string; sha256: string },
    now: number,
  ): StagedFile | undefined {
    return this.#live.find((file) => isFileOf(file, principal, { key, sha256 }) && file.expiresAt > now)
  }

  #inFlight(principal: string): number {
    return [...this.#reservations.values()].filter((other) => other.principal === principal).length
  }

  #reservedOn(day: string, isOf: (principal: string) => boolean): { bytes: number; files: number } {
    const held = [...this.#reservations.values()].filter(
      (one) => one.day === day && one.bytes > 0 && isOf(one.principal),
    )
    return { bytes: held.reduce((sum, { bytes }) => sum + bytes, 0), files: held.length }
  }

  #chargedOn(day: string, isOf: (principal: string) => boolean): { bytes: number; files: number } {
    const charges = [...this.#charges.values()].filter((charge) => charge.date === day && isOf(charge.principal))
    const sum = (of: 'bytes' | 'files') => charges.reduce((total, charge) => total + charge[of], 0)
    return { bytes: sum('bytes'), files: sum('files') }
  }

  #usedBytes(principal: string, day: string): number {
    const isOwn = (name: string) => name === principal
    return this.#chargedOn(day, isOwn).bytes + this.#reservedOn(day, isOwn).bytes
  }

  /** Charged and reserved by this token, and by nobody knows which. */
  #tokenBytes({ principal, day, token }: { principal: string; day: string; token: AskingToken }): number {
    const held = [...this.#reservations.values()]
      .filter((one) => one.principal === principal && one.day === day && (one.token?.id ?? token.id) === token.id)
      .reduce((sum, { bytes }) => sum + bytes, 0)
    const charge = this.#charges.get(`${principal} ${day}`)
    const byOthers = [...(charge?.tokens ?? [])].reduce((sum, [id, bytes]) => sum + (id === token.id ? 0 : bytes), 0)
    return held + (charge?.bytes ?? 0) - byOthers
  }

  #storedBytes(isOf: (principal: string) => boolean, now: number): number {
    const sumOf = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0)
    const files = this.#live.filter((file) => isOf(file.principal) && file.expiresAt > now)
    const held = [...this.#reservations.values()].filter((one) => isOf(one.principal))
    return sumOf(files.map(({ sizeBytes }) => sizeBytes)) + sumOf(held.map(({ bytes }) => bytes))
  }

  /** The first limit that so much more would go over: the principal's own before those of its network. */
  #limitInTheWay(
    {
      principal,
      day,
      capBytes,
      capFiles,
      capStoredBytes,
      token,
      now,
    }: Omit<Reservation, 'instance' | 'bytes'> & { now: number },
    more: { bytes: number; files: number; storedBytes?: number },
  ): QuotaLimit | undefined {
    const capped = (cap: number) => Math.min(cap, Number.MAX_SAFE_INTEGER)
    const limitsOf = (isOf: (principal: string) => boolean, shares: number, name: { network?: string }): Limit[] => {
      const [charged, held] = [this.#chargedOn(day, isOf), this.#reservedOn(day, isOf)]
      const ofDay = (['bytes', 'files'] as const).map((unit) => {
        const cap = capped(shares * (unit === 'bytes' ? capBytes : capFiles))
        return { unit, used: charged[unit] + held[unit], more: more[unit], cap, ...name }
      })
      const ofToken: Limit[] =
        token === undefined || shares > 1
          ? []
          : [
              {
                unit: 'bytes',
                which: 'token',
                used: this.#tokenBytes({ principal, day, token }),
                more: more.bytes,
                cap: token.capBytes,
              },
            ]
      if (capStoredBytes === undefined) return [...ofDay, ...ofToken]
      const used = this.#storedBytes(isOf, now)
      return [
        ...ofDay,
        ...ofToken,
        {
          unit: 'bytes',
          which: 'stored',
          used,
          more: more.storedBytes ?? more.bytes,
          cap: capped(shares * capStoredBytes),
          ...name,
        },
      ]
    }
    const network = networkOf(principal)
    const limits = limitsOf((other) => other === principal, 1, {})
    if (network !== undefined)
      limits.push(...limitsOf((other) => networkOf(other) === network, NETWORK_SHARES, { network }))
    const over = limits.find((limit) => limit.more > 0 && limit.used + limit.more > limit.cap)
    if (over === undefined) return undefined
    const { unit, which, used, cap } = over
    return { unit, ...(which && { which }), used, limit: cap, ...(over.network && { network: over.network }) }
  }
}

/** What an upload of `bytes` asks for: what has reserved bytes was let in with them, and as a file. */
function moreThan(heldBytes: number, bytes: number): { bytes: number; files: number } {
  return { bytes: bytes <= heldBytes ? 0 : bytes, files: heldBytes > 0 ? 0 : 1 }
}

function isFileOf(file: StagedFile, principal: string, { key, sha256 }: { key: string; sha256: string }): boolean {
  return file.principal === principal && file.sha256 === sha256 && file.opaqueKey === opaqueKeyOf(key)
}

function opaqueKeyOf(key: string): string | undefined {
  return key.startsWith('opaque:') ? key : undefined
}

function claimName({ principal, sha256, opaqueKey }: Pick<StagedFile, 'principal' | 'sha256' | 'opaqueKey'>): string {
  return `${principal} ${sha256} ${opaqueKey ?? ''}`
}
