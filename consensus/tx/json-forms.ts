import type { TxKind } from './kinds.ts'

/** JSON form of a payload field: a plain form, a record, or a list of records. */
export type FieldForm =
  | 'text'
  | 'integer'
  | 'integers'
  | 'boolean'
  | 'bigint'
  | 'hash'
  | 'bytes'
  | 'address'
  | 'addresses'
  | { readonly record: FieldForms }
  | { readonly list: FieldForms }

/** By field name, in encoding order. */
export type FieldForms = { readonly [field: string]: FieldForm }

const AGENT: FieldForms = {
  agentId: 'text',
  name: 'text',
  endpoint: 'text',
  capabilities: 'integer',
  payout: 'address',
  settlers: 'addresses',
}

const POOL: FieldForms = { assetA: 'text', assetB: 'text', feeBps: 'integer' }

const ATTESTATION: FieldForm = {
  record: { epoch: 'integer', signatures: { list: { keyIndex: 'integer', bytes: 'bytes' } } },
}

const ISSUE: FieldForms = { symbol: 'text', to: 'address', amount: 'bigint', create: 'boolean' }
const PART: FieldForms = { symbol: 'text', amount: 'bigint' }

const TOKENS = {
  token_create: { symbol: 'text', name: 'text', decimals: 'integer', maxSupply: 'bigint', freezable: 'boolean' },
  token_mint: ISSUE,
  token_burn: PART,
  token_transfer: ISSUE,
  token_flags: { symbol: 'text', frozen: 'boolean', hidden: 'boolean' },
  token_issuer: { symbol: 'text', issuer: 'address' },
  stable_deposit: PART,
  stable_mint: ISSUE,
  stable_redeem: { ...PART, minPaid: 'bigint' },
  stable_withdraw: PART,
} as const

const POOLS = {
  pool_create: { ...POOL, amountA: 'bigint', amountB: 'bigint' },
  liquidity_add: { ...POOL, amountA: 'bigint', amountB: 'bigint', minShares: 'bigint' },
  liquidity_remove: { ...POOL, shares: 'bigint', minA: 'bigint', minB: 'bigint' },
  swap: {
    assetIn: 'text',
    exactOut: 'boolean',
    amount: 'bigint',
    limit: 'bigint',
    hops: { list: { asset: 'text', feeBps: 'integer' } },
  },
} as const

const STAKING = {
  stake: { tier: 'integer', amount: 'bigint' },
  unstake: { stakeId: 'hash' },
  claim: { stakeId: 'hash' },
} as const

const BRIDGE = {
  bridge_deposit: {
    network: 'integer',
    externalTxId: 'bytes',
    outputIndex: 'integer',
    to: 'address',
    amount: 'bigint',
    create: 'boolean',
    attestation: ATTESTATION,
  },
  bridge_withdraw: { network: 'integer', amount: 'bigint', recipient: 'text' },
  bridge_sign: { withdrawalId: 'hash', attestation: ATTESTATION },
  bridge_release: { withdrawalId: 'hash', externalTxId: 'bytes', attestation: ATTESTATION },
  bridge_cancel: { withdrawalId: 'hash', attestation: ATTESTATION },
  bridge_rotate: {
    threshold: 'integer',
    keys: { list: { scheme: 'integer', bytes: 'bytes' } },
    vaults: { list: { network: 'integer', address: 'text' } },
    resume: 'integers',
    attestation: ATTESTATION,
  },
  bridge_halt: { network: 'integer', attestation: ATTESTATION },
} as const

const MARKET = {
  agent_register: AGENT,
  agent_update: { ...AGENT, owner: 'address' },
  service_publish: {
    agentId: 'text',
    serviceId: 'text',
    capability: 'integer',
    priceUsdMicros: 'bigint',
    name: 'text',
    requestFormat: 'text',
    description: 'text',
  },
  service_retire: { agentId: 'text', serviceId: 'text' },
  agent_invoke: {
    agentId: 'text',
    serviceId: 'text',
    amount: 'bigint',
    units: 'integer',
    term: 'integer',
    requestCommitment: 'hash',
    redeemLock: 'hash',
  },
  agent_receipt: {
    entries: {
      list: { txId: 'hash', outcome: 'integer', resultHash: 'hash', opener: 'hash', durationMs: 'integer' },
    },
  },
} as const

const TABS = {
  tab_open: {
    agentId: 'text',
    deposit: 'bigint',
    term: 'integer',
    closeDelay: 'integer',
    scheme: 'integer',
    voucherKey: 'hash',
  },
  tab_fund: { tabId: 'hash', amount: 'bigint' },
  tab_claim: {
    entries: {
      list: {
        tabId: 'hash',
        voucher: { list: { seq: 'integer', ceiling: 'bigint', context: 'hash', signature: 'bytes' } },
        claimed: 'bigint',
        close: 'boolean',
        receipts: 'integer',
        failed: 'integer',
        root: 'hash',
        services: { list: { serviceId: 'text', calls: 'integer', amount: 'bigint' } },
      },
    },
  },
  tab_close: { tabId: 'hash' },
  tab_terms: { agentId: 'text', receiptKey: 'hash', minDeposit: 'bigint', minCloseDelay: 'integer' },
} as const

/** JSON forms of every kind's payload. */
export const PAYLOAD_FORMS: Readonly<Record<TxKind, FieldForms>> = {
  transfer: { to: 'address', amount: 'bigint', create: 'boolean' },
  ...TOKENS,
  ...POOLS,
  ...STAKING,
  ...BRIDGE,
  ...MARKET,
  ...TABS,
}
