import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { addressOfKeys, decodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { parseAddress } from '../../../consensus/crypto/address.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { signText } from '../../../consensus/tx/sign.ts'
import { readSignedText, SIGNED_TEXT_CHARS_MAX, type SignedText, textJob } from '../../../consensus/tx/signed-text.ts'
import { halfVerdicts } from '../../crypto/signature-facts.ts'
import { PROTOCOL } from '../../protocol.ts'
import { type Command, type CommandContext, OFFLINE_FLAG, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { unlockWallet, walletName } from '../wallets.ts'

/** `farthing wallet sign-text`: signs a text as JSON for `verify-text` and the service node-signature-verify. */
export const walletSignTextCommand: Command = {
  name: 'wallet sign-text',
  usage: '<text>',
  wordsMax: 1,
  about: 'Sign a text, to prove that an address is yours',
  example: 'wallet sign-text "I hold this address"',
  flags: { ...WALLET_FLAG, ...OFFLINE_FLAG },
  run: async (context) => {
    const { words, params, config, printJson } = context
    const [text] = words
    if (text === undefined || text.length > SIGNED_TEXT_CHARS_MAX || !text.isWellFormed()) {
      return fault('cli/usage', {
        reason: `wallet sign-text takes a text of at most ${SIGNED_TEXT_CHARS_MAX} characters`,
      })
    }
    const name = walletName(context)
    if (!name.ok) return name.fault
    const key = await unlockWallet(config, params, name.value)
    if (!key.ok) return key.fault
    const { network } = createRuleBook(params, PROTOCOL)
    printJson(await signText(text, key.value, { network, prefix: params.addressPrefix }))
    return EXIT.ok
  },
}

/** Exit code 1 if one half of the hybrid signature is wrong. */
export const walletVerifyTextCommand: Command = {
  name: 'wallet verify-text',
  usage: '[json]',
  wordsMax: 1,
  about: 'Check a signed text; its JSON is read from standard input where it is not given',
  flags: { ...OFFLINE_FLAG, json: 'Print JSON' },
  run: async (context) => {
    const signed = readSignedText(context.words[0] ?? (await readInput()))
    if (!signed.ok) return signed.fault
    const verdict = verdictOn(context, signed.value)
    if (!verdict.ok) return verdict.fault
    const { valid, classical, postQuantum, reason } = verdict.value
    const { address } = signed.value
    if (context.flags.json !== undefined) context.printJson({ address, ...verdict.value })
    else if (valid) context.print(`good: ${address} has signed this text`)
    else context.print(`not good: ${reason ?? `Ed25519 ${wordOf(classical)}, ML-DSA ${wordOf(postQuantum)}`}`)
    return valid ? EXIT.ok : EXIT.failed
  },
}

interface Verdict {
  readonly valid: boolean
  readonly classical: boolean
  readonly postQuantum: boolean
  readonly reason: string | null
}

/** No node is asked, so the JSON must hold the keys. */
function verdictOn({ params }: CommandContext, signed: SignedText): Result<Verdict> {
  const address = parseAddress(params.addressPrefix, signed.address)
  if (!address.ok) return address
  if (signed.keys === null) return refused('"keys" is missing: sign-text writes it')
  const keys = decodeAccountKeys(fromHex(signed.keys))
  if (!keys.ok) return keys
  if (addressOfKeys(fromHex(signed.keys)) !== address.value) return refused('the keys are not those of the address')
  const job = textJob(signed, keys.value, createRuleBook(params, PROTOCOL).network)
  if (!job.ok) return ok({ valid: false, classical: false, postQuantum: false, reason: faultMessage(job.fault) })
  const verdicts = halfVerdicts(job.value)
  const classical = verdicts.every((verdict) => verdict.classical)
  const postQuantum = verdicts.every((verdict) => verdict.postQuantum)
  return ok({ valid: classical && postQuantum, classical, postQuantum, reason: null })
}

function refused(reason: string): { readonly ok: false; readonly fault: Fault } {
  return fail(fault('cli/usage', { reason }))
}

function wordOf(valid: boolean): string {
  return valid ? 'good' : 'not good'
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
