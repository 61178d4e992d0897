import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenAsset } from '../../consensus/ledger/asset.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import { SUPPLY } from '../../consensus/ledger/supply.ts'
import { holderOfBalanceKey, TOKEN_BALANCES } from '../../consensus/ledger/token-balances.ts'
import { checkLaunch, launchFault, type TokenLaunch } from '../../consensus/ledger/token-launch.ts'
import { NO_ISSUER, TOKENS } from '../../consensus/ledger/token-records.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { StateKey } from '../../consensus/state/table.ts'
import { checkTransaction } from '../../consensus/tx/check.ts'
import type { TxKind } from '../../consensus/tx/kinds.ts'
import { runs } from '../support/runs.ts'
import {
  BOB,
  CAROL,
  DAVE,
  dollarLedgers,
  FUSD,
  ISSUER,
  SALT,
  STRANGER,
  symbol,
  TOKEN_LEDGERS,
  TokenLedger,
  WOOL,
  XUSD,
} from '../support/tokens.ts'
import { units } from '../support/unsigned.ts'

const SYMBOLS = [XUSD, FUSD, SALT, WOOL, symbol('RENT'), symbol('FAR')]
const MOST = (1n << 112n) - 1n

/** One transaction that a sequence may try. */
interface Move {
  readonly sender: Address
  readonly kind: TxKind
  readonly payload: object
}

const senders = fc.constantFrom(ISSUER, BOB, CAROL, DAVE)
const named = fc.constantFrom(...SYMBOLS)
const amounts = fc
  .oneof({ weight: 6, arbitrary: fc.bigInt(1n, 1_200n) }, { weight: 1, arbitrary: fc.constantFrom(9_000n, MOST) })
  .map(units)
const moved = fc.record({
  ...{ symbol: named, to: fc.constantFrom(ISSUER, BOB, CAROL, DAVE, STRANGER) },
  ...{ amount: amounts, create: fc.boolean() },
})
const parts = fc.record({ symbol: named, amount: amounts })

/** Payloads by kind, some with names unknown to the ledger or amounts above all holdings. */
const PAYLOADS: readonly (readonly [TxKind, fc.Arbitrary<object>])[] = [
  [
    'token_create',
    fc.record({
      ...{ symbol: fc.constantFrom(symbol('RENT'), symbol('R3NT'), symbol('WO0L')), name: fc.constant('Rent') },
      ...{ decimals: fc.nat(18), maxSupply: fc.constantFrom(0n, 700n, MOST).map(units), freezable: fc.boolean() },
    }),
  ],
  ['token_mint', moved],
  ['token_burn', parts],
  ['token_transfer', moved],
  ['token_flags', fc.record({ symbol: named, frozen: fc.boolean(), hidden: fc.boolean() })],
  ['token_issuer', fc.record({ symbol: named, issuer: fc.constantFrom(ISSUER, BOB, NO_ISSUER, STRANGER) })],
  ['stable_deposit', parts],
  ['stable_mint', moved],
  ['stable_redeem', fc.record({ symbol: named, amount: amounts, minPaid: fc.constantFrom(0n, 1n, 600n).map(units) })],
  ['stable_withdraw', parts],
]

const moves: fc.Arbitrary<Move> = fc.oneof(
  ...PAYLOADS.map(([kind, payload]) => fc.record({ sender: senders, kind: fc.constant(kind), payload })),
)

const part = { symbol: FUSD, amount: units(100) }

/** A sequence in which every kind succeeds on a reserve of 2,000. */
const EACH_KIND: readonly Move[] = [
  {
    ...{ sender: DAVE, kind: 'token_create' },
    payload: { symbol: symbol('RENT'), name: 'Rent', decimals: 2, maxSupply: units(0), freezable: true },
  },
  { sender: DAVE, kind: 'token_mint', payload: { ...part, symbol: symbol('RENT'), to: BOB, create: false } },
  { sender: DAVE, kind: 'token_flags', payload: { symbol: symbol('RENT'), frozen: true, hidden: true } },
  { sender: BOB, kind: 'token_burn', payload: { ...part, symbol: symbol('RENT') } },
  { sender: DAVE, kind: 'token_issuer', payload: { symbol: symbol('RENT'), issuer: CAROL } },
  { sender: BOB, kind: 'token_transfer', payload: { ...part, to: STRANGER, create: true } },
  { sender: BOB, kind: 'stable_deposit', payload: part },
  { sender: ISSUER, kind: 'stable_mint', payload: { ...part, to: CAROL, create: false } },
  { sender: CAROL, kind: 'stable_redeem', payload: { ...part, minPaid: units(100) } },
  { sender: ISSUER, kind: 'stable_withdraw', payload: part },
]

