import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { floatOf, WITHDRAWAL_STATES } from '../../consensus/ledger/bridge-records.ts'
import type { Address, TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import {
  BITCOIN,
  BridgeLedger,
  COIN,
  DOLLAR,
  EXTERNAL,
  externalId,
  MINT_CAP,
  members,
  rotationTo,
} from '../support/bridge.ts'
import { BridgeModel, facts, PLAYED, PLAYERS } from '../support/bridge-model.ts'
import type { SentOutcome } from '../support/ledger.ts'
import { runs } from '../support/runs.ts'
import { filled, units } from '../support/unsigned.ts'

const networks = fc.constantFrom(...PLAYED)
const players = fc.nat({ max: PLAYERS - 1 })
const amounts = fc.oneof(fc.constantFrom(999n, 1_000n, 400_000n, MINT_CAP), fc.bigInt({ min: 900n, max: 300_000n }))

const steps = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('deposit'), networks, players, amounts, fc.nat({ max: 9 })) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('withdraw'), networks, players, amounts) },
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('sign', 'release', 'cancel'), fc.nat()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('replay'), fc.nat()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('stale'), fc.nat()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('halt'), networks) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('rotate'), fc.subarray([...PLAYED])) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('wait'), fc.integer({ min: 1, max: 12 })) },
) as fc.Arbitrary<Step>

type Step =
  | readonly ['deposit', number, number, bigint, number]
  | readonly ['withdraw', number, number, bigint]
  | readonly ['sign' | 'release' | 'cancel', number]
  | readonly ['replay' | 'stale' | 'halt' | 'wait', number]
  | readonly ['rotate', number[]]

const player = (number: number) => filled<Address>(number + 1)
/** A number names a whole deposit id: transaction and output. */
const named = (name: number) => ({ externalTxId: externalId(1 + (name >> 1)), outputIndex: name & 1 })

/** A ledger and its model, driven by the same steps. */
class Play {
  readonly ledger = new BridgeLedger({ threshold: 1, members: members(2, 1) })
  readonly model = new BridgeModel()
  readonly ids: TxId[] = []
  /** Attested payloads that succeeded. */
  readonly done: { readonly kind: TxKind; readonly payload: never }[] = []
  readonly states = new Map<TxId, number>()

  take(step: Step): void {
    this.model.begin(this.ledger.height)
    const [kind] = step
    if (kind === 'deposit') this.#deposit(step[1], step[2], step[3], step[4])
    else if (kind === 'withdraw') this.#withdraw(step[1], step[2], step[3])
    else if (kind === 'rotate') this.#rotate(step[1])
    else if (kind === 'halt') this.#expect(this.ledger.halt(step[1], this.#now), this.model.halt(step[1]))
    else if (kind === 'wait') this.#wait(step[1])
    else if (kind === 'sign' || kind === 'release' || kind === 'cancel') this.#advance(kind, step[1])
    else this.#again(step[1], kind === 'stale')
  }

