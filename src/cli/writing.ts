import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { VALID_BLOCKS } from '../../rpc/client/node-client.ts'
import { type Intent, prepareTransaction } from '../../rpc/client/transactions.ts'
import { useNativeSha256 } from '../crypto/native-backend.ts'
import type { WalletKey } from '../crypto/wallet-key.ts'
import { type Command, type CommandContext, FEE_FLAG, feeFlag, RPC_FLAG, WALLET_FLAG } from './command.ts'
import { EXIT } from './exit-codes.ts'
import type { Proposal } from './proposal.ts'
import { failureBefore, rehearse } from './rehearsal.ts'
import { openKey, openSession, type Session } from './session.ts'
import { sentBlind, submit } from './submitting.ts'
import { awaitOutcome } from './waiting.ts'

/** A command that sends transactions. `read` parses the command line, `propose` asks the node for the rest. */
export interface WritingCommand<Asked> extends Omit<Command, 'run'> {
  readonly read: (context: CommandContext) => Result<Asked>
  readonly propose: (session: Session, asked: Asked) => Promise<Result<readonly Proposal[]>>
  /** True if it never waits for the block. */
  readonly isSentAtOnce?: true
}

const WRITE_FLAGS = {
  ...WALLET_FLAG,
  ...RPC_FLAG,
  ...FEE_FLAG,
  'dry-run': 'Show what would happen; nothing is signed or sent',
  'no-check': 'Send it without a trial: a failed transaction still costs its fee',
  json: 'Print one JSON object for each transaction',
}
const WAIT_FLAG = { 'no-wait': 'Do not wait for the block; the outcome is not known then' }

/** Makes a command from `read` and `propose`. */
export function writingCommand<Asked>(command: WritingCommand<Asked>): Command {
  const { read, propose, flags, isSentAtOnce, ...words } = command
  const run = async (given: CommandContext): Promise<number | Fault> => {
    const context = isSentAtOnce ? { ...given, flags: { ...given.flags, 'no-wait': 'true' } } : given
    useNativeSha256()
    const feeMax = feeFlag(context)
    if (!feeMax.ok) return feeMax.fault
    const asked = read(context)
    if (!asked.ok) return asked.fault
    const session = await openSession(context)
    if (!session.ok) return session.fault
    const proposals = await propose(session.value, asked.value)
    if (!proposals.ok) return proposals.fault
    if (proposals.value.length === 0) return EXIT.ok
    const key = await openKey(session.value)
    return key.ok ? carryOut(session.value, key.value, proposals.value, feeMax.value) : key.fault
  }
  return { ...words, flags: { ...flags, ...(isSentAtOnce ? {} : WAIT_FLAG), ...WRITE_FLAGS }, run }
}

async function carryOut(
  session: Session,
  key: WalletKey,
  proposals: readonly Proposal[],
  feeMax: bigint,
): Promise<number | Fault> {
  const { flags } = session.context
  for (const proposal of proposals) {
    const intent = {
      kind: proposal.kind,
      payload: proposal.payload,
      feeMax,
      genesis: session.genesis,
      validUntil: session.height + VALID_BLOCKS,
    }
    const dry = flags['dry-run'] !== undefined
    const outcome = dry
      ? await rehearse(session, key.keys, proposal, intent)
      : await carryOutOne(session, key, proposal, intent)
    // Of several claims, each one that would cost more than it brings is skipped, and the next one is tried.
    const isLoss = typeof outcome === 'object' && outcome.code === 'cli/loss'
    if (isLoss && proposals.length > 1) session.context.note(faultMessage(outcome))
    else if (outcome !== EXIT.ok) return outcome
  }
  return EXIT.ok
}

async function carryOutOne(
  session: Session,
  key: WalletKey,
  proposal: Proposal,
  intent: Intent,
): Promise<number | Fault> {
  const { context, client } = session
  const tx = await prepareTransaction(client, context.params, key, intent)
  if (!tx.ok) return tx.fault
  context.note(proposal.says)
  const isTried = context.flags['no-check'] === undefined
  const failure = isTried
    ? await failureBefore(session, key.keys, proposal, { intent, nonce: tx.value.body.nonce })
    : null
  if (failure !== null) return failure
  const submitted = await submit(client, tx.value)
  if (typeof submitted === 'object') return submitted
  const waits = context.flags['no-wait'] === undefined
  if (submitted === 'unclear' && !waits) return sentBlind(tx.value)
  if (submitted === 'unclear') context.note(`no answer to ${tx.value.txId}: it may have arrived`)
  if (waits) return awaitOutcome(session, tx.value, proposal)
  const { txId } = tx.value
  if (context.flags.json === undefined) context.print(txId)
  else context.printJson({ txId, kind: proposal.kind, status: 'sent' })
  return EXIT.ok
}
