import { importFile, PROFILES } from '../../acceptance/network-ids.ts'

/** The CID that IPFS tools print for a file with these bytes, by the importer of Helia. */
export async function cidOf(bytes: Uint8Array): Promise<string> {
  return (await importFile(bytes, PROFILES['unixfs-v1-2025'])).root.toString()
}

/** What a service gives under an address. @throws {Error} for any other status than 200. */
export async function served(address: string): Promise<Buffer> {
  const answer = await fetch(address)
  if (answer.status !== 200) throw new Error(`${address} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}
