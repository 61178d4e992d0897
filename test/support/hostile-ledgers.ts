import { FUNDED } from './actors.ts'
import { hash32 } from './choices.ts'
import { MEMBERS } from './committee.ts'
import { encodePayload, type Fields, KINDS, type Kind } from './reference/payloads.ts'

const TO = FUNDED[0]?.address as string
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const TOO_MUCH = 2n ** 112n

const signature = (keyIndex: number) => ({ keyIndex, bytes: new Uint8Array(3_373) })
const attestation = { epoch: 0, signatures: [signature(0), signature(1)] }
const hop = (asset: string, feeBps = 30) => ({ asset, feeBps })

/** A valid payload of every kind of the money ledgers. */
const GOOD = {
  token_create: { symbol: 'NEW', name: 'A', decimals: 18, maxSupply: 0n, freezable: false },
  token_mint: { symbol: 'SALT', to: TO, amount: 1n, create: false },
  token_burn: { symbol: 'SALT', amount: 1n },
  token_transfer: { symbol: 'SALT', to: TO, amount: 1n, create: false },
  token_flags: { symbol: 'SALT', frozen: false, hidden: true },
  token_issuer: { symbol: 'SALT', issuer: TO },
  stable_deposit: { symbol: 'FUSD', amount: 1n },
  stable_mint: { symbol: 'FUSD', to: TO, amount: 1n, create: false },
  stable_redeem: { symbol: 'FUSD', amount: 1n, minPaid: 0n },
  stable_withdraw: { symbol: 'FUSD', amount: 1n },
  pool_create: { assetA: 'FAR', assetB: 'SALT', feeBps: 5, amountA: 1n, amountB: 1n },
  liquidity_add: { assetA: 'FAR', assetB: 'SALT', feeBps: 30, amountA: 1n, amountB: 1n, minShares: 0n },
  liquidity_remove: { assetA: 'SALT', assetB: 'FAR', feeBps: 30, shares: 1n, minA: 0n, minB: 0n },
  swap: { assetIn: 'FAR', exactOut: false, amount: 1n, limit: 0n, hops: [hop('SALT')] },
  stake: { tier: 3, amount: 100_000_000n },
  unstake: { stakeId: TO },
  claim: { stakeId: TO },
  bridge_deposit: {
    network: 0,
    externalTxId: new Uint8Array(32),
    outputIndex: 0,
    to: TO,
    amount: 1n,
    create: false,
    attestation,
  },
  bridge_withdraw: { network: 0, amount: 1n, recipient: EVM },
  bridge_sign: { withdrawalId: TO, attestation },
  bridge_release: { withdrawalId: TO, externalTxId: new Uint8Array(64), attestation },
  bridge_cancel: { withdrawalId: TO, attestation },
  bridge_rotate: {
    threshold: 1,
    keys: MEMBERS.slice(0, 2),
    vaults: [{ network: 0, address: EVM }],
    resume: [0, 9],
    attestation,
  },
  bridge_halt: { network: 9, attestation },
} as const satisfies { readonly [K in Kind]?: Fields<K> }

type LedgerKind = keyof typeof GOOD

/** The valid payloads of the money ledgers, with their kinds. */
export const GOOD_PAYLOADS = (Object.keys(GOOD) as LedgerKind[]).map((kind) => encoded(kind, {}))

function encoded<K extends LedgerKind>(kind: K, change: Partial<Fields<K>>): readonly [number, Uint8Array] {
  const fields = { ...GOOD[kind], ...change } as unknown as Fields<K>
  return [KINDS[kind][0], encodePayload(kind, fields)]
}

const bad = <K extends LedgerKind>(kind: K, changes: readonly Partial<Fields<K>>[]) =>
  changes.map((change) => encoded(kind, change))

const SYMBOLS = ['', 'A', 'ab', 'Ab', '1AB', 'A'.repeat(11), 'A-B', 'AB ', 'AB\n', 'Ä1']
const NAMES = ['', ' A', 'A ', 'x'.repeat(65), 'a\u200bb', 'a\u0000']
const ATTESTATIONS = [
  { epoch: 0, signatures: [] },
  { epoch: 0, signatures: [signature(0), signature(0)] },
  { epoch: 0, signatures: [signature(1), signature(0)] },
  { epoch: 0, signatures: Array.from({ length: 9 }, (_, i) => signature(i)) },
  { epoch: 0, signatures: [{ keyIndex: 0, bytes: new Uint8Array(3_374) }] },
].map((one) => ({ attestation: one }))
const SYMBOL_CHANGES = SYMBOLS.map((symbol) => ({ symbol }))
const AMOUNTS = [0n, TOO_MUCH, 2n ** 128n - 1n].map((amount) => ({ amount }))
const FEES = [0, 1, 31, 10_000].map((feeBps) => ({ feeBps }))
const RECIPIENTS = [
  '',
  EVM.toLowerCase(),
  EVM.toUpperCase(),
  EVM.slice(2),
  EVM.slice(0, -1),
  `0x${'00'.repeat(20)}`,
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  'x'.repeat(91),
]
const key = MEMBERS[0] as (typeof MEMBERS)[number]
const vault = { network: 0, address: EVM }

