import { hex, join, utf8 } from './bytes.ts'
import { stateMoneyRecords } from './state-money-records.ts'
import { NATIVE, type RecordCase, recordCase, type RecordSample as Sample } from './state-record-case.ts'
import { made } from './tx-fields.ts'
import { container, tagged, u8, u16, u32, u64, u128, type VectorSet, vary, words } from './tx-wire.ts'

const [OWNER, PAYOUT, CALLER] = [made('owner'), made('payout'), made('caller')]
const SETTLERS = [made('settler 1'), made('settler 2')]
const SERVICE = { agentId: 'acme-labs', serviceId: 'summarise' }
const SERVICE_ID = utf8('acme-labs/summarise')
const SHOWN = { owner: hex(OWNER), payout: hex(PAYOUT), caller: hex(CALLER) }
const ZERO_32 = new Uint8Array(32)
const be32 = (value: number) => u32(value).reverse()
const statistics = {
  record: { calls: 12, volume: '96000000', payers: 3 },
  bytes: join(u64(12), u128(96_000_000), u64(3)),
}
const LARGEST = 2n ** 128n - 1n

function accounts(): readonly Sample[] {
  const account = (name: string, nonce: bigint, balance: bigint): Sample => ({
    ...{ name, table: 'accounts', prefix: 0x01, id: SHOWN.owner, idBytes: OWNER },
    record: { version: 1, nonce: `${nonce}`, balance: `${balance}`, auth: hex(ZERO_32) },
    bytes: join(u8(1), u64(nonce), u128(balance), ZERO_32),
    holds: [[NATIVE, balance]],
  })
  return [
    account('an account', 7n, 99_999_850_000_000n),
    account('an account that holds nothing', 0n, 0n),
    account('an account with the largest numbers', 2n ** 64n - 1n, LARGEST),
  ]
}

function coins(): readonly Sample[] {
  const reward = { miner: made('miner'), amount: 1_072_883_606n }
  return [
    {
      ...{ table: 'supply', prefix: 0x02, id: hex(ZERO_32), idBytes: ZERO_32 },
      record: { minted: '1001192092895', burned: '149952', cap: '10000000000000000' },
      bytes: join(u128(1_001_192_092_895n), u128(149_952), u128(10n ** 16n)),
      holds: [[NATIVE, 149_952n - 1_001_192_092_895n]],
    },
    {
      ...{ table: 'staking-pool', prefix: 0x03, id: null, idBytes: new Uint8Array(0) },
      ...{ record: { accrued: '119209289' }, bytes: u128(119_209_289) },
      holds: [[NATIVE, 119_209_289n]],
    },
    ...[1, 258, 2 ** 32 - 1].map((height) => ({
      ...{ name: `the reward of block ${height}`, table: 'rewards', prefix: 0x04, id: height, idBytes: be32(height) },
      record: { miner: hex(reward.miner), amount: `${reward.amount}` },
      bytes: join(reward.miner, u128(reward.amount)),
      holds: [[NATIVE, reward.amount] as const],
    })),
  ]
}

function registry(): readonly Sample[] {
  const agent = { name: 'Acme Labs', endpoint: 'https://acme.example/api', capabilities: 0x8005, registeredAt: 77 }
  const service = {
    ...{ version: 1, capability: 11, retired: false, previousPriceLastEpoch: 3, publishedAt: 71 },
    ...{ name: 'Summaries', requestFormat: 'plain text', description: '' },
  }
  return [
    {
      ...{ table: 'agents', prefix: 0x60, id: 'acme-labs', idBytes: utf8('acme-labs') },
      record: { version: 1, owner: SHOWN.owner, payout: SHOWN.payout, settlers: SETTLERS.map(hex), ...agent },
      bytes: container(
        ...[u8(1), OWNER, PAYOUT, vary(join(...SETTLERS)), words(agent.name), words(agent.endpoint)],
        ...[u16(agent.capabilities), u32(agent.registeredAt)],
      ),
    },
    { table: 'agent-statistics', prefix: 0x61, id: 'acme-labs', idBytes: utf8('acme-labs'), ...statistics },
    {
      ...{ table: 'services', prefix: 0x62, id: SERVICE, idBytes: SERVICE_ID },
      record: { ...service, priceUsdMicros: '20000', previousPriceUsdMicros: '15000' },
      bytes: container(
        ...[u8(1), u8(11), u8(0), u64(20_000), u64(15_000), u32(3), words(service.name), words(service.requestFormat)],
        ...[words(service.description), u32(service.publishedAt)],
      ),
    },
    { table: 'service-statistics', prefix: 0x63, id: SERVICE, idBytes: SERVICE_ID, ...statistics },
    {
      ...{ table: 'payers', prefix: 0x64, id: { ...SERVICE, caller: SHOWN.caller } },
      ...{ idBytes: tagged('farthing/payer/1', CALLER, SERVICE_ID), record: 1, bytes: u8(1) },
    },
  ]
}

