import { linkTo } from '../app/route.ts'

/** The address of a folder in the console. @param names - that lead to it from the root. */
export function linkToFolder(cid: string, names: readonly string[] = []): string {
  return linkTo('files', [cid, ...names, ''].join('/'))
}

/** The address of a file of a folder in the console. */
export function linkToFolderFile(cid: string, names: readonly string[], file: string): string {
  return linkTo('files', [cid, ...names, file].join('/'))
}
