import { hex, join } from './bytes.ts'
import { made } from './tx-fields.ts'
import { container, u8, u16, u32, u64, u128, type VectorSet, vary } from './tx-wire.ts'

export interface ReceiptCase {
  readonly name: string
  readonly type: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly bytes: string
}

interface TransactionFields {
  readonly code: number
  readonly weight: number
  readonly rate: bigint
  readonly fee: bigint
  readonly burned: bigint
  readonly entries: readonly number[]
  readonly amounts: readonly bigint[]
}

function transaction(name: string, fields: TransactionFields): ReceiptCase {
  const txId = made('receipt tx')
  const { code, weight, rate, fee, burned, entries, amounts } = fields
  const ssz = container(
    ...[txId, u16(code), u32(weight), u64(rate), u128(fee), u128(burned)],
    ...[vary(Uint8Array.from(entries)), vary(join(...amounts.map(u128)))],
  )
  const shown = {
    ...{ txId: hex(txId), code, weight, rate: `${rate}`, fee: `${fee}`, burned: `${burned}` },
    ...{ entries, amounts: amounts.map(String) },
  }
  return { name, type: 'transaction', fields: shown, bytes: hex(join(u8(1), ssz)) }
}

function reward(height: number, amount: bigint): ReceiptCase {
  const miner = made('miner')
  return {
    ...{ name: `a reward of ${amount}`, type: 'reward' },
    fields: { height, miner: hex(miner), amount: amount.toString() },
    bytes: hex(join(u8(2), u32(height), miner, u128(amount))),
  }
}

function refund(amount: bigint): ReceiptCase {
  const [txId, caller] = [made('invoke'), made('caller')]
  return {
    ...{ name: `a refund of ${amount}`, type: 'refund' },
    fields: { txId: hex(txId), caller: hex(caller), amount: amount.toString() },
    bytes: hex(join(u8(3), txId, caller, u128(amount))),
  }
}

function tabReturn(amount: bigint): ReceiptCase {
  const [tabId, payer] = [made('tab'), made('payer')]
  return {
    ...{ name: `a tab that ended with ${amount} left`, type: 'tab_return' },
    fields: { tabId: hex(tabId), payer: hex(payer), amount: amount.toString() },
    bytes: hex(join(u8(5), tabId, payer, u128(amount))),
  }
}

function close(name: string, [burned, subsidy, stakingShare, paid]: readonly [bigint, bigint, bigint, bigint]) {
  const miner = made('miner')
  const fields = {
    ...{ burned: `${burned}`, subsidy: `${subsidy}`, stakingShare: `${stakingShare}` },
    ...{ miner: hex(miner), reward: `${paid}` },
  }
  const bytes = hex(join(u8(4), u128(burned), u128(subsidy), u128(stakingShare), miner, u128(paid)))
  return { name, type: 'close', fields, bytes }
}

const LARGEST = 2n ** 128n - 1n
/** Failure codes of a whole transaction, without those of entries alone (32 to 34 and 37 to 42). */
const CODES = [
  ...[
    1, 2, 3, 16, 17, 18, 19, 20, 21, 35, 36, 43, 44, 45, 46, 48, 49, 50, 51, 52, 53, 54, 55, 64, 65, 66, 80, 81, 82, 83,
    84, 96, 97, 98,
  ],
  ...[112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122],
]

/** Codes of the entries of a claim: ledgers.md, section 10. */
const CLAIM_CODES = [0, 35, 36, 37, 38, 39, 40, 41, 20, 42]

/** Amounts in receipts of successful payloads (ledgers.md, sections 6 to 9). */
const AMOUNTS: readonly (readonly [string, readonly bigint[]])[] = [
  ['what a stable_redeem paid', [999_999n]],
  ['the amounts of a pool_create and its shares', [40_000_000_000_000n, 100_000_000_000n, 1_999_999_999_000n]],
  ['the amounts of a liquidity_add and its shares', [400_001n, 1_001n, 20_000n]],
  ['the amounts of a liquidity_remove, one of nothing', [400_000n, 0n]],
  ['a swap through one pool', [5_000_000n, 12_463n]],
  ['a swap through two pools', [5_000_000n, 12_463n, 37_011n]],
  ['a swap through three pools', [5_000_000n, 12_463n, 37_011n, 1n]],
  ['the coins of an unstake', [100_000_000n]],
  ['the reward of a claim', [1n]],
  ['what a bridge_withdraw leaves after its fee', [4_995_000n]],
  ['what a tab_claim paid, burned and returned', [1_188_000n, 12_000n, 48_800_000n]],
]

export function blockReceipts(): VectorSet<ReceiptCase> {
  const paid = { weight: 4_686, rate: 34n, fee: 159_324n, burned: 149_952n, entries: [], amounts: [] }
  return {
    about: 'Receipts of every type. Numbers above 32 bits are decimal text.',
    spec: 'blocks.md, section 7; transactions.md, section 4',
    cases: [
      transaction('a transaction that succeeded', { ...paid, code: 0 }),
      ...CODES.map((code) => transaction(`a transaction that failed with ${code}`, { ...paid, code })),
      transaction('entries of an agent_receipt', { ...paid, code: 0, entries: [0, 32, 33, 34, 0] }),
      transaction('entries of a tab_claim', { ...paid, code: 0, entries: CLAIM_CODES, amounts: [0n, 0n, 0n] }),
      transaction('256 entries', { ...paid, code: 0, entries: Array.from({ length: 256 }, (_, i) => (i % 2) * 32) }),
      ...AMOUNTS.map(([name, amounts]) => transaction(name, { ...paid, code: 0, amounts })),
      transaction('the largest numbers', {
        ...{ code: 65_535, weight: 2 ** 32 - 1, rate: 2n ** 64n - 1n },
        ...{ fee: LARGEST, burned: LARGEST, entries: [255], amounts: [LARGEST, LARGEST, LARGEST, LARGEST] },
      }),
      reward(1, 1_072_883_605n),
      reward(2 ** 32 - 1, LARGEST),
      refund(100_000n),
      refund(LARGEST),
      tabReturn(0n),
      tabReturn(LARGEST),
      close('an empty block', [0n, 1_192_092_895n, 119_209_289n, 1_072_883_606n]),
      close('the largest numbers', [LARGEST, LARGEST, LARGEST, LARGEST]),
    ],
  }
}
