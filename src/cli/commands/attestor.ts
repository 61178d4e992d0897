import { devSeed } from '../../../config/networks/dev-keys.ts'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import type { SigningNetwork } from '../../../consensus/crypto/signing.ts'
import { equal, toHex } from '../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { attestedPayload } from '../../../consensus/tx/attested-payload.ts'
import {
  type Attested,
  completeAttestation,
  mergeSigned,
  type SignedStatement,
  type Statement,
  signedFromJson,
  signedToJson,
  signStatement,
  statementDigest,
} from '../../../rpc/client/attestations.ts'
import { LedgerClient } from '../../../rpc/client/ledger-client.ts'
import { NATIVE_BACKEND } from '../../crypto/native-backend.ts'
import { type WalletKey, walletKey } from '../../crypto/wallet-key.ts'
import { PROTOCOL } from '../../protocol.ts'
import { createFileAtomically } from '../../storage/atomic-file.ts'
import { ACTION_NAMES, readAction, readJsonFile } from '../attested-actions.ts'
import { memberText, summaryOf } from '../attested-summary.ts'
import { type Command, type CommandContext, nodeUrl, RPC_FLAG, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import type { Proposal } from '../proposal.ts'
import { mustCreate, type Session } from '../session.ts'
import { countFlag, usage } from '../values.ts'
import { unlockWallet, walletName } from '../wallets.ts'
import { writingCommand } from '../writing.ts'

const DEV_KEYS = 10
const KEYS_MAX = 8
const EPOCH_BOUND = 1_000_000_000
/** Key scheme of the devnet's committee. */
const DEV_SCHEME = 2

const MEMBER_FLAGS = {
  ...WALLET_FLAG,
  'dev-member': 'Devnet only: sign with this development key (the committee has 8, 9 and 10) in place of a wallet',
}

/** `farthing attestor key`: the public key of a wallet, for a rotation of the committee. */
export const attestorKeyCommand: Command = {
  name: 'attestor key',
  usage: '',
  wordsMax: 0,
  about: 'Show the public key of a wallet, as a rotation of the committee names it',
  example: 'attestor key --dev-member 8',
  flags: MEMBER_FLAGS,
  run: async (context) => {
    const opened = await openMember(context)
    if (!opened.ok) return opened.fault
    const [key] = opened.value.keys.keys
    if (key === undefined) return EXIT.failed
    context.note(`member ${memberText(context.params.addressPrefix, key)}`)
    context.printJson({ scheme: key.scheme, bytes: toHex(key.bytes) })
    return EXIT.ok
  },
}

/** `farthing attestor sign`: a member's signature on an action of the bridge. */
export const attestorSignCommand: Command = {
  name: 'attestor sign',
  usage: '<action> ...',
  wordsMax: 6,
  about: `Sign as a member of the bridge's committee: ${ACTION_NAMES}`,
  example: 'attestor sign halt base --dev-member 8',
  flags: {
    ...MEMBER_FLAGS,
    ...RPC_FLAG,
    epoch: 'Epoch of the committee; default: asked of the node',
    'key-index': 'Place of the key in the committee; default: asked of the node',
    on: 'Network of the withdrawal; default: asked of the node',
    out: 'New file for the signature; default: standard output',
    'dry-run': 'Show what would be signed; nothing is',
  },
  run: async (context) => {
    const asked = await readAction(context)
    if (!asked.ok) return asked.fault
    const key = await openMember(context)
    if (!key.ok) return key.fault
    const place = await placeOf(context, key.value)
    if (!place.ok) return place.fault
    const { epoch, keyIndex } = place.value
    const statement = { network: networkOf(context), epoch, action: asked.value.action }
    for (const line of summaryOf(context, asked.value)) context.note(line)
    context.note(`as key ${keyIndex} in epoch ${epoch} of the committee on ${context.params.name}`)
    context.note(`digest ${statementDigest(statement)}`)
    if (context.flags['dry-run'] !== undefined) return EXIT.ok
    return handOver(context, await signStatement(key.value, statement, keyIndex))
  },
}

async function handOver(
  { params, flags, printJson }: CommandContext,
  signed: SignedStatement,
): Promise<number | Fault> {
  const json = signedToJson(params.addressPrefix, signed)
  if (flags.out === undefined) {
    printJson(json)
    return EXIT.ok
  }
  const refusal = (reason: string) => fault('file/unwritable', { path: flags.out as string, reason })
  try {
    return (await createFileAtomically(flags.out, `${JSON.stringify(json)}\n`)) ? EXIT.ok : refusal('it exists')
  } catch (error) {
    return refusal(error instanceof Error ? error.message : 'unknown')
  }
}

function networkOf({ params }: CommandContext): SigningNetwork {
  return createRuleBook(params, PROTOCOL).network
}

async function openMember(context: CommandContext): Promise<Result<WalletKey>> {
  const { config, params } = context
  const number = countFlag(context, 'dev-member', DEV_KEYS + 1)
  if (!number.ok) return number
  if (number.value === undefined) {
    const name = walletName(context)
    return name.ok ? unlockWallet(config, params, name.value) : name
  }
  if (params.name !== 'devnet' || number.value === 0) return usage('--dev-member is 1 to 10, and for the devnet alone')
  return ok(walletKey(devSeed(number.value), DEV_SCHEME))
}

async function placeOf(
  context: CommandContext,
  { keys }: WalletKey,
): Promise<Result<{ readonly epoch: number; readonly keyIndex: number }>> {
  const epoch = countFlag(context, 'epoch', EPOCH_BOUND)
  const given = countFlag(context, 'key-index', KEYS_MAX)
  if (!epoch.ok) return epoch
  if (!given.ok) return given
  if (epoch.value !== undefined && given.value !== undefined) return ok({ epoch: epoch.value, keyIndex: given.value })
  const committee = await new LedgerClient(nodeUrl(context)).committee()
  if (!committee.ok) return committee
  const [own] = keys.keys
  const found = committee.value.keys.findIndex(({ bytes }) => own !== undefined && equal(bytes, own.bytes))
  const keyIndex = given.value ?? found
  if (keyIndex < 0) return fail(fault('bridge/attestation', { reason: 'this wallet is no member of the committee' }))
  return ok({ epoch: epoch.value ?? committee.value.epoch, keyIndex })
}

/** `farthing attestor submit`: joins the signatures of members, and pays for their transaction. */
export const attestorSubmitCommand = writingCommand<readonly string[]>({
  name: 'attestor submit',
  usage: '<signature file> ...',
  wordsMax: KEYS_MAX,
  about: 'Send an action of the bridge that enough members have signed',
  flags: {},
  read: ({ words }) => (words.length > 0 ? ok(words) : usage('usage: farthing attestor submit <signature file> ...')),
  propose: async (session, paths) => {
    const statement = await readStatement(session, paths)
    if (!statement.ok) return statement
    const committee = await session.client.committee()
    if (!committee.ok) return committee
    const attestation = completeAttestation(NATIVE_BACKEND, statement.value, committee.value)
    if (!attestation.ok) return attestation
    const { action } = statement.value
    const create = action.action === 'deposit' ? await mustCreate(session, action.to) : ok(false)
    if (!create.ok) return create
    const [says, ...more] = summaryOf(session.context, { action, withdrawal: null })
    for (const line of more) session.context.note(line)
    const carried = attestedPayload(action, attestation.value, create.value)
    return ok([{ ...carried, says: says as string, amounts: [] } as unknown as Proposal])
  },
})

async function readStatement(session: Session, paths: readonly string[]): Promise<Result<Attested>> {
  const { params } = session.context
  const all: SignedStatement[] = []
  for (const path of paths) {
    const json = await readJsonFile(path)
    if (!json.ok) return json
    const signed = signedFromJson(params.addressPrefix, session.rules.tx, json.value)
    if (!signed.ok) return signed
    all.push(signed.value)
  }
  const merged = mergeSigned(all)
  return merged.ok && !isOurs(session, merged.value)
    ? usage(`these signatures are for another network than ${params.name}`)
    : merged
}

function isOurs({ genesis, rules }: Session, { network }: Statement): boolean {
  return network.genesis === genesis && network.chainId === rules.tx.chainId
}
