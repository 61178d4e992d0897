import { devSeed } from '../../config/networks/dev-keys.ts'
import { signHybrid } from '../../consensus/crypto/hybrid.ts'
import { attestationMessage, signingContext } from '../../consensus/crypto/signing.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { type AttestedAction, attestationDigest } from '../../consensus/tx/attestations.ts'
import type { Attestation } from '../../consensus/tx/bridge-payloads.ts'
import { lockOf, openerOf } from '../../consensus/tx/redeem-lock.ts'
import { capabilitySet } from '../../marketplace/ledger/capabilities.ts'
import type { ServiceChainWriter } from './service-chain-writer.ts'
import { STEADY_BACKEND, steadyWallet } from './steady-keys.ts'
import { agentId, filled, SAMPLE, serviceId, units } from './unsigned.ts'
import { VOUCHER_KEY } from './voucher-key.ts'

/** One part of the script that writes the chain for tests of services. */
export type ScriptPart = (chain: ServiceChainWriter) => Promise<void>

/** Agents of the chain: the shop of wallet 2, and another seller's, of wallet 5. */
export const SHOP = agentId('shop')
export const ORACLE = agentId('oracle-house')

/** An address that has sent no transaction. */
export const NEWCOMER = filled<Address>(0xc1)

const COIN = 100_000_000n
const DOLLAR = 1_000_000n
const GOOD = 10_000n
const HOUR_MS = 3_600_000
const TERM = 100

const address = (number: number): Address => steadyWallet(number).address
const symbol = (text: string): TokenSymbol => text as TokenSymbol

/** Services on the chain: agent, number of the owner's wallet, id, capability, price, name, format and description. */
const SERVICES = [
  [SHOP, 2, 'node-price-feed', 2, 6_000n, 'Price feed', '', 'Dollar price of the native coin from the priced pool.'],
  [SHOP, 2, 'node-tx-lookup', 13, 6_000n, 'Transaction lookup', 'transaction id', 'Status of one transaction.'],
  [SHOP, 2, 'node-old', 5, 1_000n, 'Old service', '', 'Was sold once, price included.'],
  [ORACLE, 5, 'weather', 6, 3_000n, 'Weather', 'city', 'Weather of a city, and a price forecast for umbrellas.'],
  [ORACLE, 5, 'audit-deep', 0, 40_000n, 'Deep audit', 'token symbol', 'Audit of a token by people.'],
] as const

const registry: ScriptPart = async (chain) => {
  const shop = { agentId: SHOP, name: 'Shop', endpoint: 'https://shop.example', settlers: [address(4)] }
  const capabilities = capabilitySet(['pricing', 'explorer', 'utility'])
  await chain.add(2, 'agent_register', { ...shop, capabilities, payout: address(2) })
  const oracle = { agentId: ORACLE, name: 'Oracle house', endpoint: '', settlers: [] }
  await chain.add(5, 'agent_register', {
    ...oracle,
    capabilities: capabilitySet(['oracle', 'audit']),
    payout: address(6),
  })
  for (const [agent, from, id, capability, priceUsdMicros, name, requestFormat, description] of SERVICES) {
    const texts = { name, requestFormat, description }
    const service = { agentId: agent, serviceId: serviceId(id), capability, priceUsdMicros, ...texts }
    await chain.add(from, 'service_publish', service)
  }
  await chain.mine()
  await chain.add(2, 'service_retire', { agentId: SHOP, serviceId: serviceId('node-old') })
  await chain.mine()
}

const secretOf = (number: number): Uint8Array => new Uint8Array(32).fill(number)

/** A call with a lock that `secretOf(number)` opens. */
function invoke(chain: ServiceChainWriter, from: number, number: number, name: string, oracle = false) {
  return chain.add(
    from,
    'agent_invoke',
    {
      agentId: oracle ? ORACLE : SHOP,
      serviceId: serviceId(oracle ? 'weather' : 'node-price-feed'),
      amount: units(2_400_000 + number),
      units: 1,
      term: TERM,
      requestCommitment: ZERO_HEX_32 as Hash,
      redeemLock: lockOf(openerOf(secretOf(number))),
    },
    name,
  )
}

