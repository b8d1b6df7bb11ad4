import { ANVIL_KEY } from '@lade/contracts/anvil'
import { compileSources } from '@lade/contracts/compile'
import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionParameters,
  type ContractFunctionReturnType,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  parseAbi,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { TestChain } from './test-chain.ts'

/** Answers a call with the bytes that were stored for exactly this call, and reverts without them. */
const ANSWER_TABLE = `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

contract AnswerTable {
    mapping(bytes32 => bytes) private answers;

    function storeAnswer(bytes calldata call, bytes calldata answer) external { answers[keccak256(call)] = answer; }

    fallback(bytes calldata call) external returns (bytes memory answer) {
        answer = answers[keccak256(call)];
        require(answer.length > 0, "no answer is stored");
    }
}
`
const ANSWER_TABLE_ABI = parseAbi(['function storeAnswer(bytes call, bytes answer)'])

/** Views of contracts whose ABI is published without bytecode: the test stores what each call returns. */
export interface AnswerTable {
  answer<
    const abi extends Abi,
    name extends ContractFunctionName<abi, 'pure' | 'view'>,
    args extends ContractFunctionArgs<abi, 'pure' | 'view', name>,
  >(
    call: ContractFunctionParameters<abi, 'pure' | 'view', name, args>,
    result: ContractFunctionReturnType<abi, 'pure' | 'view', name, args>,
  ): Promise<void>
}

/** Puts a table at each address. */
export async function installAnswerTables(chain: TestChain, addresses: readonly Address[]): Promise<AnswerTable> {
  const account = privateKeyToAccount(ANVIL_KEY)
  const [compiled] = compileSources({ 'AnswerTable.sol': ANSWER_TABLE })
  const bytecode = await deployedCode(chain, compiled?.bytecode as Hex)
  for (const address of addresses) await chain.setCode({ address, bytecode })
  return {
    async answer(call, result) {
      const { address, abi, functionName } = call
      const data = encodeFunctionData(call as unknown as Parameters<typeof encodeFunctionData>[0])
      const returned = encodeFunctionResult({ abi: abi as Abi, functionName: functionName as string, result })
      const stored = { address, abi: ANSWER_TABLE_ABI, functionName: 'storeAnswer', args: [data, returned] } as const
      await chain.writeContract({ ...stored, account, chain: null })
    },
  }
}

/** The code that a deployment leaves on the chain. */
export async function deployedCode(chain: TestChain, bytecode: Hex): Promise<Hex> {
  const hash = await chain.sendTransaction({ data: bytecode, chain: null })
  const { contractAddress } = await chain.waitForTransactionReceipt({ hash })
  const code = contractAddress && (await chain.getCode({ address: contractAddress }))
  if (!code) throw new Error('the deployment left no code')
  return code
}