function escrows(): readonly Sample[] {
  const [txId, commitment, lock] = [made('invoke'), made('commitment'), made('lock')]
  const numbers = { insider: true, minedAt: 1_000, index: 379, deadline: 1_400 }
  return [
    {
      ...{ table: 'escrows', prefix: 0x65, id: hex(txId), idBytes: txId },
      record: {
        ...{ ...SERVICE, caller: SHOWN.caller, payout: SHOWN.payout, amount: '8000000', ...numbers },
        ...{ requestCommitment: hex(commitment), redeemLock: hex(lock) },
      },
      bytes: container(
        ...[words(SERVICE.agentId), words(SERVICE.serviceId), CALLER, PAYOUT, u128(8_000_000), u8(1)],
        ...[u32(1_000), u32(379), u32(1_400), commitment, lock],
      ),
      holds: [[NATIVE, 8_000_000n]],
    },
    {
      ...{ table: 'escrow-totals', prefix: 0x66, id: null, idBytes: new Uint8Array(0) },
      ...{ record: { amount: '8000000', count: 1 }, bytes: join(u128(8_000_000), u64(1)) },
    },
    {
      ...{ table: 'invokes', prefix: 0xe0, id: 1_000, idBytes: be32(1_000) },
      record: [
        { txId: hex(txId), term: 400 },
        { txId: hex(lock), term: 9_600 },
      ],
      bytes: join(txId, u32(400), lock, u32(9_600)),
    },
  ]
}

/** A tab with its list of due tabs, and the records beside it. */
function tabs(): readonly Sample[] {
  const [tabId, voucherKey, receiptKey, chain] = [made('tab'), made('voucher key'), made('receipt key'), made('chain')]
  const tab = (name: string, closesAt: number, [deposit, claimed]: readonly [bigint, bigint]): Sample => ({
    ...{ name, table: 'tabs', prefix: 0x67, id: hex(tabId), idBytes: tabId },
    record: {
      ...{
        version: 1,
        agentId: SERVICE.agentId,
        payer: SHOWN.caller,
        payout: SHOWN.payout,
        insider: false,
        scheme: 17,
      },
      ...{ voucherKey: hex(voucherKey), receiptKey: hex(receiptKey), deposit: `${deposit}`, claimed: `${claimed}` },
      ...{ receipts: 42, chain: hex(chain), openedAt: 1_000, expiresAt: 29_800, closeDelay: 1_200, closesAt },
    },
    bytes: container(
      ...[u8(1), words(SERVICE.agentId), CALLER, PAYOUT, u8(0), u8(0x11), voucherKey, receiptKey, u128(deposit)],
      ...[u128(claimed), u32(42), chain, u32(1_000), u32(29_800), u32(1_200), u32(closesAt)],
    ),
    holds: [[NATIVE, deposit - claimed]],
  })
  const terms = { receiptKey: hex(receiptKey), minDeposit: '2000000', minCloseDelay: 400 }
  return [
    tab('a tab', 0, [50_000_000n, 1_200_000n]),
    tab('a closing tab that is claimed whole', 2_345, [LARGEST, LARGEST]),
    {
      ...{ table: 'tab-totals', prefix: 0x68, id: null, idBytes: new Uint8Array(0) },
      record: { open: 1, locked: '48800000', claimed: '1200000', burned: '12000' },
      bytes: join(u64(1), u128(48_800_000n), u128(1_200_000n), u128(12_000n)),
    },
    {
      ...{ table: 'tab-terms', prefix: 0x69, id: SERVICE.agentId, idBytes: utf8(SERVICE.agentId), record: terms },
      bytes: join(receiptKey, u128(2_000_000n), u32(400)),
    },
    {
      ...{ table: 'tab-dues', prefix: 0xe1, id: 29_800, idBytes: be32(29_800) },
      ...{ record: [hex(chain), hex(tabId)], bytes: join(chain, tabId) },
    },
  ]
}

export function stateRecords(): VectorSet<RecordCase> {
  return {
    about:
      'Records of every table: key, bytes, path and value hash; units that they account for, positive where held and negative ' +
      'where issued, the shares of a pool as an asset of the pool’s id. Numbers of 64 bits and more are decimal text.',
    spec: 'ledgers.md; blocks.md, section 6',
    cases: [...accounts(), ...coins(), ...registry(), ...escrows(), ...tabs(), ...stateMoneyRecords()].map(recordCase),
  }
}
