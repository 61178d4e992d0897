import { amountNear, type Choice, type Choosing, choice, hash32, once, pick, receiver, senderAt } from './choices.ts'
import { attest, MEMBERS, SPOILS } from './committee.ts'
import { depositId, type Statement } from './reference/attestation.ts'
import { floatOf, openedNetwork, STATUS } from './reference/bridge-kinds.ts'
import type { Attestation } from './reference/bridge-schemas.ts'
import { unhex } from './reference/bytes.ts'
import { assetOf, networkId } from './reference/ledger.ts'
import type { ReferenceFormat, ReferenceRules } from './reference/params.ts'
import { holder } from './token-choices.ts'

const ADDRESSES: Readonly<Record<ReferenceFormat, readonly string[]>> = {
  evm: ['0x000000000000000000000000000000000000dEaD', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  solana: ['1nc1nerator11111111111111111111111111111111', 'So11111111111111111111111111111111111111112'],
  bitcoin: ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  litecoin: ['LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE'],
}

/** An address in the format of the network. */
function addressOn({ rules }: Choosing, network: number, index: number | undefined): string {
  return pick(ADDRESSES[rules.tx.bridgeFormats[network] as ReferenceFormat], index)
}

/** The committee's attestation of the statement, or a spoiled one. Without a committee, an attestation with one signature of zero bytes. */
function attested(choosing: Choosing, statement: Statement): Attestation {
  const { ledger, genesisId, rules, n } = choosing
  const committee = ledger.committee.get('')
  const unknown = { epoch: 0, signatures: [{ keyIndex: 0, bytes: new Uint8Array(3_373) }] }
  if (committee === undefined) return unknown
  const good = attest(committee, statement, { genesisId, chainId: rules.tx.chainId }, { first: n[6] as number })
  const spoil = SPOILS[((n[7] as number) >> 3) % (4 * SPOILS.length)]
  return spoil === undefined ? good : spoil(good, committee)
}

type Terms = ReferenceRules['bridge']['networks'][number]

/** A network with its record. If the network drawn is not open, it is mostly replaced by network 1. */
function networkAt(choosing: Choosing) {
  const { ledger, rules, n } = choosing
  const count = rules.bridge.networks.length
  const wanted = pick([1, 1, 1, 8, 7, (n[1] as number) % count], n[1]) % count
  const number = ledger.networks.get(networkId(wanted)) === undefined && !once(choosing, 6, 2) ? 1 : wanted
  return networkOf(choosing, number)
}

function networkOf({ ledger, rules }: Choosing, number: number) {
  const terms = rules.bridge.networks[number] as Terms
  const asset = assetOf(terms.asset, rules.coin.symbol)
  return { number, terms, asset, record: ledger.networks.get(networkId(number)) ?? openedNetwork(asset, '') }
}

/** An external transaction id. Even indices all give the same id, so that deposits repeat. */
function externalTxId({ rules }: Choosing, network: number, index: number): Uint8Array {
  const first = unhex(hash32(index % 2 === 0 ? 0 : index))
  return rules.tx.bridgeFormats[network] === 'solana' ? Uint8Array.from([...first, ...first]) : first
}

/**
 * The first network on which output 0 of the transaction `externalTxId(…, 0)` has been deposited, so that the deposit can be repeated.
 * Undefined if there is none.
 */
function depositedOn(choosing: Choosing): number | undefined {
  const numbers = choosing.rules.bridge.networks.map((_, number) => number)
  return numbers.find((network) => {
    const id = depositId({ network, outputIndex: 0, externalTxId: externalTxId(choosing, network, 0) })
    return choosing.ledger.deposits.get(id) !== undefined
  })
}

function bridgeDeposit(choosing: Choosing): Choice {
  const { n, rules, height } = choosing
  const again = once(choosing, 4, 3) ? depositedOn(choosing) : undefined
  const { number, terms, record } = again === undefined ? networkAt(choosing) : networkOf(choosing, again)
  const day = Math.floor(height / rules.bridge.dayBlocks)
  const room = terms.dailyMintCap - (record.mintDay === day ? record.mintedToday : 0n)
  const deposit = {
    network: number,
    externalTxId: externalTxId(choosing, number, n[3] as number),
    outputIndex: again === undefined ? pick([0, 0, 0, 1, 2 ** 32 - 1], n[4]) : 0,
    to: receiver(choosing, 5),
    amount: amountNear(pick([terms.minimum * 3n, terms.minimum, terms.minimum - 1n, room, room + 1n, room / 2n], n[2])),
  }
  const attestation = attested(choosing, { ...deposit, action: 'deposit' })
  return choice(choosing.sender, 'bridge_deposit', { ...deposit, create: once(choosing, 2, 4), attestation })
}

function bridgeWithdraw(choosing: Choosing): Choice {
  const { n, ledger } = choosing
  const { number, terms, asset, record } = networkAt(choosing)
  const float = floatOf(record)
  const sender = holder(choosing, asset)
  const balance = ledger.balance(sender.address, asset)
  const amounts = [
    terms.minimum,
    terms.minimum + 1n,
    balance / 10n,
    terms.minimum - 1n,
    float,
    float + 1n,
    balance + 1n,
  ]
  return choice(sender, 'bridge_withdraw', {
    network: number,
    amount: amountNear(pick(amounts, n[2])),
    recipient: addressOn(choosing, number, n[3]),
  })
}

interface Found {
  readonly withdrawalId: string
  readonly network: number
}

/**
 * A choice about a withdrawal with this status, sometimes about one with another status or an unknown one. If none has this status, mostly
 * the choice that `otherwise` makes, which leads to one.
 */
function withdrawalIn(
  choosing: Choosing,
  status: number,
  otherwise: (choosing: Choosing) => Choice,
  make: (found: Found) => Choice,
): Choice {
  const { ledger, n } = choosing
  const all = ledger.withdrawals.all()
  const good = all.filter(([, one]) => one.status === status)
  if (once(choosing, 12, 1)) return make({ withdrawalId: hash32(n[1] as number), network: 1 })
  const any = all.length > 0 && once(choosing, 6, 2)
  if (good.length === 0 && !any) return otherwise(choosing)
  const [withdrawalId, { network }] = pick(any ? all : good, n[1])
  return make({ withdrawalId, network })
}

function bridgeSign(choosing: Choosing): Choice {
  return withdrawalIn(choosing, STATUS.pending, bridgeWithdraw, (found) => {
    const attestation = attested(choosing, { ...found, action: 'sign' })
    return choice(choosing.sender, 'bridge_sign', { ...found, attestation })
  })
}

function bridgeCancel(choosing: Choosing): Choice {
  return withdrawalIn(choosing, STATUS.pending, bridgeWithdraw, (found) => {
    const attestation = attested(choosing, { ...found, action: 'cancel' })
    return choice(choosing.sender, 'bridge_cancel', { ...found, attestation })
  })
}

function bridgeRelease(choosing: Choosing): Choice {
  return withdrawalIn(choosing, STATUS.signing, bridgeSign, (found) => {
    // Once in nine the external id is made for network 7, whose ids may have another length than those of this network.
    const network = once(choosing, 9, 3) ? 7 : found.network
    const release = { ...found, externalTxId: externalTxId(choosing, network, choosing.n[3] as number) }
    const attestation = attested(choosing, { ...release, action: 'release' })
    return choice(choosing.sender, 'bridge_release', { ...release, attestation })
  })
}

function bridgeRotate(choosing: Choosing): Choice {
  const { n, rules, ledger } = choosing
  const first = n[1] as number
  const count = 1 + (first % MEMBERS.length)
  const keys = Array.from({ length: count }, (_, i) => pick(MEMBERS, first + i))
  const numbers = rules.bridge.networks.map((_, number) => number)
  const halted = numbers.filter((number) => ledger.networks.get(networkId(number))?.halted === true)
  const rotation = {
    threshold: 1 + ((n[2] as number) % count),
    keys: keys.map(({ scheme, bytes }) => ({ scheme, bytes })),
    vaults: numbers
      .filter((number) => ((n[3] as number) >> number) % 2 === 1)
      .map((network) => ({ network, address: addressOn(choosing, network, n[4]) })),
    resume: once(choosing, 3, 5) ? numbers.filter((number) => ((n[4] as number) >> number) % 2 === 1) : halted,
  }
  const attestation = attested(choosing, { ...rotation, action: 'rotate' })
  return choice(choosing.sender, 'bridge_rotate', { ...rotation, attestation })
}

function bridgeHalt(choosing: Choosing): Choice {
  const network = networkAt(choosing).number
  const attestation = attested(choosing, { action: 'halt', network })
  return choice(senderAt(choosing, undefined), 'bridge_halt', { network, attestation })
}

export const BRIDGE_CHOICES = {
  bridge_deposit: bridgeDeposit,
  bridge_withdraw: bridgeWithdraw,
  bridge_sign: bridgeSign,
  bridge_release: bridgeRelease,
  bridge_cancel: bridgeCancel,
  bridge_rotate: bridgeRotate,
  bridge_halt: bridgeHalt,
} as const
