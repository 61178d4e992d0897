import { join } from './bytes.ts'
import { ASSET_PAYLOADS, ASSET_SOUND } from './tx-asset-payloads.ts'
import { badAmounts, type MalformedCase, NO_SYMBOLS, refused, undecodable, unreadable } from './tx-malformed-case.ts'
import { payload } from './tx-payloads.ts'
import { u32 } from './tx-wire.ts'

/** Malformed transactions of tokens, stable tokens, pools and stakes: fields out of range, and undecodable payloads. */

type AssetKind = keyof typeof ASSET_PAYLOADS

const KINDS = Object.keys(ASSET_PAYLOADS) as readonly AssetKind[]

function shapes(): readonly MalformedCase[] {
  return KINDS.flatMap((kind) => [
    undecodable(kind, 'no payload', new Uint8Array(0)),
    undecodable(kind, 'a byte of a payload', payload(kind).slice(0, 1)),
    undecodable(kind, 'a byte left over', join(payload(kind), Uint8Array.of(0))),
  ])
}

function symbols(): readonly MalformedCase[] {
  const fields = KINDS.flatMap((kind) =>
    Object.keys(ASSET_SOUND[kind])
      .filter((field) => /^(symbol|asset)/.test(field))
      .map((field) => [kind, field] as const),
  )
  return [
    ...fields.flatMap(([kind, field]) =>
      NO_SYMBOLS.map(([text, reason]) => unreadable(kind, `${field} "${text}"`, { [field]: text }, reason)),
    ),
    ...NO_SYMBOLS.map(([asset, reason]) =>
      unreadable('swap', `a hop to "${asset}"`, { hops: [{ asset, feeBps: 30 }] }, reason),
    ),
  ]
}

function truths(): readonly MalformedCase[] {
  return [
    ...(['token_mint', 'token_transfer', 'stable_mint'] as const).map((kind) =>
      unreadable(kind, 'a create bit of 2', { create: 2 }),
    ),
    unreadable('token_create', 'freezable 2', { freezable: 2 }),
    unreadable('token_flags', 'frozen 2', { frozen: 2 }),
    unreadable('token_flags', 'hidden 255', { hidden: 255 }),
    unreadable('swap', 'exactOut 2', { exactOut: 2 }),
  ]
}

const HOP = { asset: 'SALT', feeBps: 30 }

function lists(): readonly MalformedCase[] {
  const hops = [HOP, { asset: 'WOOL', feeBps: 100 }, HOP, { asset: 'WOOL', feeBps: 30 }]
  const swap = payload('swap')
  const [head, tail] = [swap.slice(0, -12), swap.slice(-10)]
  return [
    unreadable('swap', 'four hops', { hops }),
    undecodable('swap', 'a hop that is cut short', swap.slice(0, -1 - 'FUSD'.length)),
    undecodable('swap', 'a gap before its hops', join(head, u32(5), Uint8Array.of(0), tail)),
    undecodable('swap', 'half an offset of a hop', payload('swap', { hops: [] }).slice(0, -2)),
    unreadable('token_create', 'a name of 65 bytes', { name: 'n'.repeat(65) }),
    unreadable('token_create', 'a name with a line break', { name: 'Black\npepper' }, 'text outside its grammar'),
  ]
}

function amounts(): readonly MalformedCase[] {
  const fields: readonly (readonly [AssetKind, string, bigint])[] = [
    ['token_create', 'maxSupply', 0n],
    ...(['token_mint', 'token_burn', 'token_transfer', 'stable_deposit', 'stable_mint'] as const).map(
      (kind) => [kind, 'amount', 1n] as const,
    ),
    ['stable_redeem', 'amount', 1n],
    ['stable_redeem', 'minPaid', 0n],
    ['stable_withdraw', 'amount', 1n],
    ['pool_create', 'amountA', 1n],
    ['pool_create', 'amountB', 1n],
    ['liquidity_add', 'amountA', 1n],
    ['liquidity_add', 'amountB', 1n],
    ['liquidity_add', 'minShares', 0n],
    ['liquidity_remove', 'shares', 1n],
    ['liquidity_remove', 'minA', 0n],
    ['liquidity_remove', 'minB', 0n],
    ['swap', 'amount', 1n],
    ['swap', 'limit', 0n],
    ['stake', 'amount', 100_000_000n],
  ]
  return fields.flatMap(([kind, field, least]) => badAmounts(kind, field, least))
}

function tokenRanges(): readonly MalformedCase[] {
  const reason = 'must not be empty or begin or end with a blank'
  return [
    ...['', ' Pepper', 'Pepper ', ' '].map((name) =>
      refused('token_create', `the name "${name}"`, { name }, 'name', reason),
    ),
    ...[19, 255].map((decimals) =>
      refused('token_create', `${decimals} decimals`, { decimals }, 'decimals', `${decimals} is unknown`),
    ),
    ...[4, 255].map((tier) => refused('stake', `tier ${tier}`, { tier }, 'tier', `${tier} is unknown`)),
  ]
}

const FEE_REASON = 'must be one of 5, 30, 100'
const NO_FEES = [0, 1, 29, 31, 10_000, 65_535]

function poolRanges(): readonly MalformedCase[] {
  return (['pool_create', 'liquidity_add', 'liquidity_remove'] as const).flatMap((kind) => [
    refused(kind, 'an asset twice', { assetB: 'FAR' }, 'assetB', 'must be another asset than assetA'),
    ...NO_FEES.map((feeBps) => refused(kind, `a fee of ${feeBps}`, { feeBps }, 'feeBps', FEE_REASON)),
  ])
}

function swapRanges(): readonly MalformedCase[] {
  const exact = 'an exact output goes through one pool'
  const same = 'must be another asset than goes in'
  const three = [HOP, { asset: 'WOOL', feeBps: 30 }, { asset: 'FUSD', feeBps: 30 }]
  const changed = (at: number, change: Partial<typeof HOP>) =>
    three.map((hop, i) => (i === at ? { ...hop, ...change } : hop))
  return [
    refused('swap', 'no hops', { hops: [] }, 'hops', 'must not be empty'),
    refused('swap', 'no hops to an exact output', { hops: [], exactOut: 1 }, 'hops', 'must not be empty'),
    ...[2, 3].map((count) =>
      refused(
        'swap',
        `an exact output after ${count} hops`,
        { exactOut: 1, hops: three.slice(0, count) },
        'hops',
        exact,
      ),
    ),
    refused(
      'swap',
      'an exact output of what goes in',
      { exactOut: 1, hops: [{ ...HOP, asset: 'FAR' }] },
      'hops[0].asset',
      same,
    ),
    ...['FAR', 'SALT', 'WOOL'].map((asset, at) =>
      refused(
        'swap',
        `a hop ${at} that stays at ${asset}`,
        { hops: changed(at, { asset }) },
        `hops[${at}].asset`,
        same,
      ),
    ),
    ...[0, 1, 2].flatMap((at) =>
      NO_FEES.map((feeBps) =>
        refused(
          'swap',
          `a fee of ${feeBps} at hop ${at}`,
          { hops: changed(at, { feeBps }) },
          `hops[${at}].feeBps`,
          FEE_REASON,
        ),
      ),
    ),
  ]
}

export function txMalformedAssets(): readonly MalformedCase[] {
  return [
    ...[...shapes(), ...symbols(), ...truths(), ...lists(), ...amounts()],
    ...[...tokenRanges(), ...poolRanges(), ...swapRanges()],
  ]
}