/** Payloads of the money ledgers that no block may hold, with their kinds. */
export const BAD_LEDGER_PAYLOADS: readonly (readonly [number, Uint8Array])[] = [
  ...bad('token_create', [
    ...SYMBOL_CHANGES,
    ...NAMES.map((name) => ({ name })),
    { decimals: 19 },
    { decimals: 255 },
    { maxSupply: TOO_MUCH },
  ]),
  ...bad('token_mint', [...SYMBOL_CHANGES, ...AMOUNTS]),
  ...bad('token_burn', [...SYMBOL_CHANGES, ...AMOUNTS]),
  ...bad('token_transfer', [...SYMBOL_CHANGES, ...AMOUNTS]),
  ...bad('token_flags', SYMBOL_CHANGES),
  ...bad('token_issuer', SYMBOL_CHANGES),
  ...bad('stable_deposit', [...SYMBOL_CHANGES, ...AMOUNTS]),
  ...bad('stable_mint', [...SYMBOL_CHANGES, ...AMOUNTS]),
  ...bad('stable_redeem', [...SYMBOL_CHANGES, ...AMOUNTS, { minPaid: TOO_MUCH }]),
  ...bad('stable_withdraw', [...SYMBOL_CHANGES, ...AMOUNTS]),
  ...bad('pool_create', [
    ...FEES,
    { assetA: 'SALT' },
    { assetB: 'far' },
    { amountA: 0n },
    { amountB: 0n },
    { amountA: TOO_MUCH },
    { amountB: TOO_MUCH },
  ]),
  ...bad('liquidity_add', [
    ...FEES,
    { assetB: 'FAR' },
    { amountA: 0n },
    { amountB: 0n },
    { amountB: TOO_MUCH },
    { minShares: TOO_MUCH },
  ]),
  ...bad('liquidity_remove', [
    ...FEES,
    { assetB: 'SALT' },
    { shares: 0n },
    { shares: TOO_MUCH },
    { minA: TOO_MUCH },
    { minB: TOO_MUCH },
  ]),
  ...bad('swap', [
    ...AMOUNTS,
    { limit: TOO_MUCH },
    { hops: [] },
    { hops: [hop('FAR')] },
    { hops: [hop('SALT', 0)] },
    { hops: [hop('SALT'), hop('SALT')] },
    { hops: [hop('SALT'), hop('FAR'), hop('WOOL', 31)] },
    { hops: [hop('SALT'), hop('FAR'), hop('SALT'), hop('FAR')] },
    { exactOut: true, hops: [hop('SALT'), hop('WOOL')] },
    { assetIn: 'salt' },
  ]),
  ...bad('stake', [{ tier: 4 }, { tier: 255 }, { amount: 99_999_999n }, { amount: 0n }, { amount: TOO_MUCH }]),
  ...bad('bridge_deposit', [
    ...ATTESTATIONS,
    ...AMOUNTS,
    { network: 10 },
    { network: 255 },
    { network: 7 },
    ...[0, 31, 33, 64, 65].map((length) => ({ externalTxId: new Uint8Array(length) })),
  ]),
  ...bad('bridge_withdraw', [
    ...AMOUNTS,
    ...RECIPIENTS.map((recipient) => ({ recipient })),
    { network: 8 },
    { network: 10 },
  ]),
  ...bad('bridge_sign', ATTESTATIONS),
  ...bad('bridge_release', [
    ...ATTESTATIONS,
    ...[0, 31, 33, 63, 65].map((length) => ({ externalTxId: new Uint8Array(length) })),
  ]),
  ...bad('bridge_cancel', ATTESTATIONS),
  ...bad('bridge_rotate', [
    ...ATTESTATIONS,
    { threshold: 0 },
    { threshold: 3 },
    { keys: [] },
    { keys: [key, key] },
    { keys: [{ ...key, scheme: 1 }] },
    { keys: [{ ...key, scheme: 3 }] },
    { keys: [{ ...key, bytes: key.bytes.subarray(1) }] },
    { vaults: [{ ...vault, network: 10 }] },
    { vaults: [{ ...vault, network: 7 }] },
    { vaults: [vault, vault] },
    { vaults: [{ ...vault, network: 1 }, vault] },
    { vaults: [{ ...vault, address: EVM.toLowerCase() }] },
    { resume: [10] },
    { resume: [0, 0] },
    { resume: [1, 0] },
    { resume: Array.from({ length: 17 }, (_, i) => i) },
  ]),
  ...bad('bridge_halt', [...ATTESTATIONS, { network: 10 }, { network: 255 }]),
  // Booleans with the byte 2. `create` follows
  ...(
    [
      [0x11, 52],
      [0x14, 4],
      [0x14, 5],
    ] as const
  ).map(([number, at]) => {
    const [, good] = GOOD_PAYLOADS.find(([kind]) => kind === number) as readonly [number, Uint8Array]
    return [number, good.with(at, 2)] as const
  }),
  // A stake id that is too short, and one that is too long.
  [0x41, new Uint8Array(31)],
  [0x42, Uint8Array.from(Buffer.from(`${hash32(1)}00`, 'hex'))],
]
