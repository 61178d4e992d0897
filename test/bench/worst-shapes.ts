import type { Chain } from '../../consensus/chain/chain.ts'
import type { Address, Hash, TokenSymbol, TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { MEMO_BYTES_MAX } from '../../consensus/tx/transaction.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { keyOf, members } from '../support/bridge.ts'
import { seededAddress } from './big-state.ts'
import type { Action } from './fixture.ts'
import {
  AGENTS,
  agentOf,
  attested,
  bridgeStep,
  eachKnown,
  FAR,
  FUSD,
  hashOf,
  invoke,
  NETWORK,
  published,
  registered,
  SALT,
  SERVICE,
  type Shape,
  units,
  WOOL,
  withdrawalsOf,
  withdrawn,
} from './worst-drafts.ts'
import { tabShapes } from './worst-tabs.ts'
import { KNOWN, MANY_KEYS, tokenOf, UNSEEN } from './worst-world.ts'

/** The state from which shapes choose accounts. */
export interface ShapeWorld {
  readonly accounts: number
  /** Accounts with long paths in the state tree. */
  readonly deep: readonly Address[]
}

type Fields<K extends TxKind> = (i: number) => PayloadOf<K>

function of<K extends TxKind>(kind: K, fields: Fields<K>): (i: number) => Action {
  return (i) => ({ kind, payload: fields(i) }) as unknown as Action
}

/** The reference for all shapes: transfers of native coins to accounts that were not read before. */
export function reference({ accounts }: ShapeWorld): Shape {
  const cold = (i: number): Address => seededAddress((i * 7_919 + 13) % accounts)
  const to = of('transfer', (i) => ({ to: cold(i), amount: units(1n), create: false }))
  return { kind: 'transfer', what: 'to accounts that were not looked at before', fill: () => eachKnown(to) }
}

export function shapes(world: ShapeWorld): readonly Shape[] {
  return [
    reference(world),
    ...transfers(world),
    ...tokens(world),
    ...pools(),
    ...staking(),
    ...bridge(),
    ...market(),
    ...tabShapes(),
  ]
}

function transfers({ accounts, deep }: ShapeWorld): readonly Shape[] {
  const cold = (i: number): Address => seededAddress((i * 104_729 + 7) % accounts)
  const transfer = (to: (i: number) => Address, create = false): ((i: number) => Action) =>
    of('transfer', (i) => ({ to: to(i), amount: units(1n), create }))
  const shape = (what: string, fill: Shape['fill']): Shape => ({ kind: 'transfer', what, fill })
  return [
    shape('to accounts deep in the state tree', () => eachKnown(transfer((i) => deep[i % deep.length] as Address))),
    shape('all to one account', () => eachKnown(transfer(() => cold(1)))),
    shape('that open accounts', () => eachKnown(transfer((i) => hashOf('opened', i), true))),
    shape('that fail: there is no such account', () => eachKnown(transfer((i) => hashOf('nowhere', i)))),
    shape('from keys unseen before', () => UNSEEN.map((from, i) => ({ from, action: transfer(cold)(i) }))),
    shape('from policies of eight keys, all of which sign', () =>
      MANY_KEYS.map((from, i) => ({ from, action: transfer(cold)(i) })),
    ),
    shape('with the longest memo', () =>
      eachKnown(transfer(cold)).map((draft) => ({ ...draft, memo: new Uint8Array(MEMO_BYTES_MAX) })),
    ),
    shape('all of one account', () =>
      Array.from({ length: 390 }, (_, i) => ({ from: KNOWN[0] as WalletKey, action: transfer(cold)(i) })),
    ),
  ]
}

function tokens({ accounts }: ShapeWorld): readonly Shape[] {
  const cold = (i: number): Address => seededAddress((i * 15_485_863 + 3) % accounts)
  const own = (i: number): TokenSymbol => tokenOf(i)
  const all = (what: string, make: (i: number) => Action): Shape => ({
    kind: make(0).kind,
    what,
    fill: () => eachKnown(make),
  })
  const issuer = KNOWN[0] as WalletKey
  return [
    all(
      'new symbols',
      of('token_create', (i) => ({
        ...{ symbol: `NEW${tokenOf(i).slice(3)}` as TokenSymbol, name: 'N'.repeat(64), decimals: 18 },
        ...{ maxSupply: units(0n), freezable: true },
      })),
    ),
    all(
      'symbols that are taken',
      of('token_create', (i) => ({
        ...{ symbol: own(i), name: 'N'.repeat(64), decimals: 18, maxSupply: units(0n), freezable: true },
      })),
    ),
    all(
      'of as many tokens',
      of('token_mint', (i) => ({ symbol: own(i), to: cold(i), amount: units(1n), create: false })),
    ),
    all(
      'of as many tokens',
      of('token_burn', (i) => ({ symbol: own(i), amount: units(1n) })),
    ),
    all(
      'one token to accounts that had none',
      of('token_transfer', (i) => ({ symbol: FUSD, to: cold(i), amount: units(1n), create: false })),
    ),
    all(
      'as many tokens to accounts that had none',
      of('token_transfer', (i) => ({ symbol: own(i), to: cold(i), amount: units(1n), create: false })),
    ),
    all(
      'that open accounts',
      of('token_transfer', (i) => ({ symbol: own(i), to: hashOf('opened', i), amount: units(1n), create: true })),
    ),
    all(
      'of as many tokens',
      of('token_flags', (i) => ({ symbol: own(i), frozen: true, hidden: true })),
    ),
    all(
      'of as many tokens',
      of('token_issuer', (i) => ({ symbol: own(i), issuer: cold(i) })),
    ),
    all(
      'into one reserve',
      of('stable_deposit', () => ({ symbol: FUSD, amount: units(1n) })),
    ),
    all(
      'out of one reserve',
      of('stable_redeem', () => ({ symbol: FUSD, amount: units(1n), minPaid: units(1n) })),
    ),
    all(
      'that fail: not the issuer',
      of('stable_mint', (i) => ({ symbol: FUSD, to: cold(i), amount: units(1n), create: false })),
    ),
    all(
      'that fail: not the issuer',
      of('stable_withdraw', () => ({ symbol: FUSD, amount: units(1n) })),
    ),
    {
      kind: 'token_mint',
      what: 'one token that opens accounts',
      fill: () =>
        Array.from({ length: 390 }, (_, i) => ({
          from: issuer,
          action: {
            kind: 'token_mint',
            payload: { symbol: own(0), to: hashOf('opened', i), amount: units(1n), create: true },
          },
        })),
    },
  ]
}

function pools(): readonly Shape[] {
  const all = (what: string, make: (i: number) => Action): Shape => ({
    kind: make(0).kind,
    what,
    fill: () => eachKnown(make),
  })
  const pair = (i: number) => ({ assetA: FAR, assetB: tokenOf(i), feeBps: 30 })
  const swap = (payload: Partial<PayloadOf<'swap'>>): PayloadOf<'swap'> => ({
    ...{ assetIn: FAR, exactOut: false, amount: units(1_000n), limit: units(0n), hops: [] },
    ...payload,
  })
  const threeHops = (i: number) => [
    { asset: FAR, feeBps: 30 },
    { asset: tokenOf((i + 1) % 390), feeBps: 30 },
    { asset: FAR, feeBps: 30 },
  ]
  const devnetHops = [
    { asset: FAR, feeBps: 30 },
    { asset: SALT, feeBps: 30 },
    { asset: WOOL, feeBps: 100 },
  ]
  return [
    all(
      'of as many tokens',
      of('pool_create', (i) => ({ ...pair(i), feeBps: 5, amountA: units(99_991n), amountB: units(99_989n) })),
    ),
    all(
      'of as many pools',
      of('liquidity_add', (i) => ({
        ...pair(i),
        amountA: units(99_991n),
        amountB: units(99_989n),
        minShares: units(1n),
      })),
    ),
    all(
      'of as many pools',
      of('liquidity_remove', (i) => ({ ...pair(i), shares: units(99_991n), minA: units(1n), minB: units(1n) })),
    ),
    all(
      'over one pool each',
      of('swap', (i) => swap({ hops: [{ asset: tokenOf(i), feeBps: 30 }] })),
    ),
    all(
      'over three hops of pools of their own',
      of('swap', (i) => swap({ assetIn: tokenOf(i), hops: threeHops(i) })),
    ),
    all(
      'over three hops of the same pools',
      of('swap', () => swap({ assetIn: FUSD, hops: devnetHops })),
    ),
    all(
      'that fail at the last of three hops',
      of('swap', (i) => swap({ assetIn: tokenOf(i), limit: units(10n ** 30n), hops: threeHops(i) })),
    ),
    all(
      'for an exact output',
      of('swap', (i) =>
        swap({
          exactOut: true,
          amount: units(999_983n),
          limit: units(10n ** 9n),
          hops: [{ asset: tokenOf(i), feeBps: 30 }],
        }),
      ),
    ),
  ]
}

function staking(): readonly Shape[] {
  const stakes = (chain: Chain): readonly TxId[] => withdrawalsOf(chain, 4)
  const each = (kind: 'unstake' | 'claim'): Shape => ({
    kind,
    what: 'of as many stakes',
    fill: (chain) =>
      stakes(chain).map((stakeId, i) => ({ from: KNOWN[i] as WalletKey, action: { kind, payload: { stakeId } } })),
  })
  const stake = of('stake', (i) => ({ tier: i % 4, amount: units(10n ** 8n) }))
  return [{ kind: 'stake', what: 'in all tiers', fill: () => eachKnown(stake) }, each('unstake'), each('claim')]
}

function bridge(): readonly Shape[] {
  const deposit = (chain: Chain, i: number, spoiled = false): Action => {
    const named = { network: NETWORK, externalTxId: Buffer.from(hashOf('deposit', i), 'hex'), outputIndex: i }
    const payload = { ...named, to: (KNOWN[i] as WalletKey).address, amount: units(5_000_000n) }
    const attestation = attested(chain, { action: 'deposit', ...payload }, spoiled)
    return { kind: 'bridge_deposit', payload: { ...payload, create: false, attestation } }
  }
  const step = (kind: TxKind, what: string, make: (chain: Chain, i: number) => Action): Shape => ({
    ...{ kind, what, fill: (chain) => eachKnown((i) => make(chain, i), 0, 60) },
  })
  const open = (chain: Chain, i: number): TxId => withdrawalsOf(chain, 5)[40 + i] as TxId
  const paid = (chain: Chain, i: number): Action => {
    const named = {
      withdrawalId: withdrawalsOf(chain, 5)[i] as TxId,
      externalTxId: Buffer.from(hashOf('paid', i), 'hex'),
    }
    return {
      kind: 'bridge_release',
      payload: { ...named, attestation: attested(chain, { action: 'release', network: NETWORK, ...named }) },
    }
  }
  const rotate = (chain: Chain, i: number): Action => {
    const keys = members(8, 2, 100 + i).map(keyOf)
    const vaults = Array.from({ length: 7 }, (_, network) => ({ network, address: `0x${'0'.repeat(36)}dEaD` }))
    const rotation = { threshold: 7, keys: [...keys], vaults, resume: [] }
    return {
      kind: 'bridge_rotate',
      payload: { ...rotation, attestation: attested(chain, { action: 'rotate', ...rotation }) },
    }
  }
  return [
    step('bridge_deposit', 'seven signatures each', deposit),
    step('bridge_deposit', 'that fail: the last of seven signatures is wrong', (chain, i) => deposit(chain, i, true)),
    { kind: 'bridge_withdraw', what: 'to one network', fill: () => eachKnown(withdrawn, 0, 330) },
    step('bridge_sign', 'seven signatures each', (chain, i) => bridgeStep(chain, 'sign', open(chain, i))),
    step('bridge_cancel', 'seven signatures each', (chain, i) => bridgeStep(chain, 'cancel', open(chain, i))),
    step('bridge_release', 'seven signatures each', paid),
    step('bridge_rotate', 'of eight keys, all but the first fail', rotate),
    {
      kind: 'bridge_halt',
      what: 'two signatures each, all but the first fail',
      fill: (chain) =>
        eachKnown(
          () => ({
            kind: 'bridge_halt',
            payload: { network: NETWORK, attestation: attested(chain, { action: 'halt', network: NETWORK }) },
          }),
          0,
          120,
        ),
    },
  ]
}

function market(): readonly Shape[] {
  const shape = (kind: TxKind, what: string, fill: Shape['fill']): Shape => ({ kind, what, fill })
  const receipts = (
    ids: (chain: Chain) => readonly TxId[],
    outcome: number,
    from: readonly WalletKey[],
  ): Shape['fill'] => {
    const entry = (txId: TxId) => ({
      txId,
      outcome,
      resultHash: hashOf('result', 1),
      opener: hashOf('opener', 1),
      durationMs: 1,
    })
    return (chain) => {
      const all = ids(chain)
      return from.map((sender, i) => ({
        ...{
          from: sender,
          action: { kind: 'agent_receipt', payload: { entries: all.slice(i * 256, i * 256 + 256).map(entry) } },
        },
      }))
    }
  }
  const invokes = (chain: Chain): readonly TxId[] => [...withdrawalsOf(chain, 7), ...withdrawalsOf(chain, 8)]
  const settlers = KNOWN.slice(0, 3)
  const short = (chain: Chain, i: number): readonly TxId[] => invokes(chain).slice(i)
  return [
    shape('agent_register', 'largest records', () => eachKnown((i) => rename(registered(i), i), 100, 200)),
    shape('agent_update', 'largest records', () =>
      eachKnown(
        (i) => ({
          kind: 'agent_update',
          payload: {
            ...(registered(i).payload as PayloadOf<'agent_register'>),
            owner: (KNOWN[i] as WalletKey).address,
          },
        }),
        0,
        AGENTS,
      ),
    ),
    shape('service_publish', 'largest records, at another price', () =>
      eachKnown((i) => published(i, 20_000n), 0, AGENTS),
    ),
    shape('service_publish', 'that fail: the agent of another', () => eachKnown((i) => published(i + 1), 80, 300)),
    shape('service_retire', 'of as many agents', () =>
      eachKnown((i) => ({ kind: 'service_retire', payload: { agentId: agentOf(i), serviceId: SERVICE } }), 0, AGENTS),
    ),
    shape('agent_invoke', 'of as many agents', () => eachKnown((i) => invoke(i, 9_600))),
    shape('agent_invoke', 'that fail: there is no such agent', () => eachKnown((i) => rename(invoke(i, 9_600), i))),
    shape('agent_receipt', '256 calls delivered, of different payers', receipts(invokes, 0, settlers)),
    shape('agent_receipt', '256 calls failed', receipts(invokes, 1, settlers)),
    shape(
      'agent_receipt',
      '256 calls that there are not',
      receipts(() => Array.from({ length: 768 }, (_, i) => hashOf<TxId>('no call', i)), 0, settlers),
    ),
    shape('agent_receipt', 'one call each, of different settlers', (chain) =>
      short(chain, 0)
        .slice(0, 390)
        .map((txId, i) => ({
          from: KNOWN[i % 8] as WalletKey,
          action: {
            kind: 'agent_receipt',
            payload: {
              entries: [
                {
                  txId,
                  outcome: 0,
                  resultHash: hashOf('result', 1) as Hash,
                  opener: hashOf('opener', 1) as Hash,
                  durationMs: 1,
                },
              ],
            },
          },
        })),
    ),
    shape('agent_receipt', '256 calls delivered, and attestations in the room that is left', (chain) => [
      ...receipts(invokes, 0, settlers)(chain),
      ...eachKnown((i) => bridgeStep(chain, 'sign', withdrawalsOf(chain, 5)[i] as TxId), 40, 40),
    ]),
    {
      ...shape('agent_invoke', 'while the refunds of four full blocks fall due', () =>
        eachKnown((i) => invoke(i, 9_600)),
      ),
      before: [4, 3, 2, 1].map((term) => () => eachKnown((i) => invoke(i, term))),
    },
  ]
}

/** The same action for another agent id. */
function rename(action: Action, i: number): Action {
  return { ...action, payload: { ...action.payload, agentId: `other-${String(i).padStart(26, '0')}` } } as Action
}
