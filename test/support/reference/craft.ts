import { concat, hex, littleEndian, tagged, unhex, utf8 } from './bytes.ts'
import { BLOCK, BODY, type Body, HEADER, type Header, TRANSACTION, WITNESS, type Witness } from './schemas.ts'

/** Signs a message under an ML-DSA context. */
export type Sign = (message: Uint8Array, context: Uint8Array) => Promise<Witness['signatures']>

/** A body with defaults for everything but kind, payload and sender. */
export function bodyOf(fields: Partial<Body> & Pick<Body, 'kind' | 'payload' | 'sender'>): Body {
  return {
    version: 1,
    chainId: 1,
    nonce: 0n,
    maxFeeRate: 1_000_000n,
    tip: 0n,
    validUntil: 0,
    memo: new Uint8Array(0),
    ...fields,
  }
}

/** The signer, and the chain that it signs for. */
export interface Signing {
  readonly genesisId: string
  readonly scheme: number
  readonly sign: Sign
}

/** Signs a body. The message is label, chain id, genesis, scheme and digest: encoding.md, section 6. */
export async function signBody(
  body: Uint8Array,
  chainId: number,
  { genesisId, scheme, sign }: Signing,
): Promise<Witness['signatures']> {
  const label = utf8('farthing-transaction/1')
  const digest = tagged('tx-id', body)
  const message = concat(label, littleEndian(BigInt(chainId), 4), unhex(genesisId), Uint8Array.of(scheme), digest)
  return sign(message, label)
}

export function transactionBytes(body: Uint8Array, witness: Witness): Uint8Array {
  return TRANSACTION.encode({ body, witness: WITNESS.encode(witness) })
}

/** Wire bytes of a signed transaction on chain 1. `keys` are the sender's. The witness has them only at nonce 0. */
export async function craftTransaction(fields: Body, keys: Uint8Array, signing: Signing): Promise<Uint8Array> {
  const body = BODY.encode(fields)
  const signatures = await signBody(body, 1, signing)
  return transactionBytes(body, { keys: fields.nonce === 0n ? keys : new Uint8Array(0), signatures })
}

/** Opener and lock of a secret: ledgers.md, section 4. */
export function lockOf(secret: Uint8Array): { readonly opener: string; readonly lock: string } {
  const opener = tagged('redeem-opener', secret)
  return { opener: hex(opener), lock: hex(tagged('redeem-lock', opener)) }
}

/** The block with some header fields changed. */
export function reheader(wire: Uint8Array, change: Partial<Header>): Uint8Array {
  const { header, transactions } = BLOCK.decode(wire)
  return BLOCK.encode({ header: HEADER.encode({ ...HEADER.decode(header), ...change }), transactions })
}
