import type { BridgeLedger } from './bridge.ts'
import { BASE, BITCOIN, ETHEREUM, HELD, MINIMUM, MINT_CAP, POCKETS, TEST_BRIDGE } from './bridge.ts'

/** Networks that a model plays with; the first two share a token. */
export const PLAYED = [ETHEREUM, BASE, BITCOIN] as const
/** Number of accounts that deposit and withdraw. */
export const PLAYERS = 3

/** One payment into a vault, as its attestation names it. */
export interface ModelDeposit {
  readonly network: number
  readonly name: string
  readonly player: number
  readonly amount: bigint
}

interface ModelWithdrawal {
  readonly network: number
  readonly player: number
  readonly amount: bigint
  state: 'pending' | 'signing' | 'released' | 'cancelled'
}

/** What a vault really holds. Deposits bring coins in, payments take them out; fees stay and belong to no player. */
interface Vault {
  coins: bigint
  fees: bigint
  halted: boolean
  readonly mintedOn: Map<number, bigint>
}

/**
 * A simple model of the bridge: vaults with coins, pockets with wrapped coins, withdrawals that end once. It says how
 * each action must end, given valid attestations.
 */
export class BridgeModel {
  readonly vaults = new Map<number, Vault>()
  readonly withdrawals: ModelWithdrawal[] = []
  readonly #pockets = new Map<string, bigint>()
  readonly #deposits = new Set<string>()
  #rotation: { readonly at: number; readonly resume: readonly number[] } | undefined
  epoch = 0

  constructor() {
    for (const network of PLAYED) {
      this.vaults.set(network, { coins: network === BASE ? HELD : 0n, fees: 0n, halted: false, mintedOn: new Map() })
    }
    for (const [player, amount] of POCKETS.entries()) this.#give(player, BASE, amount)
  }

  /** What a player holds of a network's token. */
  pocket(player: number, network: number): bigint {
    return this.#pockets.get(pocketKey(player, network)) ?? 0n
  }

  /** What the vault holds beyond fees and withdrawals that are pending or being signed. */
  float(network: number): bigint {
    const { coins, fees } = this.vault(network)
    return coins - fees - this.waiting(network)
  }

  waiting(network: number): bigint {
    const waits = ({ state }: ModelWithdrawal) => state === 'pending' || state === 'signing'
    return this.withdrawals
      .filter((one) => one.network === network && waits(one))
      .reduce((sum, { amount }) => sum + amount, 0n)
  }

  vault(network: number): Vault {
    return this.vaults.get(network) as Vault
  }

  /** At the start of a block, lets a due rotation take effect. */
  begin(height: number): void {
    if (this.#rotation?.at !== height) return
    for (const network of this.#rotation.resume) this.vault(network).halted = false
    this.#rotation = undefined
    this.epoch++
  }

  deposit({ network, name, player, amount }: ModelDeposit, height: number): string {
    const vault = this.vault(network)
    const day = Math.floor(height / TEST_BRIDGE.dayBlocks)
    const minted = (vault.mintedOn.get(day) ?? 0n) + amount
    if (vault.halted) return 'bridge/halted'
    if (amount < MINIMUM) return 'bridge/below-minimum'
    if (this.#deposits.has(`${network}/${name}`)) return 'bridge/deposit-known'
    if (minted > MINT_CAP) return 'bridge/mint-cap'
    this.#deposits.add(`${network}/${name}`)
    vault.mintedOn.set(day, minted)
    vault.coins += amount
    this.#give(player, network, amount)
    return 'success'
  }

  withdraw(network: number, player: number, amount: bigint): string {
    if (this.vault(network).halted) return 'bridge/halted'
    if (amount < MINIMUM) return 'bridge/below-minimum'
    if (amount > this.float(network)) return 'bridge/float'
    if (amount > this.pocket(player, network)) return 'ledger/insufficient-balance'
    this.#give(player, network, -amount)
    this.withdrawals.push({ network, player, amount, state: 'pending' })
    return 'success'
  }

  sign(withdrawal: ModelWithdrawal): string {
    if (withdrawal.state !== 'pending') return 'bridge/withdrawal-state'
    if (this.vault(withdrawal.network).halted) return 'bridge/halted'
    withdrawal.state = 'signing'
    return 'success'
  }

  release(withdrawal: ModelWithdrawal): string {
    if (withdrawal.state !== 'signing') return 'bridge/withdrawal-state'
    const { network, amount } = withdrawal
    const vault = this.vault(network)
    const bps = TEST_BRIDGE.networks[network]?.feeBps as bigint
    const paid = (amount * (10_000n - bps)) / 10_000n
    withdrawal.state = 'released'
    vault.coins -= paid
    vault.fees += amount - paid
    return 'success'
  }

  cancel(withdrawal: ModelWithdrawal): string {
    if (withdrawal.state !== 'pending') return 'bridge/withdrawal-state'
    withdrawal.state = 'cancelled'
    this.#give(withdrawal.player, withdrawal.network, withdrawal.amount)
    return 'success'
  }

  halt(network: number): string {
    if (this.vault(network).halted) return 'bridge/halted'
    this.vault(network).halted = true
    return 'success'
  }

  rotate(resume: readonly number[], height: number): string {
    if (this.#rotation !== undefined) return 'bridge/rotation-pending'
    this.#rotation = { at: height + TEST_BRIDGE.rotationDelay, resume }
    return 'success'
  }

  #give(player: number, network: number, amount: bigint): void {
    this.#pockets.set(pocketKey(player, network), this.pocket(player, network) + amount)
  }
}

/** Networks of one token share a pocket. */
function pocketKey(player: number, network: number): string {
  return `${player}/${TEST_BRIDGE.networks[network]?.asset}`
}

/** The figures of the ledger that the model must equal. */
export function facts(ledger: BridgeLedger, network: number): object {
  const { deposited, released, fees, pending, halted } = ledger.network(network)
  return { coins: deposited - released, fees, waiting: pending, halted }
}
