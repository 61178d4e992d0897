import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { formatAmount, parseAmount } from '../../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { fieldsOf, isUnanswered, type NodeAnswer, refusal, textOf } from '../../../rpc/client/http.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { type ClientQuote, preparePayment, quoteCall, reasonNotToPay, settleCall } from '../../../rpc/client/pay.ts'
import { failedChecks, type ReceiptJson, type Verification, verifyPaidAnswer } from '../../../rpc/client/verify.ts'
import { useNativeSha256 } from '../../crypto/native-backend.ts'
import { nativePowHasher } from '../../crypto/native-pow.ts'
import { PROTOCOL } from '../../protocol.ts'
import { printable } from '../../telemetry/terminal.ts'
import { nativeAsset } from '../assets.ts'
import { FILE_FLAGS, saveResultFile, withRequest } from '../call-file.ts'
import { type CallRecord, loadCall, saveCall } from '../call-record.ts'
import { quoteLines, receiptLines } from '../call-text.ts'
import { type Command, type CommandContext, FEE_FLAG, feeFlag, nodeUrl, RPC_FLAG, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { givenFlags, nodeHint } from '../place.ts'
import { resultLines } from '../result-text.ts'
import { callOnTab } from '../tab-calls.ts'
import { hasTabs, PRICE_MAX_DEFAULT, settled, tabClient } from '../tab-client.ts'
import { readServiceId, usage } from '../values.ts'
import { importDevWallets, unlockWallet, walletName } from '../wallets.ts'

const USAGE = 'usage: farthing call <service> [request]'
const SECRET_BYTES = 32
/** How long the command waits for the answer of a paid call. Later, --tx takes it up again. */
const SETTLE_MS_MAX = 300_000

/** `farthing call`: buys one call of a service. */
export const callCommand: Command = {
  name: 'call',
  usage: '<service> [request]',
  wordsMax: 2,
  about: 'Quote, pay, wait, settle: print result and receipt, and check the proofs',
  example: 'call node-swap-quote "10 FAR->WOOL"',
  flags: {
    ...RPC_FLAG,
    ...WALLET_FLAG,
    'max-price': `Most coins to pay for the call; default ${PRICE_MAX_DEFAULT}`,
    ...FEE_FLAG,
    tx: 'Take up a call that was paid before, by its payment',
    json: 'Print one JSON object with result, receipt, quote, verified; with --no-pay the quote',
    'no-pay': 'Show the quote and stop',
    'no-tab': 'Pay this call by itself, also where a tab with its agent is open',
    ...FILE_FLAGS,
  },
  run: async (context) => {
    useNativeSha256()
    if (context.words.length === 0 && context.flags.tx === undefined)
      return fault('cli/usage', {
        reason: `${USAGE}; ${nodeHint(context, 'services')} lists them, npx --no farthing call --help shows the flags`,
      })
    const asked = await askedCall(context)
    if (!asked.ok) return asked.fault
    return buy(asked.value)
  },
}

async function askedCall(context: CommandContext): Promise<Result<CommandContext>> {
  const { flags, words } = context
  if (flags.tx !== undefined && (words.length > 0 || flags['request-file'] !== undefined))
    return usage('a call that is taken up by --tx has its service and request already')
  if (flags.save !== undefined && flags['no-pay'] !== undefined)
    return usage('with --no-pay there is nothing to --save')
  return withRequest(context)
}

async function buy(context: CommandContext): Promise<number | Fault> {
  const client = new NodeClient(nodeUrl(context))
  const misplaced = await checkNetwork(client, context)
  if (misplaced !== null) return misplaced
  const { flags, note } = context
  if (flags.tx !== undefined) return resume(client, context, flags.tx)
  const quoted = await quote(client, context)
  if (!quoted.ok) return quoted.fault
  if (flags['no-pay'] !== undefined) return showQuote(context, quoted.value)
  const onTab = flags['no-tab'] === undefined ? await payFromTab(context, quoted.value) : null
  if (onTab !== null) return onTab
  const record = await pay(client, context, quoted.value)
  if (!record.ok) return record.fault
  const { txId } = record.value.tx
  note(`paid with ${txId}; waiting for its block (if interrupted: ${resumeHint(context, txId)})`)
  return settle(client, context, record.value)
}

/** From an open tab with the agent of a quote. Null if there is none, or the call does not fit on it. */
async function payFromTab(
  context: CommandContext,
  { agentId, serviceId }: ClientQuote,
): Promise<number | Fault | null> {
  if (!(await hasTabs(context))) return null
  const agent = await tabClient(context, true)
  if (!agent.ok) return agent.fault
  const tab = await settled(context, () => agent.value.tabWith(agentId))
  if (!tab.ok || tab.value === null) return null
  context.note(`paid from the tab ${tab.value.tabId} with ${agentId}; --no-tab pays a call by itself`)
  return callOnTab(context, tab.value, { serviceId, request: context.words[1] ?? '' })
}

/** A fault if the node is on another network than the command, such as after a typo in --rpc. */
async function checkNetwork(client: NodeClient, { params }: CommandContext): Promise<Fault | null> {
  const status = await client.status()
  if (!status.ok) return status.fault
  if (status.value.genesis === createRuleBook(params, PROTOCOL).genesis.block.id) return null
  return fault('cli/refused', {
    message: `the node is on ${status.value.networkName}, this command is set to ${params.name}; see --network`,
  })
}

async function quote(client: NodeClient, { words, note, params, flags }: CommandContext): Promise<Result<ClientQuote>> {
  const [serviceId, request = '', ...rest] = words
  if (serviceId === undefined || rest.length > 0) return fail(fault('cli/usage', { reason: USAGE }))
  const named = readServiceId(serviceId)
  if (!named.ok) return named
  const quoted = await quoteCall(client, serviceId, request)
  if (!quoted.ok) return quoted
  const price = `${formatAmount(quoted.value.amount, params.decimals)} ${params.ticker}`
  note(`${serviceId} costs ${price}, honoured to height ${quoted.value.validUntil}`)
  const most = flags['max-price'] ?? PRICE_MAX_DEFAULT
  const limit = parseAmount(most, params.decimals)
  if (!limit.ok) return limit
  const status = await client.status()
  if (!status.ok) return status
  const reason = reasonNotToPay(quoted.value, params, status.value.height)
  if (reason !== null) {
    const hint = requestHint(fieldsOf(quoted.value.raw.requestError))
    if (hint !== '') note(printable(`${serviceId} takes: ${hint}`))
    return fail(fault('cli/refused', { message: reason }))
  }
  if (quoted.value.amount <= limit.value) return quoted
  return fail(fault('cli/price-too-high', { price, limit: `${most} ${params.ticker}` }))
}

/** In the seller's words. Empty if the seller gives neither a format nor an example. */
function requestHint({ requestFormat, example }: NodeAnswer['body']): string {
  const [form, shown] = [textOf(requestFormat, '').trim(), textOf(example, '').trim()]
  return [form, shown === '' ? '' : `for example: ${shown}`].filter((part) => part !== '').join('; ')
}

function showQuote({ print, printJson, flags, params }: CommandContext, { raw, ...quote }: ClientQuote): number {
  if (flags.json === undefined) for (const line of quoteLines(quote, raw, nativeAsset({ params }))) print(line)
  else printJson(raw, 2)
  return EXIT.ok
}

/** Signs the payment, saves it with its secret, and only then sends it. */
async function pay(client: NodeClient, context: CommandContext, quoted: ClientQuote): Promise<Result<CallRecord>> {
  const { config, params, words } = context
  const imported = await importDevWallets(config, params)
  if (!imported.ok) return imported
  const name = walletName(context)
  if (!name.ok) return name
  const wallet = await unlockWallet(config, params, name.value)
  if (!wallet.ok) return wallet
  const request = words[1] ?? ''
  const secret = new Uint8Array(randomBytes(SECRET_BYTES))
  const feeMax = feeFlag(context)
  if (!feeMax.ok) return feeMax
  const genesis = createRuleBook(params, PROTOCOL).genesis.block.id
  const offer = { quote: quoted, request, secret, feeMax: feeMax.value, genesis }
  const payment = await preparePayment(client, params, wallet.value, offer)
  if (!payment.ok) return payment
  const record: CallRecord = { tx: payment.value.tx, secret, serviceId: quoted.serviceId, request, quote: quoted.raw }
  await saveCall(config.dataDir, record)
  const submitted = await client.submit(payment.value.tx)
  // The payment may have arrived, and paying again could pay twice. Settling finds out.
  return submitted.ok || isUnanswered(submitted.fault) ? ok(record) : submitted
}

/** The same payment is sent again if the node does not know it. */
async function resume(client: NodeClient, context: CommandContext, txId: string): Promise<number | Fault> {
  const record = await loadCall(context.config.dataDir, txId)
  if (!record.ok) return record.fault
  const known = await client.transaction(txId)
  if (!known.ok) return known.fault
  if (known.value.status === 'unknown') {
    const submitted = await client.submit(record.value.tx)
    if (!submitted.ok && !isUnanswered(submitted.fault)) return submitted.fault
  }
  return settle(client, context, record.value)
}

async function settle(client: NodeClient, context: CommandContext, record: CallRecord): Promise<number | Fault> {
  const { tx, secret, serviceId, request } = record
  const wait = { untilMs: Date.now() + SETTLE_MS_MAX, now: () => Date.now(), pause: (ms: number) => setTimeout(ms) }
  const answer = await settleCall(client, { serviceId, request, txId: tx.txId, secret }, wait)
  if (!answer.ok) {
    context.note(`take it up again with: ${resumeHint(context, tx.txId)}`)
    return answer.fault
  }
  const { status, body } = answer.value
  if (status === 200) return showResult(context, record, body)
  if (body.refund !== undefined) return showRefund(context, tx.txId, body)
  context.note(`nothing more is paid; take it up again with: ${resumeHint(context, tx.txId)}`)
  return refusal(answer.value)
}

function resumeHint(context: CommandContext, txId: string): string {
  const json = context.flags.json === undefined ? '' : ' --json'
  return nodeHint(context, `call --tx ${txId}${givenFlags(context, ['save'])}${json}`)
}

async function showResult(
  context: CommandContext,
  record: CallRecord,
  body: NodeAnswer['body'],
): Promise<number | Fault> {
  const { print, printJson, note, flags, params } = context
  const { result } = body
  const receipt: ReceiptJson = fieldsOf(body.receipt)
  const verified = verify(context, record, { result, receipt })
  if (flags.json !== undefined) printJson({ result, receipt, quote: record.quote, verified })
  else {
    for (const line of resultLines(result)) print(line)
    for (const line of receiptLines(receipt, verified, nativeAsset({ params }))) note(line)
  }
  const failed = failedChecks(verified)
  if (failed.length === 0) return flags.save === undefined ? EXIT.ok : save(context, flags.save, record, result)
  note(`the answer does not verify: ${failed.join(', ')}`)
  return EXIT.unverified
}

/** If saving fails, the printed hint leaves out the path that failed. */
async function save(
  context: CommandContext,
  path: string,
  { tx }: CallRecord,
  result: unknown,
): Promise<number | Fault> {
  const saved = await saveResultFile(path, result)
  if (saved.ok) context.note(`${saved.value} bytes written to ${path}`)
  else context.note(`it is paid; take the answer up again with: ${nodeHint(context, `call --tx ${tx.txId}`)}`)
  return saved.ok ? EXIT.ok : saved.fault
}

function verify(
  { params }: CommandContext,
  { tx, serviceId, request }: CallRecord,
  answer: { readonly result: unknown; readonly receipt: ReceiptJson },
): Verification {
  const { sender, payload } = tx.body
  const paid = {
    txId: tx.txId,
    ...{ serviceId, request },
    caller: formatAddress(params.addressPrefix, sender),
    amountBaseUnits: 'amount' in payload ? payload.amount.toString() : '',
  }
  const { rules } = params.steps.at(-1) as (typeof params.steps)[number]
  return verifyPaidAnswer(answer, paid, {
    hasher: nativePowHasher,
    cost: rules.block.pow,
    targetMax: rules.block.powLimit,
  })
}

function showRefund(context: CommandContext, txId: string, body: NodeAnswer['body']): number {
  const { printJson, note, flags, params } = context
  const refund = fieldsOf(body.refund)
  if (flags.json !== undefined) printJson({ error: body.error, code: body.code, refund })
  const amount = typeof refund.amount === 'number' ? String(refund.amount) : 'an unknown amount of'
  // The node's message refers to a field of its answer, which here is the next line.
  note(textOf(body.error, 'the call failed').replace(/: see refund\.$/, '.'))
  const back = `${amount} ${params.ticker} goes back to you (${textOf(refund.status, 'unknown')})`
  note(`${back}; see: ${nodeHint(context, `tx ${txId}`)}`)
  return EXIT.refunded
}
