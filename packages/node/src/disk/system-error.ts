/** What the operating system says, as the end of a sentence. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'another program uses this address',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EAI_AGAIN: 'the name server does not answer',
  EBUSY: 'it is in use',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'it exists already',
  EFBIG: 'the file would be too large',
  EHOSTUNREACH: 'the host cannot be reached',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link, or has too many of them',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENETUNREACH: 'the network cannot be reached',
  ENFILE: 'too many files are open',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  ENOTEMPTY: 'the folder is not empty',
  ENOTFOUND: 'the host name is unknown',
  EPERM: 'the operating system does not permit it',
  EROFS: 'the file system is read-only',
  ETIMEDOUT: 'there was no answer in time',
}

/** What was tried, by the call that failed. */
const ACTIONS: Readonly<Record<string, string>> = {
  access: 'open',
  bind: 'listen on',
  connect: 'connect to',
  copyfile: 'copy',
  fsync: 'write',
  getaddrinfo: 'find the host',
  link: 'create',
  listen: 'listen on',
  lstat: 'open',
  mkdir: 'create the folder',
  open: 'open',
  opendir: 'list the folder',
  read: 'read',
  realpath: 'open',
  rename: 'rename',
  rmdir: 'remove the folder',
  scandir: 'list the folder',
  spawn: 'run',
  stat: 'open',
  statfs: 'open',
  symlink: 'create',
  unlink: 'remove',
  write: 'write',
}

/** True for an error of the operating system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

/**
 * Why a call of the operating system failed, as the end of a sentence; what Node says for a code that is not known here.
 *
 * @example
 * systemReason(error) // 'permission denied' for EACCES
 */
export function systemReason(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? (error.message === '' ? code : error.message)
}

/**
 * The sentence for an error of the operating system.
 *
 * @example
 * describeSystemError(error) // 'Cannot open /srv/x: permission denied.'
 */
export function describeSystemError(error: NodeJS.ErrnoException): string {
  const { code = '', syscall = '', path } = error
  const action = ACTIONS[syscall.split(' ')[0] ?? '']
  const reason = REASONS[code]
  if (action === undefined || reason === undefined)
    return error.message.endsWith('.') ? error.message : `${error.message}.`
  const what = path ?? addressOf(error)
  return `Cannot ${action}${what === undefined ? '' : ` ${what}`}: ${reason}.`
}

function addressOf(error: NodeJS.ErrnoException): string | undefined {
  const { address, port, hostname } = error as { address?: unknown; port?: unknown; hostname?: unknown }
  if (typeof hostname === 'string') return hostname
  if (typeof address !== 'string') return undefined
  const host = address.includes(':') ? `[${address}]` : address
  return typeof port === 'number' && port >= 0 ? `${host}:${port}` : host
}
