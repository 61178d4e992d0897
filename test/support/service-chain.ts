import { DEVNET } from '../../config/networks/devnet.ts'
import { MAINNET } from '../../config/networks/mainnet.ts'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { halfVerdicts, isTabSignature, signatureFacts } from '../../src/crypto/signature-facts.ts'
import { mempoolFacts } from '../../src/market/open-market.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { TestChain } from './chain.ts'
import { testParams } from './network.ts'
import { outsideOf } from './outside.ts'
import { SCRIPT, SHOP } from './service-chain-script.ts'
import { type NamedTransactions, ServiceChainWriter } from './service-chain-writer.ts'
import { steadyWallet } from './steady-keys.ts'

/** A chain, its mempool and the context of services on it. The blocks have the same ids every time. */
export interface ServiceChain {
  readonly test: TestChain
  readonly mempool: Mempool
  readonly context: ServiceContext
  readonly named: NamedTransactions
}

/** The chain of the script, with one waiting transaction in its mempool. */
export async function serviceChain(): Promise<ServiceChain> {
  const [{ rules }] = DEVNET.steps as readonly [(typeof DEVNET.steps)[number]]
  // The devnet's stakes unlock within the script, and it has tabs.
  const params = testParams({ staking: rules.staking, tx: rules.tx })
  const writer = new ServiceChainWriter(await TestChain.open(createRuleBook(params, PROTOCOL)))
  for (const part of SCRIPT) await part(writer)
  const mempool = mempoolOf(writer.test)
  const to = steadyWallet(2).address
  const waiting = await writer.sign(1, 'transfer', { to, amount: 150_000_000n as never, create: false })
  const submitted = await mempool.submit(waiting)
  if (!submitted.ok) throw new Error(submitted.fault.code)
  const named = { ...writer.named, waiting: waiting.txId }
  return { test: writer.test, mempool, context: contextOf(writer.test, mempool), named }
}

/** A network like mainnet at its start, without pools, supply or committee, after some empty blocks. */
export async function emptyServiceChain(blocks = 0): Promise<ServiceChain> {
  const [{ rules }] = testParams().steps as readonly [ReturnType<typeof testParams>['steps'][number]]
  const steps = [{ fromHeight: 0, rules: { ...LAUNCH_RULES, block: rules.block } }]
  const test = await TestChain.open(createRuleBook({ ...MAINNET, name: 'empty', steps }, PROTOCOL))
  const writer = new ServiceChainWriter(test)
  await writer.mineTo(blocks)
  const mempool = mempoolOf(test)
  return { test, mempool, context: contextOf(test, mempool), named: {} }
}

/** The services' context of any chain, with an empty mempool. */
export function serviceContext(test: TestChain): ServiceContext {
  return contextOf(test, mempoolOf(test))
}

function mempoolOf({ chain }: TestChain): Mempool {
  const verifier = createInlineVerifier(NATIVE_BACKEND)
  return new Mempool({ chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
}

/** The clock is one second after the head's time. */
function contextOf({ chain }: TestChain, mempool: Mempool): ServiceContext {
  return {
    chain,
    mempool: mempoolFacts(mempool),
    clock: { now: () => chain.head.header.timeMs + 1_000 },
    peerCount: () => 3,
    signatureFacts: (tx) => signatureFacts(chain, tx),
    halfVerdicts,
    isTabSignature,
    powHasher: nativePowHasher,
    shelf: {
      agentId: SHOP,
      url: 'http://127.0.0.1:8545',
      isAvailable: (serviceId) => (serviceId === 'node-price-feed' ? true : undefined),
      wordsOf: () => '',
    },
    outside: outsideOf(),
  }
}