/** Holdings of one token, counted from the records. */
interface Census {
  readonly balances: ReadonlyMap<Address, bigint>
  readonly reserves: bigint
  readonly minted: bigint
  readonly burned: bigint
  readonly cap: bigint
  readonly frozen: boolean
}

/** Counts a token over every record of the state, without the ledger's sums. */
function census(ledger: TokenLedger, token: TokenSymbol): Census {
  const asset = tokenAsset(token)
  const balances = new Map<Address, bigint>()
  let reserves = 0n
  for (const { table, key, value } of ledger.state.records()) {
    const record = table.codec.deserialize(value) as { amount: bigint; reserveAsset: string; reserve: bigint }
    if (table.prefix === TOKEN_BALANCES.prefix && key.endsWith(asset)) {
      balances.set(holderOfBalanceKey(key as StateKey), record.amount)
    }
    if (table.prefix === STABLE_RESERVES.prefix && record.reserveAsset === asset) reserves += record.reserve
  }
  const { minted, burned, cap } = ledger.get(SUPPLY, asset) ?? { minted: 0n, burned: 0n, cap: 0n }
  return { balances, reserves, minted, burned, cap, frozen: ledger.get(TOKENS, asset)?.frozen ?? false }
}

const censuses = (ledger: TokenLedger) => new Map(SYMBOLS.map((token) => [token, census(ledger, token)]))
const sum = (values: Iterable<bigint>) => [...values].reduce((total, value) => total + value, 0n)

/** Invariants of every token after every transaction. */
function expectSound({ balances, reserves, minted, burned, cap }: Census): void {
  expect(minted <= (cap === 0n ? MOST : cap)).toBe(true)
  expect(burned <= minted).toBe(true)
  expect(minted - burned).toBe(sum(balances.values()) + reserves)
  expect([...balances.values()].every((held) => held > 0n)).toBe(true)
}

/** A frozen token does not move, except that its holder may burn or redeem it. */
function expectUnmoved(before: Census, after: Census, { sender, kind }: Move): void {
  if (!before.frozen) return
  expect(after.minted).toBe(before.minted)
  const givenUp = after.burned - before.burned
  if (givenUp !== 0n) expect(['token_burn', 'stable_redeem']).toContain(kind)
  const expected = new Map(before.balances)
  const left = (before.balances.get(sender) ?? 0n) - givenUp
  if (left === 0n) expected.delete(sender)
  else expected.set(sender, left)
  expect(new Map([...after.balances].sort())).toEqual(new Map([...expected].sort()))
}

/** No transaction of these kinds lowers the backing ratio of a stable token. */
function expectBacked(ledger: TokenLedger, before: { reserve: bigint; supply: bigint }): void {
  const [reserve, supply] = [ledger.reserve(FUSD), ledger.supply(FUSD)]
  expect(reserve >= supply || reserve * before.supply >= before.reserve * supply).toBe(true)
}

