import { attestationBy, EXTERNAL_ADDRESSES, externalTxId, fillerCommittee } from './tx-bridge-payloads.ts'
import { fillerKey } from './tx-fields.ts'
import { type PayloadKind, type Sample, SOUND } from './tx-payloads.ts'

/** Transactions of every kind of the money ledgers, with fields at their limits. */

const LARGEST = 2n ** 112n - 1n
const LONGEST_SYMBOL = 'Z123456789'

function sample<K extends PayloadKind>(kind: K, name: string, change: Partial<(typeof SOUND)[K]> = {}): Sample {
  return { name, kind, payload: { ...SOUND[kind], ...change } }
}

const TOKENS: readonly Sample[] = [
  sample('token_create', 'a token created'),
  sample('token_create', 'a token created with everything at its shortest', {
    ...{ symbol: 'AB', name: '.', decimals: 0, maxSupply: 0n, freezable: 0 },
  }),
  sample('token_create', 'a token created with everything at its longest', {
    ...{ symbol: LONGEST_SYMBOL, name: `${'ä'.repeat(30)}🜚`, decimals: 18, maxSupply: LARGEST },
  }),
  sample('token_mint', 'a token minted'),
  sample('token_mint', 'a token minted for an account that it may open', { create: 1 }),
  sample('token_burn', 'a token burned'),
  sample('token_transfer', 'a token transferred'),
  sample('token_transfer', 'a token transferred to an account that it may open', { create: 1 }),
  sample('token_transfer', 'the largest amount of the longest symbol transferred', {
    ...{ symbol: LONGEST_SYMBOL, amount: LARGEST },
  }),
  sample('token_flags', 'a token frozen'),
  sample('token_flags', 'a token thawed and hidden', { frozen: 0, hidden: 1 }),
  sample('token_issuer', 'a token handed over'),
  sample('token_issuer', 'a token renounced', { issuer: new Uint8Array(32) }),
  sample('stable_deposit', 'a deposit into a reserve'),
  sample('stable_mint', 'a stable token minted'),
  sample('stable_mint', 'a stable token minted for an account that it may open', { create: 1, amount: LARGEST }),
  sample('stable_redeem', 'a stable token redeemed'),
  sample('stable_redeem', 'a stable token redeemed for whatever it brings', { amount: 1n, minPaid: 0n }),
  sample('stable_withdraw', 'a surplus withdrawn'),
]

const POOLS: readonly Sample[] = [
  sample('pool_create', 'a pool created'),
  sample('pool_create', 'a pool created with the assets the other way round', {
    assetA: 'FUSD',
    assetB: 'FAR',
    feeBps: 5,
  }),
  sample('pool_create', 'a pool created with everything at its longest', {
    ...{ assetA: LONGEST_SYMBOL, assetB: 'Z12345678A', feeBps: 100, amountA: LARGEST, amountB: LARGEST },
  }),
  sample('liquidity_add', 'liquidity added'),
  sample('liquidity_add', 'the least liquidity added', { amountA: 1n, amountB: 1n, minShares: 0n }),
  sample('liquidity_add', 'the most liquidity added', { amountA: LARGEST, amountB: LARGEST, minShares: LARGEST }),
  sample('liquidity_remove', 'liquidity removed'),
  sample('liquidity_remove', 'liquidity removed for whatever it brings', { shares: 1n, minA: 0n, minB: 0n }),
  sample('liquidity_remove', 'the most liquidity removed', { shares: LARGEST, minA: LARGEST, minB: LARGEST }),
]

const [FUSD, SALT, WOOL] = [
  { asset: 'FUSD', feeBps: 30 },
  { asset: 'SALT', feeBps: 30 },
  { asset: 'WOOL', feeBps: 100 },
]

