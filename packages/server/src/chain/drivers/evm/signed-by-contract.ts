import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  hashMessage,
  isErc6492Signature,
  parseAbi,
  toHex,
} from 'viem'
import type { Address } from '../../chain.ts'
import { callContract } from './contract-call.ts'
import type { JsonRpc } from './json-rpc.ts'
import type { SignedMessage } from './signed-by-key.ts'

const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** What a wallet answers to a signature of its own: its selector, as a left-aligned word (ERC-1271). */
const IS_VALID = `0x1626ba7e${'0'.repeat(56)}`

export interface SignedByContractOptions {
  readonly rpc: JsonRpc
  /** True when there is code at an address. */
  readonly hasCode: (account: Address) => Promise<boolean>
}

/**
 * True when a contract at `account` takes the signature for this message: the one that is there (ERC-1271), or the one that the
 * signature says how to deploy (ERC-6492).
 *
 * The validator of ERC-6492 would take a signature by a key as well, and in more than one spelling; it is asked only about signatures
 * that are wrapped, for which it asks the contract and nobody else.
 *
 * @throws {LadeError} `chain_offline`.
 */
export async function isSignedByContract(
  { account, message, signature }: SignedMessage,
  { rpc, hasCode }: SignedByContractOptions,
): Promise<boolean> {
  const hash = hashMessage({ raw: message })
  const signatureHex = toHex(signature)
  if (isErc6492Signature(signatureHex)) {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [account, hash, signatureHex],
    })
    const answer = await callContract(rpc, { data })
    return answer !== undefined && /^0x0*1$/.test(answer)
  }
  if (!(await hasCode(account))) return false
  const data = encodeFunctionData({ abi: walletAbi, functionName: 'isValidSignature', args: [hash, signatureHex] })
  return (await callContract(rpc, { to: account, data }))?.toLowerCase().slice(0, IS_VALID.length) === IS_VALID
}
