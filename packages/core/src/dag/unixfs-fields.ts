// The fields of a dag-pb node and of UnixFS: number and wire type, as protobuf writes them in one byte.
// https://ipld.io/specs/codecs/dag-pb/spec/ and https://specs.ipfs.tech/unixfs/

export const NODE_DATA = 0x0a
export const NODE_LINKS = 0x12

export const LINK_HASH = 0x0a
export const LINK_NAME = 0x12
export const LINK_TSIZE = 0x18

export const UNIXFS_TYPE = 0x08
export const UNIXFS_DATA = 0x12
export const UNIXFS_FILESIZE = 0x18
export const UNIXFS_BLOCKSIZES = 0x20
export const UNIXFS_HASH_TYPE = 0x28
export const UNIXFS_FANOUT = 0x30
