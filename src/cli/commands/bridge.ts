import { checkExternalAddress } from '../../../consensus/external/address.ts'
import type { BridgeNetwork } from '../../../consensus/ledger/rules.ts'
import { type Amount, amount, mulDivUp } from '../../../consensus/primitives/amount.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { propose } from '../proposal.ts'
import { findAsset, readAmount } from '../session.ts'
import { amountText, usage } from '../values.ts'
import { writingCommand } from '../writing.ts'

const BPS = 10_000n

interface WithdrawAsked {
  readonly amount: string
  readonly network: string
  readonly recipient: string
}

/** `farthing bridge withdraw`: burns a wrapped token to receive the original. */
export const bridgeWithdrawCommand = writingCommand<WithdrawAsked>({
  name: 'bridge withdraw',
  usage: '<amount> <network> <recipient>',
  wordsMax: 3,
  about: 'Burn a bridged token to be paid on its own network',
  example: 'bridge withdraw 25 base 0x00000000219ab540356cBB839Cbe05303d7705Fa',
  flags: {},
  read: ({ words: [amount, network, recipient] }) => {
    if (amount === undefined || network === undefined || recipient === undefined)
      return usage('usage: farthing bridge withdraw <amount> <network> <recipient>')
    return ok({ amount, network, recipient })
  },
  propose: async (session, { amount: text, network: key, recipient }) => {
    const { networks } = session.rules.bridge
    const found = findNetwork(networks, key)
    if (!found.ok) return found
    const { number, network } = found.value
    const asset = await findAsset(session, network.asset)
    if (!asset.ok) return asset
    const burned = readAmount(text, asset.value)
    if (!burned.ok) return burned
    if (burned.value < network.minimum)
      return usage(`the least withdrawal to ${network.name} is ${amountText(network.minimum, asset.value)}`)
    // An invalid address could not be paid after the tokens were burned.
    const reason = checkExternalAddress(network.format, recipient)
    if (reason !== null) return usage(`"${recipient.slice(0, 90)}" is no address of ${network.name}: ${reason}`)
    const received = paidOut(network, burned.value)
    const says = `burn ${amountText(burned.value, asset.value)}; ${recipient} gets ${amountText(received, asset.value)} on ${network.name} once the committee has signed`
    const payload = { network: number, amount: burned.value, recipient }
    return propose('bridge_withdraw', payload, says, [{ label: 'to be paid out', asset: asset.value }])
  },
})

/** The network's fee is rounded up and subtracted. */
export function paidOut({ feeBps }: Pick<BridgeNetwork, 'feeBps'>, burned: Amount): Amount {
  return amount(burned - mulDivUp(burned, feeBps, BPS))
}

/** A network of the bridge with its number, found by its key. */
export function findNetwork(
  networks: readonly BridgeNetwork[],
  key: string,
): Result<{ readonly number: number; readonly network: BridgeNetwork }> {
  const number = networks.findIndex((network) => network.key === key)
  const network = networks[number]
  if (network !== undefined) return ok({ number, network })
  return usage(
    `"${key.slice(0, 40)}" is no network of the bridge; there are: ${networks.map((each) => each.key).join(', ')}`,
  )
}
