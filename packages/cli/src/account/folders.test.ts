import { describe, expect, it } from 'vitest'
import { cacheFolder, configFolder } from './folders.ts'

const linux = { platform: 'linux', homeDir: '/home/ada' } as const
const mac = { platform: 'darwin', homeDir: '/Users/ada', env: { XDG_CONFIG_HOME: '/x' } } as const
const windows = { platform: 'win32', homeDir: 'C:\\Users\\ada' } as const

describe('configFolder and cacheFolder', () => {
  it('follow the XDG variables on Linux, where they are absolute', () => {
    const env = { XDG_CONFIG_HOME: '/etc/ada', XDG_CACHE_HOME: '/var/ada' }
    expect([configFolder({ ...linux, env }), cacheFolder({ ...linux, env })]).toEqual([
      '/etc/ada/lade',
      '/var/ada/lade',
    ])
    const relative = { XDG_CONFIG_HOME: 'here', XDG_CACHE_HOME: '' }
    for (const vague of [relative, {}]) {
      expect(configFolder({ ...linux, env: vague })).toBe('/home/ada/.config/lade')
      expect(cacheFolder({ ...linux, env: vague })).toBe('/home/ada/.cache/lade')
    }
  })

  it('are those of the library on macOS', () => {
    expect(configFolder(mac)).toBe('/Users/ada/Library/Application Support/lade')
    expect(cacheFolder(mac)).toBe('/Users/ada/Library/Caches/lade')
  })

  it('are those of the profile on Windows', () => {
    const env = { APPDATA: 'D:\\roam', LOCALAPPDATA: 'D:\\local' }
    expect([configFolder({ ...windows, env }), cacheFolder({ ...windows, env })]).toEqual([
      'D:\\roam\\lade',
      'D:\\local\\lade\\Cache',
    ])
    expect(configFolder({ ...windows, env: {} })).toBe('C:\\Users\\ada\\AppData\\Roaming\\lade')
  })
})
