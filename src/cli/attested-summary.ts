import { addressOfKeys, encodeAccountKeys, singleKey } from '../../consensus/crypto/account-keys.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { HybridPublicKey } from '../../consensus/crypto/hybrid.ts'
import { formatExternalTxId } from '../../consensus/external/transaction-id.ts'
import type { BridgeNetwork } from '../../consensus/ledger/rules.ts'
import type { AttestedAction, Rotation } from '../../consensus/tx/attestations.ts'
import type { WithdrawalView } from '../../rpc/client/ledger-client.ts'
import { printable } from '../telemetry/terminal.ts'
import { type AskedAction, bridgeNetworks, wrappedAsset } from './attested-actions.ts'
import type { CommandContext } from './command.ts'
import { amountText } from './values.ts'

type Context = Pick<CommandContext, 'params'>

/** An action in words, line by line, for the member who signs it and for the payer of its transaction. */
export function summaryOf(context: Context, { action, withdrawal }: AskedAction): readonly string[] {
  switch (action.action) {
    case 'deposit':
      return depositLines(context, action)
    case 'sign':
      return [
        `pay the withdrawal ${action.withdrawalId}`,
        ...payoutLines(context, action.network, withdrawal),
        'from here on it can only be released, never cancelled',
      ]
    case 'cancel':
      return [
        `cancel the withdrawal ${action.withdrawalId}: its sender gets the tokens back`,
        ...payoutLines(context, action.network, withdrawal),
        'nothing must have been paid on the other chain, nor be on its way',
      ]
    case 'release': {
      const paid = formatExternalTxId(networkOf(context, action.network).format, action.externalTxId)
      return [
        `the withdrawal ${action.withdrawalId} was paid by ${paid}`,
        ...payoutLines(context, action.network, withdrawal),
      ]
    }
    case 'halt':
      return [`halt the bridge to ${networkOf(context, action.network).name} until a rotation resumes it`]
    case 'rotate':
      return rotationLines(context, action)
  }
}

function networkOf(context: Context, network: number): BridgeNetwork {
  return bridgeNetworks(context)[network] as BridgeNetwork
}

function depositLines(
  context: Context,
  { network, externalTxId, outputIndex, to, amount }: Extract<AttestedAction, { action: 'deposit' }>,
): readonly string[] {
  const rules = networkOf(context, network)
  const paid = amountText(amount, wrappedAsset(context, rules))
  return [
    `mint ${paid} for ${formatAddress(context.params.addressPrefix, to)}`,
    `paid into the vault on ${rules.name} by output ${outputIndex} of ${formatExternalTxId(rules.format, externalTxId)}`,
    `it must be ${rules.confirmations} blocks deep there`,
  ]
}

function payoutLines(context: Context, network: number, withdrawal: WithdrawalView | null): readonly string[] {
  const { name } = networkOf(context, network)
  if (withdrawal === null) return [`on ${name}; amount and recipient were not looked up`]
  const { receives, recipient } = withdrawal
  return [`${amountText(receives.units, receives)} to ${printable(recipient)} on ${name}`]
}

function rotationLines(context: Context, { threshold, keys, vaults, resume }: Rotation): readonly string[] {
  const { addressPrefix } = context.params
  return [
    `replace the committee by ${threshold} of these ${keys.length} keys`,
    ...keys.map((key, i) => `  ${i}: scheme ${key.scheme}, ${memberText(addressPrefix, key as HybridPublicKey)}`),
    ...vaults.map(({ network, address }) => `the vault on ${networkOf(context, network).name} becomes ${address}`),
    ...resume.map((network) => `the bridge to ${networkOf(context, network).name} is resumed`),
  ]
}

/** A member's key, shown as the address of a wallet that holds only this key. */
export function memberText(prefix: string, key: HybridPublicKey): string {
  return formatAddress(prefix, addressOfKeys(encodeAccountKeys(singleKey(key))))
}
