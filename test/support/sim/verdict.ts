import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { nextHeight } from '../../../mempool/admission.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import type { SimNode } from './sim-node.ts'
import type { World } from './world.ts'

/** The result of a simulation. */
export interface Verdict {
  /** Everything that went wrong. Empty if all is well. */
  readonly wrong: readonly string[]
  readonly height: number
  /** Number of transactions on the best chain. */
  readonly transactions: number
  /** Blocks of honest nodes beyond the height of the best chain: at least so many of their blocks are not on it. */
  readonly stale: number
  readonly deepest: number
  readonly abandoned: number
  readonly bans: number
  /** How often an honest node ended its connection to another honest node. */
  readonly quarrels: number
  readonly events: number
  /** Hash of all events. */
  readonly digest: string
}

/** Judges a world at rest. */
export async function verdictOn(world: World): Promise<Verdict> {
  const { honest, network, log, plan } = world
  const honestNames = new Set(honest.map(({ name }) => name))
  const down = honest.filter(({ up }) => !up).map(({ name }) => `${name} is down`)
  const chain = (honest.find(({ up }) => up) as SimNode).life.chain
  const { header, totalTransactions } = chain.head
  const bans = network.partings.filter(({ banned }) => banned)
  const quarrels = network.partings.filter(({ by, from }) => honestNames.has(by) && honestNames.has(from))
  const wrong = [
    ...down,
    ...world.complaints,
    ...disagreements(honest),
    ...(header.height < plan.blocks ? [`height ${header.height} is less than ${plan.blocks}`] : []),
    ...bans
      .filter(({ by, from }) => honestNames.has(by) && honestNames.has(from))
      .map((ban) => `honest nodes fell out: ${JSON.stringify(ban)}`),
    ...[...world.abandoned.values()].flatMap((tx) => lostBecause(tx, honest) ?? []),
    ...(await unsound(honest)),
  ]
  const found = honest.reduce((sum, { mined }) => sum + mined, 0)
  return {
    ...{ wrong, height: header.height, transactions: totalTransactions, deepest: world.deepest },
    stale: Math.max(0, found - header.height),
    ...{
      abandoned: world.abandoned.size,
      bans: bans.length,
      quarrels: quarrels.length,
      events: log.count,
      digest: log.digest(),
    },
  }
}

function disagreements(honest: readonly SimNode[]): readonly string[] {
  const byHead = new Map<string, string[]>()
  for (const node of honest) {
    if (!node.up) continue
    const { header, id } = node.life.chain.head
    const head = `${header.height} ${id.slice(0, 12)} state ${header.stateRoot.slice(0, 12)}`
    byHead.set(head, [...(byHead.get(head) ?? []), node.name])
  }
  if (byHead.size <= 1) return []
  return [`heads differ: ${[...byHead].map(([head, names]) => `${head}: ${names.join(' ')}`).join('; ')}`]
}

/** Says that a transaction is lost. Undefined if it is on the best chain, or cannot be mined at present. */
function lostBecause(tx: Transaction, honest: readonly SimNode[]): string | undefined {
  const { chain } = (honest.find(({ up }) => up) as SimNode).life
  const { sender, nonce, validUntil, maxFeeRate } = tx.body
  if (chain.database.location(tx.txId) !== undefined) return undefined
  const account = chain.database.get(ACCOUNTS, sender)
  // Another transaction with this nonce was mined, or this one has expired.
  if (account === undefined || nonce < account.nonce) return undefined
  if (validUntil !== 0 && validUntil < nextHeight(chain)) return undefined
  if (maxFeeRate < chain.head.header.baseFee) return undefined
  // An earlier nonce of the account is missing, so this one cannot be mined.
  if (nonce > account.nonce) return undefined
  const holders = honest.filter((node) => node.up && node.life.mempool.get(tx.txId) !== undefined)
  return `transaction ${tx.txId} of an abandoned branch is lost; it waits at: ${holders.map(({ name }) => name).join(' ') || 'no node'}`
}

async function unsound(honest: readonly SimNode[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const node of honest) {
    if (!node.up) continue
    const report = await auditState(node.life.chain)
    if (!report.sound) wrong.push(`${node.name} is unsound: ${JSON.stringify(report)}`)
  }
  return wrong
}
