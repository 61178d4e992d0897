import { assetId, poolId } from './assets.ts'
import { hex, join, unhex, utf8 } from './bytes.ts'
import { shownFields } from './shown.ts'
import { stateBridgeRecords } from './state-bridge-records.ts'
import { NATIVE, type RecordSample } from './state-record-case.ts'
import { made } from './tx-fields.ts'
import { container, u8, u16, u32, u128, u256, words } from './tx-wire.ts'

/** State records of tokens, stable tokens, pools and stakes, from the table of docs/spec/ledgers.md. */

const [HOLDER, STAKE] = [made('holder'), made('stake')]
const LARGEST = 2n ** 128n - 1n
const LARGEST_SUM = 2n ** 256n - 1n

interface TokenFields {
  readonly name: string
  readonly decimals: number
  readonly kind: number
  readonly issuer: Uint8Array
  readonly freezable: number
  readonly frozen: number
  readonly hidden: number
  readonly createdAt: number
}

function token(name: string, symbol: string, t: TokenFields): RecordSample {
  return {
    ...{ name, table: 'tokens', prefix: 0x10, id: assetId(symbol), idBytes: unhex(assetId(symbol)) },
    record: { version: 1, ...(shownFields(t) as object) },
    bytes: container(
      ...[u8(1), words(t.name), u8(t.decimals), u8(t.kind), t.issuer],
      ...[u8(t.freezable), u8(t.frozen), u8(t.hidden), u32(t.createdAt)],
    ),
  }
}

const PLAIN: TokenFields = {
  ...{ name: 'Salt', decimals: 4, kind: 0, issuer: made('issuer') },
  ...{ freezable: 1, frozen: 1, hidden: 0, createdAt: 77 },
}

function balance(name: string, symbol: string, amount: bigint): RecordSample {
  const asset = assetId(symbol)
  return {
    ...{ name, table: 'token-balances', prefix: 0x12, id: { address: hex(HOLDER), asset } },
    ...{ idBytes: join(HOLDER, unhex(asset)), record: { amount: `${amount}` }, bytes: u128(amount) },
    holds: [[asset, amount]],
  }
}

function supply(symbol: string, minted: bigint, burned: bigint, cap: bigint): RecordSample {
  const asset = assetId(symbol)
  return {
    ...{ name: `the supply of ${symbol}`, table: 'supply', prefix: 0x02, id: asset, idBytes: unhex(asset) },
    record: shownFields({ minted, burned, cap }),
    ...{ bytes: join(u128(minted), u128(burned), u128(cap)), holds: [[asset, burned - minted]] },
  }
}

function tokens(): readonly RecordSample[] {
  const [fusd, xusd] = [assetId('FUSD'), assetId('XUSD')]
  const none = new Uint8Array(32)
  return [
    token('a plain token, frozen', 'SALT', PLAIN),
    token('a stable token', 'FUSD', {
      ...PLAIN,
      name: 'Farthing dollar',
      decimals: 6,
      kind: 1,
      freezable: 0,
      frozen: 0,
    }),
    token('a bridged token, hidden, of nobody', 'Z123456789', {
      ...{ ...PLAIN, name: 'ä'.repeat(32), decimals: 18, kind: 2, issuer: none, freezable: 0, frozen: 0, hidden: 1 },
      createdAt: 2 ** 32 - 1,
    }),
    supply('SALT', 1_000_000n, 25_000n, 0n),
    supply('WOOL', 10n ** 10n, 0n, 10n ** 10n),
    ...[
      ['SALT', 'SALT'],
      ['FAR', 'FAR'],
      ['W00L', 'WOOL'],
    ].map(([symbol, skeleton]) => ({
      ...{ name: `the skeleton of ${symbol}`, table: 'symbols', prefix: 0x11, id: skeleton },
      idBytes: utf8(skeleton as string),
      ...{ record: { asset: assetId(symbol as string) }, bytes: unhex(assetId(symbol as string)) },
    })),
    balance('a balance', 'SALT', 25_000n),
    balance('the largest balance of the longest symbol', 'Z123456789', LARGEST),
    {
      ...{ table: 'stable-reserves', prefix: 0x13, id: fusd, idBytes: unhex(fusd) },
      record: { reserveAsset: xusd, reserve: '200000000000' },
      bytes: join(unhex(xusd), u128(200_000_000_000n)),
      holds: [[xusd, 200_000_000_000n]],
    },
  ]
}

interface PoolFields {
  readonly reserveX: bigint
  readonly reserveY: bigint
  readonly shares: bigint
  readonly xPerY: bigint
  readonly yPerX: bigint
  readonly accumulatedAt: number
  readonly createdAt: number
}

function pool(name: string, [x, y]: readonly [string, string], feeBps: number, p: PoolFields): RecordSample {
  const id = poolId(x, y, feeBps)
  const [assetX, assetY] = [assetId(x), assetId(y)]
  return {
    ...{ name, table: 'pools', prefix: 0x20, id, idBytes: unhex(id) },
    record: { version: 1, assetX, assetY, feeBps, ...(shownFields(p) as object) },
    bytes: join(
      ...[u8(1), unhex(assetX), unhex(assetY), u16(feeBps), u128(p.reserveX), u128(p.reserveY), u128(p.shares)],
      ...[u256(p.xPerY), u256(p.yPerX), u32(p.accumulatedAt), u32(p.createdAt)],
    ),
    // 1,000 shares are locked: no record holds them.
    holds: [
      [assetX, p.reserveX],
      [assetY, p.reserveY],
      [id, 1_000n - p.shares],
    ],
  }
}

