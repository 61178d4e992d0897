import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import { type Actor, actor, FUNDED, NEWCOMERS, type Part, seedOf } from '../support/actors.ts'
import { Differential, freePow } from '../support/differential.ts'
import { BAD_PAYLOADS, badWitnesses, plain } from '../support/hostile.ts'
import { GOOD_PAYLOADS } from '../support/hostile-ledgers.ts'
import { GOOD_TAB_PAYLOADS } from '../support/hostile-tabs.ts'
import { testParams } from '../support/network.ts'
import { placeOn } from '../support/plans.ts'
import { hex, unhex, ZERO32 } from '../support/reference/bytes.ts'
import { reheader } from '../support/reference/craft.ts'
import { argon2Pow, findNonce, meetsTarget } from '../support/reference/proof-of-work.ts'
import { AGENT_RECEIPT, AGENT_REGISTER, BLOCK, type Body, type Header, TRANSFER } from '../support/reference/schemas.ts'
import { readTransaction } from '../support/reference/transactions.ts'
import { Scenario } from '../support/scenario.ts'

const TX_WITH_TABS = { ...LAUNCH_RULES.tx, tabs: TAB_RULES }
const RICH = FUNDED[0] as Actor
const HUGE = new Uint8Array(128)

const scenarioOn = ({ reference }: Differential): Scenario => new Scenario(placeOn(reference, reference.headId))

/** Signs one body per actor, in order, with the next nonces. */
async function signed(pair: Differential, wanted: readonly (readonly [Actor, Partial<Body>])[]): Promise<Uint8Array[]> {
  const scenario = scenarioOn(pair)
  const wires: Uint8Array[] = []
  const used = new Map<string, bigint>()
  for (const [who, change] of wanted) {
    const nonce = used.get(who.address) ?? scenario.nonce(who.address)
    used.set(who.address, nonce + 1n)
    wires.push(await scenario.sign(plain(who, nonce, { maxFeeRate: 32n, ...change }), who))
  }
  return wires
}

const give = (to: string, amount: bigint): Partial<Body> => ({
  kind: 0x01,
  payload: TRANSFER.encode({ to, amount, create: true }),
})

/** A chain on which the funded actors have used their nonce 0 and the newcomers have accounts. */
async function openUsed(): Promise<Differential> {
  const pair = await Differential.open(testParams({ tx: TX_WITH_TABS }), freePow)
  const gifts = NEWCOMERS.map((who) => [RICH, give(who.address, 10n ** 12n)] as const)
  const wires = await signed(pair, [...FUNDED.slice(1).map((who) => [who, {}] as const), ...gifts])
  expect((await pair.feed(pair.next(wires))).reason).toBeNull()
  return pair
}

/** The common verdict of node and reference on the next block with these transactions. */
const verdictOf = async (pair: Differential, wires: readonly Uint8Array[]): Promise<string | null> =>
  (await pair.feed(pair.next(wires))).reason

describe('malformed transactions', () => {
  it('every payload out of its ranges', async () => {
    const pair = await openUsed()
    for (const [kind, payload] of BAD_PAYLOADS) {
      const wires = await signed(pair, [[FUNDED[1] as Actor, { kind, payload }]])
      expect(await verdictOf(pair, wires), `kind ${kind} ${hex(payload)}`).not.toBeNull()
    }
    expect(await verdictOf(pair, await signed(pair, [[FUNDED[1] as Actor, {}]]))).toBeNull()
  })

  it('payloads at the ends of their ranges are none', async () => {
    const pair = await openUsed()
    for (const [kind, payload] of [...GOOD_PAYLOADS, ...GOOD_TAB_PAYLOADS]) {
      const wires = await signed(pair, [[FUNDED[1] as Actor, { kind, payload }]])
      expect(await verdictOf(pair, wires), `kind ${kind} ${hex(payload)}`).toBeNull()
    }
  })

  it.each([
    ['first nonce', NEWCOMERS[0] as Actor],
    ['later nonce', FUNDED[1] as Actor],
    ['first nonce of a policy', NEWCOMERS[3] as Actor],
  ])('every witness: %s', async (_, who) => {
    const pair = await openUsed()
    const [good] = (await signed(pair, [[who, {}]])) as [Uint8Array]
    for (const [i, bad] of badWitnesses(good).entries()) expect(await verdictOf(pair, [bad]), `${i}`).not.toBeNull()
    expect(await verdictOf(pair, [good])).toBeNull()
    const [later] = (await signed(pair, [[who, {}]])) as [Uint8Array]
    for (const [i, bad] of badWitnesses(later).entries()) expect(await verdictOf(pair, [bad]), `${i}`).not.toBeNull()
    expect(await verdictOf(pair, [later])).toBeNull()
  })
})

