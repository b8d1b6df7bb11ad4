export interface DevnetOptions {
  /** Where all of it is kept: absolute, there, and empty. */
  readonly dir: string
  /** Of the service; 0 takes any free one. */
  readonly port: number
  readonly proverCount: number
  readonly signal: AbortSignal
  /** Takes what the service and the provers log, line by line. */
  readonly onLogLine: (part: string, line: string) => void
}

/** A prover of a devnet. */
export interface DevnetProver {
  readonly name: string
  readonly url: string
  /** Its account on the chain. */
  readonly account: string
  readonly pid: number
  readonly dir: string
}

/** What there is in a devnet, and where. */
export interface DevnetFacts {
  readonly dir: string
  readonly service: { readonly url: string; readonly pid: number; readonly dataDir: string }
  readonly chain: { readonly rpcUrl: string; readonly chainId: number; readonly pid: number }
  readonly usdc: string
  readonly marketplace: string
  readonly provers: readonly DevnetProver[]
  /** The account that makes and pays the deals. */
  readonly operator: string
  /** An account with USDC, and the file that holds its key. */
  readonly wallet: { readonly address: string; readonly keyFile: string }
}