function shares(name: string, [x, y]: readonly [string, string], feeBps: number, held: bigint): RecordSample {
  const id = poolId(x, y, feeBps)
  return {
    ...{ name, table: 'pool-shares', prefix: 0x21, id: { address: hex(HOLDER), poolId: id } },
    ...{ idBytes: join(HOLDER, unhex(id)), record: { shares: `${held}` }, bytes: u128(held), holds: [[id, held]] },
  }
}

function pools(): readonly RecordSample[] {
  const [reserveX, reserveY] = [40_000_000_000_000n, 100_000_000_000n]
  const [xPerY, yPerX] = [((reserveX << 112n) / reserveY) * 7n, ((reserveY << 112n) / reserveX) * 7n]
  const entry = (epoch: number, nativePerDollar: bigint, native: bigint, dollar: bigint): RecordSample => ({
    ...{ name: `the price entry of epoch ${epoch}`, table: 'price-entries', prefix: 0x22, id: epoch },
    idBytes: u32(epoch).reverse(),
    record: shownFields({ nativePerDollar, reserveNative: native, reserveDollar: dollar }),
    bytes: join(u256(nativePerDollar), u128(native), u128(dollar)),
  })
  return [
    pool('a pool of the native coin', ['FAR', 'FUSD'], 30, {
      ...{ reserveX, reserveY, shares: 2_000_000_000_000n, xPerY, yPerX, accumulatedAt: 7, createdAt: 0 },
    }),
    pool('a pool of two tokens, with the largest numbers', ['SALT', 'WOOL'], 100, {
      ...{ reserveX: LARGEST, reserveY: LARGEST, shares: LARGEST, xPerY: LARGEST_SUM, yPerX: LARGEST_SUM },
      ...{ accumulatedAt: 2 ** 32 - 1, createdAt: 2 ** 32 - 1 },
    }),
    shares('shares of a pool', ['FAR', 'FUSD'], 30, 1_999_999_999_000n),
    shares('the least shares of a pool', ['SALT', 'WOOL'], 5, 1n),
    entry(0, 0n, reserveX, reserveY),
    entry(258, xPerY, reserveX, reserveY),
    entry(2 ** 32 - 1, LARGEST_SUM, LARGEST, LARGEST),
  ]
}

interface StakeFields {
  readonly tier: number
  readonly amount: bigint
  readonly startIndex: bigint
  readonly claimed: bigint
  readonly owed: bigint
  readonly stakedAt: number
  readonly unlocksAt: number
}

function stake(name: string, s: StakeFields): RecordSample {
  return {
    ...{ name, table: 'stakes', prefix: 0x31, id: { address: hex(HOLDER), stakeId: hex(STAKE) } },
    ...{ idBytes: join(HOLDER, STAKE), record: shownFields(s) },
    bytes: join(
      ...[u8(s.tier), u128(s.amount), u256(s.startIndex), u128(s.claimed), u128(s.owed)],
      ...[u32(s.stakedAt), u32(s.unlocksAt)],
    ),
    holds: [[NATIVE, s.amount]],
  }
}

function books(name: string, tiers: readonly { staked: bigint; index: bigint }[], reserved: bigint): RecordSample {
  const owed = reserved * 10_000n * 10_512_000n * 2n ** 64n
  return {
    ...{ name, table: 'staking', prefix: 0x30, id: null, idBytes: new Uint8Array(0) },
    record: shownFields({ updatedAt: 1_234, reserved, owed, tiers }),
    bytes: join(
      ...[u32(1_234), u128(reserved), u256(owed), u32(4 + 16 + 32 + 4)],
      ...tiers.map(({ staked, index }) => join(u128(staked), u256(index))),
    ),
    holds: [[NATIVE, reserved]],
  }
}

function staking(): readonly RecordSample[] {
  const tiers = [1n, 2n, 3n, 4n].map((n) => ({ staked: n * 10n ** 9n, index: n * 100n * 2n ** 64n }))
  const open = {
    tier: 1,
    amount: 10n ** 9n,
    startIndex: 2n ** 64n,
    claimed: 17n,
    owed: 0n,
    stakedAt: 30,
    unlocksAt: 130,
  }
  return [
    books('the books of staking, before the first stake', [], 0n),
    books('the books of staking with four tiers', tiers, 31n),
    books('the books of staking with sixteen tiers', [...tiers, ...tiers, ...tiers, ...tiers], 10n ** 16n),
    stake('a stake', open),
    stake('a stake that was given back, with what it is owed', { ...open, amount: 0n, owed: 5n }),
    stake('a stake with the largest numbers', {
      ...{ tier: 255, amount: LARGEST, startIndex: LARGEST_SUM, claimed: LARGEST, owed: LARGEST },
      ...{ stakedAt: 2 ** 32 - 1, unlocksAt: 2 ** 32 - 1 },
    }),
  ]
}

export function stateMoneyRecords(): readonly RecordSample[] {
  return [...tokens(), ...pools(), ...staking(), ...stateBridgeRecords()]
}
