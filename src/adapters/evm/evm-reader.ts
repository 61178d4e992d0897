import type { OutsideConfig } from '../../../config/outside-settings.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type {
  EnsFacts,
  EnsQuery,
  EvmBalance,
  EvmNetworkName,
  EvmReader,
  GasFacts,
} from '../../../marketplace/ports/evm.ts'
import { notNow, type Readiness } from '../../../marketplace/ports/readiness.ts'
import type { Sourced } from '../../../marketplace/ports/sourced.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from '../providers/provider.ts'
import { ProviderChain } from '../providers/provider-chain.ts'
import { ensLookup } from './ens-lookup.ts'
import type { Ens } from './ens-viem.ts'
import { type EvmFacts, type EvmNetwork, type EvmQuery, evmFacts } from './evm-facts.ts'
import type { JsonRpcNode } from './json-rpc-node.ts'
import { nodesOf } from './node-names.ts'

/** What the reader needs. */
export interface EvmDependencies {
  readonly config: Pick<OutsideConfig['providers'], EvmNetworkName>
  readonly clock: Clock
  readonly timers: Timers
}

/** Chain ids by https://chainlist.org. */
const NETWORKS: Readonly<Record<EvmNetworkName, EvmNetwork>> = {
  ethereum: { chainId: 1, stable: null },
  base: {
    chainId: 8453,
    stable: { symbol: 'USDC', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
  },
}
const FRESH_MS = 6_000
const STALE_MS = 30_000
const ENS_FRESH_MS = 300_000
const ENS_STALE_MS = 1_800_000

/** Reads networks through the nodes that the operator named, asked in order. Without nodes nothing is asked. */
export class RpcEvmReader implements EvmReader, Checkable {
  readonly #facts: Readonly<Record<EvmNetworkName, ProviderChain<EvmQuery, EvmFacts>>>
  readonly #names: ProviderChain<EnsQuery, EnsFacts>
  readonly #hasNames: boolean
  #loading: Promise<Ens> | null = null
  #ens: Ens | null = null

  private constructor(
    nodes: Readonly<Record<EvmNetworkName, readonly JsonRpcNode[]>>,
    { clock, timers }: EvmDependencies,
  ) {
    const factsOf = (network: EvmNetworkName): ProviderChain<EvmQuery, EvmFacts> =>
      new ProviderChain({
        what: `facts of ${network}`,
        requires: [`providers.${network}`],
        providers: nodes[network].map((node) => evmFacts(node, NETWORKS[network], clock)),
        keyOf: (query) => (query.ask === 'gas' ? 'gas' : query.address.toLowerCase()),
        freshMs: FRESH_MS,
        staleMs: STALE_MS,
        clock,
        timers,
      })
    this.#facts = { ethereum: factsOf('ethereum'), base: factsOf('base') }
    this.#hasNames = nodes.ethereum.length > 0
    this.#names = new ProviderChain({
      what: 'names of ENS',
      requires: ['providers.ethereum'],
      providers: nodes.ethereum.map((node) => ensLookup(node, this.#load, clock)),
      keyOf: (query) => ('name' in query ? query.name : query.address.toLowerCase()),
      freshMs: ENS_FRESH_MS,
      staleMs: ENS_STALE_MS,
      clock,
      timers,
    })
  }

  /** Fault `config/value` if a node address is invalid. */
  static open(parts: EvmDependencies): Result<RpcEvmReader> {
    const ethereum = nodesOf('providers.ethereum', parts.config.ethereum, NETWORKS.ethereum.chainId)
    if (!ethereum.ok) return ethereum
    const base = nodesOf('providers.base', parts.config.base, NETWORKS.base.chainId)
    if (!base.ok) return base
    return ok(new RpcEvmReader({ ethereum: ethereum.value, base: base.value }, parts))
  }

  async start(): Promise<void> {
    await Promise.all(this.#chains.map((chain) => chain.start()))
  }

  stop(): void {
    for (const chain of this.#chains) chain.stop()
  }

  get facts(): readonly ProviderFacts[] {
    return this.#chains.flatMap((chain) => chain.facts)
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    return (await Promise.all(this.#chains.map((chain) => chain.checkAll()))).flat()
  }

  readonly readiness = (network: EvmNetworkName): Readiness => this.#facts[network].readiness()

  readonly gas = async (network: EvmNetworkName, signal: AbortSignal): Promise<Result<Sourced<GasFacts>>> => {
    const told = await this.#facts[network].ask({ ask: 'gas' }, signal)
    if (!told.ok) return told
    const { value, source } = told.value
    return value.is === 'gas' ? ok({ value: value.gas, source }) : WRONG
  }

  readonly balance = async (address: string, signal: AbortSignal): Promise<Result<Sourced<EvmBalance>>> => {
    const told = await this.#facts.base.ask({ ask: 'balance', address }, signal)
    if (!told.ok) return told
    const { value, source } = told.value
    return value.is === 'balance' ? ok({ value: value.balance, source }) : WRONG
  }

  readonly ensReadiness = (): Readiness =>
    this.#hasNames && this.#ens === null ? notNow('the library for names is not loaded yet') : this.#names.readiness()

  readonly ensName = (name: string): string | null => this.#ens?.normalise(name) ?? null

  readonly ens = (query: EnsQuery, signal: AbortSignal): Promise<Result<Sourced<EnsFacts>>> =>
    this.#names.ask(query, signal)

  get #chains(): readonly [...ProviderChain<EvmQuery, EvmFacts>[], ProviderChain<EnsQuery, EnsFacts>] {
    return [this.#facts.ethereum, this.#facts.base, this.#names]
  }

  readonly #load = (): Promise<Ens> => {
    this.#loading ??= import('./ens-viem.ts').then(({ ENS }) => {
      // The first name is slow, because it builds tables.
      ENS.normalise('first.eth')
      this.#ens = ENS
      return ENS
    })
    return this.#loading
  }
}

const WRONG = fail(fault('provider/answer', { provider: 'a node', reason: 'it answers another question' }))