/** Four calls: `delivered` and `weather` are delivered, `failed` fails, and `expired` gets no receipt. */
const calls: ScriptPart = async (chain) => {
  await invoke(chain, 6, 1, 'expired')
  await invoke(chain, 6, 2, 'delivered')
  await invoke(chain, 7, 3, 'failed')
  await invoke(chain, 7, 4, 'weather', true)
  await chain.mine()
  const entry = (name: string, number: number, outcome: number) => ({
    txId: chain.id(name),
    outcome,
    resultHash: outcome === 0 ? filled<Hash>(0xab) : (ZERO_HEX_32 as Hash),
    opener: outcome === 0 ? openerOf(secretOf(number)) : (ZERO_HEX_32 as Hash),
    durationMs: 12 * number,
  })
  await chain.add(4, 'agent_receipt', { entries: [entry('delivered', 2, 0), entry('failed', 3, 1)] }, 'receipt')
  await chain.add(5, 'agent_receipt', { entries: [entry('weather', 4, 0)] })
  await chain.mine()
}

/** A swap along `way`: the asset paid, then a hop `ASSET/fee` for each pool. One whose name begins with `fails` fails. */
function swap(chain: ServiceChainWriter, from: number, way: string, amount: bigint, name?: string, exactOut = false) {
  const [assetIn = '', ...hops] = way.split(' ')
  const limit = name?.startsWith('fails') === true ? 10n ** 20n : exactOut ? 10n ** 18n : 0n
  return chain.add(
    from,
    'swap',
    {
      assetIn: symbol(assetIn),
      exactOut,
      amount: units(amount),
      limit: units(limit),
      hops: hops.map((hop) => ({ asset: symbol(hop.split('/')[0] as string), feeBps: Number(hop.split('/')[1]) })),
    },
    name,
  )
}

/** Trades over almost eight hours, with hours without trades. */
const trades: ScriptPart = async (chain) => {
  await swap(chain, 1, 'FAR FUSD/30', 900n * COIN, 'swap')
  await swap(chain, 4, 'FUSD FAR/30', 2_500n * DOLLAR)
  await chain.mine(20 * 60_000)
  await swap(chain, 6, 'FAR SALT/30 WOOL/100', 300n * COIN, 'twoHops')
  await swap(chain, 6, 'SALT FAR/30', 40n * GOOD)
  await chain.mine(2 * HOUR_MS)
  await swap(chain, 1, 'FUSD FAR/30', 1_000n * COIN, 'exactOut', true)
  await swap(chain, 7, 'WOOL SALT/100', 500n * GOOD)
  await chain.mine(5 * HOUR_MS)
  await swap(chain, 4, 'FAR FUSD/30', 20_000n * COIN)
  await swap(chain, 7, 'FAR FUSD/30', COIN, 'failsLimit')
  await chain.mine(40 * 60_000)
}

/** Wallet 5 adds liquidity to a pool and removes some of it. Wallet 6 opens a pool with another price of salt. */
const liquidity: ScriptPart = async (chain) => {
  const main = { assetA: symbol('FAR'), assetB: symbol('FUSD'), feeBps: 30 }
  const most = { amountA: units(4_000n * COIN), amountB: units(1_500n * DOLLAR), minShares: units(1) }
  await chain.add(5, 'liquidity_add', { ...main, ...most })
  const other = { assetA: symbol('FUSD'), assetB: symbol('SALT'), feeBps: 100 }
  await chain.add(6, 'pool_create', { ...other, amountA: units(1_200n * DOLLAR), amountB: units(2_000n * GOOD) })
  await chain.mine()
  const taken = { shares: units(1_000_000), minA: units(1), minB: units(1) }
  await chain.add(5, 'liquidity_remove', { ...main, ...taken })
  await chain.mine()
}

