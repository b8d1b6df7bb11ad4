/** Kinds of file systems by the number that statfs(2) gives, as Linux's magic.h and the drivers' own headers list them. */
const NAMES: Readonly<Record<number, string>> = {
  2435016766: 'btrfs',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  61267: 'ext4',
  1702057286: 'FUSE',
  4076150800: 'F2FS',
  26985: 'NFS',
  2035054128: 'overlay',
  2240043254: 'ramfs',
  16914836: 'tmpfs',
  16914839: '9p',
  19780: 'FAT',
  538032816: 'exFAT',
  1481003842: 'XFS',
  801189825: 'ZFS',
}

const VOLATILE: ReadonlySet<string> = new Set(['tmpfs', 'ramfs'])
/** Where locks and fsync depend on somebody else. */
const REMOTE: ReadonlySet<string> = new Set(['CIFS', 'SMB', 'NFS', '9p', 'FUSE'])
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['FAT', 'exFAT'])

/** What to know about keeping data on a file system. */
export interface FileSystemKind {
  /** Undefined where nobody can say: another operating system, or a kind not listed. */
  readonly name: string | undefined
  /** Why data should not be kept there, if so; the end of the sentence "It is on NAME, …". */
  readonly concern: string | undefined
}

/** @param type - as statfs gives it; negative where the number has its highest bit set. */
export function fileSystemKind(type: number, platform: NodeJS.Platform): FileSystemKind {
  const name = platform === 'linux' ? NAMES[type >>> 0] : undefined
  if (name === undefined) return { name, concern: undefined }
  if (VOLATILE.has(name)) return { name, concern: 'which is lost when the machine restarts' }
  if (REMOTE.has(name)) return { name, concern: 'where locks and fsync may not work as SQLite needs' }
  if (WITHOUT_LINKS.has(name)) return { name, concern: 'which does not survive power cuts' }
  return { name, concern: undefined }
}