const part = (scheme: 1 | 2, number: number): Part => ({ scheme, seed: seedOf(number) })
const eight = Array.from({ length: 8 }, (_, i) => part(i % 2 === 0 ? 1 : 2, 50 + i))

describe('transactions about tabs', () => {
  it('are malformed before the step that brings tabs, every one of them', async () => {
    const pair = await Differential.open(testParams(), freePow)
    for (const [kind, payload] of GOOD_TAB_PAYLOADS) {
      const wires = await signed(pair, [[RICH, { kind, payload }]])
      expect(await verdictOf(pair, wires), `kind ${kind} ${hex(payload)}`).toBe('transaction: kind of a later step')
    }
  })
})

describe('account keys', () => {
  it.each<[string, boolean, Actor]>([
    ['one of one', true, actor(3, 1, [part(1, 30)])],
    ['three of eight', true, actor(3, 3, eight)],
    ['eight of eight', true, actor(3, 8, eight)],
    ['one of eight', true, actor(3, 1, eight)],
    ['scheme 1, threshold 0', false, actor(1, 0, [part(1, 30)])],
    ['scheme 1, threshold 2', false, actor(1, 2, [part(1, 30)])],
    ['scheme 1, two keys', false, actor(1, 1, [part(1, 30), part(1, 31)])],
    ['scheme 1, key of scheme 2', false, actor(1, 1, [part(2, 30)])],
    ['scheme 2, key of scheme 1', false, actor(2, 1, [part(1, 30)])],
    ['scheme 0', false, actor(0, 1, [part(1, 30)])],
    ['scheme 4', false, actor(4, 1, [part(1, 30)])],
    ['policy, threshold 0', false, actor(3, 0, [part(1, 30), part(1, 31)])],
    ['policy, threshold above the keys', false, actor(3, 3, [part(1, 30), part(1, 31)])],
    ['policy, a key twice', false, actor(3, 1, [part(1, 30), part(2, 31), part(1, 30)])],
    ['policy of nine', false, actor(3, 1, [...eight, part(1, 90)])],
  ])('%s', async (_, sound, who) => {
    const pair = await Differential.open(testParams(), freePow)
    const gift = await signed(pair, [[RICH, give(who.address, 10n ** 12n)]])
    expect(await verdictOf(pair, gift)).toBeNull()
    const verdict = await verdictOf(pair, await signed(pair, [[who, {}]]))
    sound ? expect(verdict).toBeNull() : expect(verdict).not.toBeNull()
  })
})

describe('fees and balances', () => {
  const who = NEWCOMERS[0] as Actor
  const balance = 10n ** 12n

  /** Codes of the newcomer's transactions in one block of a fresh chain, or why the block is refused. */
  const codesOf = async (...changes: Partial<Body>[]): Promise<unknown> => {
    const pair = await openUsed()
    const wires = await signed(
      pair,
      changes.map((change) => [who, change]),
    )
    const { reason, computed } = await pair.feed(pair.next(wires))
    return reason ?? computed?.executed?.receipts.slice(0, wires.length).map((receipt) => receipt[33])
  }

  it('to the last unit', async () => {
    const pair = await openUsed()
    const samples = await signed(pair, [
      [who, give(RICH.address, 1n)],
      [who, {}],
    ])
    const fees = samples.map((wire) => BigInt(readTransaction(wire, pair.reference.rules.tx).weight) * 32n)
    const [first, second] = fees as [bigint, bigint]
    expect(await codesOf(give(RICH.address, balance - first))).toEqual([0])
    expect(await codesOf(give(RICH.address, balance - first + 1n))).toEqual([3])
    expect(await codesOf(give(who.address, balance - first))).toEqual([0])
    // One transaction leaves the next one its fee and the unit that it sends, then its fee alone, then less than its fee.
    expect(await codesOf(give(RICH.address, balance - first - second - 1n), {})).toEqual([0, 0])
    expect(await codesOf(give(RICH.address, balance - first - second), {})).toEqual([0, 3])
    expect(await codesOf(give(RICH.address, balance - first - second + 1n), {})).toBe(
      'transaction: fee above the balance',
    )
  })
})