const SWAPS: readonly Sample[] = [
  sample('swap', 'a swap through one pool'),
  sample('swap', 'a swap through two pools', { hops: [SALT, WOOL] }),
  sample('swap', 'a swap through three pools', { assetIn: 'FUSD', hops: [{ asset: 'FAR', feeBps: 30 }, SALT, WOOL] }),
  sample('swap', 'a swap in a circle', { hops: [FUSD, { asset: 'SALT', feeBps: 5 }, { asset: 'FAR', feeBps: 30 }] }),
  sample('swap', 'a swap there and back', { hops: [FUSD, { asset: 'FAR', feeBps: 100 }] }),
  sample('swap', 'a swap for whatever it brings', { amount: 1n, limit: 0n }),
  sample('swap', 'a swap for an exact output', { exactOut: 1, amount: 12_000n, limit: 5_000_000n }),
  sample('swap', 'a swap with everything at its longest', {
    ...{ assetIn: LONGEST_SYMBOL, amount: LARGEST, limit: LARGEST },
    hops: ['A', 'B', 'C'].map((last) => ({ asset: `Z12345678${last}`, feeBps: 100 })),
  }),
]

const STAKES: readonly Sample[] = [
  sample('stake', 'a stake'),
  sample('stake', 'the smallest stake in the lowest tier', { tier: 0, amount: 100_000_000n }),
  sample('stake', 'the largest stake in the highest tier', { tier: 3, amount: LARGEST }),
  sample('unstake', 'a stake given back'),
  sample('claim', 'a reward claimed'),
]

const NETWORKS = [
  'Ethereum',
  'Base',
  'Arbitrum',
  'Optimism',
  'Polygon',
  'BNB Chain',
  'Avalanche',
  'Solana',
  'Bitcoin',
  'Litecoin',
]
const ALL_MEMBERS = [0, 1, 2, 3, 4, 5, 6, 7]

const CROSSINGS: readonly Sample[] = [
  ...NETWORKS.flatMap((name, network) => [
    sample('bridge_deposit', `a deposit from ${name}`, { network, externalTxId: externalTxId(network) }),
    sample('bridge_withdraw', `a withdrawal to ${name}`, {
      ...{ network, recipient: EXTERNAL_ADDRESSES[network] as string },
    }),
  ]),
  sample('bridge_deposit', 'a deposit for an account that it may open, with everything at its longest', {
    ...{ network: 7, externalTxId: externalTxId(7), outputIndex: 2 ** 32 - 1, amount: LARGEST, create: 1 },
    attestation: attestationBy(ALL_MEMBERS, 2 ** 32 - 1),
  }),
  sample('bridge_sign', 'a withdrawal signed'),
  sample('bridge_sign', 'a withdrawal signed with what is no signature, which only its execution refuses', {
    attestation: { epoch: 0, signatures: [9, 255].map((keyIndex, i) => ({ keyIndex, bytes: new Uint8Array(i) })) },
  }),
  sample('bridge_release', 'a withdrawal released by a transaction of 32 bytes'),
  sample('bridge_release', 'a withdrawal released by a transaction of 64 bytes', { externalTxId: externalTxId(7) }),
  sample('bridge_cancel', 'a withdrawal cancelled'),
  sample('bridge_halt', 'a network halted'),
  sample('bridge_halt', 'the last network halted', { network: 9, attestation: attestationBy([0, 1, 2]) }),
]

const ROTATIONS: readonly Sample[] = [
  sample('bridge_rotate', 'a rotation'),
  sample('bridge_rotate', 'a rotation to one key of scheme 1, and nothing else', {
    ...{ threshold: 1, keys: [fillerKey(1, 0x11)], vaults: [], resume: [] },
  }),
  sample('bridge_rotate', 'a rotation to keys of both schemes', {
    ...{ threshold: 3, keys: [fillerKey(2, 0x11), fillerKey(1, 0x11), fillerKey(1, 0x22)], resume: [9] },
  }),
  sample('bridge_rotate', 'a rotation with everything at its longest', {
    ...{ threshold: 8, keys: fillerCommittee(8), resume: NETWORKS.map((_, network) => network) },
    vaults: EXTERNAL_ADDRESSES.map((address, network) => ({ network, address })),
    attestation: attestationBy(ALL_MEMBERS),
  }),
]

/** All samples of the money ledgers, in the order of the numbers of their kinds. */
export const MONEY_SAMPLES: readonly Sample[] = [...TOKENS, ...POOLS, ...SWAPS, ...STAKES, ...CROSSINGS, ...ROTATIONS]
