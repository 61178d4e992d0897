import fc from 'fast-check'
import { ACTORS, type Actor, FUNDED, NEWCOMERS } from './actors.ts'
import { BRIDGE_CHOICES } from './bridge-choices.ts'
import { type Choosing, hash32, pick } from './choices.ts'
import { POOL_CHOICES } from './pool-choices.ts'
import { hex, tagged, ZERO32 } from './reference/bytes.ts'
import { bodyOf, craftTransaction, lockOf } from './reference/craft.ts'
import { agentKey, Ledger } from './reference/ledger.ts'
import type { ReferenceRules } from './reference/params.ts'
import {
  AGENT_INVOKE,
  AGENT_RECEIPT,
  AGENT_REGISTER,
  AGENT_UPDATE,
  type Body,
  SERVICE_PUBLISH,
  SERVICE_RETIRE,
  TRANSACTION,
  TRANSFER,
} from './reference/schemas.ts'
import type { Records } from './reference/table.ts'
import { TAB_CHOICES } from './tab-choices.ts'
import { TOKEN_CHOICES } from './token-choices.ts'

/** For each kind of the money ledgers, the function that chooses a transaction. */
const LEDGER_CHOICES = { ...TOKEN_CHOICES, ...POOL_CHOICES, ...BRIDGE_CHOICES, ...TAB_CHOICES }

type LedgerKind = keyof typeof LEDGER_CHOICES
type OwnKind = keyof typeof KIND

const WEIGHTS: Readonly<Record<OwnKind | LedgerKind, number>> = {
  transfer: 4,
  register: 2,
  update: 2,
  publish: 3,
  retire: 2,
  invoke: 9,
  receipt: 9,
  token_create: 2,
  token_mint: 3,
  token_burn: 2,
  token_transfer: 3,
  token_flags: 4,
  token_issuer: 1,
  stable_deposit: 2,
  stable_mint: 3,
  stable_redeem: 2,
  stable_withdraw: 2,
  pool_create: 3,
  liquidity_add: 3,
  liquidity_remove: 3,
  swap: 7,
  stake: 3,
  unstake: 4,
  claim: 4,
  bridge_deposit: 7,
  bridge_withdraw: 5,
  bridge_sign: 4,
  bridge_release: 6,
  bridge_cancel: 4,
  bridge_rotate: 4,
  bridge_halt: 1,
  tab_terms: 2,
  tab_open: 6,
  tab_fund: 4,
  tab_claim: 10,
  tab_close: 5,
}

/** One transaction as raw numbers. Their meaning depends on the state, so that most of them give a sensible transaction. */
export interface Op {
  readonly kind: OwnKind | LedgerKind
  readonly n: readonly number[]
}

const CHOICES = 12

export const opArbitrary: fc.Arbitrary<Op> = fc.record({
  kind: fc.oneof(
    ...(Object.keys(WEIGHTS) as Op['kind'][]).map((kind) => ({ arbitrary: fc.constant(kind), weight: WEIGHTS[kind] })),
  ),
  n: fc.array(fc.nat(0xffff), { minLength: CHOICES, maxLength: CHOICES }),
})

export const AGENT_IDS = ['abc', 'agent-one', '0-z']
export const SERVICE_IDS = ['echo', 'svc-1']
const NAMES = ['A', 'Zwei Wörter', '价格 ✓', 'x'.repeat(64), 'é'.repeat(32), '\u{1f600}']
const ENDPOINTS = ['', 'http://a', `https://${'~'.repeat(192)}`, 'https://example.org/x?y=z']
const TEXTS = ['', 'text', 'ü'.repeat(120)]

/** Locks from a few fixed secrets, so that settlers know the openers. */
const LOCKS = [1, 2].map((number) => lockOf(tagged('text', Uint8Array.of(0xff, number))))

/** The block under construction: its parent's state and its header's values. */
export interface Place {
  readonly genesisId: string
  readonly records: Records
  readonly height: number
  readonly baseFee: bigint
  readonly rules: ReferenceRules
}

interface Decision {
  readonly sender: Actor
  readonly kind: number
  readonly payload: Uint8Array
  /** Agent and opener of a payment. */
  readonly invoked?: Invoked
}

interface Invoked {
  readonly agentId: string
  readonly opener: string
}

const KIND = {
  transfer: 0x01,
  register: 0x60,
  update: 0x61,
  publish: 0x62,
  retire: 0x63,
  invoke: 0x64,
  receipt: 0x65,
} as const

const isLedgerKind = (kind: Op['kind']): kind is LedgerKind => kind in LEDGER_CHOICES

/** Makes the transactions of one block. */
export class Scenario {
  readonly #place: Place
  readonly #ledger: Ledger
  readonly #nonces = new Map<string, bigint>()
  readonly #opened = new Set<string>()
  readonly #invoked = new Map<string, Invoked>()

  constructor(place: Place) {
    this.#place = place
    this.#ledger = new Ledger(place.records)
  }

  /** Whether the account exists, or a transfer in this block should open it. */
  exists(address: string): boolean {
    return this.#ledger.accounts.get(address) !== undefined || this.#opened.has(address)
  }

