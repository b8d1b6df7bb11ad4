/** The codes that decide how an id is checked. */
export const RAW = 0x55n
export const DAG_PB = 0x70n
export const LIBP2P_KEY = 0x72n
export const FIL_COMMITMENT_UNSEALED = 0xf101n
export const FIL_COMMITMENT_SEALED = 0xf102n
export const IDENTITY = 0x00n
export const SHA2_256 = 0x12n
export const BLAKE3 = 0x1en
export const BLAKE2B_256 = 0xb220n

/**
 * Names of the codes that content ids meet in practice, so that a refusal can say what it refuses.
 *
 * A code that is not here is written as `0x…`. The tables also decide how much of a broken id has to be right before it
 * counts as a damaged CID: codec and hash must both be listed.
 *
 * @see https://github.com/multiformats/multicodec/blob/master/table.csv - names and codes, tags `ipld` and `multihash`.
 */
const CODECS: ReadonlyMap<bigint, string> = new Map([
  [0x50n, 'protobuf'],
  [0x51n, 'cbor'],
  [0x55n, 'raw'],
  [0x60n, 'rlp'],
  [0x63n, 'bencode'],
  [0x70n, 'dag-pb'],
  [0x71n, 'dag-cbor'],
  [0x72n, 'libp2p-key'],
  [0x78n, 'git-raw'],
  [0x7bn, 'torrent-info'],
  [0x7cn, 'torrent-file'],
  [0x85n, 'dag-jose'],
  [0x86n, 'dag-cose'],
  [0x90n, 'eth-block'],
  [0x93n, 'eth-tx'],
  [0x96n, 'eth-state-trie'],
  [0xb0n, 'bitcoin-block'],
  [0xb1n, 'bitcoin-tx'],
  [0xfan, 'swarm-manifest'],
  [0xfbn, 'swarm-feed'],
  [0x0129n, 'dag-json'],
  [0x0200n, 'json'],
  [0x0201n, 'messagepack'],
  [0x0202n, 'car'],
  [0x0300n, 'ipns-record'],
  [0x0400n, 'car-index-sorted'],
  [0x0401n, 'car-multihash-index-sorted'],
  [0xf101n, 'fil-commitment-unsealed'],
  [0xf102n, 'fil-commitment-sealed'],
])

const HASHES: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'identity'],
  [0x11n, 'sha1'],
  [0x12n, 'sha2-256'],
  [0x13n, 'sha2-512'],
  [0x14n, 'sha3-512'],
  [0x15n, 'sha3-384'],
  [0x16n, 'sha3-256'],
  [0x17n, 'sha3-224'],
  [0x18n, 'shake-128'],
  [0x19n, 'shake-256'],
  [0x1an, 'keccak-224'],
  [0x1bn, 'keccak-256'],
  [0x1cn, 'keccak-384'],
  [0x1dn, 'keccak-512'],
  [0x1en, 'blake3'],
  [0x20n, 'sha2-384'],
  [0x22n, 'murmur3-x64-64'],
  [0x56n, 'dbl-sha2-256'],
  [0xd4n, 'md4'],
  [0xd5n, 'md5'],
  [0x1011n, 'fr32-sha2-256-trunc254-padded-binary-tree'],
  [0x1012n, 'sha2-256-trunc254-padded'],
  [0x1013n, 'sha2-224'],
  [0x1014n, 'sha2-512-224'],
  [0x1015n, 'sha2-512-256'],
  [0x1053n, 'ripemd-160'],
  [0xb214n, 'blake2b-160'],
  [0xb220n, 'blake2b-256'],
  [0xb240n, 'blake2b-512'],
  [0xb260n, 'blake2s-256'],
  [0xb401n, 'poseidon-bls12_381-a2-fc1'],
])

/** True when `code` is a codec of the table. */
export function isKnownCodec(code: bigint): boolean {
  return CODECS.has(code)
}

/** True when `code` is a hash of the table, identity included. */
export function isKnownHash(code: bigint): boolean {
  return HASHES.has(code)
}

/** `dag-pb (0x70)` for a codec of the table, `0x3f42` for any other. */
export function codecName(code: bigint): string {
  return named(CODECS, code)
}

/** `sha2-512 (0x13)` for a hash of the table, `0x3f42` for any other. */
export function hashName(code: bigint): string {
  return named(HASHES, code)
}

function named(table: ReadonlyMap<bigint, string>, code: bigint): string {
  const hex = `0x${code.toString(16)}`
  const name = table.get(code)
  return name === undefined ? hex : `${name} (${hex})`
}
