import { type Hex, toFunctionSelector } from 'viem'
import { marketplaceAbi } from '../contracts.ts'

const selectors = new Map(
  marketplaceAbi.flatMap((entry) => {
    if (entry.type !== 'error') return []
    const inputs: readonly { readonly type: string }[] = entry.inputs
    const signature = `${entry.name}(${inputs.map(({ type }) => type).join()})`
    return [[entry.name as string, toFunctionSelector(signature)] as const]
  }),
)

/** The selector of an error of the contract, as `Skipped` gives it. @throws {Error} when there is no such error. */
export function selectorOf(errorName: string): Hex {
  const selector = selectors.get(errorName)
  if (selector === undefined) throw new Error(`the contract has no error ${errorName}`)
  return selector
}

/** The name of the error of a selector. */
export function errorNameOf(selector: Hex): string | undefined {
  return [...selectors].find(([, each]) => each === selector)?.[0]
}
