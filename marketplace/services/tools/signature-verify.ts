import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { type AccountKeys, addressOfKeys, decodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { parseAddress } from '../../../consensus/crypto/address.ts'
import { taggedHashHex } from '../../../consensus/crypto/hash.ts'
import { KEY_SCHEMES, type KeyScheme } from '../../../consensus/crypto/schemes.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import { readSignedText, type SignedText, textJob } from '../../../consensus/tx/signed-text.ts'
import { orNull } from '../amounts.ts'
import type { HalfVerdicts, ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, chainEnvelope } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-signature-verify' as ServiceId
/** Keys and a signature have thousands of digits, so this example shows only the form. */
const FORMAT = {
  requestFormat:
    'JSON {address, text, signature, keys?}: signature as hex or [{keyIndex, bytes}], keys as hex where the chain has not seen them; farthing wallet sign-text writes it',
  example:
    '{"address":"dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl","text":"hello","signature":"00"}',
}
/** Room for eight keys of scheme 2, all their signatures and a text, in hex. */
const REQUEST_CHARS_MAX = 120_000

const HALF = Type.Object({ alg: Type.String(), valid: Type.Boolean() })

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  address: Type.String(),
  valid: Type.Boolean(),
  reason: orNull(Type.String()),
  classical: HALF,
  postQuantum: HALF,
  signatures: Type.Array(
    Type.Object({
      keyIndex: Type.Integer({ minimum: 0 }),
      scheme: Type.String(),
      classical: Type.Boolean(),
      postQuantum: Type.Boolean(),
    }),
  ),
  account: Type.Object({
    scheme: Type.Integer(),
    threshold: Type.Integer(),
    keys: Type.Integer(),
    keysFrom: Type.Unsafe<'request' | 'chain'>({ type: 'string', enum: ['request', 'chain'] }),
  }),
  textHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  domain: Type.Object({ label: Type.String(), chainId: Type.Integer(), genesis: Type.String() }),
})

function parse(request: string): Result<SignedText> {
  const signed = readSignedText(request)
  return signed.ok ? signed : unusable(faultMessage(signed.fault), FORMAT)
}

/** Keys of the account: the given ones, which must match the address, or those that the chain has seen. */
function keysOf(chain: ChainReader, { address, keys }: SignedText): Result<AccountKeys> {
  const account = parseAddress(chain.ruleBook.params.addressPrefix, address)
  if (!account.ok) return unusable(faultMessage(account.fault), FORMAT)
  if (keys === null) {
    const seen = chain.keys.keysOf(account.value)
    return seen === undefined
      ? unusable(
          'the chain has not seen the keys of this address: give them in keys; farthing wallet sign-text writes the whole request',
          FORMAT,
        )
      : ok(seen)
  }
  const decoded = decodeAccountKeys(fromHex(keys))
  if (!decoded.ok) return unusable(faultMessage(decoded.fault), FORMAT)
  const own = addressOfKeys(fromHex(keys)) === account.value
  return own ? decoded : unusable('the keys are not those of the address', FORMAT)
}

function verify(context: ServiceContext, signed: SignedText) {
  const { chain, halfVerdicts } = context
  const keys = keysOf(chain, signed)
  if (!keys.ok) throw new Error('the keys were there before')
  const { scheme, threshold } = keys.value
  const job = textJob(signed, keys.value, chain.network)
  const verdicts = job.ok ? halfVerdicts(job.value) : []
  const half = (of: keyof HalfVerdicts): boolean => verdicts.length > 0 && verdicts.every((verdict) => verdict[of])
  const used = signed.signature.flatMap(({ keyIndex }) => keys.value.keys[keyIndex]?.scheme ?? [])
  const levels = [...new Set(used.map((one) => `ML-DSA-${KEY_SCHEMES[one].mlDsa}`))]
  const [classical, postQuantum] = [half('classical'), half('postQuantum')]
  return {
    address: signed.address,
    valid: classical && postQuantum,
    reason: job.ok ? null : faultMessage(job.fault),
    classical: { alg: 'Ed25519', valid: classical },
    postQuantum: { alg: levels.join(', ') || 'ML-DSA', valid: postQuantum },
    signatures: verdicts.map((verdict, i) => ({
      keyIndex: signed.signature[i]?.keyIndex as number,
      scheme: KEY_SCHEMES[used[i] as KeyScheme].name,
      ...verdict,
    })),
    account: {
      scheme,
      threshold,
      keys: keys.value.keys.length,
      keysFrom: signed.keys === null ? ('chain' as const) : ('request' as const),
    },
    textHash: taggedHashHex('textDigest', encodeText(signed.text)),
    domain: { label: 'farthing-text/1', chainId: chain.network.chainId, genesis: chain.network.genesis },
  }
}

/** Whether an address signed a text on this network; reports both halves of every hybrid signature. */
export const signatureVerify = defineService<SignedText, typeof RESULT>({
  serviceId: ID,
  name: 'Signature verification',
  description:
    'Checks a hybrid signature (Ed25519 and ML-DSA) of an address over a text, both halves reported, with keys from the chain or given and held against the address; policies too.',
  brief: 'Checks a hybrid signature of an address over a text, each half by itself.',
  words: 'signed message proof authentic post-quantum',
  capability: 'compute',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    address: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
    valid: true,
    reason: null,
    classical: { alg: 'Ed25519', valid: true },
    postQuantum: { alg: 'ML-DSA-44', valid: true },
    signatures: [{ keyIndex: 0, scheme: 'ML-DSA-44 + Ed25519', classical: true, postQuantum: true }],
    account: { scheme: 1, threshold: 1, keys: 1, keysFrom: 'chain' },
    textHash: '7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e89f2c4b1a',
    domain: {
      label: 'farthing-text/1',
      chainId: 1,
      genesis: '1a2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
    },
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (signed, { chain }) => {
    const keys = keysOf(chain, signed)
    return keys.ok ? null : keys.fault
  },
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (signed, context) => ({ ...chainEnvelope(ID, context), ...verify(context, signed) }),
})