/** Tokens: one without a price, one that is frozen and hidden, and transactions of their holders. */
const tokens: ScriptPart = async (chain) => {
  const glass = { symbol: symbol('GLASS'), name: 'Glass beads', decimals: 2, maxSupply: units(1_000_000) }
  await chain.add(6, 'token_create', { ...glass, freezable: false })
  const moss = { symbol: symbol('MOSS'), name: 'Moss', decimals: 0, maxSupply: units(0) }
  await chain.add(7, 'token_create', { ...moss, freezable: true })
  await chain.mine()
  const mint = (from: number, token: string, to: number, amount: number) =>
    chain.add(from, 'token_mint', { symbol: symbol(token), to: address(to), amount: units(amount), create: false })
  await mint(6, 'GLASS', 6, 500_000)
  await mint(6, 'GLASS', 1, 90_000)
  await mint(7, 'MOSS', 3, 77)
  await chain.add(7, 'token_flags', { symbol: symbol('MOSS'), frozen: true, hidden: true })
  await chain.mine()
  await chain.add(1, 'token_burn', { symbol: symbol('GLASS'), amount: units(15_000) })
  const gift = { symbol: symbol('GLASS'), to: address(5), amount: units(25_000), create: false }
  await chain.add(1, 'token_transfer', gift, 'tokenTransfer')
  await chain.mine()
}

const dollars: ScriptPart = async (chain) => {
  await chain.add(2, 'stable_deposit', { symbol: symbol('FUSD'), amount: units(3_000n * DOLLAR) })
  const mint = { symbol: symbol('FUSD'), to: address(8), amount: units(2_000n * DOLLAR), create: false }
  await chain.add(2, 'stable_mint', mint, 'stableMint')
  await chain.add(8, 'stable_redeem', { symbol: symbol('FUSD'), amount: units(500n * DOLLAR), minPaid: units(0) })
  await chain.mine()
}

/** Stakes in three tiers: one unstaked, one with claimed rewards, one locked. */
const stakes: ScriptPart = async (chain) => {
  await chain.add(4, 'stake', { tier: 0, amount: units(50_000n * COIN) }, 'unstaked')
  await chain.add(4, 'stake', { tier: 2, amount: units(20_000n * COIN) }, 'claimed')
  await chain.add(7, 'stake', { tier: 3, amount: units(125_000n * COIN) }, 'locked')
  await chain.mine()
  await chain.mineTo(chain.test.height + 12)
  await chain.add(4, 'unstake', { stakeId: chain.id('unstaked') }, 'unstake')
  await chain.add(4, 'claim', { stakeId: chain.id('claimed') }, 'claim')
  await chain.mine()
}

const whales: ScriptPart = async (chain) => {
  const send = (from: number, to: Address, coins: bigint, create: boolean, name: string) =>
    chain.add(from, 'transfer', { to, amount: units(coins * COIN), create }, name)
  await send(1, NEWCOMER, 250_000n, true, 'whale')
  await send(3, address(2), 12_345n, false, 'toShop')
  await send(8, address(10), 3n, false, 'small')
  const salt = { symbol: symbol('SALT'), to: address(10), amount: units(9_000n * GOOD), create: false }
  await chain.add(3, 'token_transfer', salt, 'saltWhale')
  await chain.mine()
}

const BASE = 1
const VAULT_PAID = new Uint8Array(32).fill(0xd0)

/** The committee's attestation of an action. */
export function attested(chain: Pick<ServiceChainWriter, 'test'>, action: AttestedAction): Attestation {
  const message = attestationMessage(chain.test.chain.network, attestationDigest(action, 0))
  const context = signingContext('attestation')
  const signatures = [8, 9].map((number, keyIndex) => ({
    keyIndex,
    bytes: signHybrid(STEADY_BACKEND, { scheme: 2, seed: devSeed(number), message, context }),
  }))
  return { epoch: 0, signatures }
}

