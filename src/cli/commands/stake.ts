import { formatAmount } from '../../../consensus/primitives/amount.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { nativeAsset } from '../assets.ts'
import type { CommandContext } from '../command.ts'
import { LOSS_FLAG, madeForWorth, type Proposal, propose } from '../proposal.ts'
import { ownAddress, readAmount, type Session } from '../session.ts'
import { amountText, countFlag, readId, usage } from '../values.ts'
import { writingCommand } from '../writing.ts'

interface StakeAsked {
  readonly amount: string
  readonly tier: number
}

/** `farthing stake`: locks coins for a reward. */
export const stakeCommand = writingCommand<StakeAsked>({
  name: 'stake',
  usage: '<amount>',
  wordsMax: 1,
  about: 'Lock coins in a tier for its reward',
  example: 'stake 1000 --tier 0',
  flags: { tier: 'Number of the tier; see: npx --no farthing stake tiers' },
  read: readStake,
  propose: async ({ context, height, rules }, { amount: text, tier }) => {
    const native = nativeAsset(context)
    const staked = readAmount(text, native)
    if (!staked.ok) return staked
    const facts = rules.staking.tiers[tier]
    if (facts === undefined) return usage(`there is no tier ${tier}; there are 0 to ${rules.staking.tiers.length - 1}`)
    if (staked.value < rules.tx.stakeAmountMin)
      return usage(`the least stake is ${amountText(rules.tx.stakeAmountMin, native)}`)
    const until = `locked for ${facts.lockBlocks} blocks, until about height ${height + 1 + facts.lockBlocks}`
    const rate = `${formatAmount(facts.yearlyBps, 2)} % a year where the pool can pay it`
    const says = `stake ${amountText(staked.value, native)} in tier ${tier}: ${until}, ${rate}`
    return propose('stake', { tier, amount: staked.value }, says)
  },
})

function readStake(context: CommandContext): Result<StakeAsked> {
  const [amount] = context.words
  const tier = countFlag(context, 'tier', 16)
  if (!tier.ok) return tier
  if (amount === undefined || tier.value === undefined) return usage('usage: farthing stake <amount> --tier <number>')
  return ok({ amount, tier: tier.value })
}

/** `farthing stake unstake`: returns coins after their lock. */
export const stakeUnstakeCommand = writingCommand<TxId>({
  name: 'stake unstake',
  usage: '<id>',
  wordsMax: 1,
  about: 'Take coins back whose lock is over; their reward waits for a claim',
  example: 'stake unstake <id from stake list>',
  flags: {},
  read: ({ words: [id] }) => (id === undefined ? usage('usage: farthing stake unstake <id>') : readId('stake', id)),
  propose: async ({ context }, stakeId) =>
    propose('unstake', { stakeId }, `take back the stake ${stakeId}`, [
      { label: 'received', asset: nativeAsset(context) },
    ]),
})

/** `farthing stake claim`: claims the rewards of stakes. */
export const stakeClaimCommand = writingCommand<TxId | null>({
  name: 'stake claim',
  usage: '[id]',
  wordsMax: 1,
  about: 'Take what a stake has earned',
  example: 'stake claim --all',
  flags: {
    all: 'Claim every stake that has earned something, one transaction each; what has earned less than its fee waits',
    ...LOSS_FLAG,
  },
  read: readClaim,
  propose: async (session, stakeId) => (stakeId === null ? claimAll(session) : claim(session, stakeId)),
})

function readClaim({ words: [id], flags }: CommandContext): Result<TxId | null> {
  if ((id === undefined) !== (flags.all !== undefined)) return usage('usage: farthing stake claim <id>, or --all')
  return id === undefined ? ok(null) : readId('stake', id)
}

function claim({ context }: Session, stakeId: TxId): Result<readonly Proposal[]> {
  const amounts = [{ label: 'received', asset: nativeAsset(context) }]
  return madeForWorth(propose('claim', { stakeId }, `claim the reward of ${stakeId}`, amounts), 1n)
}

async function claimAll(session: Session): Promise<Result<readonly Proposal[]>> {
  const holdings = await session.client.holdings(ownAddress(session))
  if (!holdings.ok) return holdings
  const { stakes, truncated } = holdings.value
  const proposals: Proposal[] = []
  for (const { stakeId, pending } of stakes) {
    const proposed = pending.units > 0n ? claim(session, stakeId) : ok([])
    if (proposed.ok) proposals.push(...proposed.value)
  }
  if (proposals.length === 0) session.context.note('no stake has earned anything that is not claimed')
  if (truncated.stakes) session.context.note('these are the first 100 stakes; repeat this for the rest')
  return ok(proposals)
}
