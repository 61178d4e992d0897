import type { ChainReader } from '../../consensus/chain/reader.ts'
import { tokenAsset } from '../../consensus/ledger/asset.ts'
import {
  type BridgeFacts,
  bridgeFacts,
  type CommitteeFacts,
  type MemberFacts,
  type NetworkFacts,
  type WithdrawalFacts,
  withdrawalFacts,
} from '../../consensus/ledger/bridge-facts.ts'
import type { LedgerRules } from '../../consensus/ledger/module.ts'
import type { BridgeNetwork } from '../../consensus/ledger/rules.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { COMMITTEE, NETWORK, WITHDRAWAL } from '../contract/bridge.ts'
import type { Static } from '../contract/schema.ts'
import { assetAmountJson } from '../json/asset-json.ts'
import { addressText } from '../json/chain-json.ts'
import type { Handler } from '../server/answer.ts'
import { answerAtHead } from '../server/at-head.ts'

/** The bridge at the start of the next block. */
export const getBridge: Handler<'getBridge'> = ({ chain }) =>
  answerAtHead(chain, () => {
    const { committee, networks } = factsOf(chain)
    return {
      committee: committee && committeeJson(chain, committee),
      networks: networks.map((network) => networkJson(chain, network)),
    }
  })

/** One network of the bridge. */
export const getBridgeNetwork: Handler<'getBridgeNetwork'> = ({ chain }, { params }) =>
  answerAtHead(chain, () => {
    const name = params.network
    const network = factsOf(chain).networks.find(({ number, rules }) => rules.key === name || String(number) === name)
    if (network !== undefined) return { network: networkJson(chain, network) }
    return fault('rpc/bridge-network-not-found', {
      network: name,
      networks: nextRules(chain).bridge.networks.map(({ key }) => key),
    })
  })

/** One withdrawal of the bridge. */
export const getWithdrawal: Handler<'getWithdrawal'> = ({ chain }, { params }) =>
  answerAtHead(chain, () => {
    const id = params.id as TxId
    const facts = withdrawalFacts(chain.database, nextRules(chain), id)
    if (facts === undefined) return fault('rpc/withdrawal-not-found', { id })
    return { withdrawal: withdrawalJson(chain, facts) }
  })

function nextRules({ ruleBook, head }: ChainReader): LedgerRules {
  return ruleBook.at(head.header.height + 1)
}

function factsOf(chain: ChainReader): BridgeFacts {
  return bridgeFacts(chain.database, nextRules(chain), chain.head.header.height + 1)
}

function committeeJson(chain: ChainReader, { keys, rotation, ...rest }: CommitteeFacts): Static<typeof COMMITTEE> {
  const membersJson = (members: readonly MemberFacts[]) => members.map((member, i) => memberJson(chain, member, i))
  return {
    ...rest,
    keys: membersJson(keys),
    rotation: rotation && { ...rotation, keys: membersJson(rotation.keys) },
  }
}

function memberJson(chain: ChainReader, { key, member }: MemberFacts, index: number) {
  const text = addressText(chain.ruleBook.params.addressPrefix, member)
  return { index, scheme: key.scheme, key: toHex(key.bytes), member: text }
}

function networkJson(chain: ChainReader, facts: NetworkFacts): Static<typeof NETWORK> {
  const { rules, status, vault, halted, deposits, withdrawals } = facts
  const units = (value: bigint) => assetAmountJson(chain, tokenAsset(rules.asset), value)
  return {
    ...nameJson(facts.number, rules),
    ...{ format: rules.format, asset: rules.asset, status, vault, halted },
    deposited: units(facts.deposited),
    released: units(facts.released),
    fees: units(facts.fees),
    pending: units(facts.pending),
    float: units(facts.float),
    feeBps: Number(rules.feeBps),
    confirmations: rules.confirmations,
    minimum: units(rules.minimum),
    dailyMintCap: units(rules.dailyMintCap),
    mintedToday: units(facts.mintedToday),
    ...{ deposits, withdrawals },
  }
}

function nameJson(number: number, { key, name }: BridgeNetwork) {
  return { number, key, name }
}

function withdrawalJson(chain: ChainReader, facts: WithdrawalFacts): Static<typeof WITHDRAWAL> {
  const { id, network, rules, recipient, createdAt, externalTxId } = facts
  const units = (value: bigint) => assetAmountJson(chain, tokenAsset(rules.asset), value)
  return {
    id,
    network: nameJson(network, rules),
    sender: addressText(chain.ruleBook.params.addressPrefix, facts.sender),
    amount: units(facts.amount),
    fee: units(facts.fee),
    receives: units(facts.receives),
    recipient,
    status: facts.state,
    ...{ createdAt, externalTxId },
  }
}