/** A deposit into the vault on Base, a paid withdrawal, and a pending one. */
const bridge: ScriptPart = async (chain) => {
  const vault = { network: BASE, externalTxId: VAULT_PAID, outputIndex: 0 }
  const paid = { ...vault, to: address(10), amount: units(750n * DOLLAR) }
  const attestation = attested(chain, { action: 'deposit', ...paid })
  await chain.add(10, 'bridge_deposit', { ...paid, create: false, attestation }, 'deposit')
  const recipient = '0x000000000000000000000000000000000000dEaD'
  const withdraw = (amount: bigint, name: string) =>
    chain.add(10, 'bridge_withdraw', { network: BASE, amount: units(amount * DOLLAR), recipient }, name)
  await withdraw(120n, 'withdrawal')
  await withdraw(80n, 'withdrawalWaits')
  await chain.mine()
  const withdrawalId = chain.id('withdrawal')
  const sign = attested(chain, { action: 'sign', network: BASE, withdrawalId })
  await chain.add(10, 'bridge_sign', { withdrawalId, attestation: sign })
  await chain.mine()
  const externalTxId = new Uint8Array(32).fill(0xee)
  const release = attested(chain, { action: 'release', network: BASE, withdrawalId, externalTxId })
  await chain.add(10, 'bridge_release', { withdrawalId, externalTxId, attestation: release })
  await chain.mine()
}

/** Wallet 7 has an open tab with the shop, from which two calls are claimed; that of wallet 6 is closed by its claim. */
const tabs: ScriptPart = async (chain) => {
  await chain.add(2, 'tab_terms', SAMPLE.tab_terms({ agentId: SHOP }))
  await chain.mine()
  const opening = { agentId: SHOP, voucherKey: VOUCHER_KEY.publicKey }
  await chain.add(7, 'tab_open', SAMPLE.tab_open({ ...opening, deposit: units(40n * COIN) }), 'tabOpen')
  await chain.add(6, 'tab_open', SAMPLE.tab_open({ ...opening, deposit: units(10n * COIN) }), 'tabClosed')
  await chain.mine()
  await chain.add(7, 'tab_fund', SAMPLE.tab_fund({ tabId: chain.id('tabOpen'), amount: units(2n * COIN) }), 'tabFund')
  const entry = (name: string, calls: number, failed: number, close: boolean) => {
    const [tabId, claimed] = [chain.id(name), units(BigInt(calls) * 2_400_000n)]
    const voucher = { seq: 0, ceiling: claimed, context: filled<Hash>(7) }
    const services = [{ serviceId: serviceId('node-price-feed'), calls, amount: claimed }]
    const counts = { claimed, close, receipts: calls + failed, failed, root: filled<Hash>(0xcd), services }
    return { tabId, voucher: [VOUCHER_KEY.voucher(chain.test.chain.network, tabId, voucher)], ...counts }
  }
  const entries = [entry('tabOpen', 2, 1, false), entry('tabClosed', 3, 0, true)]
  await chain.add(4, 'tab_claim', { entries }, 'tabClaim')
  await chain.mine()
}

/** The escrow without a receipt expires. Trades go on, and one call stays open. */
const end: ScriptPart = async (chain) => {
  await chain.mineTo(110)
  await swap(chain, 1, 'FAR FUSD/30', 3_000n * COIN)
  await chain.mine(HOUR_MS)
  await invoke(chain, 6, 5, 'open')
  await swap(chain, 10, 'SALT FUSD/100', 10n * GOOD)
  await chain.mine()
}

/** The whole script, in order. */
export const SCRIPT: readonly ScriptPart[] = [
  registry,
  calls,
  trades,
  liquidity,
  tokens,
  dollars,
  stakes,
  whales,
  bridge,
  tabs,
  end,
]