describe('limits of a block', () => {
  /**
   * Fills `room` units with as many copies of each kind as fit, in the given order. Memos fill what is left, since each byte
   * of a memo counts as one unit of weight and of size.
   */
  async function fill(
    pair: Differential,
    room: number,
    kinds: readonly (readonly [Actor, Partial<Body>])[],
    sizeOf: (wire: Uint8Array) => number,
  ): Promise<[Actor, Partial<Body>][]> {
    let left = room
    const wanted: [Actor, Partial<Body>][] = []
    for (const [who, change] of kinds) {
      const size = sizeOf((await signed(pair, [[who, change]]))[0] as Uint8Array)
      for (; left >= size; left -= size) wanted.push([who, change])
    }
    return wanted.map(([who, change]) => {
      const memo = HUGE.subarray(0, Math.min(left, HUGE.length))
      left -= memo.length
      return [who, { ...change, memo }]
    })
  }

  const register = AGENT_REGISTER.encode({
    agentId: 'abc',
    name: 'A',
    endpoint: '',
    capabilities: 0,
    payout: RICH.address,
    settlers: [],
  })

  /** The same transactions with one more byte in the first memo that has room. */
  const oneMore = (wanted: readonly [Actor, Partial<Body>][]): [Actor, Partial<Body>][] => {
    const index = wanted.findIndex(([, { memo }]) => (memo?.length ?? 0) < HUGE.length)
    return wanted.map(([who, change], i) =>
      i === index ? [who, { ...change, memo: HUGE.subarray(0, (change.memo?.length ?? 0) + 1) }] : [who, change],
    )
  }

  it('weight', async () => {
    const pair = await openUsed()
    const { tx, block } = pair.reference.rules
    const kinds = [
      [FUNDED[1] as Actor, { kind: 0x60, payload: register }],
      [FUNDED[2] as Actor, {}],
    ] as const
    const wanted = await fill(pair, block.weightMax, kinds, (wire) => readTransaction(wire, tx).weight)
    expect(await verdictOf(pair, await signed(pair, oneMore(wanted)))).toBe('body: too heavy')
    const full = await pair.feed(pair.next(await signed(pair, wanted)))
    expect([full.reason, full.computed?.weight]).toEqual([null, block.weightMax])
  })

  it('bytes', async () => {
    const pair = await openUsed()
    const policy = actor(
      3,
      8,
      Array.from({ length: 8 }, (_, i) => part(2, 70 + i)),
    )
    expect(await verdictOf(pair, await signed(pair, [[RICH, give(policy.address, 10n ** 13n)]]))).toBeNull()
    expect(await verdictOf(pair, await signed(pair, [[policy, {}]]))).toBeNull()
    const { bytesMax } = pair.reference.rules.block
    const wanted = await fill(
      pair,
      bytesMax,
      [
        [policy, {}],
        [FUNDED[2] as Actor, {}],
      ],
      ({ length }) => length + 4,
    )
    expect(await verdictOf(pair, await signed(pair, oneMore(wanted)))).toBe('body: too long')
    const full = pair.next(await signed(pair, wanted))
    expect(full.length).toBe(bytesMax + 328)
    expect((await pair.feed(full)).reason).toBeNull()
  })

  it('declared writes', async () => {
    const pair = await openUsed()
    const entry = { txId: ZERO32, outcome: 0, resultHash: ZERO32, opener: ZERO32, durationMs: 0 }
    const receipt = (count: number): [Actor, Partial<Body>] => {
      const entries = Array.from({ length: count }, () => entry)
      return [FUNDED[1] as Actor, { kind: 0x65, payload: AGENT_RECEIPT.encode({ entries }) }]
    }
    // 3 x 1,283 + 148 = 3,997 writes; a registration declares 3, a transfer 2.
    const most = [receipt(256), receipt(256), receipt(256), receipt(29)]
    const sender = FUNDED[2] as Actor
    const over = await signed(pair, [...most, [sender, {}], [sender, {}]])
    expect(await verdictOf(pair, over)).toBe('body: too many writes')
    const exact = await signed(pair, [...most, [sender, { kind: 0x60, payload: register }]])
    expect(await verdictOf(pair, exact)).toBeNull()
  })

  it('entries of the list', async () => {
    const pair = await openUsed()
    const tiny = Array.from({ length: 1_025 }, () => new Uint8Array(8))
    expect(await verdictOf(pair, tiny)).not.toBeNull()
  })
})