describe('any sequence of token and stable transactions', () => {
  const starts = fc.constantFrom(0n, 900n, 1_500n, 2_000n, MOST - 1_000n)

  it('keeps supplies, balances, reserves and frozen funds in order', () => {
    const reached = new Map<string, number>()
    fc.assert(
      fc.property(starts, fc.array(moves, { minLength: 1, maxLength: 40 }), (reserve, sequence) => {
        const ledger = new TokenLedger(dollarLedgers(TOKEN_LEDGERS.balances, reserve))
        for (const move of sequence) {
          const before = censuses(ledger)
          const backing = { reserve: ledger.reserve(FUSD), supply: ledger.supply(FUSD) }
          const { code } = ledger.send(move.sender, move.kind, move.payload as never)
          const after = censuses(ledger)
          for (const [token, counted] of after) {
            expectSound(counted)
            expectUnmoved(before.get(token)!, counted, move)
            if (code !== 'success') expect(counted).toEqual(before.get(token))
          }
          expectBacked(ledger, backing)
          const outcome = `${move.kind} ${code}`
          reached.set(outcome, (reached.get(outcome) ?? 0) + 1)
        }
        expect(ledger.broken()).toEqual([])
      }),
      { numRuns: runs(1_000), examples: [[2_000n, [...EACH_KIND]]] },
    )
    for (const [kind] of PAYLOADS) expect(reached.get(`${kind} success`) ?? 0).toBeGreaterThan(0)
  })
})

describe('the check of a launch', () => {
  const letters = 'ABIOSZ01258'
  const symbols = fc.oneof(
    fc.constantFrom(...SYMBOLS, 'XBTC', 'WO0L', 'X8TC', 'FU5D', 'RENT', 'r', '1A', 'A', 'ABCDEFGHIJK'),
    fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 4 }),
    fc.string({ maxLength: 12 }),
  )
  const launches: fc.Arbitrary<TokenLaunch> = fc.record({
    symbol: symbols,
    name: fc.oneof({ weight: 4, arbitrary: fc.constant('Rent') }, fc.string({ unit: 'binary', maxLength: 70 })),
    decimals: fc.oneof({ weight: 4, arbitrary: fc.nat(18) }, fc.integer({ min: -2, max: 300 })),
    maxSupply: fc.oneof({ weight: 4, arbitrary: fc.bigInt(0n, MOST) }, fc.bigInt(-1n, 1n << 130n)),
  })
  const lived = fc.array(fc.string({ unit: fc.constantFrom(...letters), minLength: 2, maxLength: 3 }), { maxLength: 4 })

  /** Outcome of the transaction: unwritable, malformed, failed or a success. */
  function outcome(ledger: TokenLedger, { symbol: text, ...rest }: TokenLaunch): string {
    const payload = { symbol: text as TokenSymbol, ...rest, maxSupply: rest.maxSupply as never, freezable: false }
    try {
      const malformed = checkTransaction(
        ledger.tx(CAROL, 'token_create', payload, { nonce: 7n }),
        ledger.ruleBook.at(1).tx,
      )
      return malformed?.code ?? ledger.send(BOB, 'token_create', payload).code
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return 'unwritable'
      throw error
    }
  }

  const sound = { name: 'Rent', decimals: 2, maxSupply: 0n }
  /** One launch for every outcome. */
  const examples: [string[], TokenLaunch][] = [
    [[], { ...sound, symbol: 'RENT' }],
    [['R3NT'], { ...sound, symbol: 'R3NT' }],
    [['B00'], { ...sound, symbol: '800' }],
    [['B00'], { ...sound, symbol: 'BOO' }],
    [[], { ...sound, symbol: 'RENT', name: '' }],
    [[], { ...sound, symbol: 'RENT', maxSupply: MOST + 1n }],
  ]

  it('passes if and only if the transaction succeeds, and names its fault otherwise', () => {
    const reached = new Set<string>()
    fc.assert(
      fc.property(lived, launches, (others, launch) => {
        const ledger = new TokenLedger()
        const rules = ledger.ruleBook.at(1)
        for (const other of others) outcome(ledger, { symbol: other, name: 'Other', decimals: 0, maxSupply: 0n })
        const findings = checkLaunch(ledger.state, rules, launch)
        const refused = launchFault(findings)
        const code = outcome(ledger, launch)
        reached.add(code)
        expect(findings.every(({ pass }) => pass)).toBe(code === 'success')
        if (code !== 'success' && code !== 'unwritable') expect(refused?.code).toBe(code)
        if (code === 'unwritable') expect(['tx/field', 'tx/amount']).toContain(refused?.code)
      }),
      { numRuns: runs(1_000), examples },
    )
    expect([...reached].sort()).toEqual([
      ...['success', 'token/look-alike', 'token/symbol-taken', 'tx/amount', 'tx/field', 'unwritable'],
    ])
  })
})