  /** The committee's epoch in the next block, which may begin with a rotation. */
  get #now(): { readonly epoch: number } {
    return { epoch: this.model.epoch }
  }

  #deposit(network: number, to: number, amount: bigint, name: number): void {
    const outcome = this.ledger.deposit({ network, to: player(to), amount: units(amount), ...named(name) }, this.#now)
    const deposit = { network, name: String(name), player: to, amount }
    this.#expect(outcome, this.model.deposit(deposit, this.ledger.height - 1))
  }

  #rotate(resume: readonly number[]): void {
    const outcome = this.ledger.rotate(rotationTo(this.ledger.members, 1, { resume }), this.#now)
    this.#expect(outcome, this.model.rotate(resume, this.ledger.height - 1))
  }

  #withdraw(network: number, who: number, amount: bigint): void {
    const recipient = network === BITCOIN ? EXTERNAL.bitcoin : EXTERNAL.evm
    const outcome = this.ledger.withdraw({ network, amount: units(amount), recipient }, player(who))
    expect(outcome.code).toBe(this.model.withdraw(network, who, amount))
    if (outcome.code === 'success') this.ids.push(outcome.tx.txId)
  }

  #advance(kind: 'sign' | 'release' | 'cancel', at: number): void {
    const i = at % Math.max(this.ids.length, 1)
    const withdrawal = this.model.withdrawals[i]
    if (withdrawal === undefined) this.#wait(1)
    else {
      const outcome = this.ledger[kind](this.ids[i] as TxId, this.#now, withdrawal.network)
      this.#expect(outcome, this.model[kind](withdrawal))
    }
  }

  /** Repeats a payload that succeeded: unchanged, or with the current epoch of the committee. */
  #again(at: number, stale: boolean): void {
    const old = this.done[at % this.done.length]
    if (old === undefined) {
      this.#wait(1)
      return
    }
    const { attestation } = old.payload as PayloadOf<'bridge_halt'>
    const epoch = stale ? this.model.epoch : attestation.epoch
    const payload = { ...(old.payload as object), attestation: { ...attestation, epoch } } as never
    expect(this.ledger.send(this.ledger.sender, old.kind, payload).code).not.toBe('success')
  }

  #wait(blocks: number): void {
    for (let i = 0; i < blocks; i++) {
      if (i > 0) this.model.begin(this.ledger.height)
      this.ledger.block()
    }
  }

  #expect({ code, tx }: SentOutcome, says: string): void {
    expect(code).toBe(says)
    if (code === 'success') this.done.push({ kind: tx.body.kind, payload: tx.body.payload as never })
  }

  /** Invariants after every step. */
  check(): void {
    for (const network of PLAYED) {
      const { coins, fees, halted, mintedOn } = this.model.vault(network)
      expect(facts(this.ledger, network)).toEqual({ coins, fees, halted, waiting: this.model.waiting(network) })
      expect(floatOf(this.ledger.network(network))).toBe(this.model.float(network))
      expect([...mintedOn.values()].every((minted) => minted <= MINT_CAP)).toBe(true)
    }
    for (const asset of [DOLLAR, COIN]) this.#checkCustody(asset)
    for (const id of this.ids) this.#checkWithdrawal(id)
    expect(this.ledger.committee.epoch).toBe(this.model.epoch)
    expect(this.ledger.broken()).toEqual([])
  }

  #checkCustody(asset: typeof DOLLAR): void {
    const records = PLAYED.map((network) => this.ledger.network(network)).filter((record) => record.asset === asset)
    const held = records.reduce((sum, { deposited, released, fees }) => sum + deposited - released - fees, 0n)
    const pending = records.reduce((sum, record) => sum + record.pending, 0n)
    expect(held).toBe(this.ledger.supply(asset) + pending)
    const pockets = Array.from({ length: PLAYERS }, (_, who) => this.ledger.holds(player(who), asset))
    const network = asset === COIN ? BITCOIN : PLAYED[0]
    expect(pockets).toEqual(pockets.map((_, who) => this.model.pocket(who, network)))
    expect(pockets.reduce((sum, held) => sum + held, 0n)).toBe(this.ledger.supply(asset))
  }

  #checkWithdrawal(id: TxId): void {
    const [before, now] = [this.states.get(id) ?? 0, this.ledger.status(id) as number]
    const moves = [
      [0, 0],
      [0, 1],
      [0, 3],
      [1, 1],
      [1, 2],
      [2, 2],
      [3, 3],
    ]
    expect(moves).toContainEqual([before, now])
    expect(WITHDRAWAL_STATES[now]).toBe(this.model.withdrawals[this.ids.indexOf(id)]?.state)
    this.states.set(id, now)
  }
}

describe('the bridge, whatever is done in any order over networks that share a token', () => {
  it('does what the model says: custody is exact, floats are not overdrawn, withdrawals end once, replays fail', () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 20, maxLength: 60 }), (sequence) => {
        const play = new Play()
        for (const step of sequence) {
          play.take(step)
          play.check()
        }
        // Every payload that succeeded stays refused, also after the pending rotation.
        play.take(['wait', 30])
        for (let i = 0; i < play.done.length; i++) {
          play.take(['replay', i])
          play.take(['stale', i])
        }
        play.check()
      }),
      { numRuns: runs(1_000) },
    )
  })
})