  /** The account's next nonce in this block. */
  nonce(address: string): bigint {
    return this.#nonces.get(address) ?? this.#ledger.accounts.get(address)?.nonce ?? 0n
  }

  /** Wire bytes of a transaction from these numbers. `change` replaces parts of its body. */
  async make(op: Op, change: Partial<Body> = {}): Promise<Uint8Array> {
    const { sender, kind, payload, invoked } = this.#decide(op)
    const body = bodyOf({
      sender: sender.address,
      nonce: this.nonce(sender.address),
      kind,
      payload,
      ...this.#terms(op.n),
      ...change,
    })
    const wire = await this.sign(body, sender)
    this.#nonces.set(sender.address, body.nonce + 1n)
    if (invoked !== undefined) this.#invoked.set(hex(tagged('tx-id', TRANSACTION.decode(wire).body)), invoked)
    return wire
  }

  /** Signs a body unchanged. Returns the wire bytes. */
  async sign(body: Body, { keys, scheme, sign }: Actor): Promise<Uint8Array> {
    return craftTransaction(body, keys, { genesisId: this.#place.genesisId, scheme, sign })
  }

  /** Transactions that fill more than half of a block: receipts for unknown escrows, and agents that exist already. */
  async flood(): Promise<Uint8Array[]> {
    const entries = Array.from({ length: 256 }, (_, i) => ({
      txId: hash32(i),
      outcome: 0,
      resultHash: ZERO32,
      opener: ZERO32,
      durationMs: i,
    }))
    const receipt = { kind: KIND.receipt, payload: AGENT_RECEIPT.encode({ entries }) }
    const wires: Uint8Array[] = []
    for (let i = 0; i < 3; i++) wires.push(await this.make({ kind: 'transfer', n: ZEROS }, receipt))
    for (let i = 0; i < 12; i++) wires.push(await this.make({ kind: 'register', n: ZEROS }))
    return wires
  }

  /** Fees, expiry and memo of a transaction. */
  #terms(n: readonly number[]): Pick<Body, 'maxFeeRate' | 'tip' | 'validUntil' | 'memo'> {
    const { baseFee, height } = this.#place
    return {
      maxFeeRate: pick([baseFee + 5n, baseFee, baseFee * 2n + 100n, 10_000_000n + baseFee], n[8]),
      tip: pick([0n, 1n, 1_000n, 2n ** 64n - 1n], n[9]),
      validUntil: pick([0, height, height + 7, 2 ** 32 - 1], n[10]),
      memo: new Uint8Array(pick([0, 5, 128], n[11])).fill(0xc3),
    }
  }

  #decide({ kind, n }: Op): Decision {
    // Before the step that brings tabs their kinds are malformed.
    if (kind.startsWith('tab_') && this.#place.rules.tx.tabs === undefined) return this.#decide({ kind: 'transfer', n })
    if (isLedgerKind(kind)) return LEDGER_CHOICES[kind](this.#choosing(n))
    const encode = { kind: KIND[kind], sender: this.#sender(n[0]) }
    switch (kind) {
      case 'transfer':
        return { ...encode, payload: this.#transfer(encode.sender, n) }
      case 'register':
        return { ...encode, payload: AGENT_REGISTER.encode(this.#agent(n)) }
      case 'update': {
        const owner = pick(ACTORS, n[7]).address
        return { ...encode, sender: this.#owner(n), payload: AGENT_UPDATE.encode({ ...this.#agent(n), owner }) }
      }
      case 'publish':
        return { ...encode, sender: this.#owner(n), payload: this.#publish(n) }
      case 'retire': {
        const agentId = pick(AGENT_IDS, n[1])
        return { ...encode, sender: this.#owner(n), payload: SERVICE_RETIRE.encode({ agentId, serviceId: service(n) }) }
      }
      case 'invoke':
        return { ...encode, ...this.#invoke(encode.sender, n) }
      case 'receipt':
        // Without open escrows a payment is a better test than a receipt.
        return this.#open().length === 0 && (n[8] as number) % 8 !== 0
          ? this.#decide({ kind: 'invoke', n })
          : { ...encode, ...this.#receipt(n) }
    }
  }

  #choosing(n: readonly number[]): Choosing {
    const { rules, genesisId, height } = this.#place
    const exists = (address: string): boolean => this.exists(address)
    return { ledger: this.#ledger, rules, genesisId, height, n, sender: this.#sender(n[0]), exists }
  }

  #sender(choice: number | undefined): Actor {
    return pick(
      ACTORS.filter(({ address }) => this.exists(address)),
      choice,
    )
  }

  /** The agent's owner. Once in eight, any account. */
  #owner(n: readonly number[]): Actor {
    const owner = this.#ledger.agents.get(agentKey(pick(AGENT_IDS, n[1])))?.owner
    const known = ACTORS.find(({ address }) => address === owner)
    return known !== undefined && this.exists(known.address) && (n[0] as number) % 8 !== 0 ? known : this.#sender(n[0])
  }

  #transfer(sender: Actor, n: readonly number[]): Uint8Array {
    const balance = this.#ledger.accounts.get(sender.address)?.balance ?? 1n
    const to = pick(
      [
        ...ACTORS.map(({ address }) => address),
        ...NEWCOMERS.map(({ address }) => address),
        hash32((n[2] as number) % 4),
      ],
      n[1],
    )
    const amounts = [
      1n,
      500_000_000n,
      20_000_000_000n,
      123_456n,
      balance + 1n,
      2n ** 112n - 1n,
      balance,
      balance / 2n + 1n,
    ]
    const amount = pick(amounts, n[3])
    const create = (n[4] as number) % 3 !== 0
    if (create && amount <= balance / 2n) this.#opened.add(to)
    return TRANSFER.encode({ to, amount, create })
  }

  #agent(n: readonly number[]): Parameters<typeof AGENT_REGISTER.encode>[0] {
    const first = n[5] as number
    return {
      agentId: pick(AGENT_IDS, n[1]),
      name: pick(NAMES, n[2]),
      endpoint: pick(ENDPOINTS, n[3]),
      capabilities: n[2] as number,
      payout: pick([...ACTORS.map(({ address }) => address), hash32((n[4] as number) % 4)], n[4]),
      settlers: FUNDED.map(({ address }) => address).slice(first % 4, (first % 4) + (first % 7)),
    }
  }

  #publish(n: readonly number[]): Uint8Array {
    return SERVICE_PUBLISH.encode({
      agentId: pick(AGENT_IDS, n[1]),
      serviceId: service(n),
      capability: (n[2] as number) % 16,
      priceUsdMicros: pick([1n, 10n ** 12n, 250_000n, BigInt((n[3] as number) + 1)], n[3]),
      name: pick(NAMES, n[4]),
      requestFormat: pick(TEXTS, n[4]),
      description: pick(TEXTS, n[5]),
    })
  }

  #invoke(sender: Actor, n: readonly number[]): Pick<Decision, 'payload' | 'invoked'> {
    const balance = this.#ledger.accounts.get(sender.address)?.balance ?? 0n
    const agentId = pick(AGENT_IDS, n[1])
    const lock = pick([undefined, ...LOCKS], n[4])
    const payload = AGENT_INVOKE.encode({
      agentId,
      serviceId: service(n),
      amount: pick([100_000n, 100_001n, 100_099n, 1_234_567n, balance + 1n, 2n ** 112n - 1n, 100_100n], n[3]),
      units: 1,
      term: pick(this.#place.rules.tx.invokeTerms, n[5]),
      requestCommitment: pick([ZERO32, hash32(n[7] as number)], n[7]),
      redeemLock: lock?.lock ?? ZERO32,
    })
    return { payload, invoked: { agentId, opener: lock?.opener ?? ZERO32 } }
  }

  /** Every escrow that may be open, with the agent and opener that a settler needs. */
  #open(): [string, Invoked][] {
    const opener = (lock: string): string => LOCKS.find((one) => one.lock === lock)?.opener ?? ZERO32
    const stored = this.#ledger.escrows.all()
    return [
      ...this.#invoked,
      ...stored.map(([txid, { agentId, redeemLock }]): [string, Invoked] => [
        txid,
        { agentId, opener: opener(redeemLock) },
      ]),
    ]
  }

  /** A receipt for open escrows. Some entries are listed twice, belong to another agent, do not exist, or have a wrong opener. */
  #receipt(n: readonly number[]): Pick<Decision, 'sender' | 'payload'> {
    const open = this.#open()
    const count = 1 + ((n[1] as number) % 5)
    const entries = Array.from({ length: count }, (_, i) => {
      const choice = (n[2] as number) + i * (1 + ((n[3] as number) % 2))
      const [txId, { opener }] =
        open.length > 0 && (choice + i) % 11 !== 10 ? pick(open, choice) : [hash32(choice), { opener: ZERO32 }]
      return {
        txId,
        outcome: ((n[4] as number) + i) % 4 === 3 ? 1 : 0,
        resultHash: hash32(choice),
        opener: ((n[5] as number) + i) % 3 === 2 ? hash32(choice) : opener,
        durationMs: n[6] as number,
      }
    })
    const agentId = open.find(([txid]) => txid === entries[0]?.txId)?.[1].agentId ?? (AGENT_IDS[0] as string)
    return { sender: this.#settler(agentId, n), payload: AGENT_RECEIPT.encode({ entries }) }
  }

  /** An account that may close the agent's escrows. Now and then, or if there is none, any account. */
  #settler(agentId: string, n: readonly number[]): Actor {
    const agent = this.#ledger.agents.get(agentKey(agentId))
    const may = ACTORS.filter(
      ({ address }) => this.exists(address) && (agent?.owner === address || agent?.settlers.includes(address) === true),
    )
    return may.length > 0 && (n[7] as number) % 8 !== 0 ? pick(may, n[0]) : this.#sender(n[0])
  }
}

const ZEROS: readonly number[] = new Array(CHOICES).fill(0)

const service = (n: readonly number[]): string => pick(SERVICE_IDS, n[6])
