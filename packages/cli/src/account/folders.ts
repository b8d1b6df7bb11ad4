import { posix, win32 } from 'node:path'
import type { Terminal } from '../terminal.ts'

type Place = Pick<Terminal, 'platform' | 'env' | 'homeDir'>

/**
 * Where the logins are kept: `$XDG_CONFIG_HOME/lade` or `~/.config/lade`, `~/Library/Application Support/lade` on macOS,
 * `%APPDATA%\lade` on Windows.
 *
 * @see https://specifications.freedesktop.org/basedir-spec/latest/ - relative paths in the variables are ignored.
 */
export function configFolder({ platform, env, homeDir }: Place): string {
  if (platform === 'win32') {
    return win32.join(env.APPDATA || win32.join(homeDir, 'AppData', 'Roaming'), 'lade')
  }
  if (platform === 'darwin') return posix.join(homeDir, 'Library', 'Application Support', 'lade')
  return posix.join(absolute(env.XDG_CONFIG_HOME) ?? posix.join(homeDir, '.config'), 'lade')
}

/**
 * Where what can be made again is kept: `$XDG_CACHE_HOME/lade` or `~/.cache/lade`, `~/Library/Caches/lade` on macOS,
 * `%LOCALAPPDATA%\lade\Cache` on Windows.
 */
export function cacheFolder({ platform, env, homeDir }: Place): string {
  if (platform === 'win32') {
    return win32.join(env.LOCALAPPDATA || win32.join(homeDir, 'AppData', 'Local'), 'lade', 'Cache')
  }
  if (platform === 'darwin') return posix.join(homeDir, 'Library', 'Caches', 'lade')
  return posix.join(absolute(env.XDG_CACHE_HOME) ?? posix.join(homeDir, '.cache'), 'lade')
}

/**
 * Where what was done is remembered: `$XDG_STATE_HOME/lade` or `~/.local/state/lade`, `~/Library/Application Support/lade` on macOS,
 * `%LOCALAPPDATA%\lade` on Windows.
 */
export function stateFolder({ platform, env, homeDir }: Place): string {
  if (platform === 'win32') return win32.join(env.LOCALAPPDATA || win32.join(homeDir, 'AppData', 'Local'), 'lade')
  if (platform === 'darwin') return posix.join(homeDir, 'Library', 'Application Support', 'lade')
  return posix.join(absolute(env.XDG_STATE_HOME) ?? posix.join(homeDir, '.local', 'state'), 'lade')
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && posix.isAbsolute(path) ? path : undefined
}