describe('time', () => {
  it('up to 15 seconds ahead, and above the parent', async () => {
    const pair = await Differential.open(testParams(), freePow)
    const at = (timeMs: number): Uint8Array =>
      pair.reference.propose(pair.reference.headId, [], { timeMs, miner: RICH.address })
    const { nowMs } = pair.test
    expect((await pair.feed(at(nowMs + 15_001))).reason).toBe('header: future')
    expect((await pair.feed(at(nowMs + 15_000))).reason).toBeNull()
    expect((await pair.feed(at(nowMs + 15_000))).reason).toBe('header: time')
    expect((await pair.feed(at(nowMs + 14_999))).reason).toBe('header: time')
    pair.test.nowMs = nowMs + 1
    expect((await pair.feed(at(nowMs + 15_001))).reason).toBeNull()
  })

  it('up to 2^53 - 1', async () => {
    const pair = await Differential.open(testParams(), freePow)
    pair.test.nowMs = Number.MAX_SAFE_INTEGER
    const wire = pair.next([], 1)
    const last = wire.slice()
    last.set([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0x00], 40)
    const beyond = wire.slice()
    beyond.set([0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00], 40)
    expect((await pair.feed(beyond)).reason).toBe('ssz: integer above 2^53 - 1')
    expect((await pair.feed(last)).reason).toBeNull()
  })
})

describe('proof of work', () => {
  it('of a hash that is the target, read as a big-endian number', async () => {
    const base = testParams()
    const rules = (base.steps[0] as (typeof base.steps)[number]).rules
    const target = 2n ** 248n + 5n
    const block = { ...rules.block, powLimit: target, initialTarget: target }
    let hash = target
    const pow = (): Uint8Array => unhex(hash.toString(16).padStart(64, '0'))
    const pair = await Differential.open({ ...base, steps: [{ fromHeight: 0, rules: { ...rules, block } }] }, pow)
    const wire = pair.next()
    hash = target + 1n
    expect((await pair.feed(wire)).reason).toBe('header: proof of work')
    hash = target
    expect((await pair.feed(wire)).reason).toBeNull()
  })

  it('of real hashes', async () => {
    const base = testParams()
    const rules = (base.steps[0] as (typeof base.steps)[number]).rules
    const powLimit = 2n ** 254n - 1n
    const block = { ...rules.block, powLimit, initialTarget: powLimit >> 4n, halfLifeMs: 20_000 }
    const pair = await Differential.open({ ...base, steps: [{ fromHeight: 0, rules: { ...rules, block } }] })
    for (let i = 0; i < 12; i++) {
      const wire = pair.next([], i % 2 === 0 ? 1_000 : 7_000)
      const { target } = pair.reference.expected(pair.reference.headId)
      if (!meetsTarget(BLOCK.decode(wire).header, target, argon2Pow, block.pow))
        expect((await pair.feed(wire)).reason).toBe('header: proof of work')
      expect((await pair.feed(findNonce(wire, target, argon2Pow, block.pow))).reason).toBeNull()
    }
  })
})

describe('a branch with a block that only its execution shows to be invalid', () => {
  it.each<[string, number, Partial<Body>, Partial<Header>]>([
    ['state root', 0, {}, { stateRoot: ZERO32 }],
    ['receipts root', 0, {}, { receiptsRoot: ZERO32 }],
    ['nonce', 1, { nonce: 7n }, {}],
    ['fee rate', 1, { maxFeeRate: 31n }, {}],
  ])('wrong %s', async (_, count, change, header) => {
    const pair = await Differential.open(testParams(), freePow)
    await pair.feed(pair.next())
    const fork = pair.reference.headId
    for (let i = 0; i < 2; i++) await pair.feed(pair.next(await signed(pair, [[RICH, {}]])))
    const { headId } = pair.reference
    const timeMs = pair.test.nowMs
    const wires = (await signed(pair, [[RICH, { nonce: 0n, ...change }]])).slice(0, count)
    const bad = reheader(pair.reference.propose(fork, wires, { timeMs, miner: ZERO32 }), header)
    const badId = pair.reference.assume(bad)
    let parentId = badId
    expect((await pair.import(bad)).outcome).toBe('side')
    for (let i = 1; i <= 4; i++) {
      const child = pair.reference.propose(parentId, [], { timeMs: timeMs + i, miner: ZERO32 })
      parentId = pair.reference.assume(child)
      await pair.import(child)
      expect(pair.test.chain.head.id).toBe(headId)
      await pair.compareState()
    }
    const again = pair.reference.propose(badId, [], { timeMs: timeMs + 9, miner: ZERO32 })
    expect((await pair.import(again)).outcome).toBeUndefined()
    // The branch point can still start another branch.
    let tip = fork
    for (let i = 0; i < 3; i++) {
      const child = pair.reference.propose(tip, [], { timeMs: timeMs + i, miner: RICH.address })
      tip = (await pair.feed(child)).id as string
    }
    expect(pair.test.chain.head.id).toBe(tip)
  })
})
